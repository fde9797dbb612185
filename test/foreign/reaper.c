/* SPDX-License-Identifier: MIT */
/* reaper PROGRAM ARG... -- becomes PROGRAM, as the one to whom orphans among its descendants come.
 *
 * An emulated program cannot ask for that itself under qemu-user, which refuses
 * PR_SET_CHILD_SUBREAPER. What is asked for here, natively, outlasts execve(2). The runner of tests
 * needs it to leave no process behind. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: reaper PROGRAM [ARG...]\n");
        return 2;
    }
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
        perror("reaper: PR_SET_CHILD_SUBREAPER");
        return 126;
    }
    execvp(argv[1], argv + 1);
    fprintf(stderr, "reaper: %s cannot be executed: %s\n", argv[1], strerror(errno));
    return 127;
}
