/* SPDX-License-Identifier: MIT */
/* What the root and one host say to each other by way of daemons that may be lost: each message is
 * numbered, kept until the other side has had it, and sent again when the way has changed. So every
 * message comes exactly once, and in order within its row, whatever the ways do that it takes.
 *
 * There are two rows for each direction, since control overtakes output; each way keeps the order of
 * a row. What comes is taken if it is the next of its row, else dropped: it was there before, or
 * something in front of it was lost with a way, and both come again.
 *
 *   resume (asks)     says what the sender has had, and that it sends nothing numbered until it is
 *                     answered; then what the requester has not had comes again
 *   resume (answers)  says what the sender has had; then what it has not had comes again
 *   beat              says what the sender has had
 *
 * Who changes the way asks on the new one; who finds that something is missing asks, too. No loop,
 * clock, or network is here. docs/states/sequence.md says why no order of events breaks it. */
#ifndef ENL_SEQUENCE_H
#define ENL_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/control.h"

enum enl_row { ENL_ROW_CONTROL, ENL_ROW_OUTPUT, ENL_ROWS, ENL_ROW_NONE };

/* So much may be kept: more than what comes between two beats. */
#define ENL_SEQUENCE_KEPT_MAX (8u << 20)
/* So much is sent again to an end that does not say that it has had more: each question costs little, its answer much. */
#define ENL_SEQUENCE_AGAIN_MAX (4 * ENL_SEQUENCE_KEPT_MAX)
/* So much that was not told yet is told without waiting for the next beat. */
#define ENL_SEQUENCE_TELL_BYTES (512u << 10)

struct enl_sequence_copy;

struct enl_sequence {
    /* Sends a message on whatever way there is now, or on none. */
    void (*pass)(void *owner, const struct bcri_control *message);
    void *owner;
    struct {
        uint64_t given;                         /* the number of the last that was sent */
        uint64_t acknowledged;                  /* of the last that the other side has had */
        uint64_t had;                           /* of the last that has come */
        struct enl_sequence_copy *first, *last; /* acknowledged + 1 to given */
    } row[ENL_ROWS];
    size_t kept_bytes;
    size_t again_bytes;  /* that were sent again, less those that the other side has had since */
    size_t untold_bytes; /* that came, or were sent, since the last beat */
    bool broken;         /* one could not be kept: nothing is sent any more */
    bool asked;          /* and heard nothing of it: what is numbered is kept only */
};

/* Of messages that are not numbered: NONE. They are lost with a way. */
enum enl_row enl_sequence_row(enum bcri_control_type type);

/* Numbers a message, keeps a copy, and passes it, or will when the other has answered. False: no memory,
 * or too much is kept; the two cannot go on then, and nothing is sent any more. */
bool enl_sequence_send(struct enl_sequence *sequence, const struct bcri_control *message);
/* The way has changed: what the other has not had is to come again. */
void enl_sequence_ask(struct enl_sequence *sequence);
/* There is no way; the other asks when there is. */
void enl_sequence_hold(struct enl_sequence *sequence);
/* Adds to a beat what has been had. */
void enl_sequence_tell(struct enl_sequence *sequence, struct bcri_control *beat);
/* Whether a beat should go before its time, so that copies can be dropped. */
bool enl_sequence_wants_beat(const struct enl_sequence *sequence);

enum enl_sequence_verdict { ENL_SEQUENCE_TAKE, ENL_SEQUENCE_DROP, ENL_SEQUENCE_NONSENSE };
/* A message has come. A beat is to be taken, a resume was dealt with and is dropped. */
enum enl_sequence_verdict enl_sequence_came(struct enl_sequence *sequence,
                                            const struct bcri_control *message);

void enl_sequence_drop(struct enl_sequence *sequence);

#endif
