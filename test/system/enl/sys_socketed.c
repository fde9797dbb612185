/* SPDX-License-Identifier: MIT */
/* sys_socketed COMMAND [WORD...] -- runs a daemon whose pipes are one socket, as an sshd without USE_PIPES does, and passes on
 * what comes by either side. When its own input ends, it ends as soon as it has something of the daemon's that it has not
 * read: then the daemon gets ECONNRESET, not the end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int daemons;

static _Noreturn void leave_unread(void)
{
    struct pollfd unread = {.fd = daemons, .events = POLLIN};
    while (poll(&unread, 1, -1) < 0 && errno == EINTR)
        ;
    _exit(0);
}

/* False: no more can be read. */
static bool pass(int from, int to)
{
    char bytes[4096];
    const ssize_t got = read(from, bytes, sizeof bytes);
    for (ssize_t done = 0, now; done < got; done += now)
        if ((now = write(to, bytes + done, (size_t)(got - done))) < 0)
            leave_unread();
    return got > 0;
}

int main(int argc, char **argv)
{
    int pair[2];
    if (argc < 2 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return 90;
    signal(SIGPIPE, SIG_IGN);
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGPIPE, SIG_DFL);
        dup2(pair[1], 0);
        dup2(pair[1], 1);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    close(pair[1]);
    daemons = pair[0];
    struct pollfd both[] = {{.fd = 0, .events = POLLIN}, {.fd = daemons, .events = POLLIN}};
    for (;;) {
        if (poll(both, 2, -1) < 0)
            continue;
        if (both[0].revents != 0 && !pass(0, daemons))
            leave_unread();
        if (both[0].revents == 0 && both[1].revents != 0 && !pass(daemons, 1))
            _exit(0);
    }
}
