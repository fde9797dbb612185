/* SPDX-License-Identifier: MIT */
/* pane.c -- a debugger in this terminal, or its protocol between pipes.
 *
 * The connection to the daemon stays open: when it ends, on either side, the debugger is hung up. */
#include "debug/debug.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static struct termios before; /* of this terminal */

static void restore(int signal)
{
    tcsetattr(0, TCSANOW, &before);
    raise(signal); /* its action is the default one again */
}

/* Proxied streams in this terminal, which is put into raw mode meanwhile. */
static void relay_terminal(const struct enl_reached *reached)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    const struct sigaction action = {.sa_handler = restore, .sa_flags = (int)SA_RESETHAND};
    struct termios raw;
    struct sigaction former;
    const bool terminal = tcgetattr(0, &before) == 0;
    if (terminal) {
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
            if (sigaction(ends[i], NULL, &former) == 0 && former.sa_handler != SIG_IGN)
                sigaction(ends[i], &action, NULL);
        raw = before;
        cfmakeraw(&raw);
        tcsetattr(0, TCSADRAIN, &raw);
    }
    enl_pipe(reached->fd, reached->daemon, true, reached->marks);
    if (terminal)
        tcsetattr(0, TCSADRAIN, &before);
}

int enl_pane(char **argv)
{
    char what[128];
    struct enl_reached reached;
    for (int i = 0; i < 5; i++)
        if (argv[i] == NULL)
            return 2;
    snprintf(what, sizeof what, "CCE %s", argv[3]);
    if (isatty(1))
        printf("\033]2;CCE %s: %s\033\\", argv[3], argv[4]);
    fflush(stdout);
    const uint32_t host = (uint32_t)strtoul(argv[1], NULL, 10), index = (uint32_t)strtoul(argv[2], NULL, 10);
    const int status = enl_reach_pane(argv[0], host, index, what, &reached);
    if (status == 0)
        relay_terminal(&reached);
    return status;
}

int enl_attach_here(const char *name, const char *word, const char *debugger)
{
    struct enl_reached reached;
    const int status = enl_reach_attach(name, word, debugger, &reached);
    if (status == 0)
        relay_terminal(&reached);
    return status;
}

int enl_gdb_pipe(char **argv)
{
    struct enl_reached reached;
    const int status = enl_reach_attach(strcmp(argv[0], "-") != 0 ? argv[0] : NULL, argv[1], "", &reached);
    if (status != 0)
        return status;
    signal(SIGINT, SIG_IGN); /* gdb's Ctrl-C is gdb's, which shares the terminal with its pipe */
    enl_pipe(reached.fd, reached.daemon, false, reached.marks);
    return 0;
}
