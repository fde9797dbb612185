/* SPDX-License-Identifier: MIT */
/* Tells a person which CCE holds up others: one that is stopped in the middle of a call keeps the
 * locks that it has, and nobody may take them away. */
#ifndef ENL_BLOCKED_BY_H
#define ENL_BLOCKED_BY_H

#include <stdint.h>

#include "host/host.h"

/* CCE `waiter` (or the repair of what it has left) has waited for CCE `holder` for a second. The
 * daemon says so on stderr, once a minute for each holder, and each time in the log. */
void enl_blocked_by(struct enl_here *here, uint32_t holder, uint32_t waiter);

#endif
