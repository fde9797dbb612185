/* SPDX-License-Identifier: MIT */
/* Streams by their two ends, and the two rings in which streams take turns: those with bytes to
 * send, and those whose sender is to be told how far they are. */
#include <stdlib.h>

#include "link_private.h"

static uint32_t bucket_of(const struct bcri_stream_table *table, uint32_t source, uint32_t target)
{
    const uint64_t both = (uint64_t)source << 32 | target;
    return (uint32_t)(both * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (table->buckets - 1);
}

void *bcri_stream_find(const struct bcri_stream_table *table, uint32_t source, uint32_t target)
{
    if (table->buckets == 0)
        return NULL;
    struct bcri_stream_key *key = table->bucket[bucket_of(table, source, target)];
    while (key != NULL && (key->source != source || key->target != target))
        key = key->next;
    return key;
}

static bool grow_stream_table(struct bcri_stream_table *table)
{
    struct bcri_stream_table grown = {.buckets = table->buckets == 0 ? 8 : table->buckets * 2,
                                      .count = table->count};
    grown.bucket = calloc(grown.buckets, sizeof(void *));
    if (grown.bucket == NULL)
        return false;
    for (uint32_t i = 0; i < table->buckets; i++) {
        for (struct bcri_stream_key *key = table->bucket[i], *next; key != NULL; key = next) {
            struct bcri_stream_key **bucket = &grown.bucket[bucket_of(&grown, key->source, key->target)];
            next = key->next;
            key->next = *bucket;
            *bucket = key;
        }
    }
    free(table->bucket);
    *table = grown;
    return true;
}

bool bcri_stream_insert(struct bcri_stream_table *table, struct bcri_stream_key *key)
{
    if (table->count == table->buckets && !grow_stream_table(table))
        return false;
    struct bcri_stream_key **bucket = &table->bucket[bucket_of(table, key->source, key->target)];
    key->next = *bucket;
    *bucket = key;
    table->count++;
    return true;
}

void bcri_stream_remove(struct bcri_stream_table *table, struct bcri_stream_key *key)
{
    struct bcri_stream_key **at = &table->bucket[bucket_of(table, key->source, key->target)];
    while (*at != key)
        at = &(*at)->next;
    *at = key->next;
    table->count--;
}

void bcri_turn_take(struct bcri_turn **ring, struct bcri_turn *turn)
{
    if (turn->after != NULL)
        return;
    if (*ring == NULL) {
        *ring = turn->before = turn->after = turn;
        return;
    }
    /* Before the one whose turn it is: behind all others. */
    turn->after = *ring;
    turn->before = (*ring)->before;
    turn->before->after = turn;
    turn->after->before = turn;
}

void bcri_turn_leave(struct bcri_turn **ring, struct bcri_turn *turn)
{
    if (turn->after == NULL)
        return;
    if (*ring == turn)
        *ring = turn->after != turn ? turn->after : NULL;
    turn->before->after = turn->after;
    turn->after->before = turn->before;
    turn->before = turn->after = NULL;
}
