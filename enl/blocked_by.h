/* SPDX-License-Identifier: MIT */
/* Telling a person who holds up others: a CCE that is stopped in the midst of a call keeps the
 * locks that it had then, and nobody may take them away. */
#ifndef ENL_BLOCKED_BY_H
#define ENL_BLOCKED_BY_H

#include <stdint.h>

#include "program.h"

/* CCE `waiter` (or the repair of what it has left) has waited for CCE `holder` for a second. Said
 * on stderr once a minute for each holder; the rest is in the log. */
void enl_blocked_by(struct enl_program *program, uint32_t holder, uint32_t waiter);

#endif
