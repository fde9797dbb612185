/* SPDX-License-Identifier: MIT */
/* Any bytes as the header of an order or an answer: what is read is written the same again. The first
 * byte says how long the body is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "links/agent/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct bcri_message message;
    uint8_t again[BCRI_LINK_HEADER_MAX];
    if (length < 1 || length > 1 + BCRI_LINK_HEADER_MAX)
        return 0;
    if (!bcri_message_read(bytes + 1, (uint32_t)length - 1, bytes[0], &message))
        return 0;
    if (bcri_message_write(&message, again) != length - 1)
        abort();
    /* An answer has bytes that say nothing. */
    if (message.kind != BCRI_MESSAGE_ANSWER && memcmp(again, bytes + 1, length - 1) != 0)
        abort();
    return 0;
}
