/* SPDX-License-Identifier: MIT */
/* held.c -- for debuggers that do not pass descriptors on, as lldb: the child waits until it is traced, then becomes
 * the program; its tracer sees the exec, and stops there. Yama lets a debugger trace only its descendants, and those
 * that have named it: the child is one, and lldb's own server, lldb's child, is let in by PR_SET_PTRACER. */
#include "debug/debug.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/status.h"
#include "bcri/environment.h"

static _Noreturn void become_program(char **argv, pid_t debugger)
{
    struct enl_process_status status;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != debugger)
        _exit(127);
    prctl(PR_SET_PTRACER, (unsigned long)debugger, 0, 0, 0);
    while (!enl_process_status(getpid(), &status) || status.tracer == 0)
        poll(NULL, 0, 10);
    execv(argv[0], argv);
    fprintf(stderr, "enl: %s could not be executed: %s\n", argv[0], strerror(errno));
    _exit(126);
}

int enl_held(char **argv)
{
    int at = 0;
    char number[16];
    while (argv[at] != NULL && strcmp(argv[at], "-p") != 0)
        at++;
    if (at == 0 || argv[at] == NULL || argv[at + 1] == NULL) {
        fprintf(stderr, "enl: --held is for enl itself\n");
        return 2;
    }
    const pid_t self = getpid(), child = fork();
    if (child < 0) {
        fprintf(stderr, "enl: no process for %s: %s\n", argv[at + 1], strerror(errno));
        return 126;
    }
    if (child == 0)
        become_program(argv + at + 1, self);
    const char *socket = getenv(BCRI_CONTROL_ENV); /* the program's alone */
    if (socket != NULL)
        close((int)strtol(socket, NULL, 10));
    unsetenv(BCRI_CONTROL_ENV);
    snprintf(number, sizeof number, "%ld", (long)child);
    argv[at + 1] = number;
    argv[at + 2] = NULL;
    execv(argv[0], argv);
    fprintf(stderr, "enl: %s could not be executed: %s\n", argv[0], strerror(errno));
    return 126;
}
