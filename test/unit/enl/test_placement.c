/* SPDX-License-Identifier: MIT */
/* Which host each member of a team runs on (job/placement.c). */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "job/job.h"

enum { MEMBERS_MAX = 200, HOSTS_MAX = 8 };

static void places(const uint32_t *slots, size_t hosts, uint32_t members, bool is_cyclic,
                   const uint32_t *wanted)
{
    uint32_t host_of[MEMBERS_MAX];
    enl_placement(slots, hosts, members, is_cyclic, host_of);
    for (uint32_t i = 0; i < members; i++)
        CHECK_INT(host_of[i], wanted[i]);
}

TEST(by_blocks_a_host_is_full_before_the_next_gets_one)
{
    places((const uint32_t[]){2, 0, 3}, 3, 4, false, (const uint32_t[]){0, 0, 2, 2});
    places((const uint32_t[]){9}, 1, 3, false, (const uint32_t[]){0, 0, 0});
}

TEST(in_turn_each_host_gets_one_while_it_has_slots)
{
    places((const uint32_t[]){1, 3, 2}, 3, 6, true, (const uint32_t[]){0, 1, 2, 1, 2, 1});
    places((const uint32_t[]){5, 5}, 2, 3, true, (const uint32_t[]){0, 1, 0});
}

/* Members that are placed at random come in runs, each member in one. */
static void has_each_once(const uint32_t *host_of, size_t hosts, uint32_t from, uint32_t to)
{
    size_t count;
    bool seen[MEMBERS_MAX] = {false};
    struct enl_run *runs = enl_placement_runs(host_of, hosts, from, to, &count);
    CHECK(runs != NULL && count <= to - from);
    for (size_t i = 0; i < count; i++)
        for (uint32_t n = 0; n < runs[i].count; n++) {
            const uint32_t member = runs[i].first + n * runs[i].stride;
            CHECK(runs[i].stride > 0 && member >= from && member < to && !seen[member]);
            CHECK_INT(host_of[member], runs[i].host);
            seen[member] = true;
        }
    for (uint32_t member = from; member < to; member++)
        CHECK(seen[member]);
    free(runs);
}

TEST(runs_have_each_member_once_whatever_the_placement)
{
    uint32_t host_of[MEMBERS_MAX];
    srand(7);
    for (int round = 0; round < 2000; round++) {
        const size_t hosts = 1 + (size_t)rand() % HOSTS_MAX;
        const uint32_t members = 1 + (uint32_t)rand() % MEMBERS_MAX, from = (uint32_t)rand() % members;
        for (uint32_t i = 0; i < members; i++)
            host_of[i] = (uint32_t)((size_t)rand() % hosts);
        has_each_once(host_of, hosts, from, members);
    }
}

TEST(hosts_of_equal_size_have_one_run_each)
{
    static const uint32_t slots[] = {50, 50, 50, 50};
    uint32_t host_of[MEMBERS_MAX];
    for (int is_cyclic = 0; is_cyclic < 2; is_cyclic++) {
        size_t count;
        enl_placement(slots, 4, MEMBERS_MAX, is_cyclic != 0, host_of);
        free(enl_placement_runs(host_of, 4, 0, MEMBERS_MAX, &count));
        CHECK_INT(count, 4);
    }
}
