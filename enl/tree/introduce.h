/* SPDX-License-Identifier: MIT */
/* Introductions: how two hosts of a program get what a link between them needs. Keys and
 * introductions go through the pipes of the tree and nowhere else.
 *
 *   the requester          the root                     the other
 *     |---- want -------->|------- introduce --------->|  which makes its end of the link
 *     |<-- introduced ----|<------- agreed ------------|
 *   makes its end
 *
 * So the other is ready when the requester's first packet comes. The root may be the requester or the other.
 * It introduces two hosts once at a time: a want for a pair that is being introduced is dropped. A
 * want for a host that is not there (any more) is answered with `lost`, which all hosts are sent
 * when one is gone and cannot work on any more.
 *
 * All of this is the loop's. docs/protocol.md, "Introductions", has the messages. */
#ifndef ENL_INTRODUCE_H
#define ENL_INTRODUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/control.h"
#include "program.h"

struct enl_child;

/* Starts the links, and makes this daemon's keys: with the program's (NULL: makes that too), unless
 * it has them. False: a sentence says why there are none. */
bool enl_introduce_begin(struct enl_program *program, const uint8_t *program_key, char *error,
                         size_t error_size);
/* Wipes the keys. */
void enl_introduce_end(struct enl_program *program);

/* An order waits for a link to that host. What comes of it is enl_links_introduce, or
 * bcri_link_thread_lost or bcri_link_thread_unknown if there is no such host. */
void enl_introduce_want(struct enl_program *program, uint32_t host);

/* What a host is called; NULL: this daemon does not know it, or that it is gone. */
const char *enl_introduce_name(const struct enl_program *program, uint32_t host);

/* The root's. What a child says: announce, want, agreed. Returns NULL, or what is wrong with it. */
const char *enl_introduce_of_child(struct enl_child *child, const struct bcri_control *message);
/* That child is gone: all others learn it when its daemon has ended for certain, or its lease is
 * over. */
void enl_introduce_gone(struct enl_program *program, const struct enl_child *child);

/* A child's. Tells the parent this host's public key and addresses. Returns whether it has a backup link (backup.h). */
bool enl_introduce_announce(struct enl_program *program);
/* What the parent says: introduce, introduced, lost. Returns NULL, or what is wrong with it. */
const char *enl_introduce_of_parent(struct enl_program *program, const struct bcri_control *message);

#endif
