/* SPDX-License-Identifier: MIT */
/* starts.c -- the ends of CCEs that a CCE has started (bcr_STARTED), upon those of CCEs that it watches one by one (watches.c).
 *
 * Each CCE whose starter wanted that when it asked for it (BCRI_ENLIST_ENDS) tells so when it ends: to its host's daemon
 * itself, or by a notice to the starter's, behind all that it has ordered there, as to one that watches it. What is left are hosts that are
 * lost, which tell nothing: so the starter's daemon keeps the identities of those that were started elsewhere. They come with the
 * answer to the request, by the tree, and a notice comes by a link, so either may be first:
 *
 *                  identity            notice, or the host is lost
 *     (unknown) -------------> KNOWN -----------------------------> told, forgotten
 *         |     notice              identity
 *         +-------------> OVER -------------------> told, forgotten
 *                           |  the host is lost
 *                           +-------------------> forgotten: no call has said that it was started
 *
 * A CCE is told of only once its identity is known, which names the starter; the notice has but the number of its
 * record, which another CCE may have by now. */
#include "host/host.h"

#include <stdlib.h>
#include <string.h>

#include <bcr/program.h>

struct enl_started {
    struct entry at; /* by host and index */
    LIST_ENTRY(enl_started) of_starter;
    struct enl_cce *starter;   /* NULL: OVER */
    struct bcri_notice notice; /* KNOWN: that its host is lost */
};

static uint64_t key_of(const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    return (uint64_t)bcri_identity_host(identity) << 32 | bcri_identity_index(identity);
}

static struct enl_started *find(const struct enl_here *here, const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    const uint64_t key = key_of(identity);
    struct entry *entry = table_find(&here->starts, key);
    while (entry != NULL &&
           memcmp(((struct enl_started *)entry)->notice.ended, identity, BCRI_IDENTITY_BYTES) != 0)
        entry = table_next(entry->next, key);
    return (struct enl_started *)entry;
}

/* False: no memory, which is reported. */
static bool add(struct enl_here *here, struct enl_cce *starter, const struct bcri_notice *notice)
{
    struct enl_started *started = malloc(sizeof *started);
    if (started == NULL) {
        enl_report(here->self, BCRI_LOG_ERROR,
                   "no memory to note a CCE of another host whose end is to be told");
        return false;
    }
    *started = (struct enl_started){.starter = starter, .notice = *notice};
    bcri_table_add(&here->starts, &started->at, key_of(notice->ended));
    if (starter != NULL)
        LIST_INSERT_HEAD(&starter->starts, started, of_starter);
    return true;
}

static void drop(struct enl_here *here, struct enl_started *started)
{
    bcri_table_remove(&here->starts, &started->at);
    if (started->starter != NULL)
        LIST_REMOVE(started, of_starter);
    free(started);
}

void enl_starts_add(struct enl_cce *cce, const uint8_t *identities, uint32_t count, uint32_t ordinal)
{
    struct enl_here *here = cce->here;
    for (uint32_t i = 0; i < count; i++, identities += BCRI_IDENTITY_BYTES) {
        struct bcri_notice notice = {.ordinal = (int32_t)(ordinal + i), .how = bcr_HOSTLOST};
        struct enl_started *over = find(here, identities);
        memcpy(notice.ended, identities, sizeof notice.ended);
        if (over == NULL) {
            add(here, cce, &notice);
        } else if (over->starter == NULL) {
            enl_watches_started(cce, &over->notice);
            drop(here, over);
        }
    }
    if (count != 0) /* it is told if that host is lost, or is already */
        here->ops->want_host(here->self->program, bcri_identity_host(identities - BCRI_IDENTITY_BYTES));
}

static void tell_starter(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    struct bcri_notice told = enl_watches_notice_of(cce);
    const uint8_t *const origin = cce->origin.identity;
    if (bcri_identity_host(origin) == here->self->host_number) {
        struct enl_cce *starter = enl_cce_of(here, origin);
        if (starter != NULL && starter->life != ENL_OVER)
            enl_watches_started(starter, &told);
        return;
    }
    enl_watches_drop_far(here, &cce->origin, told.ended); /* this notice says both */
    memcpy(told.watcher, origin, sizeof told.watcher);
    told.to_starter = true;
    if (!here->ops->send_notice(here->self->links, &told))
        enl_report(here->self, BCRI_LOG_ERROR, "a CCE on another host is not told of an end here: no memory");
}

void enl_starts_ended(struct enl_cce *cce)
{
    if (cce->tells_starter && cce->here->self->phase == ENL_RUNNING)
        tell_starter(cce);
    enl_watches_ended(cce);
}

/* A notice from another host names the starter by its index alone. A later CCE with that index has not started the one that has
 * ended, so what is noted then is found by nobody. */
static void take_notice(struct enl_here *here, const struct bcri_notice *notice)
{
    struct enl_started *known = find(here, notice->ended);
    const struct enl_cce *starter = enl_cce_at(here, bcri_identity_index(notice->watcher));
    if (known != NULL && known->starter != NULL) {
        enl_watches_started(known->starter, notice);
        drop(here, known);
    } else if (known == NULL && starter != NULL && enl_watches_wants_started(starter)) {
        add(here, NULL, notice);
    }
}

void enl_starts_notice(struct enl_here *here, const struct bcri_notice *notice)
{
    if (notice->to_starter && here->self->phase == ENL_RUNNING && notice->how <= bcr_NEVERUP)
        take_notice(here, notice);
    enl_watches_notice(here, notice);
}

void enl_starts_host_lost(struct enl_here *here, uint32_t host)
{
    uint32_t bucket = 0;
    struct entry *entry = table_walk(&here->starts, &bucket, NULL), *next;
    for (; entry != NULL; entry = next) {
        struct enl_started *started = (struct enl_started *)entry;
        next = table_walk(&here->starts, &bucket, entry);
        if (bcri_identity_host(started->notice.ended) != host)
            continue;
        if (started->starter != NULL && here->self->phase == ENL_RUNNING)
            enl_watches_started(started->starter, &started->notice);
        drop(here, started);
    }
    enl_watches_host_lost(here, host);
}

void enl_starts_forget(struct enl_cce *cce)
{
    struct enl_started *started = LIST_FIRST(&cce->starts), *next;
    for (; started != NULL; started = next) {
        next = LIST_NEXT(started, of_starter);
        drop(cce->here, started);
    }
    enl_watches_forget(cce);
}

void enl_starts_stop(struct enl_here *here)
{
    uint32_t bucket = 0;
    struct entry *entry = table_walk(&here->starts, &bucket, NULL), *next;
    for (; entry != NULL; entry = next) {
        next = table_walk(&here->starts, &bucket, entry);
        free(entry);
    }
    bcri_table_free(&here->starts);
    enl_watches_stop(here);
}
