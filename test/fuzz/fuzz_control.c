/* SPDX-License-Identifier: MIT */
/* Any bytes as a control message: what is accepted can be written and read again, to the same
 * message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void must(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct bcri_control message, again;
    uint8_t written[BCRI_CONTROL_BYTES_MAX];
    if (bcri_control_decode(bytes, length, &message) != NULL) {
        must((message.present & ~BCRI_HAS(id)) == 0);
        return 0;
    }
    size_t size = bcri_control_encode(&message, written, sizeof written);
    if (size == 0)
        return 0; /* keys that this type does not have: read, since later versions may send them, never written */
    must(bcri_control_decode(written, size, &again) == NULL);
    must(again.type == message.type && again.present == message.present && again.id == message.id);
    must(again.object.length == message.object.length && again.text.length == message.text.length);
    must(again.text.length == 0 || memcmp(again.text.bytes, message.text.bytes, again.text.length) == 0);
    return 0;
}
