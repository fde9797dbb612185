/* SPDX-License-Identifier: MIT */
/* See sequence.h. A copy is the message as it was encoded, with its number. */
#include "tree/sequence.h"

#include <stdlib.h>
#include <string.h>

struct enl_sequence_copy {
    struct enl_sequence_copy *next;
    size_t length;
    uint8_t bytes[];
};

enum { ASKS, ANSWERS };
enum { LEAST_BYTES = 64 }; /* of a message */

enum enl_row enl_sequence_row(enum bcri_control_type type)
{
    switch (type) {
    case BCRI_MSG_output:
    case BCRI_MSG_relay:
    case BCRI_MSG_relay_bytes:
    case BCRI_MSG_relay_window:
    case BCRI_MSG_relay_end:
    case BCRI_MSG_closed:
    case BCRI_MSG_ended: return ENL_ROW_OUTPUT;
    case BCRI_MSG_present: /* these begin a host, whose messages are numbered when it is up */
    case BCRI_MSG_setting:
    case BCRI_MSG_environ:
    case BCRI_MSG_start:
    case BCRI_MSG_carry:
    case BCRI_MSG_said:
    case BCRI_MSG_beat:
    case BCRI_MSG_resume: return ENL_ROW_NONE;
    default: return ENL_ROW_CONTROL;
    }
}

static struct enl_sequence_copy *new_copy(const struct bcri_control *message)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    const size_t length = bcri_control_encode(message, bytes, sizeof bytes);
    struct enl_sequence_copy *copy = length != 0 ? malloc(sizeof *copy + length) : NULL;
    if (copy == NULL)
        return NULL;
    copy->next = NULL;
    copy->length = length;
    memcpy(copy->bytes, bytes, length);
    return copy;
}

bool enl_sequence_send(struct enl_sequence *sequence, const struct bcri_control *message)
{
    const enum enl_row row = enl_sequence_row(message->type);
    struct bcri_control numbered = *message;
    if (row == ENL_ROW_NONE && !sequence->broken)
        sequence->pass(sequence->owner, message);
    if (row == ENL_ROW_NONE || sequence->broken)
        return !sequence->broken;
    numbered.present |= BCRI_HAS(seq);
    numbered.seq = sequence->row[row].given + 1;
    struct enl_sequence_copy *copy = new_copy(&numbered);
    if (copy == NULL || copy->length > ENL_SEQUENCE_KEPT_MAX - sequence->kept_bytes) {
        free(copy);
        sequence->broken = true;
        return false;
    }
    if (sequence->row[row].last != NULL)
        sequence->row[row].last->next = copy;
    else
        sequence->row[row].first = copy;
    sequence->row[row].last = copy;
    sequence->row[row].given++;
    sequence->kept_bytes += copy->length;
    sequence->untold_bytes += copy->length;
    if (!sequence->asked)
        sequence->pass(sequence->owner, &numbered);
    return true;
}

static void drop_first(struct enl_sequence *sequence, enum enl_row row)
{
    struct enl_sequence_copy *copy = sequence->row[row].first;
    sequence->row[row].first = copy->next;
    if (copy->next == NULL)
        sequence->row[row].last = NULL;
    sequence->kept_bytes -= copy->length;
    sequence->again_bytes -= copy->length < sequence->again_bytes ? copy->length : sequence->again_bytes;
    free(copy);
}

static void acknowledge(struct enl_sequence *sequence, enum enl_row row, uint64_t had)
{
    for (; sequence->row[row].acknowledged < had; sequence->row[row].acknowledged++)
        drop_first(sequence, row);
}

/* A way may be slow, and bring what was said long ago; nobody can have had what was never sent. */
static bool take_had(struct enl_sequence *sequence, const struct bcri_control *message)
{
    if (message->had > sequence->row[ENL_ROW_CONTROL].given ||
        message->had_output > sequence->row[ENL_ROW_OUTPUT].given)
        return false;
    acknowledge(sequence, ENL_ROW_CONTROL, message->had);
    acknowledge(sequence, ENL_ROW_OUTPUT, message->had_output);
    return true;
}

/* False: too often. */
static bool send_again(struct enl_sequence *sequence)
{
    struct bcri_control message;
    sequence->again_bytes += sequence->kept_bytes;
    if (sequence->again_bytes > ENL_SEQUENCE_AGAIN_MAX)
        return false;
    for (int row = 0; row < ENL_ROWS; row++)
        for (const struct enl_sequence_copy *copy = sequence->row[row].first; copy != NULL; copy = copy->next)
            if (bcri_control_decode(copy->bytes, copy->length, &message) == NULL)
                sequence->pass(sequence->owner, &message);
    return true;
}

static void send_resume(struct enl_sequence *sequence, uint32_t kind)
{
    struct bcri_control message = {.type = BCRI_MSG_resume, .present = BCRI_HAS(kind), .kind = kind};
    enl_sequence_tell(sequence, &message);
    sequence->pass(sequence->owner, &message);
}

void enl_sequence_ask(struct enl_sequence *sequence)
{
    sequence->asked = true;
    send_resume(sequence, ASKS);
}

void enl_sequence_hold(struct enl_sequence *sequence)
{
    sequence->asked = true;
}

void enl_sequence_tell(struct enl_sequence *sequence, struct bcri_control *beat)
{
    beat->present |= BCRI_HAS(had) | BCRI_HAS(had_output);
    beat->had = sequence->row[ENL_ROW_CONTROL].had;
    beat->had_output = sequence->row[ENL_ROW_OUTPUT].had;
    sequence->untold_bytes = 0;
}

bool enl_sequence_wants_beat(const struct enl_sequence *sequence)
{
    return sequence->untold_bytes >= ENL_SEQUENCE_TELL_BYTES;
}

enum enl_sequence_verdict enl_sequence_came(struct enl_sequence *sequence, const struct bcri_control *message)
{
    const enum enl_row row = enl_sequence_row(message->type);
    const bool tells = (message->present & BCRI_HAS(had)) != 0;
    if (message->type == BCRI_MSG_resume || (message->type == BCRI_MSG_beat && tells)) {
        if (!take_had(sequence, message))
            return ENL_SEQUENCE_NONSENSE;
        if (message->type == BCRI_MSG_beat)
            return ENL_SEQUENCE_TAKE;
        sequence->asked = false;
        if (message->kind == ASKS)
            send_resume(sequence, ANSWERS);
        return send_again(sequence) ? ENL_SEQUENCE_DROP : ENL_SEQUENCE_NONSENSE;
    }
    if (row == ENL_ROW_NONE || (message->present & BCRI_HAS(seq)) == 0)
        return ENL_SEQUENCE_TAKE; /* that host is not up yet, or nobody minds */
    if (message->seq > sequence->row[row].had + 1 && !sequence->asked)
        enl_sequence_ask(sequence);
    if (message->seq != sequence->row[row].had + 1)
        return ENL_SEQUENCE_DROP;
    sequence->row[row].had++;
    sequence->untold_bytes += LEAST_BYTES + message->bytes.length;
    return ENL_SEQUENCE_TAKE;
}

void enl_sequence_drop(struct enl_sequence *sequence)
{
    for (int row = 0; row < ENL_ROWS; row++)
        while (sequence->row[row].first != NULL)
            drop_first(sequence, (enum enl_row)row);
}
