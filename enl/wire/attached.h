/* SPDX-License-Identifier: MIT */
/* What a request to start CCEs has beside its message, since that has at most 8,192 bytes: the start strings, and the
 * file into which the requester wants the identities of the started CCEs.
 *
 * A CCE sends both with the request, as memory files. A daemon copies the strings at once, and keeps them until it
 * is done with the request; several jobs and requests may share them. All that a daemon keeps is at most 64 MiB. Between
 * daemons the strings come in pieces (enl/job/arrivals.c), and identities in messages of type started. */
#ifndef ENL_ATTACHED_H
#define ENL_ATTACHED_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/channel.h"
#include "bcri/control.h"
#include "bcri/start_strings.h"

struct enl_conn;

/* A block of start strings (bcri/start_strings.h). */
struct enl_strings {
    uint32_t uses;
    uint32_t length, came;         /* bytes of the block, and those that are here */
    uint32_t arguments, variables; /* how many it has, once it was found to be well-formed */
    uint8_t bytes[];
};

/* An empty block for so many bytes. NULL: that is no length, there is no memory, or too much is kept already. */
struct enl_strings *enl_strings_new(uint64_t length);
/* More of its bytes have come. False: more than it has. */
bool enl_strings_add(struct enl_strings *strings, struct bcri_view bytes);
/* All have come. Returns NULL, or what is malformed. */
const char *enl_strings_check(struct enl_strings *strings);
/* The directory, "" if it has none; pointers to the arguments, and behind them to the variables, into `list`. */
const char *enl_strings_list(const struct enl_strings *strings, char **list);
struct enl_strings *enl_strings_share(struct enl_strings *strings);
/* NULL does nothing. */
void enl_strings_drop(struct enl_strings *strings);
/* Answers a strings_next of that neighbour's: sends it the next pieces, 64 KiB at most. False: it asks for what is not there. */
bool enl_strings_send(const struct enl_strings *strings, struct enl_conn *conn, uint32_t id, uint64_t from);

/* So many bytes are asked for at a time; they are what may be under way to a host that reads nothing. */
#define ENL_STRINGS_WINDOW 65536u

struct enl_attached {
    struct enl_strings *strings; /* NULL: none */
    int ids;                     /* the requester's file for identities; -1: it is a daemon, or wants none */
    uint32_t told;               /* CCEs whose identities were passed on */
};
#define ENL_ATTACHED_NONE ((struct enl_attached){.ids = -1})

/* What a CCE has attached to its enlist, or a daemon has sent in it. Returns NULL, or what is malformed. `refused_out`: there
 * is no room for its strings. */
const char *enl_attached_take(struct enl_attached *attached, struct bcri_incoming *in, bool of_cce,
                              bool *refused_out);
/* The caller's becomes empty. */
struct enl_attached enl_attached_move(struct enl_attached *attached);
void enl_attached_close(struct enl_attached *attached);

/* Passes the identities of `count` more CCEs, whose ordinals count from `ordinal` on, to the requester, request `id`
 * of `conn`: into its file, or by messages. NULL: it is gone. */
void enl_attached_started(struct enl_attached *attached, struct enl_conn *conn, uint32_t id, uint32_t ordinal,
                          const uint8_t *identities, uint32_t count);

#endif
