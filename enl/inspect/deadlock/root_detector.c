/* SPDX-License-Identifier: MIT */
/* See deadlock.h. */
#include "inspect/deadlock/deadlock.h"

#include <stdlib.h>

#include "base/grow.h"

enum { PATIENCE_TICKS = 5 }; /* then all are asked again */

static struct enl_checked_host *find_host(const struct enl_root_detector *root_detector, uint32_t number)
{
    for (size_t i = 0; i < root_detector->count; i++)
        if (root_detector->hosts[i].number == number)
            return &root_detector->hosts[i];
    return NULL;
}

static struct enl_checked_host *add_host(struct enl_root_detector *root_detector, uint32_t number)
{
    if (!enl_grow(&root_detector->hosts, &root_detector->room, root_detector->count + 1,
                  sizeof *root_detector->hosts))
        return NULL;
    root_detector->asking = false;
    root_detector->hosts[root_detector->count] = (struct enl_checked_host){.number = number};
    return &root_detector->hosts[root_detector->count++];
}

bool enl_root_detector_hosts(struct enl_root_detector *root_detector, const uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < root_detector->count; i++)
        root_detector->hosts[i].present = false;
    for (size_t i = 0; i < count; i++) {
        struct enl_checked_host *host = find_host(root_detector, numbers[i]);
        if (host == NULL && (host = add_host(root_detector, numbers[i])) == NULL) {
            root_detector->asking = root_detector->news = false;
            return false;
        }
        host->present = true;
    }
    for (size_t i = 0; i < root_detector->count;) {
        if (root_detector->hosts[i].present) {
            i++;
            continue;
        }
        root_detector->hosts[i] = root_detector->hosts[--root_detector->count];
        root_detector->asking = false;
        root_detector->news = true;
    }
    return true;
}

static bool all_are_still(const struct enl_root_detector *root_detector)
{
    for (size_t i = 0; i < root_detector->count; i++)
        if (!root_detector->hosts[i].told || !root_detector->hosts[i].stillness.still)
            return false;
    return enl_root_detector_count(root_detector) != 0;
}

static enum enl_verdict conclude(struct enl_root_detector *root_detector)
{
    uint64_t who = 0, since = 0;
    for (size_t i = 0; i < root_detector->count; i++) {
        if (!root_detector->hosts[i].answered)
            return ENL_MOVES;
        who += root_detector->hosts[i].stillness.who;
        since += root_detector->hosts[i].stillness.since;
    }
    root_detector->asking = false;
    if (who == root_detector->told_who && since == root_detector->told_since)
        return ENL_MOVES;
    root_detector->told_who = who;
    root_detector->told_since = since;
    return ENL_DEADLOCK;
}

enum enl_verdict enl_root_detector_hear(struct enl_root_detector *root_detector, uint32_t number,
                                        uint32_t round, const struct enl_stillness *stillness)
{
    struct enl_checked_host *host = find_host(root_detector, number);
    if (host == NULL)
        return ENL_MOVES;
    const bool same = host->told && enl_stillness_same(&host->stillness, stillness);
    host->told = true;
    host->stillness = *stillness;
    if (same && root_detector->asking && round == root_detector->round) {
        host->answered = true;
        return conclude(root_detector);
    }
    root_detector->news |= !same;
    root_detector->asking = root_detector->asking && same;
    return ENL_MOVES;
}

enum enl_verdict enl_root_detector_tick(struct enl_root_detector *root_detector)
{
    if (root_detector->asking && ++root_detector->asked_for < PATIENCE_TICKS)
        return ENL_MOVES;
    if ((!root_detector->asking && !root_detector->news) || !all_are_still(root_detector))
        return ENL_MOVES;
    root_detector->news = false;
    root_detector->asking = true;
    root_detector->asked_for = 0;
    root_detector->round = root_detector->round % UINT32_MAX + 1;
    for (size_t i = 0; i < root_detector->count; i++)
        root_detector->hosts[i].answered = false;
    return ENL_ASK;
}

uint32_t enl_root_detector_count(const struct enl_root_detector *root_detector)
{
    uint32_t count = 0;
    for (size_t i = 0; i < root_detector->count; i++)
        count += root_detector->hosts[i].stillness.count;
    return count;
}

void enl_root_detector_fini(struct enl_root_detector *root_detector)
{
    free(root_detector->hosts);
    *root_detector = (struct enl_root_detector){0};
}
