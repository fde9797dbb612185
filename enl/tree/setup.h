/* SPDX-License-Identifier: MIT */
/* What a child daemon gets from its starter before it does anything: the settings that hold for the
 * whole program, the environment of CCEs, then `start` with the numbers, the working directory, the
 * umask and the soft limits. */
#ifndef ENL_SETUP_H
#define ENL_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/control.h"
#include "program.h"

struct enl_host;
struct enl_peer;

/* Sends all of it to that child's host. The answer to `start` has that id. */
struct enl_child;
void enl_setup_send(struct enl_child *child, uint32_t id);

/* What has come of an environment; zeroed at first. */
struct enl_setup {
    char *bytes;
    size_t length;
};
/* Takes setting, environ or start; the last makes the others hold. Returns NULL, or what is
 * wrong. */
const char *enl_setup_take(struct enl_setup *setup, struct enl_program *program,
                           const struct bcri_control *message);

#endif
