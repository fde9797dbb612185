/* SPDX-License-Identifier: MIT */
/* See deadlock.h. */
#include "inspect/deadlock/deadlock.h"

#include <stdlib.h>

#include "base/grow.h"

enum { PATIENCE_TICKS = 5 }; /* then all are asked again */

static struct enl_judged_host *find_host(const struct enl_judge *judge, uint32_t number)
{
    for (size_t i = 0; i < judge->count; i++)
        if (judge->hosts[i].number == number)
            return &judge->hosts[i];
    return NULL;
}

static struct enl_judged_host *add_host(struct enl_judge *judge, uint32_t number)
{
    if (!enl_grow(&judge->hosts, &judge->room, judge->count + 1, sizeof *judge->hosts))
        return NULL;
    judge->asking = false;
    judge->hosts[judge->count] = (struct enl_judged_host){.number = number};
    return &judge->hosts[judge->count++];
}

bool enl_judge_hosts(struct enl_judge *judge, const uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < judge->count; i++)
        judge->hosts[i].present = false;
    for (size_t i = 0; i < count; i++) {
        struct enl_judged_host *host = find_host(judge, numbers[i]);
        if (host == NULL && (host = add_host(judge, numbers[i])) == NULL) {
            judge->asking = judge->news = false;
            return false;
        }
        host->present = true;
    }
    for (size_t i = 0; i < judge->count;) {
        if (judge->hosts[i].present) {
            i++;
            continue;
        }
        judge->hosts[i] = judge->hosts[--judge->count];
        judge->asking = false;
        judge->news = true;
    }
    return true;
}

static bool all_are_still(const struct enl_judge *judge)
{
    for (size_t i = 0; i < judge->count; i++)
        if (!judge->hosts[i].told || !judge->hosts[i].stillness.still)
            return false;
    return enl_judge_count(judge) != 0;
}

static enum enl_verdict conclude(struct enl_judge *judge)
{
    uint64_t who = 0, since = 0;
    for (size_t i = 0; i < judge->count; i++) {
        if (!judge->hosts[i].answered)
            return ENL_MOVES;
        who += judge->hosts[i].stillness.who;
        since += judge->hosts[i].stillness.since;
    }
    judge->asking = false;
    if (who == judge->told_who && since == judge->told_since)
        return ENL_MOVES;
    judge->told_who = who;
    judge->told_since = since;
    return ENL_DEADLOCK;
}

enum enl_verdict enl_judge_hear(struct enl_judge *judge, uint32_t number, uint32_t round,
                                const struct enl_stillness *stillness)
{
    struct enl_judged_host *host = find_host(judge, number);
    if (host == NULL)
        return ENL_MOVES;
    const bool same = host->told && enl_stillness_same(&host->stillness, stillness);
    host->told = true;
    host->stillness = *stillness;
    if (same && judge->asking && round == judge->round) {
        host->answered = true;
        return conclude(judge);
    }
    judge->news |= !same;
    judge->asking = judge->asking && same;
    return ENL_MOVES;
}

enum enl_verdict enl_judge_tick(struct enl_judge *judge)
{
    if (judge->asking && ++judge->asked_for < PATIENCE_TICKS)
        return ENL_MOVES;
    if ((!judge->asking && !judge->news) || !all_are_still(judge))
        return ENL_MOVES;
    judge->news = false;
    judge->asking = true;
    judge->asked_for = 0;
    judge->round = judge->round % UINT32_MAX + 1;
    for (size_t i = 0; i < judge->count; i++)
        judge->hosts[i].answered = false;
    return ENL_ASK;
}

uint32_t enl_judge_count(const struct enl_judge *judge)
{
    uint32_t count = 0;
    for (size_t i = 0; i < judge->count; i++)
        count += judge->hosts[i].stillness.count;
    return count;
}

void enl_judge_fini(struct enl_judge *judge)
{
    free(judge->hosts);
    *judge = (struct enl_judge){0};
}
