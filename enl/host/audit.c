/* SPDX-License-Identifier: MIT */
/* audit.c -- enl audit: audit.h. A CCE that is inside an operation while the worker walks through
 * the structures holds locks, has an open journal, and is changing counts. So what one look finds
 * need not be wrong: the worker looks again, and only what every look has found is told. What is
 * wrong stays so; what a CCE is at is something else at the next look. */
#include "host/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>

#include "base/grow.h"
#include "base/report.h"
#include "bcri/audit.h"
#include "host/worker.h"
#include "wire/wire.h"

/* Findings: more than a person reads, and less than a socket takes without waiting. Between two looks a
 * CCE that had no processor in the midst of a call gets one. */
enum { FINDINGS_MAX = 50, SENTENCE_MAX = 640, LOOKS_MAX = 8, APART_MSEC = 100 };

/* Keys of findings (bcri/audit.h), ascending once a look is over. */
struct keys {
    uint64_t *at;
    size_t count, room;
};

struct enl_audit {
    struct enl_call call;
    SLIST_ENTRY(enl_audit) entry; /* of those that wait for the agent */
    uint32_t id;
    unsigned count; /* of sentences */
    unsigned looks;
    bool no_memory;
    uint32_t working; /* CCEs that did something meanwhile, or were inside a call; and the agent */
    bool agent_worked;
    uint64_t *before;      /* by index: what each CCE had done at the first look */
    uint32_t records;      /* there were then */
    struct keys last, now; /* what all looks before this one have found; and this one too */
    struct bcri_audit seen;
    char finding[FINDINGS_MAX][SENTENCE_MAX];
};

static void free_audit(struct enl_call *call)
{
    struct enl_audit *audit = (struct enl_audit *)call;
    if (audit == NULL)
        return;
    free(audit->last.at);
    free(audit->now.at);
    free(audit->before);
    free(audit);
}

/* ---- on the worker's thread ---- */

static int compare(const void *a, const void *b)
{
    const uint64_t *const one = a, *const other = b;
    return (*one > *other) - (*one < *other);
}

static void keep_finding(void *arg, const char *sentence)
{
    struct enl_audit *audit = arg;
    struct keys *now = &audit->now;
    const uint64_t key = audit->seen.key;
    if (audit->looks > 1 && bsearch(&key, audit->last.at, audit->last.count, sizeof key, compare) == NULL)
        return;
    if (!enl_grow(&now->at, &now->room, now->count + 1, sizeof *now->at)) {
        audit->no_memory = true;
        return;
    }
    now->at[now->count++] = key;
    if (audit->count < FINDINGS_MAX)
        snprintf(audit->finding[audit->count++], SENTENCE_MAX, "%s", sentence);
}

/* What tells whether a CCE has worked between two calls of this. */
static uint64_t work_of(const struct bcri_record_shm *record)
{
    return bcri_audit_work(record) + bcri_load(&record->bell.bell);
}

static bool is_inside(const struct bcri_record_shm *record)
{
    return bcri_load(&record->journal.op) != 0 || bcri_load(&record->journal.cw_state) != 0;
}

static bool note_work(struct enl_audit *audit, struct bcri_ctx *ctx)
{
    audit->records = bcri_host_records(ctx->host);
    audit->before = calloc(audit->records, sizeof *audit->before);
    for (uint32_t index = 1; audit->before != NULL && index < audit->records; index++) {
        const struct bcri_record_shm *record = bcri_record(ctx, index);
        audit->before[index] = record != NULL ? work_of(record) : 0;
    }
    return audit->before != NULL;
}

/* Counts the CCEs that are not where they were at the first look, or are inside a call. */
static void see_work(struct enl_audit *audit, struct bcri_ctx *ctx)
{
    const uint32_t agent = bcri_load_acquire(&ctx->host->agent);
    audit->working = 0;
    for (uint32_t index = 1; index < bcri_host_records(ctx->host); index++) {
        const struct bcri_record_shm *record = bcri_record(ctx, index);
        const bool worked =
            record != NULL && bcri_load(&record->id.state) != BCRI_CCE_FREE &&
            (index >= audit->records || work_of(record) != audit->before[index] || is_inside(record));
        audit->working += worked && index != agent;
        audit->agent_worked |= worked && index == agent;
    }
}

/* One look, behind all repairs that were queued before. */
static int look_once(struct enl_call *call, struct bcri_ctx *ctx)
{
    struct enl_audit *audit = (struct enl_audit *)call;
    struct keys *now = &audit->now;
    if (audit->before == NULL && !note_work(audit, ctx))
        return bcrE_NOMEM;
    free(audit->last.at);
    audit->last = *now;
    *now = (struct keys){0};
    audit->seen.found = keep_finding;
    audit->seen.arg = audit;
    audit->count = 0;
    audit->looks++;
    const int code = bcri_audit(ctx, &audit->seen);
    if (now->count != 0)
        qsort(now->at, now->count, sizeof *now->at, compare);
    see_work(audit, ctx);
    return audit->no_memory ? bcrE_NOMEM : code;
}

