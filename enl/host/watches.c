/* SPDX-License-Identifier: MIT */
/* watches.c -- who is to be told that a CCE has ended (bcr_watch).
 *
 * A watch is a CCE and a cell of another, the watcher. The watcher's daemon keeps it, and decides alone when it is over; so it
 * is over once, whatever comes together. If the CCE is on another host, that host's daemon keeps who watches there, and tells.
 *
 *   the CCE is      what ends the watch
 *   on this host    the worker has repaired what the CCE left: what that had begun to put is put, or was never
 *   on another      that host's agent has sent a notice, behind all that the CCE has ordered here (links/agent/notice.c); or the
 *                   host is lost
 *   gone already    at once; of another host by a notice too
 *
 * A watch of no CCE (zeros) is one of all that the watcher starts (bcr_STARTED), and never over: starts.c.
 *
 * The end region is put by the worker, into a cell that must still have the generation that it had when it was watched. */
#include "host/host.h"

#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>
#include <bcr/program.h>

#include "bcri/archtype.h"
#include "bcri/bell.h"
#include "bcri/lookup.h"
#include "bcri/made.h"
#include "bcri/notice.h"
#include "bcri/region.h"
#include "host/worker.h"
#include "wire/wire.h"

struct enl_watcher {
    struct entry at; /* by host and index of the CCE that is watched */
    uint8_t watched[BCRI_IDENTITY_BYTES];
    uint8_t watcher[BCRI_IDENTITY_BYTES];
    LIST_ENTRY(enl_watcher) of_watcher; /* the watches of one CCE, or of all of other hosts */
    bcri_ref cell;                      /* BCRI_REF_NONE: the watcher is on another host */
    uint32_t generation;                /* of the cell */
};

static uint64_t key_of(const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    return (uint64_t)bcri_identity_host(identity) << 32 | bcri_identity_index(identity);
}

static bool is_same(const uint8_t one[BCRI_IDENTITY_BYTES], const uint8_t other[BCRI_IDENTITY_BYTES])
{
    return memcmp(one, other, BCRI_IDENTITY_BYTES) == 0;
}

static bool is_here(const struct enl_here *here, const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    return bcri_identity_host(identity) == here->self->host_number;
}

/* Whether it is of all CCEs that the watcher starts. */
static bool is_of_started(const struct enl_watcher *watch)
{
    static const uint8_t none[BCRI_IDENTITY_BYTES];
    return is_same(watch->watched, none);
}

/* The next watch of that CCE behind `watch`, or the first one if that is NULL. */
static struct enl_watcher *next_of(const struct enl_here *here, const struct enl_watcher *watch,
                                   const uint8_t watched[BCRI_IDENTITY_BYTES])
{
    const uint64_t key = key_of(watched);
    struct entry *entry = watch == NULL ? table_find(&here->watches, key) : table_next(watch->at.next, key);
    while (entry != NULL && !is_same(((struct enl_watcher *)entry)->watched, watched))
        entry = table_next(entry->next, key);
    return (struct enl_watcher *)entry;
}

static void drop(struct enl_here *here, struct enl_watcher *watch)
{
    bcri_table_remove(&here->watches, &watch->at);
    LIST_REMOVE(watch, of_watcher);
    free(watch);
}

/* The watch of that CCE for that cell, or for one that was there before it and is gone. */
static struct enl_watcher *find(const struct enl_here *here, const struct enl_watcher *wanted)
{
    struct enl_watcher *watch = next_of(here, NULL, wanted->watched);
    while (watch != NULL && (watch->cell != wanted->cell || !is_same(watch->watcher, wanted->watcher)))
        watch = next_of(here, watch, wanted->watched);
    return watch;
}

/* ---- the end region ---- */

struct end_call {
    struct enl_call call;
    uint32_t index; /* the watcher */
    bcri_ref cell;
    uint32_t generation;
    struct {
        uint8_t identity[BCRI_IDENTITY_BYTES];
        int32_t ordinal, how, number;
    } data; /* the layout of bcrT_1END */
};

