/* SPDX-License-Identifier: MIT */
/* cell_lines.c -- what a CCE prints, if it goes into a cell of the CCE that has started it (bcr_start).
 *
 * A stream's pipe is read by batches of up to 64 KiB, and not again before all lines of the last batch are in the cell. So
 * a full cell stops the reading, then the writer, and nobody else:
 *
 *   the cell is     who puts the lines
 *   on this host    the worker, one after the other; one that finds no room waits at the cell like any put, and its piece of work
 *                   is parked until who makes the room rings (host/worker.h)
 *   elsewhere       the agent, some at a time (links/agent/lines.c)
 *
 * A batch that fills its room ends with the last whole line there; what is behind it begins the next one. So only a line that
 * is longer than a region, or that was not there with its newline when the pipe was read, comes in parts.
 *
 * Once a line could not be put (the cell is gone, its owner or its host has ended, there is no memory), it, and all that
 * the CCE prints from then on, goes where the lines of other CCEs go. A CCE that has ended counts as alive (struct enl_here) until
 * what it had printed before has come somewhere, so that the program's end cannot overtake it. While a program ends that was ended by force
 * nothing is put into cells any more: no CCE will look there, and what killed ones held is not repaired.
 *
 * If this host alone is taken out of the program (bcr_hostdel), the owners of cells on other hosts live on. Then the agent sends no
 * further line, and this daemon ends no sooner than it knows of each line that was sent whether its owner's host has it: a round trip
 * each, since a line that waits there for room is as good as put. All others are shown, so each comes once. That is waited for until
 * hosttimeout is over, when an owner's host that has not answered counts as lost. Then, as at an end by force, what had been answered
 * is not shown again; of what had not been (BCRI_LINES_WINDOW lines of a stream) some may come twice. Owners on this host end with it. */
#include "host/host.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bcr.h>

#include "base/watch.h"
#include "bcri/act.h"
#include "bcri/cces.h"
#include "bcri/drop.h"
#include "bcri/line.h"
#include "host/worker.h"

struct enl_batch {
    struct enl_call call; /* the worker's */
    LIST_ENTRY(enl_batch) entry;
    struct enl_stream *stream; /* NULL: it is not waited for any more */
    size_t rest;               /* bytes behind those of `lines`: they come with the next reading */
    size_t owed; /* how many of all were printed before the CCE's end; 1 if the stream's end was, too */
    struct bcri_lines lines;
    /* The worker's: what comes behind the next line, what holds that, what waits with it. */
    uint32_t next;
    bool ended_put;
    struct bcri_slot_shm *region, *waits;
    uint8_t bytes[BCRI_LINE_BYTES_MAX];
};

/* ---- on the worker's thread ---- */

/* The next line is put, or whatever ends the stream. */
static void advance(struct enl_batch *batch)
{
    atomic_store(&batch->lines.at, batch->next);
    batch->ended_put = true;
}

/* Puts one line, which has its region. */
static struct bcri_acted put_line(struct enl_batch *batch, struct bcri_ctx *ctx)
{
    const struct bcri_printed *printed = &batch->lines.printed;
    const uint64_t key = bcri_resolved_key(bcri_cce_find(ctx, printed->owner), printed->cell);
    struct bcri_acted acted = bcri_act_put(ctx, key, false, batch->region);
    if (acted.error == bcrE_FULL)
        acted = bcri_act_put_waiting(ctx, key, false, batch->region, &batch->waits);
    if (acted.outcome == BCRI_ACT_FAILED)
        bcri_slot_drop(ctx, batch->region);
    if (acted.outcome != BCRI_ACT_PARKED)
        batch->region = NULL;
    return acted;
}

