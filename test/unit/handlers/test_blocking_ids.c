/* SPDX-License-Identifier: MIT */
/* Handlers that wait with an ID that another invocation frees or cancels meanwhile. */
#include "blocking.h"

static bcr_region shared;
static void (*use_shared)(void);

/* Not before the main program waits for it, and has gone to sleep. */
static void use_shared_later(int cell)
{
    (void)cell;
    FAILS_NULL(bcr_deq(bcr_cce, DATA, 20), bcrE_TIMEOUT);
    use_shared();
}

static void begin_sharing(void (*use)(void))
{
    start(3, 10, 4096, use_shared_later);
    use_shared = use;
    shared = bcr_get(1, bcr_cce, DATA + 1, bcr_PENDING);
    request(HOME);
}

static void free_it(void)
{
    CHECK_INT(bcr_rgfree(shared), 0);
}

static void cancel_it(void)
{
    CHECK_INT(bcr_rgwait(shared, 0, 1), 0);
}

static void cancel_it_as_one_of_several(void)
{
    CHECK_INT(bcr_rgwaitm(1, &shared, 0, 1), 0);
}

static void take_it_and_free_it(void)
{
    put(DATA + 1, 5);
    CHECK_INT(bcr_rgwait(shared, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(shared), 5);
}

TEST(a_wait_for_an_id_that_another_invocation_frees_fails)
{
    void (*const uses[])(void) = {free_it, cancel_it, cancel_it_as_one_of_several, take_it_and_free_it};
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++)
        for (int failfree = 0; failfree < 2; failfree++)
            for (int forever = 0; forever < 2; forever++) {
                begin_sharing(uses[i]);
                FAILS(bcr_rgwait(shared, forever ? bcr_BLOCK : 200, failfree), bcrE_RGID);
                end();
            }
}

TEST(a_wait_for_several_says_which_id_another_invocation_has_freed)
{
    begin_sharing(free_it);
    bcr_region of[] = {bcr_get(1, bcr_cce, DATA + 1, bcr_PENDING), shared};
    CHECK_INT(bcr_rgwaitm(2, of, bcr_BLOCK, 1), 2);
    FAILS(bcr_rgwait(shared, 0, 0), bcrE_RGID);
    CHECK_INT(bcr_rgfree(of[0]), 0);
    end();
}

static void free_a_stale_id(void)
{
    (void)bcr_rgfree(shared);
}

TEST(a_get_whose_request_a_stale_id_cancels_ends)
{
    begin_sharing(free_a_stale_id);
    /* The handler begins here. Even if its time is up at once, the main program goes first, until
     * it waits. */
    CHECK_INT(bcr_celllen(bcr_cce, DATA), 0);
    CHECK_INT(bcr_rgfree(shared), 0); /* the next get, below, has this ID, though no invocation is told */
    FAILS_NULL(bcr_get(1, bcr_cce, DATA + 1, bcr_BLOCK), bcrE_RGID);
    end();
}
