/* SPDX-License-Identifier: MIT */
/* Waiting for a daemon's answer. One that is stopped never answers; one whose machine has too much to do does, in
 * time. The kernel tells which it is (/proc/PID/stat), so that neither is taken for the other. */
#ifndef ENL_SILENCE_H
#define ENL_SILENCE_H

#include <stdbool.h>

#include "bcri/channel.h"

/* How long a daemon that is not stopped may take. */
#define ENL_PATIENCE_MS 30000u

enum { ENL_SILENCE_TEXT_MAX = 160 };

/* Whether to wait no longer for the daemon at that socket, which has said nothing for so long. */
bool enl_is_silent(int daemon, unsigned waited_ms);
/* "it does not answer; it is stopped: ..." and the like; `daemon` -1: not even its socket lets anybody in.
 * Returns `out`. */
const char *enl_silence(int daemon, char out[ENL_SILENCE_TEXT_MAX]);
/* Receives the next message. Returns what bcri_channel_recv does; -EAGAIN: it is silent. */
int enl_hear(int daemon, struct bcri_incoming *in);

#endif
