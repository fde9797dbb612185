/* SPDX-License-Identifier: MIT */
/* guard.c -- a guard of EXEC's: a process that does nothing until EXEC has ended. EXEC watches it, and so learns that its host has
 * gone, also if nothing else ran there. */
#include <stdio.h>

#include <bcr/program.h>

#include "directory.h"
#include "world.h"

int earl_guard(void)
{
    enum { END = 1 };
    struct earl_word here = {.kind = EARL_HERE, .asked = -1, .number = -1, .parent = -1};
    if (bcr_init(bcr_isolate | bcr_anystatus, "earl-exec") < 0 ||
        bcr_cagrow(END, 0, 1, 0, 0, 1, 4096) != END || bcr_enlistor < 0 ||
        bcr_watch(bcr_enlistor, END) != 0) {
        fprintf(stderr, "earl-exec: a guard cannot begin: %s\n", bcr_strerror(bcr_errno));
        return 1;
    }
    here.cce = bcr_cce;
    (void)earl_word_put(&here, "", bcr_enlistor, EARL_CELL_ASK);
    (void)bcr_idle(bcr_IDLE_SERVER);
    return bcr_deq(bcr_cce, END, bcr_BLOCK) == NULL;
}
