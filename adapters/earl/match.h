/* SPDX-License-Identifier: MIT */
/* Which message is for which receive. Pure: it knows nothing of packets, buffers or processes.
 *
 * Messages that no receive wanted when they came are in four tables: by (context, source, tag), and with any source, any tag, and
 * both. A receive looks into one of them, by which of its own are EARL_ANY, and its first message there is the oldest. Posted
 * receives are each in one table, by the same; a message looks into the four, or those that are not empty, and takes the oldest of
 * what it finds. So both find each other in constant time. Receives with a predicate go through the list of their source
 * and context, in order of arrival, and are kept in a list of their own when posted.
 *
 * A table's bucket is a list in order of arrival, of all keys that fall there; there are at least as many buckets as entries. */
#ifndef EARL_MATCH_H
#define EARL_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "earl.h"

/* Which of the source and tag are any: a table's number. */
enum { EARL_EXACT = 0, EARL_ANY_SOURCE = 1, EARL_ANY_TAG = 2, EARL_TABLES = 4 };

struct earl_link {
    struct earl_link *next, *before; /* NULL: in no list */
};

struct earl_table {
    struct earl_link *buckets; /* heads of circular lists; NULL before the first entry */
    uint32_t mask, count;
};

struct earl_message {
    struct earl_link links[EARL_TABLES];
    uint64_t order;
    struct earl_envelope envelope;
};

struct earl_receive {
    struct earl_link link; /* in the table `kind`, or among those with a predicate */
    uint64_t order;
    struct earl_wanted wanted;
    bool is_posted;
};

struct earl_match {
    struct earl_table messages[EARL_TABLES];
    struct earl_table receives[EARL_TABLES];
    struct earl_link asking; /* posted receives with a predicate, in order; count below */
    uint32_t asking_count;
    uint32_t posted_count; /* of all receives that are posted */
    uint64_t order;
};

void earl_match_begin(struct earl_match *match);
void earl_match_end(struct earl_match *match);

/* The oldest message that the receive could take; it stays. NULL: none. */
struct earl_message *earl_match_find(const struct earl_match *match, const struct earl_wanted *wanted);
/* The next one behind a message that was found so; NULL: no more. */
struct earl_message *earl_match_next(const struct earl_match *match, const struct earl_wanted *wanted,
                                     struct earl_message *message);
/* Keeps a message, whose envelope is set, behind those that came before. False: no memory. */
bool earl_match_keep(struct earl_match *match, struct earl_message *message);
void earl_match_drop(struct earl_match *match, struct earl_message *message);
/* One of those that are kept. NULL: there is none. */
struct earl_message *earl_match_any(const struct earl_match *match);

/* Posts a receive, whose `wanted` is set. False: no memory. */
bool earl_match_post(struct earl_match *match, struct earl_receive *receive);
void earl_match_unpost(struct earl_match *match, struct earl_receive *receive);
/* The oldest posted receive that wants such a message; it is posted no more then. NULL: none. */
struct earl_receive *earl_match_arrive(struct earl_match *match, const struct earl_envelope *envelope);

static inline bool earl_match_fits(const struct earl_wanted *wanted, const struct earl_envelope *envelope)
{
    return wanted->context == envelope->context &&
           (wanted->source == EARL_ANY || wanted->source == envelope->source) &&
           (wanted->tag == EARL_ANY || wanted->tag == envelope->tag) &&
           (wanted->accepts == NULL || wanted->accepts(envelope, wanted->argument) != 0);
}

static inline uint32_t earl_match_kept(const struct earl_match *match)
{
    return match->messages[EARL_EXACT].count;
}

#endif
