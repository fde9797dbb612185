/* SPDX-License-Identifier: MIT */
/* table.c -- records by a number: table.h. */
#include "base/table.h"

#include <stdlib.h>

static struct entry **bucket_of(const struct table *table, uint64_t key)
{
    return &table->bucket[table_hash(key) & (table->buckets - 1)];
}

static void grow_table(struct table *table)
{
    struct table grown = {.buckets = table->buckets * 2};
    if ((grown.bucket = calloc(grown.buckets, sizeof(struct entry *))) == NULL)
        return;
    for (uint32_t i = 0; i < table->buckets; i++)
        for (struct entry *entry = table->bucket[i], *next; entry != NULL; entry = next) {
            struct entry **at = bucket_of(&grown, entry->key);
            next = entry->next;
            entry->next = *at;
            *at = entry;
        }
    bcri_table_free(table);
    table->bucket = grown.bucket;
    table->buckets = grown.buckets;
}

void bcri_table_add(struct table *table, struct entry *entry, uint64_t key)
{
    if (table->bucket == NULL) {
        table->bucket = table->few;
        table->buckets = TABLE_FEW;
    }
    if (table->count++ >= table->buckets)
        grow_table(table);
    struct entry **at = bucket_of(table, key);
    *entry = (struct entry){.next = *at, .key = key};
    *at = entry;
}

void bcri_table_remove(struct table *table, struct entry *entry)
{
    struct entry **at = bucket_of(table, entry->key);
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    table->count--;
}

void bcri_table_free(struct table *table)
{
    if (table->bucket != table->few)
        free(table->bucket);
}
