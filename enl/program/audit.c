/* SPDX-License-Identifier: MIT */
/* audit.c -- enl audit: audit.h. A CCE that is inside an operation during the audit holds locks,
 * has an open journal, and is changing counts. What is found then need not be wrong, and the
 * summary says so. */
#include "audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>

#include "bcri/audit.h"
#include "conn.h"
#include "worker.h"

/* More than a person reads, and less than a socket takes without waiting. */
enum { FINDINGS_MAX = 50, SENTENCE_MAX = 256 };

struct enl_audit {
    struct enl_audit *next; /* of those that wait for the agent */
    uint32_t id;
    unsigned count;
    struct bcri_audit seen;
    char finding[FINDINGS_MAX][SENTENCE_MAX];
};

const char *enl_audit_ask(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_program *program = conn->program;
    if (conn->audit != NULL)
        return "audit while one is under way";
    struct enl_work work = {.kind = ENL_WORK_AUDIT, .audit = calloc(1, sizeof *work.audit)};
    if (work.audit != NULL && program->phase == ENL_RUNNING) {
        work.audit->id = message->id;
        if (program->forgetting != 0) {
            work.audit->next = program->audits;
            program->audits = work.audit;
        }
        if (program->forgetting != 0 || enl_worker_add(program->worker, &work)) {
            conn->audit = work.audit;
            return NULL;
        }
    }
    free(work.audit);
    enl_conn_reply(conn, message->id, bcrE_NOMEM,
                   program->phase == ENL_RUNNING ? "enl has no memory for an audit"
                                                 : "the program is not running");
    return NULL;
}

void enl_audit_go_on(struct enl_program *program)
{
    while (program->audits != NULL) {
        struct enl_work work = {.kind = ENL_WORK_AUDIT, .audit = program->audits};
        program->audits = work.audit->next;
        if (enl_worker_add(program->worker, &work))
            continue;
        enl_audit_answer(program, work.audit, bcrE_NOMEM);
        free(work.audit);
    }
}

static void keep(void *arg, const char *sentence)
{
    struct enl_audit *audit = arg;
    if (audit->count < FINDINGS_MAX)
        snprintf(audit->finding[audit->count++], SENTENCE_MAX, "%s", sentence);
}

int enl_audit_perform(struct enl_audit *audit, struct bcri_ctx *ctx)
{
    audit->seen.found = keep;
    audit->seen.arg = audit;
    return bcri_audit(ctx, &audit->seen);
}

static void summary(const struct enl_audit *audit, char *text, size_t size)
{
    const struct bcri_audit *seen = &audit->seen;
    char inside[160];
    snprintf(inside, sizeof inside,
             "%" PRIu64
             " CCEs were inside a call, and what they were at shows up as some: look again while the "
             "program is quiet or stopped between calls",
             seen->inside);
    int used = snprintf(text, size,
                        "%" PRIu64 " regions, %" PRIu64 " of them in cells; %" PRIu64 " gets and %" PRIu64
                        " puts wait; ",
                        seen->regions, seen->queued, seen->waiting_gets, seen->waiting_puts);
    if (seen->findings == 0)
        snprintf(text + used, size - (size_t)used, "all structures agree");
    else
        snprintf(text + used, size - (size_t)used, "%" PRIu64 " findings. %s", seen->findings,
                 seen->inside != 0 ? inside : "No CCE was inside a call");
}

void enl_audit_answer(struct enl_program *program, struct enl_audit *audit, int code)
{
    char text[512];
    struct enl_conn *conn = program->conns;
    while (conn != NULL && conn->audit != audit)
        conn = conn->next;
    if (code == 0)
        summary(audit, text, sizeof text);
    else
        snprintf(text, sizeof text, "enl has no memory for an audit");
    bcri_log_write(&program->log, BCRI_LOG_INFO, "audit: %s", text);
    if (conn == NULL)
        return;
    for (unsigned i = 0; i < audit->count; i++) {
        struct bcri_control message = {.type = BCRI_MSG_finding,
                                       .present = BCRI_HAS(id) | BCRI_HAS(text),
                                       .id = audit->id,
                                       .text = bcri_view_of(audit->finding[i])};
        enl_conn_send(conn, &message, NULL, 0);
    }
    conn->audit = NULL;
    enl_conn_reply(conn, audit->id, code != 0 || audit->seen.findings != 0, text);
}
