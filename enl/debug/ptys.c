/* SPDX-License-Identifier: MIT */
/* ptys.c -- the debuggers that the daemon holds, and the ptys by which it does. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bcri/failure.h"
#include "debug/debug_private.h"
#include "wire/wire.h"

struct enl_pane *enl_pane_new(struct enl_session *session, uint32_t index, uint32_t ordinal, int fd)
{
    struct enl_pane *pane = calloc(1, sizeof *pane);
    if (pane == NULL)
        return NULL;
    pane->session = session;
    pane->index = index;
    pane->ordinal = ordinal;
    pane->fd = fd;
    LIST_INSERT_HEAD(&session->panes, pane, entry);
    return pane;
}

void enl_pane_free(struct enl_pane *pane)
{
    LIST_REMOVE(pane, entry);
    if (pane->fd >= 0)
        close(pane->fd);
    if (pane->viewer != NULL)
        pane->viewer->pane = NULL;
    free(pane);
}

struct enl_pane *enl_pane_of(const struct enl_session *session, uint32_t host, uint32_t index)
{
    struct enl_pane *pane;
    LIST_FOREACH (pane, &session->panes, entry)
        if (pane->host == host && pane->index == index && !pane->attached)
            return pane;
    return NULL;
}

/* Opens a pty. Returns the daemon's end and the debugger's in `slave_out`, or -errno, which is noted. */
static int open_pty(int *slave_out)
{
    const struct winsize size = {.ws_row = 24, .ws_col = 80};
    const char *call = "posix_openpt";
    int slave = -1, fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && (call = "grantpt", grantpt(fd) == 0) && (call = "unlockpt", unlockpt(fd) == 0)) {
        call = "ioctl (TIOCGPTPEER)";
        slave = ioctl(fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    }
    if (slave < 0) {
        const int error = errno;
        bcri_failure_note(call);
        if (fd >= 0)
            close(fd);
        return -error;
    }
    ioctl(fd, TIOCSWINSZ, &size);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    *slave_out = slave;
    return fd;
}

static void take_files(struct enl_spawn *spawn, int fd, bool err_too)
{
    int *const places[] = {&spawn->in, &spawn->out, &spawn->err};
    for (int i = 0; i < (err_too ? 3 : 2); i++) {
        if (*places[i] >= 0)
            close(*places[i]);
        *places[i] = i == 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    }
}

int enl_pane_files(struct enl_spawn *spawn, bool serves)
{
    int pair[2] = {-1, -1};
    if (serves) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
            bcri_failure_note("socketpair");
            return -errno;
        }
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        take_files(spawn, pair[1], false);
        return pair[0];
    }
    const int fd = open_pty(&pair[1]);
    if (fd < 0)
        return fd;
    take_files(spawn, pair[1], true);
    spawn->own_group = false; /* it leads a session, and so a group */
    spawn->own_session = true;
    spawn->own_terminal = true;
    return fd;
}
