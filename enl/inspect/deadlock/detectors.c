/* SPDX-License-Identifier: MIT */
/* detectors.c -- the rules by which a deadlock is found: when a CCE rests, what a host tells, when the root believes it. */
#include "inspect/deadlock/deadlock.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "bcri/atomics.h"
#include "bcri/note.h"

enum { PATIENCE_SECONDS = 5, PATIENCE_TICKS = 5 };

/* The order of the loads counts. `rests` names the sleep and the bell that the CCE has read; `bell`,
 * read later, is still that: it had not been rung; `sleeping` and `sleeps`, read last, are still of that
 * sleep: so the CCE was in it when `bell` was read, and the deadline is that sleep's.
 *
 * A CCE that only looks has another `who` than one that sleeps, so that two looks with equal sums of these have seen each
 * CCE rest in the same way, and the terms of `moves` are of one kind. */
struct enl_rest enl_rest_of(const struct bcri_record_shm *record)
{
    struct enl_rest rest = {0};
    const uint64_t rests = bcri_load_acquire(&record->bell.rests);
    const uint64_t deadline_ns = bcri_load(&record->sleep.deadline_ns);
    const uint64_t waits_for = bcri_load(&record->sleep.waits_for);
    rest.since = bcri_load(&record->sleep.since_ns);
    rest.may_circle = (waits_for >> BCRI_REF_BITS == 1 && bcri_load(&record->id.uses_locks) != 0) ||
                      bcri_note_names(&record->note);
    memcpy(&rest.who, record->id.identity + BCRI_IDENTITY_BYTES - sizeof rest.who, sizeof rest.who);
    atomic_thread_fence(memory_order_acquire);
    const uint32_t bell = bcri_load_acquire(&record->bell.bell);
    const uint32_t sleeping = bcri_load_acquire(&record->bell.sleeping);
    const uint32_t state = bcri_load_acquire(&record->id.state);
    rest.moves = bcri_load_acquire(&record->sleep.sleeps);
    rest.rests = state == BCRI_CCE_ALIVE && sleeping == BCRI_SLEEPS_ON_FUTEX && deadline_ns == UINT64_MAX &&
                 rests == (rest.moves << 32 | bell);
    rest.may_circle = rest.may_circle && rest.rests;
    const uint64_t period = bcri_load_acquire(&record->idle.period);
    rest.server = bcri_load(&record->idle.server) != 0;
    if (rest.rests || state != BCRI_CCE_ALIVE || period % 2 == 0)
        return rest;
    rest.rests = rest.looks = true;
    rest.who = ~rest.who;
    rest.moves = rest.since = period;
    return rest;
}

/* ---- at a host ---- */

static enum enl_host_detector_wants tell_stillness(struct enl_host_detector *detector, uint32_t round,
                                                   const struct enl_stillness *seen)
{
    const bool is_news = seen->still ? !enl_stillness_same(seen, &detector->last) : detector->last.still;
    detector->pending = 0;
    detector->round = round;
    detector->last = *seen;
    return round != 0 || is_news ? ENL_HOST_DETECTOR_TELL : ENL_HOST_DETECTOR_NOTHING;
}

enum enl_host_detector_wants enl_host_detector_second(struct enl_host_detector *detector,
                                                      const struct enl_stillness *seen)
{
    if (detector->pending != 0 && detector->patience-- != 0)
        return ENL_HOST_DETECTOR_NOTHING;
    detector->pending = 0;
    if (!seen->still)
        return tell_stillness(detector, 0, seen);
    if (detector->last.still && seen->who == detector->last.who && seen->moves == detector->last_sleeps)
        return ENL_HOST_DETECTOR_NOTHING;
    return ENL_HOST_DETECTOR_LOOK;
}

enum enl_host_detector_wants enl_host_detector_look(struct enl_host_detector *detector, uint32_t round,
                                                    const struct enl_stillness *seen, unsigned answers)
{
    detector->last_sleeps = seen->moves;
    detector->pending = seen->still ? answers : 0;
    if (detector->pending == 0)
        return tell_stillness(detector, round, seen);
    detector->patience = PATIENCE_SECONDS;
    detector->question = detector->question % UINT32_MAX + 1;
    detector->round = round;
    detector->seen = *seen;
    return ENL_HOST_DETECTOR_ASK;
}

