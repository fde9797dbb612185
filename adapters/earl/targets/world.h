/* SPDX-License-Identifier: MIT */
/* What a process and EXEC say to each other so that packets can be sent at all: regions of six ints and a CCE, in each one's own
 * representation, which BCR translates. A packet of Earl never begins like one: its kind is in the last byte of its first word.
 *
 *    process             EXEC
 *      HELLO   -->               of a CCE that EXEC has started, or of any other, with the machine's own name behind the ints
 *                 <--   IS       which number that CCE has; its host and who has started it
 *      WHO     -->               which CCE has a number?
 *                 <--   IS       its host, and the CCE, -1: there is none
 *      WHEN    -->               the same, once it has said HELLO, or has ended
 *                 <--   IS
 *                 <--   HERE     to who has started EXEC: its name is given
 *    guard       HERE   -->      it has begun
 *
 * HELLO, WHO and WHEN come into EXEC's inbox, IS into the asker's EARL_CELL_ASK, where it waits: so an answer never lacks room. A guard's HERE comes into EXEC's. */
#ifndef EARL_WORLD_H
#define EARL_WORLD_H

#include <stdbool.h>

#include "who.h"

/* The name of EXEC's inbox, one in a program; and the variable of those that EXEC starts. */
#define EARL_EXEC_NAME      "earl-exec"
#define EARL_WORLD_VARIABLE "EARL_WORLD=exec"

enum {
    EARL_HELLO = 0x45584548,
    EARL_WHO = 0x4558454f,
    EARL_WHEN = 0x45584557,
    EARL_IS = 0x45584549,
    EARL_HERE = 0x45584552
};

struct earl_word {
    int kind;
    int asked;  /* which number WHO or WHEN asks about, and its IS tells of; -1 of HELLO and its IS */
    int number; /* of IS: the process; -1: there is none */
    int host;
    int parent;     /* -1: EXEC has not started it */
    int has_come;   /* it has an inbox, or has ended */
    bcr_cce_id cce; /* who says HELLO, WHO or WHEN; of IS: whom it is about */
};

/* Puts a word, with text behind it. Returns whether it could. */
bool earl_word_put(const struct earl_word *word, const char *text, bcr_cce_id to, int cell);
/* Reads one; false: the region is none. It is not freed. */
bool earl_word_read(bcr_region region, struct earl_word *word);
/* What this machine calls itself. */
void earl_world_host(char *name, size_t room);
/* The text behind it; not terminated, *length bytes. */
const char *earl_word_text(bcr_region region, size_t *length);

#endif
