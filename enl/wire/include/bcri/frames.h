/* SPDX-License-Identifier: MIT */
/* Control messages over a stream of bytes, such as the pipes of the command by which one daemon has
 * started another: no records, no descriptors, no credentials.
 *
 *     ... | magic word, 8 bytes | length, 4 bytes, big-endian | message | length | message | ...
 *
 * Each direction begins with the magic word. What comes before it is skipped: shells greet. A
 * message is what a socket carries as one record (control.h).
 *
 * Trust. A length is compared with the limit before anything is read by it. What is malformed ends
 * the stream: there is no way to find the next frame. Nothing here reads, writes or takes memory. */
#ifndef BCRI_FRAMES_H
#define BCRI_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "bcri/control.h"

#define BCRI_FRAMES_MAGIC \
    "\xbc"                \
    "R-tree\x01"
#define BCRI_FRAMES_MAGIC_BYTES 8u
#define BCRI_FRAME_HEAD_BYTES   4u
#define BCRI_FRAME_BYTES_MAX    (BCRI_FRAME_HEAD_BYTES + BCRI_CONTROL_BYTES_MAX)
#define BCRI_FRAMES_GREETING    65536u /* bytes before the magic word, at most */

/* The reading end of one stream. Zeroed at first. */
struct bcri_frames {
    size_t used;      /* bytes that have come and are not taken */
    size_t taken;     /* of them, the frame that the last message lies in */
    uint32_t matched; /* bytes of the magic word; all: frames have begun */
    uint32_t skipped;
    char greeting[256]; /* the last of what came before the magic word, for whom no enl speaks there */
    uint32_t greeting_bytes;
    uint8_t bytes[BCRI_FRAME_BYTES_MAX];
};

/* Where the next bytes belong, and how many of them there may be: at least 1 after
 * bcri_frames_next has returned 0. Ends the life of the last message. */
size_t bcri_frames_room(struct bcri_frames *frames, uint8_t **at_out);
/* So many bytes have come there. */
void bcri_frames_came(struct bcri_frames *frames, size_t bytes);
/* Reads the next message. Returns 1; 0: the bytes that have come hold no more; -1: the stream is
 * malformed, `wrong_out` has a constant sentence. Views of the message point into `frames`, until
 * the next call. */
int bcri_frames_next(struct bcri_frames *frames, struct bcri_control *message_out, const char **wrong_out);

/* The last line that came before the magic word, without blanks at its end; "" once that has come. */
void bcri_frames_greeting(const struct bcri_frames *frames, char *out, size_t size);

/* Writes a frame. Returns its length; 0 as bcri_control_encode. BCRI_FRAME_BYTES_MAX always
 * suffices. */
size_t bcri_frame_encode(const struct bcri_control *message, uint8_t *out, size_t capacity);

#endif
