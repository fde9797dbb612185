/* SPDX-License-Identifier: MIT */
/* See pairs.h. */
#include "tree/pairs.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS_LEAST = 64 };

static struct enl_pair **bucket_of(struct enl_pair **buckets, size_t count, uint32_t one, uint32_t two)
{
    const uint64_t low = one < two ? one : two, high = one < two ? two : one;
    return &buckets[((low << 32 | high) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % count];
}

struct enl_pair **enl_pair_find(struct enl_pairs *all, uint32_t one, uint32_t two)
{
    static struct enl_pair *none;
    if (all->room == 0)
        return &none;
    struct enl_pair **at = bucket_of(all->buckets, all->room, one, two);
    while (*at != NULL && !((*at)->asker == one && (*at)->other == two) &&
           !((*at)->asker == two && (*at)->other == one))
        at = &(*at)->next;
    return at;
}

void enl_pair_drop(struct enl_pairs *all, struct enl_pair **at)
{
    struct enl_pair *pair = *at;
    *at = pair->next;
    all->count--;
    bcri_seal_wipe(pair, sizeof *pair);
    free(pair);
}

void enl_pairs_drop(struct enl_pairs *all, uint32_t host)
{
    for (size_t i = 0; i < all->room && all->count != 0; i++)
        for (struct enl_pair **at = &all->buckets[i]; *at != NULL;)
            if ((*at)->asker == host || (*at)->other == host)
                enl_pair_drop(all, at);
            else
                at = &(*at)->next;
}

void enl_pairs_free(struct enl_pairs *all)
{
    for (size_t i = 0; i < all->room; i++)
        while (all->buckets[i] != NULL)
            enl_pair_drop(all, &all->buckets[i]);
    free(all->buckets);
    all->buckets = NULL;
    all->room = 0;
}

/* With as many buckets as pairs at least. False: no memory. */
static bool make_room(struct enl_pairs *all)
{
    if (all->count < all->room)
        return true;
    const size_t count = all->room == 0 ? BUCKETS_LEAST : 2 * all->room;
    struct enl_pair **more = calloc(count, sizeof(struct enl_pair *));
    if (more == NULL)
        return false;
    for (size_t i = 0; i < all->room; i++)
        for (struct enl_pair *pair = all->buckets[i], *next; pair != NULL; pair = next) {
            struct enl_pair **to = bucket_of(more, count, pair->asker, pair->other);
            next = pair->next;
            pair->next = *to;
            *to = pair;
        }
    free(all->buckets);
    all->buckets = more;
    all->room = count;
    return true;
}

bool enl_pair_add(struct enl_pairs *all, uint32_t asker, uint32_t other, const uint8_t *random)
{
    struct enl_pair *pair = make_room(all) ? malloc(sizeof *pair) : NULL;
    if (pair == NULL)
        return false;
    struct enl_pair **bucket = bucket_of(all->buckets, all->room, asker, other);
    *pair = (struct enl_pair){.next = *bucket, .asker = asker, .other = other};
    memcpy(pair->random, random, sizeof pair->random);
    *bucket = pair;
    all->count++;
    return true;
}