/* On the worker's thread. If the cell is gone, so is the watch. */
static int put_end(struct enl_call *call, struct bcri_ctx *ctx)
{
    const struct end_call *end = (const struct end_call *)call;
    const struct bcri_made made = {.archtype = (uint32_t)bcri_archtype_native(),
                                   .kind = BCRI_KIND_END,
                                   .data = &end->data,
                                   .length = sizeof end->data};
    struct bcri_resolved resolved;
    const int looked = bcri_resolved_look(ctx, end->cell, &resolved);
    if (looked == bcrE_NOMEM)
        return looked; /* it may be there, but cannot be mapped */
    if (looked != 0 || resolved.owner != end->index || resolved.open >> 32 != end->generation)
        return 0;
    const int error = bcri_made_put(ctx, &resolved, &made, true);
    if (error == 0)
        bcri_bell_ring(ctx, resolved.record); /* the watcher may sleep in a poll (bcr_wakefd) */
    return error == bcrE_DEAD ? 0 : error;
}

static void free_end(struct enl_call *call)
{
    free(call);
}

static void on_end_put(struct enl_here *here, struct enl_call *call, int code)
{
    if (code != 0)
        enl_report(here->self, BCRI_LOG_ERROR, "a CCE that watches another is not told of its end: %s",
                   bcr_strerror(code));
    free(call);
}

static void tell_watcher(struct enl_here *here, const struct enl_watcher *watch,
                         const struct bcri_notice *notice)
{
    struct end_call *end = malloc(sizeof *end);
    if (end != NULL) {
        *end = (struct end_call){
            .call = {put_end, on_end_put, free_end},
            .index = bcri_identity_index(watch->watcher),
            .cell = watch->cell,
            .generation = watch->generation,
            .data = {.ordinal = notice->ordinal, .how = notice->how, .number = notice->number}};
        memcpy(end->data.identity, notice->ended, sizeof end->data.identity);
        const struct enl_work work = {.kind = ENL_WORK_CALL, .call = &end->call};
        if (enl_worker_add(here->worker, &work))
            return; // cppcheck-suppress memleak ; it is the worker's
        free(end);
    }
    enl_report(here->self, BCRI_LOG_ERROR, "a CCE that watches another is not told of its end: no memory");
}

/* Tells all who watch the CCE from here, or only those of `index`, and from elsewhere. */
static void tell_all(struct enl_here *here, struct bcri_notice *notice, uint32_t index)
{
    struct enl_watcher *watch = next_of(here, NULL, notice->ended), *next;
    for (; watch != NULL; watch = next) {
        next = next_of(here, watch, notice->ended);
        if (index != BCRI_ENL_INDEX && bcri_identity_index(watch->watcher) != index)
            continue;
        memcpy(notice->watcher, watch->watcher, sizeof notice->watcher);
        if (watch->cell != BCRI_REF_NONE)
            tell_watcher(here, watch, notice);
        else if (!here->ops->send_notice(here->self->links, notice))
            enl_report(here->self, BCRI_LOG_ERROR,
                       "a CCE on another host is not told of an end here: no memory");
        drop(here, watch);
    }
}

/* How a CCE of this host has ended. The record says it as long as no other CCE has that. */
static struct bcri_notice notice_of(struct enl_here *here, const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    struct bcri_notice notice = {.ordinal = -1, .how = bcr_UNKNOWN};
    const uint32_t index = bcri_identity_index(identity);
    const struct enl_cce *cce = enl_cce_at(here, index);
    const struct bcri_record_shm *record = bcri_host_record(here->host, index);
    memcpy(notice.ended, identity, sizeof notice.ended);
    if (record == NULL || !is_same(record->id.identity, identity))
        return notice;
    const uint32_t status = bcri_load(&record->id.exit_status);
    notice.ordinal = (int32_t)record->id.ordinal;
    if (cce != NULL && cce->never_up) {
        notice.how = bcr_NEVERUP;
    } else if ((status & (BCRI_EXITED | BCRI_CRASHED)) != 0) {
        notice.how = (status & BCRI_EXITED) != 0 ? bcr_EXITED : bcr_KILLED;
        notice.number = (uint8_t)status;
    }
    return notice;
}

bool enl_watches_wants_started(const struct enl_cce *cce)
{
    const struct enl_watcher *watch = LIST_FIRST(&cce->watches);
    while (watch != NULL && !is_of_started(watch))
        watch = LIST_NEXT(watch, of_watcher);
    return watch != NULL;
}

void enl_watches_started(struct enl_cce *starter, const struct bcri_notice *notice)
{
    struct enl_watcher *watch;
    LIST_FOREACH (watch, &starter->watches, of_watcher) {
        struct enl_watcher single = *watch;
        if (!is_of_started(watch))
            continue;
        memcpy(single.watched, notice->ended, sizeof single.watched);
        if (find(starter->here, &single) == NULL)
            tell_watcher(starter->here, watch, notice);
    }
}

