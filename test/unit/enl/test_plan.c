/* SPDX-License-Identifier: MIT */
/* Who starts whom: how deep the tree gets, after how many rounds all hosts are up, and what daemons that die or
 * reach nobody change. A round: all that may be begun is begun, and then all of that is up. */
#include <stdlib.h>

#include "check.h"
#include "tree/plan.h"

static struct enl_plan plan;
static uint32_t *starter_of; /* by number */
static uint32_t wanted;

static void make(uint32_t fanout, uint32_t most)
{
    CHECK(enl_plan_init(&plan, fanout));
    starter_of = calloc(most + 1, sizeof *starter_of);
    CHECK(starter_of != NULL);
    wanted = 0;
}

static void end(void)
{
    enl_plan_fini(&plan);
    free(starter_of);
}

static uint32_t want(uint32_t sshd, bool near, bool direct)
{
    const struct enl_plan_host host = {.number = ++wanted, .sshd = sshd, .near = near, .direct = direct};
    CHECK(enl_plan_want(&plan, &host));
    return wanted;
}

/* Begins all that may be; returns how many, with their numbers. */
static uint32_t begin(uint32_t *numbers)
{
    uint32_t count = 0, number, by;
    while (enl_plan_next(&plan, &number, &by)) {
        starter_of[number] = by;
        numbers[count++] = number;
    }
    return count;
}

struct grown {
    unsigned rounds;
    uint32_t up, deepest, most_children, most_logins;
};

/* Goes on until nothing more is to be begun. */
static struct grown grow(uint32_t most)
{
    struct grown grown = {0};
    uint32_t *numbers = calloc(most + 1, sizeof *numbers), *children = calloc(most + 1, sizeof *children);
    uint32_t *logins = calloc(most + 1, sizeof *logins);
    CHECK(numbers != NULL && children != NULL && logins != NULL);
    for (uint32_t count; (count = begin(numbers)) != 0; grown.rounds++) {
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t by = starter_of[numbers[i]];
            children[by]++;
            logins[by]++;
            grown.most_children = children[by] > grown.most_children ? children[by] : grown.most_children;
            grown.most_logins = logins[by] > grown.most_logins ? logins[by] : grown.most_logins;
        }
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t level = enl_plan_level(&plan, numbers[i]);
            grown.deepest = level > grown.deepest ? level : grown.deepest;
            logins[starter_of[numbers[i]]] = 0;
            enl_plan_met(&plan, numbers[i]);
            enl_plan_up(&plan, numbers[i]);
        }
        grown.up += count;
    }
    free(numbers);
    free(children);
    free(logins);
    return grown;
}

static struct grown grow_all(uint32_t hosts, uint32_t fanout)
{
    make(fanout, hosts);
    for (uint32_t i = 0; i < hosts; i++)
        want(i, false, false);
    const struct grown grown = grow(hosts);
    end();
    return grown;
}

TEST(a_thousand_hosts_are_up_after_five_rounds_and_three_levels_deep)
{
    const struct grown grown = grow_all(1024, 16);
    CHECK_UINT(grown.up, 1024);
    CHECK_UINT(grown.deepest, 3);
    CHECK(grown.rounds <= 5);
    CHECK_UINT(grown.most_children, 16);
    CHECK_UINT(grown.most_logins, ENL_PLAN_AT_ONCE);
}

TEST(rounds_grow_with_the_logarithm_of_the_hosts)
{
    static const struct {
        uint32_t hosts, fanout, levels;
        unsigned rounds;
    } cases[] = {{1, 16, 1, 1},        {8, 16, 1, 1},   {16, 16, 1, 2},   {17, 16, 2, 3},
                 {272, 16, 2, 4},      {273, 16, 3, 5}, {4368, 16, 3, 6}, {10000, 16, 4, 6},
                 {65535, 16, 4, 8},    {6, 2, 2, 2},    {1022, 2, 9, 9},  {10000, 2, 13, 13},
                 {1000, 1000, 1, 125}, {6, 1, 6, 6}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct grown grown = grow_all(cases[i].hosts, cases[i].fanout);
        CHECK_UINT(grown.up, cases[i].hosts);
        CHECK_UINT(grown.deepest, cases[i].levels);
        CHECK(grown.most_children <= cases[i].fanout);
        CHECK(grown.most_logins <= ENL_PLAN_AT_ONCE);
        CHECK(grown.rounds <= cases[i].rounds);
    }
}

TEST(hosts_wanted_one_by_one_fill_the_first_level_first)
{
    make(4, 30);
    for (uint32_t i = 0; i < 20; i++) {
        want(i, false, false);
        const struct grown grown = grow(30);
        CHECK_UINT(grown.up, 1);
        CHECK_UINT(enl_plan_level(&plan, wanted), i < 4 ? 1 : 2);
    }
    end();
}

TEST(one_sshd_has_at_most_eight_logins_under_way)
{
    uint32_t numbers[64];
    make(64, 64);
    for (uint32_t i = 0; i < 20; i++)
        want(i % 2, false, false);
    CHECK_UINT(begin(numbers), 8); /* of one daemon */
    for (uint32_t i = 0; i < 8; i++)
        enl_plan_up(&plan, numbers[i]);
    uint32_t rest[64];
    const uint32_t count = begin(rest);
    uint32_t at_first = 0;
    for (uint32_t i = 0; i < count; i++)
        at_first += rest[i] % 2 == 1; /* of sshd 0 */
    CHECK(at_first <= 8 && count - at_first <= 8);
    end();
}

