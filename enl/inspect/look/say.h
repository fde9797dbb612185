/* SPDX-License-Identifier: MIT */
/* How CCEs, cells and times are called in what enl shows of a program. */
#ifndef ENL_LOOK_SAY_H
#define ENL_LOOK_SAY_H

#include <stddef.h>

#include "inspect/look/view.h"

enum { LOOK_NAME_MAX = 192 };

/* "CCE 3", " (pid 12)" if several CCEs have that ordinal, " on alpha" if there are several hosts. Each
 * returns `out`, which has LOOK_NAME_MAX bytes. */
const char *look_say_cce(const struct look_view *view, uint64_t host, uint64_t index, char *out);
/* "host 1 (name)". */
const char *look_say_host(const struct look_view *view, uint64_t number, char *out);
/* "cell 3 of CCE 0". */
const char *look_say_cell(const struct look_view *view, uint64_t host, uint64_t owner, uint64_t cell,
                          char *out);
/* "12.3 s"; "never" if `since_ns` is 0. */
const char *look_say_age(uint64_t now_ns, uint64_t since_ns, char *out);
/* "waits for a region from cell 3 of CCE 0" and the like. */
const char *look_say_wait(const struct look_view *view, const struct look_wait *wait, char *out, size_t size);
/* "waits" (in BCR), "polls" or "sleeps" (outside it), "runs", "stopped" and the like. */
const char *look_say_state(const struct look_cce *cce);
const char *look_say_kind(uint64_t kind);

#endif
