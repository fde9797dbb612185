/* SPDX-License-Identifier: MIT */
/* See look.h. The stuck CCEs are what is left when all that have a way out have been taken away, again
 * and again: a wait-for graph with alternatives, as in Holt, "Some deadlock properties of computer
 * systems" (1972). */
#include "inspect/look/look.h"

#include <inttypes.h>
#include <stdlib.h>

#include "bcri/cell.h"
#include "bcri/order.h"
#include "bcri/record.h"
#include "bcri/slot.h"
#include "inspect/look/look_private.h"

static struct look_why_cce *find_cce(const struct look_why *why, uint64_t host, uint64_t index)
{
    const struct look_cce *cce = look_view_cce(why->view, host, index);
    return cce != NULL ? &why->cces[cce - why->view->cce.at] : NULL;
}

static bool has_ended(const struct look_cce *cce)
{
    return cce->state == BCRI_CCE_DEAD || cce->state == BCRI_CCE_DYING || cce->state == BCRI_CCE_FREE;
}

static bool is_stopped(const struct look_cce *cce)
{
    return cce->state == BCRI_CCE_ALIVE && (cce->process == 'T' || cce->process == 't');
}

/* Whether it has slept, without a time limit, from the first look to the second. */
static bool sleeps(const struct look_view *before, const struct look_cce *cce)
{
    const struct look_cce *was = look_view_same(before, cce);
    if (before != NULL && (was == NULL || was->slept != cce->slept || was->bell != cce->bell ||
                           was->asleep != cce->asleep || was->holder != cce->holder))
        return false;
    if (cce->state != BCRI_CCE_ALIVE || is_stopped(cce))
        return false;
    return cce->holder != 0 ||
           (cce->asleep == BCRI_SLEEPS_ON_FUTEX && cce->deadline_ns == UINT64_MAX && cce->news == 0);
}

static int by_waiter(const void *left, const void *right)
{
    const struct look_wait *a = *(const struct look_wait *const *)left;
    const struct look_wait *b = *(const struct look_wait *const *)right;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return b->slept > a->slept ? 1 : b->slept < a->slept ? -1 : 0; /* the one it sleeps for comes first */
}

/* Gives each CCE its requests. */
static void assign_waits(struct look_why *why)
{
    const size_t count = why->view->wait.count;
    for (size_t i = 0; i < count; i++)
        why->waits[i] = &why->view->wait.at[i];
    if (count != 0)
        qsort(why->waits, count, sizeof(void *), by_waiter);
    for (size_t i = 0, next; i < count; i = next) {
        const struct look_wait *first = why->waits[i];
        for (next = i; next < count && why->waits[next]->host == first->host &&
                       why->waits[next]->index == first->index;)
            next++;
        struct look_why_cce *one = find_cce(why, first->host, first->index);
        if (one == NULL)
            continue;
        one->waits = &why->waits[i];
        one->wait_count = next - i;
        /* Of several requests it may sleep for any; of one, for the first. */
        if (one->cce->waiting_for == 1)
            one->wait_count = 1;
        if (first->slept == 0)
            one->wait_count = 0;
    }
}

/* The cell's write lock is another's: only that CCE can go on. */
static struct look_why_cce *locker_of(const struct look_why *why, const struct look_wait *wait)
{
    const struct look_cell *cell = look_view_cell(why->view, wait->owner_host, wait->owner, wait->cell);
    if (cell == NULL || cell->locker == 0 || cell->length != 0)
        return NULL;
    struct look_why_cce *locker = find_cce(why, cell->host, cell->locker - 1);
    return locker != NULL && !has_ended(locker->cce) ? locker : NULL;
}

/* Whether every CCE may serve the request, not the cell's owner alone. */
static bool anyone_may(const struct look_why *why, const struct look_wait *wait)
{
    const struct look_cell *cell = look_view_cell(why->view, wait->owner_host, wait->owner, wait->cell);
    const uint64_t kind = cell != NULL ? cell->kind : BCRI_CELL_INOUT;
    return kind == BCRI_CELL_INOUT || kind == (look_wait_is_put(wait) ? BCRI_CELL_OUT : BCRI_CELL_IN);
}

