/* SPDX-License-Identifier: MIT */
/* Pairs of hosts that are being introduced: each is found in either order, however many there are. */
#include <string.h>

#include "check.h"
#include "tree/introductions.h"

enum { HOSTS = 100 };

static struct enl_pairs pairs;

static void add(uint32_t requester, uint32_t other)
{
    uint8_t random[BCRI_SEAL_KEY_BYTES];
    memset(random, (int)requester, sizeof random);
    CHECK_PTR(enl_pair_find(&pairs, requester, other), NULL);
    CHECK(enl_pair_add(&pairs, requester, other, random));
}

/* Each two; who asks is the lower or the higher one by turns. */
static void add_all(void)
{
    enl_pairs_init(&pairs);
    for (uint32_t one = 1; one <= HOSTS; one++)
        for (uint32_t two = one + 1; two <= HOSTS; two++)
            add((one + two) % 2 == 0 ? one : two, (one + two) % 2 == 0 ? two : one);
}

TEST(where_there_are_none_none_is_found_and_dropping_all_drops_nothing)
{
    enl_pairs_init(&pairs);
    CHECK_PTR(enl_pair_find(&pairs, 1, 2), NULL);
    enl_pairs_drop(&pairs, 1);
    enl_pairs_free(&pairs);
}

TEST(each_of_many_pairs_is_found_in_either_order_with_its_bytes)
{
    add_all();
    CHECK_UINT(pairs.table.count, HOSTS * (HOSTS - 1) / 2);
    for (uint32_t one = 1; one <= HOSTS; one++)
        for (uint32_t two = 1; two <= HOSTS; two++) {
            const struct enl_pair *pair = enl_pair_find(&pairs, one, two);
            CHECK_INT(pair != NULL, one != two);
            if (pair == NULL)
                continue;
            CHECK(pair == enl_pair_find(&pairs, two, one));
            CHECK(pair->requester + pair->other == one + two &&
                  (pair->requester == one || pair->requester == two));
            CHECK_UINT(pair->random[0], pair->requester);
        }
    enl_pairs_free(&pairs);
}

TEST(a_dropped_pair_is_gone_and_those_of_a_host_are_and_no_others)
{
    add_all();
    enl_pair_drop(&pairs, enl_pair_find(&pairs, 7, 3));
    CHECK_PTR(enl_pair_find(&pairs, 3, 7), NULL);
    enl_pairs_drop(&pairs, 5);
    CHECK_UINT(pairs.table.count, HOSTS * (HOSTS - 1) / 2 - 1 - (HOSTS - 1));
    for (uint32_t host = 1; host <= HOSTS; host++) {
        CHECK_PTR(enl_pair_find(&pairs, 5, host), NULL);
        CHECK_INT(enl_pair_find(&pairs, 6, host) != NULL, host != 5 && host != 6);
    }
    add(5, 6);
    enl_pairs_free(&pairs);
    CHECK_PTR(enl_pair_find(&pairs, 6, 8), NULL);
}
