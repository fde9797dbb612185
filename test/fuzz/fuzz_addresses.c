/* SPDX-License-Identifier: MIT */
/* Any bytes as a host's addresses: what is read is written again as the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tree/introductions.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct bcri_link_address addresses[BCRI_INTRODUCED_MAX];
    uint8_t again[BCRI_ADDRESSES_BYTES_MAX];
    uint32_t count;
    if (!enl_addresses_read(bytes, length, addresses, &count))
        return 0;
    if (count > BCRI_INTRODUCED_MAX || enl_addresses_write(addresses, count, again) != length ||
        (length != 0 && memcmp(again, bytes, length) != 0))
        abort();
    return 0;
}
