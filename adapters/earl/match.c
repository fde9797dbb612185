/* SPDX-License-Identifier: MIT */
#include "match.h"

#include "pool.h"

enum { BUCKETS = 64 }; /* a table's first ones, a power of two */

/* ---- lists ---- */

static void append(struct earl_link *head, struct earl_link *link)
{
    link->next = head;
    link->before = head->before;
    head->before->next = link;
    head->before = link;
}

static void cut_out(struct earl_link *link)
{
    link->next->before = link->before;
    link->before->next = link->next;
    *link = (struct earl_link){0};
}

/* ---- tables ---- */

static uint32_t hash(uint32_t context, int source, int tag)
{
    uint64_t mixed = context * UINT64_C(0x9e3779b97f4a7c15) ^
                     (uint32_t)source * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                     (uint32_t)tag * UINT64_C(0x165667b19e3779f9);
    mixed ^= mixed >> 32;
    mixed *= UINT64_C(0xff51afd7ed558ccd);
    return (uint32_t)(mixed >> 32);
}

static uint32_t hash_in(int kind, uint32_t context, int source, int tag)
{
    return hash(context, (kind & EARL_ANY_SOURCE) != 0 ? EARL_ANY : source,
                (kind & EARL_ANY_TAG) != 0 ? EARL_ANY : tag);
}

static struct earl_message *message_of(struct earl_link *link, int kind)
{
    return (struct earl_message *)(void *)((char *)link - offsetof(struct earl_message, links) -
                                           (size_t)kind * sizeof *link);
}

static struct earl_receive *receive_of(struct earl_link *link)
{
    return (struct earl_receive *)(void *)((char *)link - offsetof(struct earl_receive, link));
}

/* Which bucket an entry of a table is in: of messages or of receives. */
static uint32_t hash_of(struct earl_link *link, int kind, bool is_receive)
{
    if (is_receive) {
        const struct earl_wanted *wanted = &receive_of(link)->wanted;
        return hash_in(kind, wanted->context, wanted->source, wanted->tag);
    }
    const struct earl_envelope *envelope = &message_of(link, kind)->envelope;
    return hash_in(kind, envelope->context, envelope->source, envelope->tag);
}

/* Makes room for one more entry. The lists keep their order: each new bucket gets entries of one old one. */
static bool make_room(struct earl_table *table, int kind, bool is_receive)
{
    if (table->buckets != NULL && table->count <= table->mask)
        return true;
    const uint32_t room = table->buckets == NULL ? BUCKETS : 2 * (table->mask + 1);
    struct earl_link *buckets = earl_pages(room * sizeof *buckets);
    if (buckets == NULL)
        return table->buckets != NULL; /* longer lists will do */
    for (uint32_t i = 0; i < room; i++)
        buckets[i] = (struct earl_link){&buckets[i], &buckets[i]};
    if (table->buckets != NULL) {
        for (uint32_t i = 0; i <= table->mask; i++)
            for (struct earl_link *head = &table->buckets[i], *link; (link = head->next) != head;) {
                cut_out(link);
                append(&buckets[hash_of(link, kind, is_receive) & (room - 1)], link);
            }
        earl_pages_free(table->buckets, (table->mask + 1) * sizeof *buckets);
    }
    table->buckets = buckets;
    table->mask = room - 1;
    return true;
}

static struct earl_link *bucket(const struct earl_table *table, int kind, uint32_t context, int source,
                                int tag)
{
    return &table->buckets[hash_in(kind, context, source, tag) & table->mask];
}

void earl_match_begin(struct earl_match *match)
{
    *match = (struct earl_match){.order = 1};
    match->asking = (struct earl_link){&match->asking, &match->asking};
}

void earl_match_end(struct earl_match *match)
{
    for (int kind = 0; kind < EARL_TABLES; kind++) {
        struct earl_table *tables[] = {&match->messages[kind], &match->receives[kind]};
        for (int i = 0; i < 2; i++)
            if (tables[i]->buckets != NULL)
                earl_pages_free(tables[i]->buckets, (tables[i]->mask + 1) * sizeof *tables[i]->buckets);
    }
    earl_match_begin(match);
}

/* ---- messages ---- */

static int kind_of(const struct earl_wanted *wanted)
{
    return (wanted->source == EARL_ANY ? EARL_ANY_SOURCE : 0) | (wanted->tag == EARL_ANY ? EARL_ANY_TAG : 0);
}

