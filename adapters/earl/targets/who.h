/* SPDX-License-Identifier: MIT */
/* Who has which number, for the target on BCR's cells: in a team each member knows (team.c); where processes come and go, EXEC does
 * (world.c), which is such a process itself (directory.c). */
#ifndef EARL_WHO_H
#define EARL_WHO_H

#include <stdbool.h>

#include <bcr/program.h>

#include "targets.h"

/* Cells of each process. Into the inbox come packets, ends of CCEs, and what world.c and directory.c say to each other;
 * EARL_CELL_ASK is for answers of EXEC to who waits for them, here and now. */
enum { EARL_CELL_WORK = 1, EARL_CELL_INBOX = 2, EARL_CELL_ASK = 3 };

/* What is known of a process. */
struct earl_known {
    bcr_cce_id cce; /* 0: not asked for yet; -1: there is none */
    int host;       /* equal for processes that share memory */
    bool has_come;  /* it has an inbox, or has ended */
};

struct earl_who {
    int flags; /* of bcr_init, beside bcr_handlers */
    /* The inbox is there. What is this process's number, and how many there are; 0: they come and go. Returns EARL_OK or a code. */
    int (*begin)(int *process, int *count);
    /* Which CCE a process is. It may wait for EXEC; with `waits`, until the process has an inbox, or has ended. It is called until that
     * is so, and then no more. */
    struct earl_known (*find)(int process, bool waits);
    /* Whether a region out of the inbox was for this part; it is freed then. Else it may have put a packet in its place. NULL: none is. */
    bool (*takes)(bcr_region *region);
    /* A CCE has ended, as its end region says. Returns which process that was, -1: none. NULL: nobody asks for that. */
    int (*ended)(bcr_cce_id cce, int how, int status);
};

#endif