static int put_lines(struct enl_call *call, struct bcri_ctx *ctx)
{
    struct enl_batch *batch = (struct enl_batch *)call;
    const struct bcri_printed *printed = &batch->lines.printed;
    struct bcri_acted acted;
    for (;;) {
        if (batch->waits != NULL) {
            acted = bcri_act_put_over(ctx, batch->waits, false);
        } else if (batch->region != NULL) {
            acted = put_line(batch, ctx);
        } else {
            const uint32_t at = atomic_load(&batch->lines.at), length = bcri_line_next(printed, at);
            if (length == 0 && (printed->length != 0 || batch->ended_put))
                return 0;
            const int error = bcri_line_new(ctx, printed, at, length, &batch->region);
            if (error != 0)
                return error;
            batch->next = at + length;
            continue;
        }
        if (acted.outcome == BCRI_ACT_WAITS || acted.outcome == BCRI_ACT_PARKED)
            return bcrE_TIMEOUT;
        batch->waits = NULL;
        if (acted.outcome == BCRI_ACT_FAILED)
            return acted.error;
        advance(batch);
    }
}

/* ---- on the loop ---- */

static void free_batch(struct enl_batch *batch)
{
    LIST_REMOVE(batch, entry);
    free(batch);
}

static void drop_batch(struct enl_call *call)
{
    free_batch((struct enl_batch *)call);
}

/* From now on the CCE's lines go where those of others go. */
static void leave_cell(struct enl_cce *cce, int code)
{
    if (cce->lines_cell != 0 && code != 0)
        bcri_log_write(&cce->here->self->log,
                       code == bcrE_DEAD || code == bcrE_NOCELL ? BCRI_LOG_INFO : BCRI_LOG_WARN,
                       "what %s prints no longer goes into cell %d of the CCE that started it: %s",
                       enl_cce_text(cce), cce->lines_cell, bcr_strerror(code));
    cce->lines_cell = 0;
}

/* The CCE has ended, and none of its lines is waited for any more. What its pipes hold was left there as long as it could come into
 * the cell. */
static void lines_over(struct enl_cce *cce)
{
    if (cce->lines_cell == 0)
        enl_output_drain(cce);
    enl_cce_lines_over(cce);
}

/* The batch is no more. */
static void go_on_reading(struct enl_stream *stream, bool has_ended)
{
    struct enl_cce *cce = stream->cce;
    struct enl_here *here = cce->here;
    stream->batch = NULL;
    if (has_ended)
        enl_output_end(stream);
    else
        enl_watch_pause(stream->watch, false);
    if (cce->life == ENL_OVER)
        lines_over(cce);
    else
        enl_cce_release(cce);
    if (here->lines_halted)
        here->self->ops->something_ended(here->self->program);
}

/* Gives it to whoever puts it. False: no memory. */
static bool send_batch(struct enl_here *here, struct enl_batch *batch)
{
    if (bcri_identity_host(batch->lines.printed.owner) != here->self->host_number)
        return here->ops->send_lines(here->self->links, &batch->lines);
    const struct enl_work work = {.kind = ENL_WORK_CALL, .call = &batch->call};
    return enl_worker_add(here->worker, &work);
}

/* Reads behind what it has. Returns what read(2) does. */
static ssize_t read_behind(struct enl_batch *batch, size_t at)
{
    ssize_t got;
    while ((got = read(batch->stream->watch->fd, batch->bytes + at, sizeof batch->bytes - at)) < 0 &&
           errno == EINTR)
        continue;
    return got;
}

/* It has `at` bytes from before, and `got` new ones; if it is full, those behind the last newline are its rest. */
static void fill(struct enl_batch *batch, size_t at, size_t got)
{
    struct enl_stream *stream = batch->stream;
    const size_t all = at + got;
    const uint8_t *const newline = all == sizeof batch->bytes ? memrchr(batch->bytes, '\n', all) : NULL;
    const size_t length = newline != NULL ? (size_t)(newline - batch->bytes) + 1 : all;
    batch->lines.printed.length = (uint32_t)length;
    batch->rest = all - length;
    batch->owed += got < stream->owed ? got : stream->owed;
    stream->owed -= got < stream->owed ? got : stream->owed;
    if (got != 0)
        enl_output_keep(stream, (const char *)batch->bytes + at, got);
}

