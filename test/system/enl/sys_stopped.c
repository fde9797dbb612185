/* SPDX-License-Identifier: MIT */
/* CCEs of which one is stopped while it holds the locks of a cell. The root has the cell, and does
 * what its arguments say:
 *
 *   enlist N    enlists CCE N
 *   wait        reads a byte from the fifo $SYS_GO
 *   putwait MSEC
 *   get MSEC, read MSEC, lock MSEC, put    does that with the cell and tells the code
 *   meet        takes a CCE's name from its next cell, and gets from that one's cell, for ever; tells before, and the code
 *
 * The others by their ordinals: 1 tells and waits in the cell for a region that does not come; 2
 * takes the locks that $SYS_HOLDS names (h, t, or both), tells, is stopped, and lets go when it is
 * continued; 3 tells and ends; 4 tells and zaps the cell, for which it needs both locks; 5 has a
 * cell too, sends its name, tells, and waits. */
#include <bcr.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/journal.h"
#include "bcri/lock.h"
#include "bcri/lookup.h"
#include "bcri/self.h"
#include "sys_tell.h"

enum { CELL = 1, NAMES };

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "sys_stopped: %s: %s\n", what, bcr_strerror(bcr_errno));
    _exit(3);
}

static void hold(int owner)
{
    struct bcri_ctx *ctx = bcri_self();
    struct bcri_resolved *resolved;
    const char *locks = getenv("SYS_HOLDS");
    must(bcri_resolved_find(ctx, owner, CELL, &resolved) == 0, "find the cell");
    bcri_journal_open(ctx, BCRI_OP_SLOW, resolved->ref, BCRI_REF_NONE, BCRI_REF_NONE);
    if (strchr(locks, 'h') != NULL)
        bcri_lock(ctx, &resolved->cell->h.lock);
    if (strchr(locks, 't') != NULL)
        bcri_lock(ctx, &resolved->cell->t.lock);
    tell("2 %ld\n", (long)getpid());
    raise(SIGSTOP);
    if (strchr(locks, 't') != NULL)
        bcri_unlock(ctx, &resolved->cell->t.lock);
    if (strchr(locks, 'h') != NULL)
        bcri_unlock(ctx, &resolved->cell->h.lock);
    bcri_journal_close(ctx);
}

static void be_met(void)
{
    const int me = bcr_cce;
    must(bcr_cagrow(CELL, 0, 0, 0, 1, 8, 4096) == CELL, "cagrow");
    tell("5 %ld\n", (long)getpid()); /* before the root can tell that it has its name */
    must(bcr_send(&me, sizeof me, bcrT_1CCE, 1, bcr_enlistor, NAMES, 1, 0) > 0, "send its name");
    for (;;)
        pause();
}

static int other(void)
{
    if (bcr_cceord == 1) {
        bcr_region rgid = bcr_deq(bcr_enlistor, CELL, bcr_PENDING);
        must(rgid != NULL, "wait in the cell");
        tell("1 %ld\n", (long)getpid());
        for (;;)
            pause();
    }
    if (bcr_cceord == 5)
        be_met();
    if (bcr_cceord == 2)
        hold(bcr_enlistor);
    else
        tell("%d %ld\n", bcr_cceord, (long)getpid());
    if (bcr_cceord == 4)
        must(bcr_zap(bcr_enlistor, CELL) == 0, "zap");
    return 0;
}

static void tell_got(const char *call, bcr_region rgid)
{
    tell("%s %d\n", call, rgid != NULL ? 0 : bcr_errno);
    if (rgid != NULL)
        bcr_rgfree(rgid);
}

static void put(void)
{
    bcr_region rgid = bcr_rgalloc(8, 0);
    must(rgid != NULL, "rgalloc");
    int result = bcr_enq(rgid, bcr_cce, CELL, bcr_FREE);
    tell("put %d\n", result == 0 ? 0 : bcr_errno);
    must(result == 0 || bcr_rgfree(rgid) == 0, "the region of a put that fails is still there");
}

static void meet(void)
{
    int other;
    must(bcr_recv(&other, sizeof other, bcrT_1CCE, 1, bcr_cce, NAMES, 1, bcr_BLOCK) > 0, "take a name");
    tell("meets\n");
    bcr_region rgid = bcr_deq(other, CELL, bcr_BLOCK);
    tell("met %d\n", rgid != NULL ? 0 : bcr_errno);
}

int main(int argc, char **argv)
{
    must(bcr_init(0, argv[0]) >= 0, "bcr_init");
    if (bcr_enlistor >= 0)
        return other();
    must(bcr_cagrow(CELL, 0, 0, 0, 2, 8, 4096) == CELL, "cagrow");
    for (char **word = argv + 1; word < argv + argc; word++) {
        if (strcmp(*word, "enlist") == 0)
            must(bcr_enlist(NULL, -1, atoi(*++word), argv[0], NULL, bcr_FREE) == 0, "enlist");
        else if (strcmp(*word, "wait") == 0)
            wait_to_go();
        else if (strcmp(*word, "get") == 0)
            tell_got("get", bcr_deq(bcr_cce, CELL, atoi(*++word)));
        else if (strcmp(*word, "read") == 0)
            tell_got("read", bcr_read(bcr_cce, CELL, atoi(*++word)));
        else if (strcmp(*word, "lock") == 0)
            tell_got("lock", bcr_acqwl(bcr_cce, CELL, atoi(*++word)));
        else if (strcmp(*word, "putwait") == 0)
            must(bcr_putwait(atoi(*++word)) == 0, "putwait");
        else if (strcmp(*word, "put") == 0)
            put();
        else if (strcmp(*word, "meet") == 0)
            meet();
    }
    return 0;
}