void enl_watches_drop_far(struct enl_here *here, const struct enl_origin *origin,
                          const uint8_t watched[BCRI_IDENTITY_BYTES])
{
    struct enl_watcher wanted = {.cell = BCRI_REF_NONE}, *watch;
    memcpy(wanted.watched, watched, sizeof wanted.watched);
    memcpy(wanted.watcher, origin->identity, sizeof wanted.watcher);
    if (!is_here(here, wanted.watcher) && (watch = find(here, &wanted)) != NULL)
        drop(here, watch);
}

struct bcri_notice enl_watches_notice_of(const struct enl_cce *cce)
{
    return notice_of(cce->here, cce->record->id.identity);
}

void enl_watches_ended(struct enl_cce *cce)
{
    struct bcri_notice notice = enl_watches_notice_of(cce);
    if (cce->here->self->phase == ENL_RUNNING)
        tell_all(cce->here, &notice, BCRI_ENL_INDEX);
}

void enl_watches_notice(struct enl_here *here, const struct bcri_notice *notice)
{
    struct bcri_notice told = *notice;
    if (here->self->phase != ENL_RUNNING || is_here(here, told.ended) || told.how > bcr_NEVERUP)
        return;
    tell_all(here, &told, bcri_identity_index(notice->watcher));
}

/* ---- beginning and ending a watch ---- */

/* Whether that CCE of this host is yet to end, or what it left is yet to be repaired: enl_watches_ended comes. */
static bool will_end(struct enl_here *here, const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    const struct enl_cce *cce = enl_cce_of(here, identity);
    return cce != NULL && (cce->life != ENL_OVER || cce->repairing);
}

/* If that CCE of this host has ended, and enl_watches_ended comes no more: tells those of `index`, or all. */
static void tell_if_over(struct enl_here *here, const uint8_t watched[BCRI_IDENTITY_BYTES], uint32_t index)
{
    struct bcri_notice notice;
    if (will_end(here, watched))
        return;
    notice = notice_of(here, watched);
    tell_all(here, &notice, index);
}

/* NULL: no memory. */
static struct enl_watcher *add(struct enl_here *here, const struct enl_watcher *wanted,
                               struct enl_watchers *list)
{
    struct enl_watcher *watch = malloc(sizeof *watch);
    if (watch == NULL)
        return NULL;
    *watch = *wanted;
    bcri_table_add(&here->watches, &watch->at, key_of(watch->watched));
    LIST_INSERT_HEAD(list, watch, of_watcher);
    return watch;
}

/* Of CCEs of this host all ends are told here; of others their host is asked, or asked no more. */
static void ask_host(struct enl_here *here, const struct enl_watcher *watch, bool begins)
{
    const uint32_t host = bcri_identity_host(watch->watched);
    const struct bcri_control message = {.type = BCRI_MSG_watched,
                                         .present = BCRI_HAS(enlistor) | BCRI_HAS(bytes) | BCRI_HAS(kind),
                                         .enlistor = {(const char *)watch->watched, BCRI_IDENTITY_BYTES},
                                         .bytes = {(const char *)watch->watcher, BCRI_IDENTITY_BYTES},
                                         .kind = begins};
    here->ops->send_to_host(here->self->program, host, &message);
    if (begins)
        here->ops->want_host(here->self->program, host);
}

/* The watcher has no other watch of that CCE. */
static bool is_last_of_watcher(const struct enl_here *here, const struct enl_watcher *watch)
{
    const struct enl_watcher *other = next_of(here, NULL, watch->watched);
    while (other != NULL && (other == watch || !is_same(other->watcher, watch->watcher)))
        other = next_of(here, other, watch->watched);
    return other == NULL;
}

static void end_watch(struct enl_here *here, struct enl_watcher *watch)
{
    if (!is_of_started(watch) && !is_here(here, watch->watched) && is_last_of_watcher(here, watch))
        ask_host(here, watch, false);
    drop(here, watch);
}

/* Returns a bcrE_ code. */
static int begin_watch(struct enl_cce *cce, const struct enl_watcher *wanted)
{
    struct enl_here *here = cce->here;
    if (here->self->phase != ENL_RUNNING)
        return bcrE_ENLIST;
    struct enl_watcher *watch = find(here, wanted);
    if (watch != NULL) { /* the cell that it was for may be gone: so there are no more watches than cells */
        watch->generation = wanted->generation;
        return 0;
    }
    watch = add(here, wanted, &cce->watches);
    if (watch == NULL)
        return bcrE_NOMEM;
    if (is_of_started(watch))
        return 0;
    if (is_here(here, watch->watched))
        tell_if_over(here, wanted->watched, cce->index);
    else
        ask_host(here, watch, true);
    return 0;
}

