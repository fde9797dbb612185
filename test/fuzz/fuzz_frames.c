/* SPDX-License-Identifier: MIT */
/* Any bytes as a stream of frames, cut anywhere: the same messages come whatever the cuts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void must(int holds)
{
    if (!holds)
        abort();
}

/* Reads the stream in pieces of at most `piece` bytes. Returns how many messages came, plus a large
 * number if it is malformed. */
static unsigned read_in_pieces(const uint8_t *bytes, size_t length, size_t piece)
{
    static struct bcri_frames frames;
    struct bcri_control message;
    const char *wrong = NULL;
    unsigned messages = 0;
    memset(&frames, 0, sizeof frames);
    while (length > 0) {
        uint8_t *room;
        size_t size = bcri_frames_room(&frames, &room);
        must(size >= 1);
        size = size < piece ? size : piece;
        size = size < length ? size : length;
        memcpy(room, bytes, size);
        bcri_frames_came(&frames, size);
        bytes += size;
        length -= size;
        int came;
        while ((came = bcri_frames_next(&frames, &message, &wrong)) == 1) {
            must(message.text.length == 0 || message.text.bytes[message.text.length - 1] != '\0');
            messages++;
        }
        if (came < 0) {
            must(wrong != NULL);
            return messages + 1000000;
        }
    }
    return messages;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const unsigned whole = read_in_pieces(bytes, length, SIZE_MAX);
    must(read_in_pieces(bytes, length, 1) == whole);
    must(read_in_pieces(bytes, length, 5) == whole);
    return 0;
}
