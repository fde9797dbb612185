/* SPDX-License-Identifier: MIT */
/* See introductions.h. */
#include "tree/introductions.h"

#include <stdlib.h>
#include <string.h>

static uint64_t key_of(uint32_t one, uint32_t two)
{
    return one < two ? (uint64_t)one << 32 | two : (uint64_t)two << 32 | one;
}

void enl_pairs_init(struct enl_pairs *all)
{
    all->table = (struct table){0};
    LIST_INIT(&all->list);
}

struct enl_pair *enl_pair_find(const struct enl_pairs *all, uint32_t one, uint32_t two)
{
    return (struct enl_pair *)table_find(&all->table, key_of(one, two));
}

void enl_pair_drop(struct enl_pairs *all, struct enl_pair *pair)
{
    bcri_table_remove(&all->table, &pair->at);
    LIST_REMOVE(pair, entry);
    bcri_seal_wipe(pair, sizeof *pair);
    free(pair);
}

void enl_pairs_drop(struct enl_pairs *all, uint32_t host)
{
    for (struct enl_pair *pair = LIST_FIRST(&all->list), *next; pair != NULL; pair = next) {
        next = LIST_NEXT(pair, entry);
        if (pair->requester == host || pair->other == host)
            enl_pair_drop(all, pair);
    }
}

void enl_pairs_free(struct enl_pairs *all)
{
    while (!LIST_EMPTY(&all->list))
        enl_pair_drop(all, LIST_FIRST(&all->list));
    bcri_table_free(&all->table);
    enl_pairs_init(all);
}

bool enl_pair_add(struct enl_pairs *all, uint32_t requester, uint32_t other, const uint8_t *random)
{
    struct enl_pair *pair = malloc(sizeof *pair);
    if (pair == NULL)
        return false;
    pair->requester = requester;
    pair->other = other;
    memcpy(pair->random, random, sizeof pair->random);
    bcri_table_add(&all->table, &pair->at, key_of(requester, other));
    LIST_INSERT_HEAD(&all->list, pair, entry);
    return true;
}
