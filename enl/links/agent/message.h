/* SPDX-License-Identifier: MIT */
/* Headers of the messages that agents exchange: orders and answers. Their bodies are regions' data.
 *
 *   off  order                          answer
 *     0  kind                           kind
 *     1  flags, or what a get wants     flags
 *     2  the region's kind              code: 0, or why not
 *     4  cell                           the region's kind
 *     8  msec, as in the public calls   0
 *    12  the region's archtype          the region's archtype
 *    16  request, 8 bytes               request, 8 bytes
 *    24  the owner's identity without   value, 8 bytes
 *        its host and index, 12 bytes
 *    36  SAME: the number of the DATA, 8 bytes
 *
 * A NOTICE has the ordinal of the CCE that has ended in place of the cell, how and by what number it has ended, and whether the owner has started it, in place of msec,
 * and that CCE's identity in place of the owner's.
 *
 * The value of a put that has failed is 1 more than the ordinal of the cell's owner; 0: unknown.
 * All numbers are big-endian. An order goes in the stream from the CCE that orders to the owner of
 * the cell; its answer goes back in the stream of answers of these two (BCRI_ANSWERS), so that
 * neither waits behind the orders of the other direction. docs/protocol.md, "Orders". */
#ifndef BCRI_AGENT_MESSAGE_H
#define BCRI_AGENT_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/link.h"

/* In the source of a stream: it carries answers. */
#define BCRI_ANSWERS UINT32_C(0x80000000)
/* The target of a CCE's stream of DATA: no CCE has it. */
#define BCRI_DATA_TARGET UINT32_C(0xffff)

enum bcri_message_kind {
    BCRI_MESSAGE_PUT = 1, /* body: the region; flags: BCRI_MESSAGE_WRITE, or _RETURN; _AT_ONCE */
    BCRI_MESSAGE_GET,     /* flags: enum bcri_want, and BCRI_MESSAGE_LOCKS */
    BCRI_MESSAGE_ZAP,
    BCRI_MESSAGE_LENGTH,
    BCRI_MESSAGE_CANCEL, /* the get with this number */
    BCRI_MESSAGE_ENDED,  /* the CCE that orders has ended; the last message of its stream */
    BCRI_MESSAGE_ANSWER, /* body: the region that a get has got */
    BCRI_MESSAGE_SYNC,   /* the CCE waits: puts that are done are to be answered now */
    BCRI_MESSAGE_DATA,   /* body: a region that SAMEs put; goes to BCRI_DATA_TARGET; flags: _AT_ONCE */
    BCRI_MESSAGE_SAME,   /* a put of the region of a DATA; flags: BCRI_MESSAGE_WRITE, _AT_ONCE */
    BCRI_MESSAGE_FORGET, /* no further SAME names the DATA with this number; goes among the answers */
    BCRI_MESSAGE_NOTICE, /* the CCE that orders has ended, and the owner watches it: see notice.c */
    BCRI_MESSAGE_KINDS
};
#define BCRI_MESSAGE_WRITE  1u /* it replaces what is there */
#define BCRI_MESSAGE_RETURN 2u /* it goes to the head of the cell: its get was cancelled */
/* Its CCE waits for the put, for `msec`: it is answered when it is done, not together with others. */
#define BCRI_MESSAGE_AT_ONCE 4u
#define BCRI_MESSAGE_WANT    3u    /* of a get: mask of what it wants */
#define BCRI_MESSAGE_LOCKS   0x80u /* of a get: by the access right of locks */

#define BCRI_MESSAGE_UP_TO \
    1u /* of an answer: all puts of its stream up to this one are done, but those told singly */
#define BCRI_MESSAGE_WAITS 2u /* of an answer: the put waits for room, and is answered later */

#define BCRI_ORDER_BYTES  36u
#define BCRI_SAME_BYTES   44u
#define BCRI_ANSWER_BYTES 32u
#define BCRI_SECRET_BYTES 12u /* of an identity, behind host and index */

struct bcri_message {
    enum bcri_message_kind kind;
    uint32_t flags;
    uint32_t code;        /* of an answer */
    uint32_t region_kind; /* of the region */
    int cell;
    int msec;
    uint32_t archtype;
    uint64_t request;
    uint64_t value;
    uint8_t owner[BCRI_SECRET_BYTES];
};

/* An order whose body is a region. */
static inline bool bcri_message_has_region(enum bcri_message_kind kind)
{
    return kind == BCRI_MESSAGE_PUT || kind == BCRI_MESSAGE_DATA;
}

/* Returns the header's length. */
uint32_t bcri_message_write(const struct bcri_message *message, uint8_t header[BCRI_LINK_HEADER_MAX]);
/* False: no such message can have been written by us. Only the fields of its kind are set. */
bool bcri_message_read(const uint8_t *header, uint32_t header_bytes, uint32_t body_bytes,
                       struct bcri_message *message_out);

#endif
