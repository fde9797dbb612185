/* SPDX-License-Identifier: MIT */
/* A host's log on its way to the root (README.md): this host's side, at its daemon's end. */
#ifndef ENL_LOGS_BRING_H
#define ENL_LOGS_BRING_H

#include <stdbool.h>
#include <stdint.h>

struct enl_carry;
struct bcri_control;

/* The status of a relay_end of relay 0: this host has no log, and has told why when it began. */
enum { ENL_BRING_NO_LOG = 2 };

/* Sends the log to the root if it wants logs, and calls `done` with the owner then: when it is sent, when the root
 * wants no more of it or is gone, or when that takes too long. Nothing that is logged later is sent. */
void enl_bring_log(struct enl_carry *carry, void (*done)(void *owner));
/* relay_window or relay_end of relay 0, of the root. Returns NULL, or what is wrong with it. */
const char *enl_bring_heard(struct enl_carry *carry, const struct bcri_control *message);
/* The root cannot be reached any more. */
void enl_bring_give_up(struct enl_carry *carry);

#endif
