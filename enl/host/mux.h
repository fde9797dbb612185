/* SPDX-License-Identifier: MIT */
/* One stream that several sources share without mixing their lines: the root's stdout or stderr, or what a
 * daemon sends up of either. A source is a pipe of a CCE, or another daemon, which has done the same with its own.
 *
 * What a source gives is passed as it is. A source whose line is unfinished has the turn, so that
 * nothing comes between its bytes; no length ends a turn. It ends
 *
 *   with a newline     if others wait; a line that was begun behind it waits for its next turn
 *   with time          when others have waited for `hold_ms` (to an eighth): the line stays unfinished,
 *                      goes on when its source has the turn again, and nothing is put in. So a CCE that
 *                      waits, in the middle of a line, for another one whose output is held up does not
 *                      wait for ever. Time in which the reader takes nothing does not count
 *   with the source
 *
 * Others wait for their turn in order of arrival. Memory is bounded by what sources give when it is
 * not their turn: a pipe is not read then; a daemon gives no more than its window. */
#ifndef ENL_MUX_H
#define ENL_MUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

/* Bytes that one CCE has printed, in one piece. */
struct enl_printed {
    uint32_t ordinal;
    int fd;       /* 1 or 2 */
    bool root;    /* by the root CCE */
    bool goes_on; /* they begin within a line of that CCE */
    const char *bytes;
    size_t length; /* not 0 */
    size_t cost;   /* of `passed` below */
};

struct enl_mux_ops {
    /* Whether sources should not give more now. enl_mux_resume is called when that is over. */
    bool (*full)(void *owner);
    void (*pass)(void *owner, const struct enl_printed *text);
};

struct enl_source_ops {
    /* The source may give; it is called again when that was not possible for a while. */
    void (*turn)(void *owner);
    /* So much of the cost of what it gave is passed. */
    void (*passed)(void *owner, size_t cost);
};

struct enl_mux;
struct enl_source;

/* NULL: no memory. */
struct enl_mux *enl_mux_new(uv_loop_t *loop, unsigned hold_ms, const struct enl_mux_ops *ops, void *owner);
void enl_mux_resume(struct enl_mux *mux);
/* All its sources have ended. */
void enl_mux_close(struct enl_mux *mux);

/* NULL: no memory. */
struct enl_source *enl_source_new(struct enl_mux *mux, const struct enl_source_ops *ops, void *owner);
/* Whether it should give now. If not, `turn` will be called. */
bool enl_source_may_give(struct enl_source *source);
/* Passes the bytes, or keeps a copy of them until it is the source's turn. False: no memory. */
bool enl_source_give(struct enl_source *source, const struct enl_printed *text);
/* It gives no more; what is kept is passed still. */
void enl_source_end(struct enl_source *source);

#endif
