/* SPDX-License-Identifier: MIT */
/* Where a host can be reached, as daemons tell each other: for each address 4 or 6 (one byte), the
 * port (u16), and the 4 or 16 bytes of the address, one address after the other. */
#ifndef ENL_ADDRESSES_H
#define ENL_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/control.h"
#include "bcri/link_thread.h"

_Static_assert(BCRI_ADDRESSES_BYTES_MAX == BCRI_INTRODUCED_MAX * 19u, "as many as an introduction has");

/* Returns the length. Addresses that nobody else could send to are left out. */
uint32_t enl_addresses_write(const struct bcri_link_address *addresses, uint32_t count,
                             uint8_t out[BCRI_ADDRESSES_BYTES_MAX]);
/* Takes out those of the loopback, which mean another host on another machine. Returns the length. */
uint32_t enl_addresses_drop_loopback(uint8_t *bytes, uint32_t length);
/* False: these bytes are no addresses, or not of single hosts. */
bool enl_addresses_read(const uint8_t *bytes, size_t length,
                        struct bcri_link_address out[BCRI_INTRODUCED_MAX], uint32_t *count_out);

#endif
