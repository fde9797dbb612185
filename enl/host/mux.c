/* SPDX-License-Identifier: MIT */
/* See output.h. The source that has the turn is in no list. The others that want it are in the list of
 * those that wait; they have kept pieces, or their pipe has something to be read. */
#include "host/output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct piece {
    STAILQ_ENTRY(piece) entry;
    struct enl_printed text;
    uint32_t mark; /* of the mux, when it was kept */
    char bytes[];
};

struct enl_source {
    struct enl_mux *mux;
    const struct enl_source_ops *ops;
    void *owner;
    TAILQ_ENTRY(enl_source) entry; /* of those that wait */
    STAILQ_HEAD(, piece) kept;
    bool waits;
    bool in_line; /* the last byte that was passed was no newline */
    bool is_torn; /* others have come between the bytes of that line */
    bool held_up; /* has been told to wait, and not yet that its turn has come */
    bool ended;
};

struct enl_mux {
    const struct enl_mux_ops *ops;
    void *owner;
    struct enl_source *holder; /* has the turn; NULL: none */
    TAILQ_HEAD(, enl_source) waiting;
    uint32_t mark;       /* counts the calls of enl_mux_mark */
    size_t kept, marked; /* pieces that sources have kept; those of them that were there at the last call */
    uv_timer_t timer;    /* ticks of the holder's time, while others wait */
    unsigned ticks;      /* that have counted */
    bool moved;          /* something was passed since the last tick */
    uint64_t tick_ms;
};

/* Of `hold_ms`. */
enum { TICKS = 8 };

static void start_time(struct enl_mux *mux);

/* ---- turns ---- */

static void wait_for_turn(struct enl_source *source)
{
    struct enl_mux *mux = source->mux;
    if (source->waits)
        return;
    source->waits = true;
    TAILQ_INSERT_TAIL(&mux->waiting, source, entry);
    start_time(mux);
}

/* Tells the holder that it may give. */
static void give_turn(struct enl_source *holder)
{
    holder->held_up = false;
    holder->ops->turn(holder->owner);
}

static void pass_text(struct enl_source *source, const struct enl_printed *text)
{
    source->mux->moved = true;
    source->mux->ops->pass(source->mux->owner, text);
    if (!source->ended && source->ops->passed != NULL)
        source->ops->passed(source->owner, text->cost);
}

/* How much of it may be passed in this turn, which ends then if others wait: up to the last newline; all of a line that is torn. */
static size_t part_of_turn(struct enl_source *holder, const struct enl_printed *text, bool *ends_out)
{
    const bool others_wait = !TAILQ_EMPTY(&holder->mux->waiting);
    const char *newline = memrchr(text->bytes, '\n', text->length);
    const size_t length = newline != NULL ? (size_t)(newline - text->bytes) + 1 : 0;
    *ends_out = length == text->length || (length != 0 && others_wait);
    holder->in_line = !*ends_out;
    holder->is_torn &= length == 0;
    if (*ends_out)
        return length;
    *ends_out = others_wait && holder->is_torn;
    return text->length;
}

/* Passes what may be passed of a text of the holder's, and takes that away from it. True: the turn is over. */
static bool pass_part(struct enl_source *holder, struct enl_printed *text)
{
    bool ends;
    const size_t length = part_of_turn(holder, text, &ends);
    struct enl_printed part = *text;
    part.length = length;
    part.cost = length == text->length ? text->cost : length;
    pass_text(holder, &part);
    text->bytes += length;
    text->length -= length;
    text->cost -= part.cost;
    text->goes_on = !ends;
    return ends;
}

static void count_passed(struct enl_mux *mux, const struct piece *piece)
{
    mux->kept--;
    if (piece->mark != mux->mark && --mux->marked == 0)
        mux->ops->marked(mux->owner);
}

/* Passes what the holder has kept. True: the turn is over. */
static bool pass_kept(struct enl_source *holder)
{
    bool over = false;
    for (struct piece *piece; !over && (piece = STAILQ_FIRST(&holder->kept)) != NULL;) {
        over = pass_part(holder, &piece->text);
        if (piece->text.length != 0)
            continue;
        STAILQ_REMOVE_HEAD(&holder->kept, entry);
        count_passed(holder->mux, piece);
        free(piece);
    }
    return over || (STAILQ_EMPTY(&holder->kept) && holder->ended);
}

static void end_turn(struct enl_mux *mux)
{
    struct enl_source *source = mux->holder;
    mux->holder = NULL;
    uv_timer_stop(&mux->timer);
    if (source == NULL)
        return;
    if (!STAILQ_EMPTY(&source->kept) || (source->held_up && !source->ended))
        wait_for_turn(source);
    else if (source->ended)
        free(source);
}

