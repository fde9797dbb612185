/* SPDX-License-Identifier: MIT */
/* See frames.h. */
#include "bcri/frames.h"

#include <stdio.h>
#include <string.h>

/* No byte of the magic word is like its first. So after a byte that does not fit, the word can only
 * begin anew with that byte. */
static const uint8_t magic[BCRI_FRAMES_MAGIC_BYTES + 1] = BCRI_FRAMES_MAGIC;

/* What was read is wiped, since it may have been a key. */
static void wipe_first(struct bcri_frames *frames, size_t bytes)
{
    frames->used -= bytes;
    memmove(frames->bytes, frames->bytes + bytes, frames->used);
    explicit_bzero(frames->bytes + frames->used, bytes);
}

size_t bcri_frames_room(struct bcri_frames *frames, uint8_t **at_out)
{
    wipe_first(frames, frames->taken);
    frames->taken = 0;
    *at_out = frames->bytes + frames->used;
    return sizeof frames->bytes - frames->used;
}

void bcri_frames_came(struct bcri_frames *frames, size_t bytes)
{
    frames->used += bytes;
}

void bcri_frames_greeting(const struct bcri_frames *frames, char *out, size_t size)
{
    size_t end = frames->matched < BCRI_FRAMES_MAGIC_BYTES ? frames->greeting_bytes : 0;
    while (end > 0 && strchr("\r\n \t", frames->greeting[end - 1]) != NULL)
        end--;
    size_t begin = end;
    while (begin > 0 && frames->greeting[begin - 1] != '\n')
        begin--;
    snprintf(out, size, "%.*s", (int)(end - begin), frames->greeting + begin);
}

/* False: the magic word has not come whole. */
static bool skip_greeting(struct bcri_frames *frames)
{
    size_t at = 0;
    while (at < frames->used && frames->matched < BCRI_FRAMES_MAGIC_BYTES) {
        const uint8_t byte = frames->bytes[at++];
        if (frames->greeting_bytes == sizeof frames->greeting)
            memmove(frames->greeting, frames->greeting + 1, --frames->greeting_bytes);
        frames->greeting[frames->greeting_bytes++] = (char)byte;
        if (byte != magic[frames->matched]) {
            frames->skipped += frames->matched;
            frames->matched = 0;
        }
        if (byte == magic[frames->matched])
            frames->matched++;
        else
            frames->skipped++;
        if (frames->skipped > BCRI_FRAMES_GREETING)
            break;
    }
    wipe_first(frames, at);
    return frames->matched == BCRI_FRAMES_MAGIC_BYTES;
}

int bcri_frames_next(struct bcri_frames *frames, struct bcri_control *message_out, const char **wrong_out)
{
    wipe_first(frames, frames->taken);
    frames->taken = 0;
    if (frames->matched < BCRI_FRAMES_MAGIC_BYTES && !skip_greeting(frames)) {
        if (frames->skipped <= BCRI_FRAMES_GREETING)
            return 0;
        *wrong_out = "no enl speaks there";
        return -1;
    }
    if (frames->used < BCRI_FRAME_HEAD_BYTES)
        return 0;
    const uint8_t *head = frames->bytes;
    const uint32_t length =
        (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
    if (length > BCRI_CONTROL_BYTES_MAX) {
        *wrong_out = "longer than a message may be";
        return -1;
    }
    if (frames->used - BCRI_FRAME_HEAD_BYTES < length)
        return 0;
    frames->taken = BCRI_FRAME_HEAD_BYTES + length;
    const char *wrong = bcri_control_decode(frames->bytes + BCRI_FRAME_HEAD_BYTES, length, message_out);
    if (wrong == NULL)
        return 1;
    *wrong_out = wrong;
    return -1;
}

size_t bcri_frame_encode(const struct bcri_control *message, uint8_t *out, size_t capacity)
{
    if (capacity < BCRI_FRAME_HEAD_BYTES)
        return 0;
    const size_t length =
        bcri_control_encode(message, out + BCRI_FRAME_HEAD_BYTES, capacity - BCRI_FRAME_HEAD_BYTES);
    if (length == 0)
        return 0;
    for (unsigned i = 0; i < BCRI_FRAME_HEAD_BYTES; i++)
        out[i] = (uint8_t)(length >> 8 * (BCRI_FRAME_HEAD_BYTES - 1 - i));
    return BCRI_FRAME_HEAD_BYTES + length;
}