/* The first message that fits, from a link of a bucket on. */
static struct earl_message *first_from(const struct earl_wanted *wanted, int kind, struct earl_link *head,
                                       struct earl_link *link)
{
    for (; link != head; link = link->next) {
        struct earl_message *message = message_of(link, kind);
        if (earl_match_fits(wanted, &message->envelope))
            return message;
    }
    return NULL;
}

struct earl_message *earl_match_find(const struct earl_match *match, const struct earl_wanted *wanted)
{
    const int kind = kind_of(wanted);
    const struct earl_table *table = &match->messages[kind];
    if (table->count == 0)
        return NULL;
    struct earl_link *head = bucket(table, kind, wanted->context, wanted->source, wanted->tag);
    return first_from(wanted, kind, head, head->next);
}

struct earl_message *earl_match_next(const struct earl_match *match, const struct earl_wanted *wanted,
                                     struct earl_message *message)
{
    const int kind = kind_of(wanted);
    struct earl_link *head =
        bucket(&match->messages[kind], kind, wanted->context, wanted->source, wanted->tag);
    return first_from(wanted, kind, head, message->links[kind].next);
}

bool earl_match_keep(struct earl_match *match, struct earl_message *message)
{
    const struct earl_envelope *envelope = &message->envelope;
    for (int kind = 0; kind < EARL_TABLES; kind++)
        if (!make_room(&match->messages[kind], kind, false))
            return false;
    message->order = match->order++;
    for (int kind = 0; kind < EARL_TABLES; kind++) {
        struct earl_table *table = &match->messages[kind];
        append(bucket(table, kind, envelope->context, envelope->source, envelope->tag),
               &message->links[kind]);
        table->count++;
    }
    return true;
}

void earl_match_drop(struct earl_match *match, struct earl_message *message)
{
    for (int kind = 0; kind < EARL_TABLES; kind++) {
        cut_out(&message->links[kind]);
        match->messages[kind].count--;
    }
}

struct earl_message *earl_match_any(const struct earl_match *match)
{
    const struct earl_table *table = &match->messages[EARL_EXACT];
    for (uint32_t i = 0; table->count != 0 && i <= table->mask; i++)
        if (table->buckets[i].next != &table->buckets[i])
            return message_of(table->buckets[i].next, EARL_EXACT);
    return NULL;
}

/* ---- receives ---- */

bool earl_match_post(struct earl_match *match, struct earl_receive *receive)
{
    const struct earl_wanted *wanted = &receive->wanted;
    if (wanted->accepts != NULL) {
        append(&match->asking, &receive->link);
        match->asking_count++;
    } else {
        const int kind = kind_of(wanted);
        struct earl_table *table = &match->receives[kind];
        if (!make_room(table, kind, true))
            return false;
        append(bucket(table, kind, wanted->context, wanted->source, wanted->tag), &receive->link);
        table->count++;
    }
    receive->order = match->order++;
    receive->is_posted = true;
    match->posted_count++;
    return true;
}

void earl_match_unpost(struct earl_match *match, struct earl_receive *receive)
{
    cut_out(&receive->link);
    if (receive->wanted.accepts != NULL)
        match->asking_count--;
    else
        match->receives[kind_of(&receive->wanted)].count--;
    receive->is_posted = false;
    match->posted_count--;
}

/* The oldest receive in a list, older than `best`, that wants the message; else best. */
static struct earl_receive *older(struct earl_link *head, const struct earl_envelope *envelope,
                                  struct earl_receive *best)
{
    for (struct earl_link *link = head->next; link != head; link = link->next) {
        struct earl_receive *receive = receive_of(link);
        if (best != NULL && best->order < receive->order)
            return best;
        if (earl_match_fits(&receive->wanted, envelope))
            return receive;
    }
    return best;
}

struct earl_receive *earl_match_arrive(struct earl_match *match, const struct earl_envelope *envelope)
{
    struct earl_receive *best = NULL;
    for (int kind = 0; kind < EARL_TABLES; kind++) {
        const struct earl_table *table = &match->receives[kind];
        if (table->count != 0)
            best = older(bucket(table, kind, envelope->context, envelope->source, envelope->tag), envelope,
                         best);
    }
    if (match->asking_count != 0)
        best = older(&match->asking, envelope, best);
    if (best != NULL)
        earl_match_unpost(match, best);
    return best;
}