/* Gives turns until a source has one that goes on. */
static void next_turn(struct enl_mux *mux)
{
    for (struct enl_source *holder; mux->holder == NULL && (holder = TAILQ_FIRST(&mux->waiting)) != NULL;) {
        TAILQ_REMOVE(&mux->waiting, holder, entry);
        holder->waits = false;
        mux->holder = holder;
        if (pass_kept(holder)) {
            end_turn(mux);
            continue;
        }
        start_time(mux);
        give_turn(holder);
    }
}

/* A tick counts unless the reader has taken nothing. One that is always behind, but reads, holds up the holder for a
 * part of the time only, and would keep the others waiting for ever if that did not count. */
static void on_tick(uv_timer_t *timer)
{
    struct enl_mux *mux = timer->data;
    if (mux->moved || !mux->ops->full(mux->owner))
        mux->ticks++;
    mux->moved = false;
    if (mux->ticks < TICKS)
        return;
    mux->holder->is_torn = mux->holder->in_line;
    end_turn(mux);
    next_turn(mux);
}

static void start_time(struct enl_mux *mux)
{
    if (mux->holder == NULL || TAILQ_EMPTY(&mux->waiting) || uv_is_active((uv_handle_t *)&mux->timer))
        return;
    const bool at_once = mux->holder->is_torn;
    mux->ticks = at_once ? TICKS - 1 : 0;
    mux->moved = false;
    uv_update_time(mux->timer.loop);
    uv_timer_start(&mux->timer, on_tick, at_once ? 0 : mux->tick_ms, mux->tick_ms);
}

/* ---- a source ---- */

bool enl_source_may_give(struct enl_source *source)
{
    struct enl_mux *mux = source->mux;
    const bool has_turn = mux->holder == source || (mux->holder == NULL && TAILQ_EMPTY(&mux->waiting));
    source->held_up = !has_turn || mux->ops->full(mux->owner);
    if (!has_turn)
        wait_for_turn(source);
    else if (source->held_up)
        mux->holder = source; /* enl_mux_resume gives it the turn */
    return !source->held_up;
}

static bool keep_text(struct enl_source *source, const struct enl_printed *text)
{
    struct piece *piece = malloc(sizeof *piece + text->length);
    if (piece == NULL)
        return false;
    piece->text = *text;
    memcpy(piece->bytes, text->bytes, text->length);
    piece->text.bytes = piece->bytes;
    piece->mark = source->mux->mark;
    source->mux->kept++;
    STAILQ_INSERT_TAIL(&source->kept, piece, entry);
    return true;
}

bool enl_source_give(struct enl_source *source, const struct enl_printed *text)
{
    struct enl_mux *mux = source->mux;
    struct enl_printed rest = *text;
    if (mux->holder == NULL && TAILQ_EMPTY(&mux->waiting))
        mux->holder = source;
    if (mux->holder != source) {
        const bool kept = keep_text(source, text);
        wait_for_turn(source);
        return kept;
    }
    const bool over = pass_part(source, &rest);
    const bool kept = rest.length == 0 || keep_text(source, &rest);
    if (over) {
        end_turn(mux);
        next_turn(mux);
    }
    return kept;
}

void enl_source_end(struct enl_source *source)
{
    struct enl_mux *mux = source->mux;
    source->ended = true;
    if (mux->holder == source) {
        end_turn(mux);
        next_turn(mux);
    } else if (STAILQ_EMPTY(&source->kept)) {
        if (source->waits)
            TAILQ_REMOVE(&mux->waiting, source, entry);
        if (TAILQ_EMPTY(&mux->waiting))
            uv_timer_stop(&mux->timer);
        free(source);
    }
}

struct enl_source *enl_source_new(struct enl_mux *mux, const struct enl_source_ops *ops, void *owner)
{
    struct enl_source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return NULL;
    source->mux = mux;
    source->ops = ops;
    source->owner = owner;
    STAILQ_INIT(&source->kept);
    return source;
}

/* ---- the stream ---- */

void enl_mux_resume(struct enl_mux *mux)
{
    if (mux->holder != NULL && !mux->ops->full(mux->owner))
        give_turn(mux->holder);
}

void enl_mux_mark(struct enl_mux *mux)
{
    mux->mark++;
    mux->marked = mux->kept;
}

bool enl_mux_has_passed(const struct enl_mux *mux)
{
    return mux->marked == 0;
}

struct enl_mux *enl_mux_new(uv_loop_t *loop, unsigned hold_ms, const struct enl_mux_ops *ops, void *owner)
{
    struct enl_mux *mux = calloc(1, sizeof *mux);
    if (mux == NULL)
        return NULL;
    mux->ops = ops;
    mux->owner = owner;
    TAILQ_INIT(&mux->waiting);
    mux->tick_ms = hold_ms / TICKS + 1;
    uv_timer_init(loop, &mux->timer);
    mux->timer.data = mux;
    return mux;
}

static void on_mux_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void enl_mux_close(struct enl_mux *mux)
{
    uv_close((uv_handle_t *)&mux->timer, on_mux_closed);
}
