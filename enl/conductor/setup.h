/* SPDX-License-Identifier: MIT */
/* setup.h -- how a daemon and its parent begin: the program's settings, their greeting, the way up. */
#ifndef ENL_SETUP_H
#define ENL_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conductor/child.h"

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
 * they have control links of their own. And how long it holds: heartbeats, the lease that their answers extend, and the
 * end of this host when that is over.
 *
 * The lease (lease.h) runs by a clock that also runs while the machine sleeps. When it is over this daemon
 * ends, since its parent may have taken it for lost, a tenth later. While the program is stopped
 * (Ctrl-Z, which is told beforehand) the lease does not run. */

/* program->parent is there. */
void enl_uplink_open(struct enl_program *program);
/* From now on the control link is the way. Returns NULL, or why it cannot be. */
const char *enl_uplink_go_by_control_link(struct enl_program *program, const struct enl_peer_ops *ops);
void enl_uplink_close(struct enl_program *program);

void enl_uplink_send(struct enl_program *program, const struct bcri_control *message);
/* Calls `done` when all that was sent has come, or cannot any more. */
void enl_uplink_flush(struct enl_program *program, void (*done)(struct enl_program *program));

/* An answer to a beat has come. Returns NULL, or what is wrong with it. */
const char *enl_uplink_answered(struct enl_program *program, const struct bcri_control *message);
/* The program is stopped; it goes on. */
void enl_uplink_suspend(struct enl_program *program);
void enl_uplink_go_on(struct enl_program *program);
/* All is to end: beats come more often. */
void enl_uplink_hurry(void);

/* The pipes have ended. Whether this host goes on without them, by its control link. */
bool enl_uplink_leave_pipes(struct enl_program *program);
/* The root is lost, or must not be listened to any more. */
void enl_uplink_lost(struct enl_program *program, const char *why);

#endif