const char *enl_watches_ask(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_cce *cce = conn->cce;
    struct enl_watcher wanted = {.cell = message->cell, .generation = message->generation}, *watch;
    int code = 0;
    if (message->enlistor.length != BCRI_IDENTITY_BYTES || message->cell == BCRI_REF_NONE)
        return "a watch of no CCE, or for no cell";
    memcpy(wanted.watched, message->enlistor.bytes, sizeof wanted.watched);
    memcpy(wanted.watcher, cce->record->id.identity, sizeof wanted.watcher);
    if (message->kind != 0)
        code = begin_watch(cce, &wanted);
    else if ((watch = find(cce->here, &wanted)) != NULL)
        end_watch(cce->here, watch);
    enl_conn_reply(conn, message->id, code, NULL);
    return NULL;
}

const char *enl_watches_far(struct enl_here *here, const struct bcri_control *message)
{
    struct enl_watcher wanted = {.cell = BCRI_REF_NONE}, *watch;
    if (message->enlistor.length != BCRI_IDENTITY_BYTES || message->bytes.length != BCRI_IDENTITY_BYTES)
        return "a watch of no CCE, or by none";
    memcpy(wanted.watched, message->enlistor.bytes, sizeof wanted.watched);
    memcpy(wanted.watcher, message->bytes.bytes, sizeof wanted.watcher);
    if (is_here(here, wanted.watcher))
        return "a watch by a CCE of this host";
    if (!is_here(here, wanted.watched)) {
        if (here->self->is_child)
            return "a watch of a CCE of another host";
        here->ops->send_to_host(here->self->program, bcri_identity_host(wanted.watched), message);
        return NULL;
    }
    if (here->self->phase != ENL_RUNNING)
        return NULL;
    watch = find(here, &wanted);
    if (message->kind == 0 && watch != NULL)
        drop(here, watch);
    if (message->kind == 0 || watch != NULL)
        return NULL;
    if (add(here, &wanted, &here->far_watches) != NULL)
        tell_if_over(here, wanted.watched, BCRI_ENL_INDEX);
    else
        enl_report(here->self, BCRI_LOG_ERROR, "no memory for a watch of another host's CCE");
    return NULL;
}

/* ---- ends of watchers and hosts ---- */

/* A host may be told more than once that its CCE is watched no more, which does no harm; of watches that began one after the
 * other it is told once. */
void enl_watches_forget(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    const bool tells = here->self->phase == ENL_RUNNING;
    uint8_t told[BCRI_IDENTITY_BYTES] = {0};
    struct enl_watcher *watch = LIST_FIRST(&cce->watches), *next;
    for (; watch != NULL; watch = next) {
        next = LIST_NEXT(watch, of_watcher);
        if (tells && !is_of_started(watch) && !is_here(here, watch->watched) &&
            !is_same(told, watch->watched)) {
            ask_host(here, watch, false);
            memcpy(told, watch->watched, sizeof told);
        }
        drop(here, watch);
    }
}

void enl_watches_host_lost(struct enl_here *here, uint32_t host)
{
    uint32_t bucket = 0;
    struct entry *entry = table_walk(&here->watches, &bucket, NULL), *next;
    for (; entry != NULL; entry = next) {
        struct enl_watcher *watch = (struct enl_watcher *)entry;
        next = table_walk(&here->watches, &bucket, entry);
        const bool is_watched = !is_of_started(watch) && bcri_identity_host(watch->watched) == host;
        if (!is_watched && bcri_identity_host(watch->watcher) != host)
            continue;
        struct bcri_notice notice = {.ordinal = -1, .how = bcr_HOSTLOST};
        memcpy(notice.ended, watch->watched, sizeof notice.ended);
        if (is_watched && here->self->phase == ENL_RUNNING)
            tell_watcher(here, watch, &notice);
        drop(here, watch);
    }
}

void enl_watches_stop(struct enl_here *here)
{
    uint32_t bucket = 0;
    struct entry *entry = table_walk(&here->watches, &bucket, NULL), *next;
    for (; entry != NULL; entry = next) {
        next = table_walk(&here->watches, &bucket, entry);
        free(entry);
    }
    bcri_table_free(&here->watches);
}
