/* SPDX-License-Identifier: MIT */
/* What processes ask of EXEC: messages of Earl's own to process 0, of typed items, so between unlike machines, too.
 *
 * A question has the operation as its tag, and begins with a serial; its answer has the serial as its tag, and begins with a code.
 * "text" is an int, its length, and bytes; "texts" an int, how many, and each; "items" a buffer, nested. */
#ifndef EARL_EXEC_PROTOCOL_H
#define EARL_EXEC_PROTOCOL_H

#include <stdbool.h>
#include <string.h>

/* Contexts, beyond those of groups. */
#define EARL_EXEC_ASK    0xc0000000u
#define EARL_EXEC_ANSWER 0xc0000001u

enum earl_exec_operation {
    EARL_ASK_ENDED, /* not asked: a process has ended (earl_watch) */
    EARL_ASK_START, /* file, directory, host, group ("": none): text; count; whether tied; process, context and tag of the sink; arguments, environment: texts -> that many ints */
    EARL_ASK_SIGNAL,    /* process, signal */
    EARL_ASK_PROCESS,   /* process -> what told has */
    EARL_ASK_LIST,      /* -> count, and of each what told has */
    EARL_ASK_AWAIT,     /* count, processes -> what told has of one */
    EARL_ASK_HOST,      /* k -> text */
    EARL_ASK_MACHINE,   /* k -> whether it is there, whether it is up, layout; name, machine: text */
    EARL_ASK_CHANGED,   /* text, a name: the program's list has changed -> its host is the code */
    EARL_ASK_HOSTWATCH, /* context, tag */
    EARL_ASK_JOIN,      /* text -> the place is the code */
    EARL_ASK_LEAVE,     /* text */
    EARL_ASK_MEMBERS,   /* text -> count, processes */
    EARL_ASK_BARRIER,   /* text, count */
    EARL_ASK_POST,      /* text, index, flags, items -> the index is the code */
    EARL_ASK_FETCH,     /* text, index, flags -> the index is the code; items */
    EARL_ASK_DROP,      /* text, index */
    EARL_ASK_BOXES,     /* text ("": all) -> count, and of each index, owner, flags, text */
    EARL_ASK_HOLD,      /* whether EXEC stays */
    EARL_ASK_PRINTED, /* not asked: a process has printed (targets/directory.c): a byte, its stream, and text; none: that is closed */
    EARL_ASK_KINDS
};

enum { EARL_NAME_MOST = 255 };

/* Of a group, barrier or box. */
static inline bool earl_exec_is_name(const char *name)
{
    return name != NULL && name[0] != '\0' && strlen(name) <= EARL_NAME_MOST;
}

#endif
