/* SPDX-License-Identifier: MIT */
/* setup.h -- how a daemon and its parent begin: the program's settings, their greeting, the way up. */
#ifndef ENL_SETUP_H
#define ENL_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conductor/child.h"
#include "tree/membership.h"

/* setup.c -- What a child daemon gets from its starter before it does anything: the settings that hold for the
 * whole program, the environment of CCEs, then `start` with the numbers, the working directory, the umask and the
 * soft limits. */

/* Sends all of it to that child's host. The answer to `start` has that id. */
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

/* greeting.c -- How a daemon that another has started begins: it says what machine it is, and waits for `start`
 * (setup.h). It has no loop yet. */

struct enl_greeting {
    int in, out;                /* the pipes to the parent; -1: not, or not any more */
    struct bcri_frames *frames; /* what has been read; secret memory */
    uint8_t *program_key;       /* secret memory */
    uint32_t start_id;          /* of `start`, which is still to be answered */
    struct enl_setup setup;
};

/* Takes stdin and stdout for the pipes, waits for `start`, and does what it says. Returns 0, or -1
 * with a sentence. */
int enl_greeting_await(struct enl_greeting *greeting, struct enl_program *program, char *error,
                       size_t error_size);
/* Wipes and frees the secret memory. */
void enl_greeting_wipe(struct enl_greeting *greeting);

/* uplink.c -- A child daemon's connection to the root: the pipes to it, or, if another daemon has started this one, the control link
 * (introductions.h), beside which the pipes to that one go on carrying what UDP does not, and what those below this one say before
 * they have control links of their own. What follows of what happens to it membership.h decides, and is carried out here:
 * heartbeats, the lease that their answers extend, and the end of this host when that is over or the root is gone. */

/* program->parent is there: its pipes. */
void enl_uplink_open(struct enl_program *program);
/* From now on the control link is the way. Returns NULL, or why it cannot be. */
const char *enl_uplink_go_by_control_link(struct enl_program *program, const struct enl_peer_ops *ops);
void enl_uplink_close(struct enl_program *program);

void enl_uplink_send(struct enl_program *program, const struct bcri_control *message);
/* Calls `done` when all that was sent has come, or cannot any more. */
void enl_uplink_flush(struct enl_program *program, void (*done)(struct enl_program *program));

/* That has happened: what follows of it is carried out. `why`: the reason if the root is lost by it, unless its lease is
 * over. program->parent is NULL afterwards if it is lost. */
void enl_uplink_happens(struct enl_program *program, enum enl_membership_event event, const char *why);
/* An answer to a beat has come. Returns NULL, or what is wrong with it. */
const char *enl_uplink_answered(struct enl_program *program, const struct bcri_control *message);
/* Whether a stop counts that comes by the pipes beside the control link. */
bool enl_uplink_heeds_stop(void);

#endif