/* The rest of a batch that is put begins the next one. False: no memory; it has all that it could get. */
static bool read_on(struct enl_batch *batch)
{
    const size_t length = batch->lines.printed.length, rest = batch->rest;
    memmove(batch->bytes, batch->bytes + length, rest);
    batch->owed = batch->owed > length ? batch->owed - length : 0;
    batch->ended_put = false;
    batch->next = 0;
    atomic_store(&batch->lines.at, 0);
    const ssize_t got = read_behind(batch, rest);
    fill(batch, rest, got > 0 ? (size_t)got : 0);
    if (send_batch(batch->stream->cce->here, batch))
        return true;
    leave_cell(batch->stream->cce, bcrE_NOMEM);
    batch->rest += batch->lines.printed.length;
    batch->lines.printed.length = 0;
    return false;
}

/* What is left of a batch, and of those whose cell is no more, goes where the lines of others go. */
static void take_rest(struct enl_batch *batch, uint32_t from)
{
    const size_t end = batch->lines.printed.length + batch->rest;
    if (from != end)
        enl_output_take(batch->stream, (const char *)batch->bytes + from, end - from);
}

static void finish_batch(struct enl_batch *batch, int code)
{
    struct enl_stream *stream = batch->stream;
    const struct bcri_lines *lines = &batch->lines;
    const bool has_ended = lines->printed.length == 0;
    if (stream != NULL) {
        if (code != 0)
            leave_cell(stream->cce, code);
        for (uint32_t i = 0; i < lines->left_count; i++)
            enl_output_take(stream, (const char *)batch->bytes + lines->left[i].from,
                            lines->left[i].to - lines->left[i].from);
        if (batch->rest != 0 && stream->cce->lines_cell != 0 && read_on(batch))
            return;
        take_rest(batch, lines->printed.length);
    }
    free_batch(batch);
    if (stream != NULL)
        go_on_reading(stream, has_ended);
}

static void on_lines_put(struct enl_here *here, struct enl_call *call, int code)
{
    struct enl_batch *batch = (struct enl_batch *)call;
    const uint32_t at = atomic_load(&batch->lines.at), length = batch->lines.printed.length;
    (void)here;
    batch->lines.left_count = at != length;
    batch->lines.left[0].from = at;
    batch->lines.left[0].to = length;
    finish_batch(batch, code);
}

void enl_cell_lines_put(struct enl_here *here, struct bcri_lines *lines)
{
    (void)here;
    finish_batch((struct enl_batch *)(void *)((char *)lines - offsetof(struct enl_batch, lines)),
                 lines->code);
}

/* NULL: no memory. */
static struct enl_batch *new_batch(struct enl_stream *stream)
{
    const struct enl_cce *cce = stream->cce;
    struct enl_batch *batch = malloc(sizeof *batch);
    if (batch == NULL)
        return NULL;
    memset(batch, 0, offsetof(struct enl_batch, bytes));
    batch->call = (struct enl_call){put_lines, on_lines_put, drop_batch};
    batch->stream = stream;
    batch->lines.source = cce->index;
    batch->lines.printed = (struct bcri_printed){.cell = cce->lines_cell,
                                                 .ordinal = (int32_t)cce->ordinal,
                                                 .stream = stream->fd,
                                                 .bytes = batch->bytes};
    memcpy(batch->lines.printed.owner, cce->origin.identity, sizeof batch->lines.printed.owner);
    LIST_INSERT_HEAD(&cce->here->batches, batch, entry);
    return batch;
}