/* What waits for the daemons alone has a way out. */
static bool waits_for_daemons(const struct look_wait *wait)
{
    return wait->want > BCRI_ORDER_WRITE;
}

/* It only looks for regions, and says for which; the daemons have found that no CCE can go on. */
static bool looks_for_ever(const struct look_why *why, const struct look_why_cce *one)
{
    return why->view->standstill && one->note != NULL && one->cce->state == BCRI_CCE_ALIVE &&
           one->cce->idle % 2 != 0;
}

/* Whether another CCE than those that are stuck may exist. */
static bool someone_goes_on(const struct look_why *why)
{
    return why->partial || why->running + why->stopped + why->blocked != 0;
}

static bool can_be_served(const struct look_why *why, const struct look_why_cce *one,
                          const struct look_wait *wait)
{
    const struct look_why_cce *locker = locker_of(why, wait);
    if (why->view->standstill)
        return false;
    if (waits_for_daemons(wait))
        return true;
    if (locker != NULL && locker != one)
        return locker->fate != LOOK_STUCK;
    if (anyone_may(why, wait))
        return someone_goes_on(why);
    const struct look_why_cce *owner = find_cce(why, wait->owner_host, wait->owner);
    return owner == NULL || owner->fate != LOOK_STUCK;
}

static bool has_way_out(const struct look_why *why, const struct look_why_cce *one)
{
    if (one->cce->holder != 0) {
        const struct look_why_cce *holder = find_cce(why, one->cce->host, one->cce->holder - 1);
        return holder == NULL || holder->fate != LOOK_STUCK;
    }
    if (one->named == LOOK_NAMED_CCE)
        return why->cces[one->next].fate != LOOK_STUCK;
    if (one->named != LOOK_NAMED_NONE)
        return one->named == LOOK_NAMED_UNSEEN && !why->view->standstill;
    if (look_sleeps_for(one->cce) != NULL)
        return !why->view->standstill && someone_goes_on(why);
    for (size_t i = 0; i < one->wait_count; i++)
        if (can_be_served(why, one, one->waits[i]))
            return true;
    return false;
}

/* Where a stuck one is counted. */
static size_t *stuck_count(struct look_why *why, const struct look_why_cce *one)
{
    return one->cce->server != 0 ? &why->servers : &why->stuck;
}

/* Takes those away that have a way out, until none has. */
static void find_stuck(struct look_why *why)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < why->count; i++) {
            struct look_why_cce *one = &why->cces[i];
            if (one->fate != LOOK_STUCK || !has_way_out(why, one))
                continue;
            one->fate = LOOK_BLOCKED;
            *stuck_count(why, one) -= 1;
            why->blocked++;
            changed = true;
        }
    }
}

/* The CCE that has put most, of what the traces still have, into the cell of a get. */
static struct look_why_cce *putter_of(const struct look_why *why, const struct look_why_cce *one,
                                      const struct look_wait *wait)
{
    const struct look_told *best = NULL;
    for (size_t i = 0; i < why->view->told.count; i++) {
        const struct look_told *told = &why->view->told.at[i];
        if (told->host == wait->owner_host && told->peer == wait->owner && told->cell == wait->cell &&
            (told->host != one->cce->host || told->index != one->cce->index) &&
            (best == NULL || told->last_ns > best->last_ns))
            best = told;
    }
    struct look_why_cce *putter = best != NULL ? find_cce(why, best->host, best->index) : NULL;
    return putter != NULL && !has_ended(putter->cce) ? putter : NULL;
}

/* Traces do not tell cells of other hosts apart that have one number: their owner is enl there. */
static bool may_be(uint64_t host, uint64_t peer, uint64_t cell, const struct look_wait *wait)
{
    return cell == wait->cell && peer == (host == wait->owner_host ? wait->owner : BCRI_ENL_INDEX);
}

/* The CCE that has put last into the cell of a get, if it has ended since. Whether a CCE of another host has put there later
 * is not known: clocks differ. */