enum enl_host_detector_wants enl_host_detector_answer(struct enl_host_detector *detector, uint32_t question,
                                                      bool quiet, uint64_t messages)
{
    if (detector->pending == 0 || question != detector->question)
        return ENL_HOST_DETECTOR_NOTHING;
    detector->seen.still = quiet;
    detector->seen.moves += messages;
    if (quiet && --detector->pending != 0)
        return ENL_HOST_DETECTOR_NOTHING;
    const struct enl_stillness seen = detector->seen;
    return tell_stillness(detector, detector->round, &seen);
}

/* ---- at the root ---- */

static struct enl_checked_host *find_host(const struct enl_root_detector *detector, uint32_t number)
{
    for (size_t i = 0; i < detector->count; i++)
        if (detector->hosts[i].number == number)
            return &detector->hosts[i];
    return NULL;
}

static struct enl_checked_host *add_host(struct enl_root_detector *detector, uint32_t number)
{
    if (!enl_grow(&detector->hosts, &detector->room, detector->count + 1, sizeof *detector->hosts))
        return NULL;
    detector->asking = false;
    detector->hosts[detector->count] = (struct enl_checked_host){.number = number};
    return &detector->hosts[detector->count++];
}

bool enl_root_detector_hosts(struct enl_root_detector *detector, const uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < detector->count; i++)
        detector->hosts[i].present = false;
    for (size_t i = 0; i < count; i++) {
        struct enl_checked_host *host = find_host(detector, numbers[i]);
        if (host == NULL && (host = add_host(detector, numbers[i])) == NULL) {
            detector->asking = detector->news = false;
            return false;
        }
        host->present = true;
    }
    for (size_t i = 0; i < detector->count;) {
        if (detector->hosts[i].present) {
            i++;
            continue;
        }
        detector->hosts[i] = detector->hosts[--detector->count];
        detector->asking = false;
        detector->news = true;
    }
    return true;
}

static bool all_are_still(const struct enl_root_detector *detector)
{
    for (size_t i = 0; i < detector->count; i++)
        if (!detector->hosts[i].told || !detector->hosts[i].stillness.still)
            return false;
    return enl_root_detector_count(detector) != 0;
}

static enum enl_verdict conclude(struct enl_root_detector *detector)
{
    uint64_t who = 0, since = 0;
    for (size_t i = 0; i < detector->count; i++) {
        if (!detector->hosts[i].answered)
            return ENL_MOVES;
        who += detector->hosts[i].stillness.who;
        since += detector->hosts[i].stillness.since;
    }
    detector->asking = false;
    if (who == detector->told_who && since == detector->told_since)
        return ENL_MOVES;
    detector->told_who = who;
    detector->told_since = since;
    return ENL_DEADLOCK;
}

enum enl_verdict enl_root_detector_hear(struct enl_root_detector *detector, uint32_t number, uint32_t round,
                                        const struct enl_stillness *stillness)
{
    struct enl_checked_host *host = find_host(detector, number);
    if (host == NULL)
        return ENL_MOVES;
    const bool same = host->told && enl_stillness_same(&host->stillness, stillness);
    host->told = true;
    host->stillness = *stillness;
    if (same && detector->asking && round == detector->round) {
        host->answered = true;
        return conclude(detector);
    }
    detector->news |= !same;
    detector->asking = detector->asking && same;
    return ENL_MOVES;
}

enum enl_verdict enl_root_detector_tick(struct enl_root_detector *detector)
{
    if (detector->asking && ++detector->asked_for < PATIENCE_TICKS)
        return ENL_MOVES;
    if ((!detector->asking && !detector->news) || !all_are_still(detector))
        return ENL_MOVES;
    detector->news = false;
    detector->asking = true;
    detector->asked_for = 0;
    detector->round = detector->round % UINT32_MAX + 1;
    for (size_t i = 0; i < detector->count; i++)
        detector->hosts[i].answered = false;
    return ENL_ASK;
}

uint32_t enl_root_detector_count(const struct enl_root_detector *detector)
{
    uint32_t count = 0;
    for (size_t i = 0; i < detector->count; i++)
        count += detector->hosts[i].stillness.count;
    return count;
}

bool enl_root_detector_servers(const struct enl_root_detector *detector)
{
    bool servers = false;
    for (size_t i = 0; i < detector->count; i++)
        servers |= detector->hosts[i].stillness.servers;
    return servers;
}

void enl_root_detector_fini(struct enl_root_detector *detector)
{
    free(detector->hosts);
    *detector = (struct enl_root_detector){0};
}
