/* SPDX-License-Identifier: MIT */
/* outdone.c -- bcr_outdone, in the root's daemon: a wave through all daemons.
 *
 *   NONE --one asks--> HOSTS --each host has answered, or is lost--> HERE --all of it is written--> NONE
 *                        ^                                                                           |
 *                        +--------------------------- others have asked meanwhile -------------------+
 *
 * Each daemon reads what the pipes of its CCEs hold (drain), and answers behind the output that it sends for it. When all
 * have, this one marks what it has, and answers those that had asked when the wave began. Those that ask while it is under
 * way may have printed behind it: the next one is theirs. */
#include "job/job.h"

#include <stdlib.h>

#include <bcr/error.h>

#include "host/drain.h"
#include "wire/wire.h"

struct enl_printer {
    LIST_ENTRY(enl_printer) entry;
    struct enl_conn *conn; /* gets the answer, to request `id` */
    uint32_t id;
    uint64_t until_ms; /* of the loop's clock; UINT64_MAX: for ever */
    bool in_wave;
};

static void answer(struct enl_printer *printer, int code)
{
    const struct bcri_control reply = {.type = BCRI_MSG_reply,
                                       .present = BCRI_HAS(id) | BCRI_HAS(status),
                                       .id = printer->id,
                                       .status = (uint32_t)code};
    enl_cce_answer(printer->conn, &reply);
    LIST_REMOVE(printer, entry);
    free(printer);
}

static void begin_wave(struct enl_jobs *jobs)
{
    struct enl_outdone *outdone = &jobs->outdone;
    struct enl_printer *printer;
    outdone->number = outdone->number % INT32_MAX + 1;
    outdone->wave = ENL_WAVE_HOSTS;
    LIST_FOREACH (printer, &outdone->printers, entry)
        printer->in_wave = true;
    jobs->ops->drain_others(jobs->self->program, outdone->number);
    enl_drain_read(jobs->here);
    enl_outdone_look(jobs);
}

static void on_written(struct enl_here *here)
{
    struct enl_jobs *jobs = here->self->jobs;
    struct enl_printer *printer = LIST_FIRST(&jobs->outdone.printers), *next;
    jobs->outdone.wave = ENL_WAVE_NONE;
    for (; printer != NULL; printer = next) {
        next = LIST_NEXT(printer, entry);
        if (printer->in_wave)
            answer(printer, 0);
    }
    if (!LIST_EMPTY(&jobs->outdone.printers))
        begin_wave(jobs);
}

void enl_outdone_look(struct enl_jobs *jobs)
{
    if (jobs->outdone.wave != ENL_WAVE_HOSTS || !jobs->ops->others_are_drained(jobs->self->program))
        return;
    jobs->outdone.wave = ENL_WAVE_HERE;
    enl_drain_mark(jobs->here, on_written);
}

static void on_time(uv_timer_t *timer)
{
    struct enl_outdone *outdone = timer->data;
    const uint64_t now_ms = uv_now(timer->loop);
    uint64_t next_ms = UINT64_MAX;
    for (struct enl_printer *printer = LIST_FIRST(&outdone->printers), *next; printer != NULL;
         printer = next) {
        next = LIST_NEXT(printer, entry);
        if (printer->until_ms <= now_ms)
            answer(printer, bcrE_TIMEOUT);
        else if (printer->until_ms < next_ms)
            next_ms = printer->until_ms;
    }
    if (next_ms != UINT64_MAX)
        uv_timer_start(timer, on_time, next_ms - now_ms, 0);
}

const char *enl_outdone_ask(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request)
{
    struct enl_outdone *outdone = &jobs->outdone;
    struct enl_printer *printer = malloc(sizeof *printer);
    const uint64_t now_ms = uv_now(outdone->timer.loop);
    if (printer == NULL) {
        enl_cce_reply(conn, request->id, bcrE_NOMEM, NULL);
        return NULL;
    }
    *printer = (struct enl_printer){.conn = conn, .id = request->id, .until_ms = UINT64_MAX};
    if (request->size < UINT64_MAX - now_ms) /* a millisecond more: the loop's clock is late by up to one */
        printer->until_ms = now_ms + request->size + (request->size != 0);
    LIST_INSERT_HEAD(&outdone->printers, printer, entry);
    if (printer->until_ms != UINT64_MAX)
        uv_timer_start(&outdone->timer, on_time, 0, 0); /* which sets it anew */
    if (outdone->wave == ENL_WAVE_NONE)
        begin_wave(jobs);
    return NULL;
}

void enl_outdone_forget(struct enl_outdone *outdone, const struct enl_conn *conn)
{
    for (struct enl_printer *printer = LIST_FIRST(&outdone->printers), *next; printer != NULL;
         printer = next) {
        next = LIST_NEXT(printer, entry);
        if (printer->conn != conn)
            continue;
        LIST_REMOVE(printer, entry);
        free(printer);
    }
}

void enl_outdone_open(struct enl_outdone *outdone, uv_loop_t *loop)
{
    uv_timer_init(loop, &outdone->timer);
    outdone->timer.data = outdone;
}

void enl_outdone_close(struct enl_outdone *outdone)
{
    for (struct enl_printer *printer; (printer = LIST_FIRST(&outdone->printers)) != NULL;) {
        LIST_REMOVE(printer, entry);
        free(printer);
    }
    uv_close((uv_handle_t *)&outdone->timer, NULL);
}
