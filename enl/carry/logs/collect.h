/* SPDX-License-Identifier: MIT */
/* The logs of all hosts in one directory at the root (README.md): the root's side. */
#ifndef ENL_LOGS_COLLECT_H
#define ENL_LOGS_COLLECT_H

#include <stddef.h>

struct bcri_control;
struct enl_child;
struct enl_carry;

/* Opens logdir, if there is one. Returns 0, or -1 with a sentence. */
int enl_collect_open(struct enl_carry *carry, char *error, size_t error_size);
/* Bytes or the end of a host's log: relay_bytes and relay_end of relay 0. Returns NULL, or what is
 * wrong with them. */
const char *enl_collect_take(struct enl_child *child, const struct bcri_control *message);
/* That host is gone. Tells if its log has not come. */
void enl_collect_gone(struct enl_child *child);
/* The root's own log, which is complete now. */
void enl_collect_own(struct enl_carry *carry);

#endif
