/* SPDX-License-Identifier: MIT */
/* How a command gets at a debugger that a daemon holds: by its descriptor if the CCE is on the root's host, else by a
 * relay whose helper has that descriptor (relay.h).
 *
 *      debugger ---- pty ---- helper (enl --debug-host) ====tree==== pane ---- terminal
 *                     |          |
 *                     daemon of that host
 *
 * The helper's first byte is + when it has the descriptor; else - and a sentence. Then it carries what comes, with the
 * sizes of the terminal among what is typed (pipe.h). Its end hangs up the debugger, as a pane's does. */
#ifndef ENL_REACH_H
#define ENL_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "debug/pipe.h"

/* A CCE as a person names it: 3, pid:4711, or one of these with @ and the number of its host. */
struct enl_named {
    uint32_t number, host;
    bool by_pid, has_host;
};
/* False: a sentence was said. */
bool enl_named_read(const char *word, struct enl_named *out);
/* Whether that is this one, of a look. */
struct look_cce;
bool enl_named_is(const struct enl_named *named, const struct look_cce *cce);

struct enl_reached {
    int fd, daemon;
    enum enl_pipe_marks marks;
};

/* A new debugger at that CCE of program `name` (NULL: of the only one), or gdbserver if `debugger` is "". Returns the
 * exit status: 0, or after a sentence. */
int enl_reach_attach(const char *name, const char *word, const char *debugger, struct enl_reached *out);
/* The debugger that has started the CCE of that index. */
int enl_reach_pane(const char *name, uint32_t host, uint32_t index, const char *what,
                   struct enl_reached *out);

/* enl --debug-host NUMBER WHAT: the helper. WHAT is pane, cce:DEBUGGER or pid:DEBUGGER, to which NUMBER belongs.
 * Returns the exit status. */
int enl_debug_host(char **argv);

#endif