/* Without memory for a batch the line goes elsewhere; so does the rest. */
void enl_cell_lines_read(struct enl_stream *stream)
{
    struct enl_cce *cce = stream->cce;
    if (stream->batch != NULL)
        return;
    struct enl_batch *batch = new_batch(stream);
    if (batch == NULL) {
        leave_cell(cce, bcrE_NOMEM);
        return;
    }
    const ssize_t got = read_behind(batch, 0);
    if (got < 0 && errno == EAGAIN) {
        free_batch(batch);
        return;
    }
    fill(batch, 0, got > 0 ? (size_t)got : 0);
    if (got <= 0) { /* the stream's end */
        batch->owed = stream->owed != 0;
        stream->owed = 0;
    }
    stream->batch = batch;
    enl_watch_pause(stream->watch, true);
    if (send_batch(cce->here, batch))
        return;
    leave_cell(cce, bcrE_NOMEM); /* the stream's end is read once more */
    stream->batch = NULL;
    take_rest(batch, 0);
    enl_watch_pause(stream->watch, false);
    free_batch(batch);
}

void enl_cell_lines_owe(struct enl_stream *stream)
{
    int bytes = 0;
    if (stream->watch == NULL || ioctl(stream->watch->fd, FIONREAD, &bytes) != 0 || bytes < 0)
        bytes = 0;
    stream->owed = (size_t)bytes;
    if (stream->batch != NULL)
        stream->batch->owed = stream->batch->lines.printed.length + stream->batch->rest + 1;
}

bool enl_cell_lines_behind(const struct enl_stream *stream)
{
    return (stream->cce->lines_cell != 0 && stream->owed != 0) ||
           (stream->batch != NULL && stream->batch->owed != 0);
}

/* What is under way may come into the cell as well, into which nobody looks any more. */
void enl_cell_lines_give_up(struct enl_stream *stream)
{
    struct enl_batch *batch = stream->batch;
    if (batch == NULL)
        return;
    take_rest(batch, atomic_load(&batch->lines.at));
    batch->stream = NULL;
    stream->batch = NULL;
    enl_watch_pause(stream->watch, false);
}

static bool is_under_way(const struct enl_cce *cce)
{
    return cce->output.streams[0].batch != NULL || cce->output.streams[1].batch != NULL;
}

/* Nothing more is put into any cell. Batches on their way to other hosts are waited for, if `waits`; others are given up. */
static void leave_all_cells(struct enl_here *here, bool waits)
{
    struct enl_cce *cce, *next;
    bool any = false;
    TAILQ_FOREACH (cce, &here->all, entry) {
        const bool is_far = bcri_identity_host(cce->origin.identity) != here->self->host_number;
        any |= cce->lines_cell != 0 || is_under_way(cce);
        cce->lines_cell = 0;
        for (int i = 0; i < 2 && !(waits && is_far); i++)
            enl_cell_lines_give_up(&cce->output.streams[i]);
    }
    for (cce = TAILQ_FIRST(&here->all); any && cce != NULL; cce = next) {
        next = TAILQ_NEXT(cce, entry);
        if (cce->life == ENL_OVER && !is_under_way(cce))
            lines_over(cce);
    }
}

void enl_cell_lines_end(struct enl_here *here)
{
    leave_all_cells(here, false);
}

void enl_cell_lines_await_no_more(struct enl_here *here)
{
    here->lines_halted = false;
    uv_timer_stop(&here->lines_limit);
}

static void on_limit(uv_timer_t *timer)
{
    struct enl_here *here = timer->data;
    enl_cell_lines_await_no_more(here);
    here->self->ops->something_ended(here->self->program);
}

void enl_cell_lines_halt(struct enl_here *here)
{
    if (here->lines_halted)
        return;
    here->lines_halted = true;
    uv_timer_start(&here->lines_limit, on_limit, (uint64_t)here->self->config.hosttimeout, 0);
    here->ops->halt_lines(here->self->links);
    leave_all_cells(here, true);
}

bool enl_cell_lines_are_awaited(const struct enl_here *here)
{
    const struct enl_batch *batch;
    LIST_FOREACH (batch, &here->batches, entry)
        if (batch->stream != NULL)
            return here->lines_halted;
    return false;
}

void enl_cell_lines_stop(struct enl_here *here)
{
    struct enl_batch *batch = LIST_FIRST(&here->batches), *next;
    for (; batch != NULL; batch = next) {
        next = LIST_NEXT(batch, entry);
        free(batch);
    }
    LIST_INIT(&here->batches);
}