static const struct look_left *left_by(const struct look_why *why, const struct look_wait *wait)
{
    const struct look_left *best = NULL;
    uint64_t since_ns = 0;
    for (size_t i = 0; i < why->view->told.count; i++) {
        const struct look_told *told = &why->view->told.at[i];
        if (!may_be(told->host, told->peer, told->cell, wait))
            continue;
        const struct look_cce *cce = look_view_cce(why->view, told->host, told->index);
        if (cce == NULL || has_ended(cce))
            continue;
        if (told->host != wait->owner_host)
            return NULL;
        if (told->last_ns > since_ns)
            since_ns = told->last_ns;
    }
    for (size_t i = 0; i < why->view->left.count; i++) {
        const struct look_left *left = &why->view->left.at[i];
        if (left->host == wait->owner_host && left->peer == wait->owner && left->cell == wait->cell &&
            left->last_ns >= since_ns && (best == NULL || left->last_ns > best->last_ns))
            best = left;
    }
    return best;
}

/* When it was last served at the cell for which it sleeps, by what its trace still has: a time at which it had not been
 * for as long, at least. 0: never. */
static uint64_t served_ns(const struct look_why *why, const struct look_cce *cce,
                          const struct look_wait *wait)
{
    uint64_t last_ns = cce->traced_ns;
    for (size_t i = 0; i < why->view->told.count && look_wait_is_put(wait); i++) {
        const struct look_told *told = &why->view->told.at[i];
        if (told->host == cce->host && told->index == cce->index && told->last_ns > last_ns &&
            may_be(told->host, told->peer, told->cell, wait))
            last_ns = told->last_ns;
    }
    for (size_t i = 0; i < why->view->got.count && !look_wait_is_put(wait); i++) {
        const struct look_got *got = &why->view->got.at[i];
        if (got->host == cce->host && got->index == cce->index && got->last_ns > last_ns &&
            may_be(got->host, got->peer, got->cell, wait))
            last_ns = got->last_ns;
    }
    return last_ns;
}

/* Time limits are whole milliseconds; it begins to sleep a moment after such a time has begun. */
static uint64_t at_a_time(const struct look_cce *cce)
{
    const uint64_t ms = 1000000;
    return (cce->deadline_ns - cce->since_ns + ms - 1) / ms * ms;
}

/* It sleeps with a time limit, and has done so several times in a row. */
static void look_whether_timed(struct look_why *why, struct look_why_cce *one)
{
    enum { TIMES = 3 };
    const struct look_cce *cce = one->cce;
    const uint64_t now_ns = look_view_now(why->view, cce->host);
    const struct look_wait *wait = look_view_slept_for(why->view, cce);
    if (wait == NULL || cce->deadline_ns == UINT64_MAX || cce->deadline_ns <= cce->since_ns ||
        (look_wait_is_put(wait) ? cce->fulls : cce->timeouts) < TIMES)
        return;
    const uint64_t last_ns = served_ns(why, cce, wait);
    one->at_a_time_ns = at_a_time(cce);
    one->ever = last_ns != 0;
    one->vain_ns = one->ever && now_ns > last_ns ? now_ns - last_ns : 0;
    if (one->ever && one->vain_ns / TIMES < one->at_a_time_ns)
        return;
    one->fate = LOOK_TIMED;
    one->left = look_wait_is_put(wait) ? NULL : left_by(why, wait);
}

/* The CCE that it waits for, most probably: the holder of a lock; the one that its note names; the one that has put into that cell last; the owner,
 * if it is another; the only other CCE. */
static struct look_why_cce *likely_server(const struct look_why *why, struct look_why_cce *one)
{
    struct look_why_cce *other = NULL;
    if (one->cce->holder != 0)
        return find_cce(why, one->cce->host, one->cce->holder - 1);
    if (one->named == LOOK_NAMED_CCE) {
        one->certain = true;
        return &why->cces[one->next];
    }
    if (one->named != LOOK_NAMED_NONE || one->wait_count == 0 ||
        one->cce->server != 0) /* a server waits for all others */
        return NULL;
    const struct look_wait *wait = one->waits[0];
    if ((other = locker_of(why, wait)) != NULL && other != one) {
        one->certain = one->wait_count == 1;
        return other;
    }
    if (!look_wait_is_put(wait) && (other = putter_of(why, one, wait)) != NULL) {
        one->has_put = true;
        return other;
    }
    other = find_cce(why, wait->owner_host, wait->owner);
    if (other != NULL && other != one)
        return other;
    size_t others = 0;
    for (size_t i = 0; why->cces != NULL && i < why->count && anyone_may(why, wait); i++)
        if (&why->cces[i] != one && !has_ended(why->cces[i].cce)) {
            other = &why->cces[i];
            others++;
        }
    return others == 1 ? other : NULL;
}

