/* SPDX-License-Identifier: MIT */
/* process.c -- copies from and to the memory of another process of this host, and of this one where there may be none.
 *
 * A process ID may have been given to another process. So the process is held by a pidfd, which is opened once and whose
 * process has the start time that the other has published: while that lives, or is not waited for, its ID is no other's. It is
 * looked at before each copy and after it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pm_private.h"

uint64_t pm_process_start(int64_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    /* The second field may have blanks and brackets; behind its last bracket comes the third, and this is the 22nd. */
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

static bool is_alive(int pidfd)
{
    return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0;
}

/* Not in the place of a standard file that the program has closed. */
static int aside(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int other = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return other;
}

int pm_process_open(int64_t pid, uint64_t start)
{
    errno = EPERM;
    const int pidfd = start != 0 ? aside((int)syscall(SYS_pidfd_open, (pid_t)pid, 0)) : -1;
    if (pidfd < 0)
        return -1;
    /* Another start time is not that of an ended process alone: an emulator tells a process of its own another one than others. */
    const bool is_same = pm_process_start(pid) == start;
    if (is_same && is_alive(pidfd))
        return pidfd;
    const int error = is_same && errno == ESRCH ? ESRCH : EPERM;
    close(pidfd);
    errno = error;
    return -1;
}

int pm_process_copy(int pidfd, int64_t pid, uint64_t remote, void *local, size_t length, bool is_write)
{
    const struct iovec here = {local, length}, there = {(void *)(uintptr_t)remote, length};
    if (!is_alive(pidfd))
        return errno == ESRCH ? ESRCH : EPERM;
    const ssize_t copied = is_write ? process_vm_writev((pid_t)pid, &here, 1, &there, 1, 0)
                                    : process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0);
    const int error = copied == (ssize_t)length ? 0 : copied >= 0 ? EFAULT : errno;
    if (!is_alive(pidfd))
        return ESRCH;
    return error == ENOSYS ? EPERM : error;
}

/* ---- within this process ---- */

/* What is written into the pipe and read again is copied by the kernel, which finds out whether there is memory. */
static pthread_mutex_t pipe_lock = PTHREAD_MUTEX_INITIALIZER;
static int pipe_ends[2] = {-1, -1};
enum { CHUNK = 65536 };

int pm_copy_begin(void)
{
    int ends[2], error = 0;
    pthread_mutex_lock(&pipe_lock);
    if (pipe_ends[0] < 0 && pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        error = errno;
    } else if (pipe_ends[0] < 0) {
        pipe_ends[0] = aside(ends[0]);
        pipe_ends[1] = aside(ends[1]);
    }
    pthread_mutex_unlock(&pipe_lock);
    return error;
}

static void empty_pipe(void)
{
    char rest[4096];
    while (read(pipe_ends[0], rest, sizeof rest) > 0)
        continue;
}

bool pm_copy(void *to, const void *from, size_t length)
{
    bool is_done = true;
    pthread_mutex_lock(&pipe_lock);
    for (size_t done = 0; done < length && is_done;) {
        const size_t most = length - done < CHUNK ? length - done : CHUNK;
        const ssize_t sent = write(pipe_ends[1], (const char *)from + done, most);
        ssize_t came = 0;
        for (ssize_t part = 1; came < sent && part > 0; came += part > 0 ? part : 0)
            part = read(pipe_ends[0], (char *)to + done + came, (size_t)(sent - came));
        is_done = sent > 0 && came == sent;
        done += (size_t)(sent > 0 ? sent : 0);
    }
    if (!is_done)
        empty_pipe();
    pthread_mutex_unlock(&pipe_lock);
    return is_done;
}