TEST(hosts_behind_one_sshd_hold_nobody_else_up)
{
    uint32_t numbers[64];
    make(4, 64);
    for (uint32_t i = 0; i < 4; i++)
        want(1, false, false);
    const struct grown grown = grow(64);
    CHECK_UINT(grown.up, 4);
    for (uint32_t i = 0; i < 12; i++)
        want(0, false, false);
    want(1, false, false);
    const uint32_t count = begin(numbers);
    CHECK_UINT(count, 9); /* eight of sshd 0, and the last one */
    CHECK_UINT(numbers[8], wanted);
    end();
}

TEST(what_was_begun_by_a_daemon_that_dies_is_begun_by_another)
{
    uint32_t numbers[16], number, by;
    make(2, 16);
    for (uint32_t i = 0; i < 4; i++)
        want(i, false, false);
    CHECK_UINT(begin(numbers), 2);
    enl_plan_up(&plan, 1);
    CHECK(enl_plan_next(&plan, &number, &by));
    CHECK_UINT(by, 1);
    CHECK(enl_plan_next(&plan, &number, &by));
    CHECK_UINT(by, 1);
    enl_plan_ends(&plan, 1);
    enl_plan_gone(&plan, 3);
    enl_plan_gone(&plan, 4);
    enl_plan_gone(&plan, 1);
    want(2, false, false);
    want(3, false, false);
    CHECK(enl_plan_next(&plan, &number, &by)); /* where the dead one was */
    CHECK_UINT(by, 0);
    CHECK(!enl_plan_next(&plan, &number, &by));
    enl_plan_up(&plan, 2);
    CHECK(enl_plan_next(&plan, &number, &by));
    CHECK_UINT(by, 2);
    end();
}

TEST(a_daemon_that_reaches_nobody_starts_nobody_and_the_root_starts_them_all)
{
    uint32_t number, by;
    make(2, 16);
    want(0, false, false);
    want(1, false, false);
    CHECK_UINT(grow(16).up, 2);
    enl_plan_distrust(&plan, 1, true);
    enl_plan_distrust(&plan, 2, true);
    want(2, false, false);
    CHECK(enl_plan_next(&plan, &number, &by));
    CHECK_UINT(by, 0); /* its third */
    want(3, false, false);
    CHECK(!enl_plan_next(&plan, &number, &by)); /* that third one may reach it */
    enl_plan_up(&plan, 3);
    CHECK(enl_plan_next(&plan, &number, &by));
    CHECK_UINT(by, 3);
    want(4, false, true); /* direct */
    CHECK(enl_plan_next(&plan, &number, &by));
    CHECK_UINT(by, 0);
    enl_plan_distrust(&plan, 3, true);
    want(5, false, false);
    CHECK(!enl_plan_next(&plan, &number, &by));
    enl_plan_distrust(&plan, 1, false);
    CHECK(enl_plan_next(&plan, &number, &by));
    CHECK_UINT(by, 1);
    end();
}

TEST(hosts_of_the_roots_machine_are_started_there)
{
    uint32_t numbers[16], number, by;
    make(2, 16);
    want(0, false, false);
    want(1, true, false);
    CHECK_UINT(grow(16).up, 2);
    for (uint32_t i = 2; i < 5; i++)
        want(i, true, false);
    CHECK_UINT(begin(numbers), 2);
    CHECK_UINT(starter_of[3], 2);
    CHECK_UINT(starter_of[4], 2);
    enl_plan_up(&plan, 3);
    enl_plan_up(&plan, 4);
    CHECK(enl_plan_next(&plan, &number, &by)); /* deeper than it need be for five; so by the root */
    CHECK_UINT(by, 0);
    end();
}

/* Any order of what can happen leaves all hosts up that are still wanted, and the counts right. */
TEST(whatever_happens_everything_wanted_comes_up)
{
    srand(7);
    for (int run = 0; run < 200; run++) {
        enum { MOST = 400 };
        uint32_t begun[MOST], up[MOST], begun_count = 0, up_count = 0, number, by, left = 40;
        make(2 + (uint32_t)rand() % 5, MOST);
        while (left > 0 || begun_count > 0) {
            if (left > 0 && rand() % 3 == 0) {
                want((uint32_t)rand() % 8, rand() % 8 == 0, rand() % 8 == 0);
                left--;
            }
            while (rand() % 4 != 0 && enl_plan_next(&plan, &number, &by)) {
                starter_of[number] = by;
                begun[begun_count++] = number;
            }
            if (begun_count == 0 && enl_plan_next(&plan, &number, &by))
                begun[begun_count++] = number;
            if (begun_count > 0) {
                const uint32_t at = (uint32_t)rand() % begun_count;
                number = begun[at];
                begun[at] = begun[--begun_count];
                if (rand() % 5 == 0 && wanted < MOST - 2) {
                    enl_plan_gone(&plan, number);
                    want((uint32_t)rand() % 8, false, rand() % 2 == 0);
                } else {
                    enl_plan_met(&plan, number);
                    enl_plan_up(&plan, number);
                    up[up_count++] = number;
                }
            }
            if (up_count > 0 && rand() % 20 == 0) {
                const uint32_t at = (uint32_t)rand() % up_count;
                enl_plan_ends(&plan, up[at]);
                enl_plan_gone(&plan, up[at]);
                up[at] = up[--up_count];
            }
            while (rand() % 10 == 0 && up_count > 0)
                enl_plan_distrust(&plan, up[(uint32_t)rand() % up_count], rand() % 2 == 0);
        }
        while (enl_plan_next(&plan, &number, &by)) {
            enl_plan_up(&plan, number);
            up_count++;
        }
        CHECK_UINT(plan.count, up_count);
        CHECK_UINT(plan.coming, 0);
        CHECK_UINT(plan.waiting.first, 0);
        for (uint32_t sshd = 0; sshd < 8; sshd++)
            CHECK_UINT(plan.logins[sshd], 0);
        end();
    }
}
