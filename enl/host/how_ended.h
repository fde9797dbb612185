/* SPDX-License-Identifier: MIT */
/* how_ended.h -- how a process ended: what the kernel says of it, or what it has left in its record. */
#ifndef ENL_HOW_ENDED_H
#define ENL_HOW_ENDED_H

#include "host/host.h"

struct enl_how {
    bool known;
    bool signalled;
    bool exited; /* while a thread of it that had crashed was looked at: `number` is the crash's */
    int number;  /* status or signal */
};

/* How the CCE's process ended; `waited`: with `wait_status`, as wait(2) has it. */
struct enl_how enl_how_ended(const struct enl_cce *cce, bool waited, int wait_status);
/* Which of the ends it is that `onfail` tells apart. */
enum enl_end enl_how_kind(const struct enl_cce *cce, struct enl_how how);
/* The exit status that a shell would have. */
int enl_how_status(struct enl_how how);
/* "exited with status 3". Returns `buffer`. */
const char *enl_how_text(struct enl_how how, char *buffer, size_t size);
/* Whether a signal has ended it by a mistake of its own. */
bool enl_how_crashed(struct enl_how how);
/* Keeps it in the CCE, for the root's daemon, if that wants to know. */
void enl_how_note(struct enl_cce *cce, struct enl_how how);

#endif
