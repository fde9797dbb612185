/* SPDX-License-Identifier: MIT */
/* Lines of the log for which any process of this machine, or of this user, can give cause as often as it likes: it
 * shall not fill the disk with them. Of each kind so many are written in a minute; the next one after that tells how
 * many were left out. */
#ifndef ENL_OFTEN_H
#define ENL_OFTEN_H

#include <stdint.h>

struct enl_self;

enum enl_often_kind {
    ENL_OFTEN_STRANGER,  /* another user's process */
    ENL_OFTEN_MALFORMED, /* a message that makes no sense, of no CCE */
    ENL_OFTEN_SILENT,    /* a client that says nothing */
    ENL_OFTEN_FULL,      /* no descriptors for a client */
    ENL_OFTEN_UNREAD,    /* an answer that its requester does not read */
    ENL_OFTEN_NOTE,      /* what the library notes, of a CCE */
    ENL_OFTEN_HELLO,     /* one who says hello for a CCE that has others, or has ended */
    ENL_OFTEN_WAITS,     /* a process of enl --join waits; this is shown, too */
    ENL_OFTEN_AUDIT,     /* what an audit has come to */
    ENL_OFTEN_KINDS
};

struct enl_often {
    uint64_t since_ms, left_out;
    unsigned count;
};

/* For the loop's thread. */
void enl_log_often(struct enl_self *self, enum enl_often_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
