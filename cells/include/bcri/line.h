/* SPDX-License-Identifier: MIT */
/* Regions of kind bcr_LINE: what a CCE has printed, on its way into a cell of the CCE that started it (bcr_start). The
 * daemons make them: for a cell of its host the worker, for one elsewhere the agent. */
#ifndef BCRI_LINE_H
#define BCRI_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/ctx.h"

struct bcri_slot_shm;

/* Of a part, so that the region has 64 KiB. */
#define BCRI_LINE_BYTES_MAX 65524u

/* Bytes that a CCE has printed to one stream, and the cell into which they go. */
struct bcri_printed {
    uint8_t owner[BCRI_IDENTITY_BYTES]; /* of the cell */
    int cell;
    int32_t ordinal, stream;
    const uint8_t *bytes;
    uint32_t length; /* 0: the stream has ended */
};

/* How many bytes, from `at` on, are the next line, or the next part of one. 0: there is none. */
uint32_t bcri_line_next(const struct bcri_printed *printed, uint32_t at);
/* Makes the region of these `length` bytes, held by the LIVE slot. 0 or a bcrE_ code. */
int bcri_line_new(struct bcri_ctx *ctx, const struct bcri_printed *printed, uint32_t at, uint32_t length,
                  struct bcri_slot_shm **slot_out);

/* What goes into a cell of another host, by the agent (enl/links/agent/lines.c): so many lines of one stream are on their way
 * at once. */
#define BCRI_LINES_WINDOW 16u
struct bcri_lines {
    struct bcri_printed printed;
    uint32_t source;     /* index of the CCE that has printed them, which may have ended */
    _Atomic uint32_t at; /* all bytes before are there; stored by whoever puts them, for any thread */
    int code;            /* when it is over: 0: all are put; else why not, of the first that is not */
    uint32_t left_count;
    struct {
        uint32_t from, to;
    } left[BCRI_LINES_WINDOW + 1]; /* what was not put, in order */
    void *news;                    /* the link thread's: telling needs no memory */
};

#endif
