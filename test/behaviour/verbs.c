/* SPDX-License-Identifier: MIT */
/* See verbs.h. A verb is as near to one BCR call as it can be; if the owner is on another host
 * ($BEHAVE_FAR), puts wait for their end, and pending gets until they wait there. Regions are told
 * apart by their numbers: `keep` and `lock` return the number of a region that this CCE holds from then on.
 *
 *   grow Q P I O IO N B     bcr_cagrow
 *   free_area CELL          bcr_cafree
 *   put QLIKE CELL VALUE    a new region that holds VALUE; freed if it cannot be put
 *   get QLIKE CELL MSEC     what the region holds, which is freed
 *   keep QLIKE CELL MSEC    bcr_get;   lock CELL MSEC: bcr_acqwl
 *   put_kept N QLIKE CELL   bcr_put, which takes it
 *   within MSEC QLIKE CELL VALUE  bcr_put_within: as put
 *   wait N MSEC FAILFREE    bcr_rgwait
 *   value N                 what it holds
 *   let_go N                bcr_rgfree
 *   zap CELL, celllen CELL, putwait MSEC
 *   handler CELL MARK       a handler that counts its calls
 *   calls                   lets it run; how many calls there were since this was asked last
 *   use_up                  allocates until there is no memory left
 *   meet                    takes a CCE ID out of the meeting cell: the owner from then on
 *   last CELL VALUE         a put, and then the end, with status 0
 *   parent, self            the pid of its daemon, its own
 *   exit STATUS */
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr.h>

#include "numbers.h"

enum { KEPT_MAX = 64, NUMBERS_MAX = 7 };
static _Thread_local bcr_region kept[KEPT_MAX]; /* CCEs may be threads: behave_sim.c */

static int keep(bcr_region rgid)
{
    int n = 0;
    if (rgid == NULL)
        return -1;
    while (kept[n] != NULL)
        if (++n == KEPT_MAX)
            abort();
    kept[n] = rgid;
    return n;
}

static bcr_region let_go(int n)
{
    bcr_region rgid = kept[n];
    kept[n] = NULL;
    return rgid;
}

static int value_of(bcr_region rgid)
{
    if (rgid == NULL)
        return -1;
    const int value = read_number(rgid);
    return bcr_rgfree(rgid) == 0 ? value : -1;
}

/* What has become of a put that has returned `returned`. */
static int end_of_put(int returned)
{
    if (getenv("BEHAVE_FAR") == NULL || returned != 0)
        return returned;
    (void)bcr_putdone(bcr_BLOCK);
    bcr_region error = bcr_deq(bcr_cce, 0, 0);
    if (error == NULL)
        return 0;
    const int code = bcr_rgerror(error);
    bcr_rgfree(error);
    bcr_errno = code;
    return -1;
}

static int keep_there(bcr_cce_id cce, bcr_region rgid)
{
    const int error = bcr_errno, n = keep(rgid);
    if (getenv("BEHAVE_FAR") != NULL)
        (void)bcr_celllen(cce, MEETING_CELL);
    bcr_errno = error;
    return n;
}

static int put_new(int qlike, bcr_cce_id cce, int cell, int value, const int *msec)
{
    bcr_region rgid = bcr_rgalloc(sizeof value, 0);
    if (rgid == NULL)
        return -1;
    **(int **)rgid = value;
    const int returned = msec != NULL ? bcr_put_within(qlike, rgid, cce, cell, bcr_FREE, *msec)
                                      : bcr_put(qlike, rgid, cce, cell, bcr_FREE),
              error = bcr_errno;
    if (returned != 0)
        bcr_rgfree(rgid);
    bcr_errno = error;
    return end_of_put(returned);
}

static int use_up(void)
{
    while (bcr_rgalloc(1024, 0) != NULL)
        continue;
    while (bcr_rgalloc(1, 0) != NULL)
        continue;
    return 0;
}

static _Thread_local int calls;

static void count_call(int cell)
{
    (void)cell;
    calls++;
}

static int calls_since(void)
{
    if (bcr_allow(0) != 0)
        return -1;
    const int since = calls;
    calls = 0;
    return since;
}

static int meet(bcr_cce_id *owner)
{
    const int left = bcr_recv(owner, sizeof *owner, bcrT_1CCE, 1, bcr_cce, MEETING_CELL, 1, bcr_BLOCK);
    return left >= 2 ? *owner : -1;
}

int verb_do(const char *line, bcr_cce_id *owner)
{
    char verb[16];
    int at = 0, n[NUMBERS_MAX] = {0}, cce = *owner;
    if (sscanf(line, "%15s%n", verb, &at) != 1)
        abort();
    for (int i = 0, more = 0; i < NUMBERS_MAX && sscanf(line + at, "%d%n", &n[i], &more) == 1; i++)
        at += more;
#define IS(word) (strcmp(verb, word) == 0)
    if (IS("grow"))
        return bcr_cagrow(n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
    if (IS("free_area"))
        return bcr_cafree(n[0]);
    if (IS("put"))
        return put_new(n[0], cce, n[1], n[2], NULL);
    if (IS("within"))
        return put_new(n[1], cce, n[2], n[3], &n[0]);
    if (IS("get"))
        return value_of(bcr_get(n[0], cce, n[1], n[2]));
    if (IS("keep"))
        return keep_there(cce, bcr_get(n[0], cce, n[1], n[2]));
    if (IS("lock"))
        return keep_there(cce, bcr_acqwl(cce, n[0], n[1]));
    if (IS("put_kept"))
        return end_of_put(bcr_put(n[1], let_go(n[0]), cce, n[2], bcr_FREE));
    if (IS("wait"))
        return bcr_rgwait(kept[n[0]], n[1], n[2]);
    if (IS("value"))
        return read_number(kept[n[0]]);
    if (IS("let_go"))
        return bcr_rgfree(let_go(n[0]));
    if (IS("zap"))
        return bcr_zap(cce, n[0]);
    if (IS("celllen"))
        return bcr_celllen(cce, n[0]);
    if (IS("putwait"))
        return bcr_putwait(n[0]);
    if (IS("handler"))
        return bcr_handler(n[0], count_call, n[1], 0, 0);
    if (IS("calls"))
        return calls_since();
    if (IS("use_up"))
        return use_up();
    if (IS("meet"))
        return meet(owner);
    if (IS("parent"))
        return getppid();
    if (IS("self"))
        return getpid();
    if (IS("last")) {
        bcr_region rgid = bcr_rgalloc(sizeof n[1], 0);
        **(int **)rgid = n[1];
        exit(bcr_enq(rgid, cce, n[0], bcr_FREE) == 0 ? 0 : 1);
    }
    if (IS("exit"))
        exit(n[0]);
    fprintf(stderr, "no verb: %s\n", line);
    abort();
}
