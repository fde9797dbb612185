/* SPDX-License-Identifier: MIT */
/* See line.h. */
#include "bcri/line.h"

#include <string.h>

#include "bcri/archtype.h"
#include "bcri/made.h"
#include "bcri/region.h"

uint32_t bcri_line_next(const struct bcri_printed *printed, uint32_t at)
{
    const uint32_t left = printed->length - at,
                   most = left < BCRI_LINE_BYTES_MAX ? left : BCRI_LINE_BYTES_MAX;
    const uint8_t *newline = most != 0 ? memchr(printed->bytes + at, '\n', most) : NULL;
    return newline != NULL ? (uint32_t)(newline - (printed->bytes + at)) + 1 : most;
}

int bcri_line_new(struct bcri_ctx *ctx, const struct bcri_printed *printed, uint32_t at, uint32_t length,
                  struct bcri_slot_shm **slot_out)
{
    /* The layout of bcrT_1LINE. */
    const int32_t head[3] = {printed->ordinal, printed->stream,
                             length != 0 && printed->bytes[at + length - 1] != '\n'};
    const struct bcri_made made = {.archtype = (uint32_t)bcri_archtype_native(),
                                   .kind = BCRI_KIND_LINE,
                                   .data = head,
                                   .length = sizeof head,
                                   .more = length != 0 ? printed->bytes + at : NULL,
                                   .more_length = length};
    return bcri_made_new(ctx, &made, slot_out);
}
