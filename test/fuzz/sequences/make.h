/* SPDX-License-Identifier: MIT */
/* Control messages out of any bytes: of each type, with keys of a few values that mean something to a daemon, and with
 * mistakes of each kind. */
#ifndef FUZZ_MAKE_H
#define FUZZ_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/control.h"

/* What is left of an input. */
struct feed {
    const uint8_t *at;
    size_t left;
};
/* 0 at its end. */
uint8_t feed_byte(struct feed *feed);

/* Names that messages may have in them. */
struct scene {
    const char *program; /* the daemon's program */
    const char *self;    /* the fuzzer's own file, which plays each part that a daemon starts (parts.h) */
    uint32_t host;       /* the number of the host that is spoken to, or speaks */
};

enum { MADE_MAX = BCRI_CONTROL_BYTES_MAX + 64 };

/* Writes a message of that type, without the head of a frame. Returns its length. */
size_t make_message(struct feed *feed, struct scene *scene, enum bcri_control_type type,
                    uint8_t out[MADE_MAX]);
/* Of any type of `types`, or, seldom, of any at all. */
size_t make_of(struct feed *feed, struct scene *scene, const enum bcri_control_type *types, size_t count,
               uint8_t out[MADE_MAX]);
/* The head of a frame. */
void make_head(uint32_t length, uint8_t out[4]);

#endif
