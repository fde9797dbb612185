/* SPDX-License-Identifier: MIT */
/* Regions through cells, one CCE or several threads: what arrives, in which order, and what nobody
 * may see. */
#include <bcr.h>

#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "group.h"

#include "bcri/self.h"

static struct group *group;
static struct bcri_ctx *one;

static void begin(void)
{
    group = group_open();
    one = group_join(group);
    bcri_self_set(one);
}

static void end(void)
{
    bcri_self_set(NULL);
    group_leave(group, one);
    group_close(group);
}

static bcr_region number(int value)
{
    bcr_region rgid = bcr_rgalloc((int)sizeof value, 0);
    CHECK(rgid != NULL);
    **(int **)rgid = value;
    return rgid;
}

static int value_of(bcr_region rgid)
{
    int value = **(int **)rgid;
    CHECK_INT(bcr_rgfree(rgid), 0);
    return value;
}

TEST(what_is_put_is_got_in_the_same_order)
{
    begin();
    int cell = bcr_cagrow(0, 0, 0, 0, 1, 1000, 1 << 20);
    CHECK_INT(cell, 1);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1000);
    bcr_region more = number(0);
    CHECK_INT(bcr_enq(more, bcr_cce, cell, bcr_FREE), -1);
    CHECK_INT(bcr_errno, bcrE_FULL);
    CHECK_INT(bcr_rgfree(more), 0);
    for (int i = 0; i < 1000; i++) {
        bcr_region rgid = bcr_deq(bcr_cce, cell, 0);
        CHECK(rgid != NULL);
        CHECK_INT(value_of(rgid), i);
    }
    CHECK_PTR(bcr_deq(bcr_cce, cell, 0), NULL);
    CHECK_INT(bcr_errno, bcrE_TIMEOUT);
    CHECK_INT(bcr_cafree(cell), 0);
    end();
}

TEST(write_replaces_and_zap_empties)
{
    begin();
    int cell = bcr_cagrow(0, 0, 0, 0, 1, 10, 1 << 16);
    for (int i = 0; i < 5; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_write(number(77), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    CHECK_INT(value_of(bcr_read(bcr_cce, cell, 0)), 77);
    CHECK_INT(value_of(bcr_deq(bcr_cce, cell, 0)), 77);
    for (int i = 0; i < 5; i++)
        CHECK_INT(bcr_enq(number(i), bcr_cce, cell, bcr_FREE), 0);
    CHECK_INT(bcr_zap(bcr_cce, cell), 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    CHECK_INT(bcr_cafree(cell), 0);
    end();
}

struct pass {
    struct bcri_ctx *ctx;
    int peer, in, out, rounds;
};

static void *pass_on(void *arg)
{
    struct pass *pass = arg;
    bcri_self_set(pass->ctx);
    for (int i = 0; i < pass->rounds; i++) {
        bcr_region rgid = bcr_deq(bcr_cce, pass->in, bcr_BLOCK);
        CHECK(rgid != NULL);
        ++**(int **)rgid;
        CHECK_INT(bcr_enq(rgid, pass->peer, pass->out, bcr_FREE), 0);
    }
    return NULL;
}

TEST(two_threads_pass_a_region_to_and_fro)
{
    begin();
    struct bcri_ctx *two = group_join(group);
    int cell = bcr_cagrow(0, 0, 0, 0, 1, 4, 1 << 16);
    struct pass pass = {.ctx = two, .peer = group_name(two, one->index), .rounds = 20000, .out = cell};
    bcri_self_set(two);
    pass.in = bcr_cagrow(0, 0, 0, 0, 1, 4, 1 << 16);
    bcri_self_set(one);
    bcr_cce_id peer = group_name(one, two->index);
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, pass_on, &pass), 0);
    bcr_region rgid = number(0);
    for (int i = 0; i < pass.rounds; i++) {
        CHECK_INT(bcr_enq(rgid, peer, pass.in, bcr_FREE), 0);
        rgid = bcr_deq(bcr_cce, cell, bcr_BLOCK);
        CHECK(rgid != NULL);
    }
    pthread_join(thread, NULL);
    CHECK_INT(value_of(rgid), pass.rounds);
    group_leave(group, two);
    end();
}