/* ---- on the loop ---- */

static void summary(const struct enl_audit *audit, char *text, size_t size)
{
    const struct bcri_audit *seen = &audit->seen;
    char inside[200] = "No CCE did anything meanwhile";
    if (audit->working != 0 || audit->agent_worked)
        snprintf(inside, sizeof inside,
                 "%" PRIu32
                 " CCE%s%s at work meanwhile, which may be why: look again while the program is quiet, "
                 "or stopped between calls",
                 audit->working, audit->working == 1 ? "" : "s",
                 audit->agent_worked   ? " and the agent were"
                 : audit->working == 1 ? " was"
                                       : " were");
    int used = snprintf(text, size,
                        "%" PRIu64 " regions, %" PRIu64 " of them in cells; %" PRIu64 " gets and %" PRIu64
                        " puts wait; ",
                        seen->regions, seen->queued, seen->waiting_gets, seen->waiting_puts);
    if (audit->now.count == 0)
        snprintf(text + used, size - (size_t)used, "all structures agree");
    else
        snprintf(text + used, size - (size_t)used, "%zu findings, in each of %u looks. %s", audit->now.count,
                 audit->looks, inside);
}

/* Tells it, if the requester is still connected, and frees it. */
static void answer_audit(struct enl_here *here, struct enl_audit *audit, int code)
{
    char text[512];
    struct enl_conn *conn;
    LIST_FOREACH (conn, &here->conns->all, entry)
        if (conn->audit == audit)
            break;
    if (code == 0)
        summary(audit, text, sizeof text);
    else
        snprintf(text, sizeof text, "enl has no memory for an audit");
    enl_log_often(here->self, ENL_OFTEN_AUDIT, "audit: %s", text);
    for (unsigned i = 0; conn != NULL && i < audit->count; i++) {
        struct bcri_control message = {.type = BCRI_MSG_finding,
                                       .present = BCRI_HAS(id) | BCRI_HAS(text),
                                       .id = audit->id,
                                       .text = bcri_view_of(audit->finding[i])};
        enl_conn_send(conn, &message, NULL, 0);
    }
    if (conn != NULL) {
        conn->audit = NULL;
        enl_conn_reply(conn, audit->id, code != 0 || audit->now.count != 0, text);
    }
    free_audit((struct enl_call *)audit);
}

static void on_pause_over(uv_timer_t *timer)
{
    enl_audit_go_on(timer->data);
}

/* The worker has looked: it is looked at again, or is over, and what was found is sent. */
static void take_look(struct enl_here *here, struct enl_call *call, int code)
{
    struct enl_audit *audit = (struct enl_audit *)call;
    if (code != 0 || audit->now.count == 0 || audit->looks == LOOKS_MAX || here->self->phase != ENL_RUNNING) {
        answer_audit(here, audit, code);
        return;
    }
    SLIST_INSERT_HEAD(&here->audits, audit, entry);
    if (!uv_is_active((uv_handle_t *)&here->audit_pause))
        uv_timer_start(&here->audit_pause, on_pause_over, APART_MSEC, 0);
}

static bool have_looked_at(struct enl_here *here, struct enl_audit *audit)
{
    const struct enl_work work = {.kind = ENL_WORK_CALL, .call = &audit->call};
    audit->call = (struct enl_call){look_once, take_look, free_audit};
    return enl_worker_add(here->worker, &work);
}

const char *enl_audit_ask(struct enl_here *here, struct enl_conn *conn, const struct bcri_control *message)
{
    const bool running = here->self->phase == ENL_RUNNING;
    if (conn->audit != NULL)
        return "audit while one is under way";
    struct enl_audit *audit = running ? calloc(1, sizeof *audit) : NULL;
    if (audit != NULL) {
        audit->id = message->id;
        if (here->forgetting != 0)
            SLIST_INSERT_HEAD(&here->audits, audit, entry);
        if (here->forgetting != 0 || have_looked_at(here, audit)) {
            conn->audit = audit;
            return NULL;
        }
    }
    free_audit((struct enl_call *)audit);
    enl_conn_reply(conn, message->id, bcrE_NOMEM,
                   running ? "enl has no memory for an audit" : "the program is not running");
    return NULL;
}

void enl_audit_go_on(struct enl_here *here)
{
    for (struct enl_audit *audit; (audit = SLIST_FIRST(&here->audits)) != NULL && here->forgetting == 0;) {
        SLIST_REMOVE_HEAD(&here->audits, entry);
        if (!have_looked_at(here, audit))
            answer_audit(here, audit, bcrE_NOMEM);
    }
}

void enl_audit_stop(struct enl_here *here)
{
    for (struct enl_audit *audit; (audit = SLIST_FIRST(&here->audits)) != NULL;) {
        SLIST_REMOVE_HEAD(&here->audits, entry);
        free_audit((struct enl_call *)audit);
    }
    uv_close((uv_handle_t *)&here->audit_pause, NULL);
}