/* Marks the CCEs that wait for each other in a circle. Each has one successor at most, so a walk that comes back
 * into itself has found one. */
static void mark_cycles(struct look_why *why)
{
    for (size_t i = 0; i < why->count; i++) {
        size_t at = i;
        while (at != SIZE_MAX && why->cces[at].walk == 0 && why->cces[at].fate == LOOK_STUCK) {
            why->cces[at].walk = i + 1;
            at = why->cces[at].next;
        }
        if (at == SIZE_MAX || why->cces[at].fate != LOOK_STUCK || why->cces[at].walk != i + 1)
            continue;
        for (; !why->cces[at].in_cycle; at = why->cces[at].next)
            why->cces[at].in_cycle = true;
    }
}

/* What it says itself. The CCE that it names is its `next` at once. */
static void look_at_note(struct look_why *why, struct look_why_cce *one)
{
    const struct look_cce *named = NULL;
    one->note = look_view_note(why->view, one->cce);
    if (one->note != NULL)
        one->named = look_note_named(why->view, one->note, &named);
    one->next = named != NULL ? (size_t)(named - why->view->cce.at) : SIZE_MAX;
}

bool look_why(const struct look_view *view, struct look_why *why_out)
{
    const size_t count = view->cce.count;
    *why_out = (struct look_why){.view = view,
                                 .count = count,
                                 .partial = view->partial || (view->before != NULL && view->before->partial)};
    why_out->cces = calloc(count + 1, sizeof *why_out->cces);
    why_out->waits = calloc(view->wait.count + 1, sizeof(void *));
    if (why_out->cces == NULL || why_out->waits == NULL) {
        look_why_fini(why_out);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        why_out->cces[i] = (struct look_why_cce){.cce = &view->cce.at[i], .next = SIZE_MAX};
    assign_waits(why_out);
    for (size_t i = 0; i < count; i++) {
        struct look_why_cce *one = &why_out->cces[i];
        const struct look_cce *cce = &view->cce.at[i];
        look_at_note(why_out, one);
        const bool waits = one->wait_count != 0 || cce->holder != 0 || look_sleeps_for(cce) != NULL ||
                           one->named != LOOK_NAMED_NONE;
        const bool blocked = (waits && sleeps(view->before, cce)) || looks_for_ever(why_out, one);
        const bool stopped = is_stopped(cce);
        one->fate = blocked ? LOOK_STUCK : stopped ? LOOK_STOPPED : LOOK_RUNS;
        *stuck_count(why_out, one) += blocked;
        why_out->stopped += stopped;
        why_out->running += !blocked && !stopped && !has_ended(cce);
        if (one->fate == LOOK_RUNS && !has_ended(cce))
            look_whether_timed(why_out, one);
    }
    for (size_t i = 0; i < view->wait.count; i++)
        why_out->in_flight += view->wait.at[i].state == BCRI_SLOT_ORDERED &&
                              look_wait_is_put(&view->wait.at[i]) &&
                              view->wait.at[i].slept == 0; /* else it waits there */
    find_stuck(why_out);
    for (size_t i = 0; i < count; i++) {
        struct look_why_cce *one = &why_out->cces[i];
        if (one->fate != LOOK_STUCK && one->fate != LOOK_BLOCKED) {
            one->next = SIZE_MAX;
            continue;
        }
        const struct look_why_cce *other = likely_server(why_out, one);
        one->next = other != NULL ? (size_t)(other - why_out->cces) : SIZE_MAX;
        if (one->cce->holder == 0 && one->wait_count != 0 && !look_wait_is_put(one->waits[0]))
            one->left = left_by(why_out, one->waits[0]);
    }
    why_out->all_stuck = view->standstill || (!why_out->partial && why_out->stuck != 0 &&
                                              why_out->running + why_out->stopped + why_out->blocked == 0 &&
                                              why_out->in_flight == 0);
    mark_cycles(why_out);
    return true;
}

void look_why_fini(struct look_why *why)
{
    free(why->cces);
    free(why->waits);
    *why = (struct look_why){0};
}
