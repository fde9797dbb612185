/* SPDX-License-Identifier: MIT */
/* How a daemon that another has started begins: it says what machine it is, and waits for `start`
 * (setup.h). It has no loop yet. */
#ifndef ENL_GREETING_H
#define ENL_GREETING_H

#include <stddef.h>
#include <stdint.h>

#include "tree/setup.h"

struct enl_program;

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

#endif
