/* SPDX-License-Identifier: MIT */
/* enter.c -- the way of a process that nobody has started for it into a running program (bcr_enter). */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/client.h"
#include "bcri/running.h"
#include "bcri/stopped.h"

/* How long it waits while many others wait to be let in. */
enum { PATIENCE_MS = 10000 };

/* Whether the daemon at the other end is stopped. It would answer when it goes on, and this process could not give up before. */
static bool is_stopped(int fd, pid_t *pid_out)
{
    struct ucred daemon;
    socklen_t size = sizeof daemon;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &daemon, &size) != 0 || daemon.pid <= 0)
        return false;
    *pid_out = daemon.pid;
    return bcri_process_stopped((uint32_t)daemon.pid);
}

int bcri_client_reach(const char *name)
{
    pid_t daemon;
    if (!bcri_running_is_name(name))
        return -bcrE_ARG;
    const int fd = bcri_running_connect(name, PATIENCE_MS);
    if (fd >= 0 && is_stopped(fd, &daemon)) {
        bcri_client_complain("program %s is stopped: its enl, process %ld; fg or kill -CONT lets it go on",
                             name, (long)daemon);
        close(fd);
        return -bcrE_ENLIST;
    }
    if (fd >= 0)
        return fd;
    if (fd == -ECONNREFUSED)
        return -bcrE_NOPROG;
    bcri_client_complain("program %s cannot be entered: %s", name,
                         fd == -EPERM    ? "a process of another user has taken that name"
                         : fd == -EAGAIN ? "its enl does not answer"
                                         : strerror(-fd));
    return fd == -EPERM                                      ? -bcrE_NOPROG
           : fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM ? -bcrE_NOMEM
                                                             : -bcrE_ENLIST;
}
