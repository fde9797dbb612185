/* SPDX-License-Identifier: MIT */
/* Records by a number: a hash table that grows. A table of zeros is empty. Several may have the same number; the caller
 * tells them apart. To add one never fails: without memory the table stays as large as it is. */
#ifndef ENL_TABLE_H
#define ENL_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct entry {
    struct entry *next;
    uint64_t key;
};

enum { TABLE_FEW = 8 };
struct table {
    struct entry **bucket; /* NULL: none has come yet */
    uint32_t buckets, count;
    struct entry *few[TABLE_FEW]; /* the buckets at first */
};

void bcri_table_add(struct table *table, struct entry *entry, uint64_t key);
void bcri_table_remove(struct table *table, struct entry *entry);
/* Frees its buckets, not the records. */
void bcri_table_free(struct table *table);

/* Folds the bits of a key into 32. */
static inline uint32_t table_hash(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static inline struct entry *table_next(struct entry *entry, uint64_t key)
{
    while (entry != NULL && entry->key != key)
        entry = entry->next;
    return entry;
}

/* The newest with this key; the others follow by table_next(entry->next, key). */
static inline struct entry *table_find(const struct table *table, uint64_t key)
{
    return table->count != 0 ? table_next(table->bucket[table_hash(key) & (table->buckets - 1)], key) : NULL;
}

/* Walks over all records, in no order: the one after `entry`, or NULL after the last. The walk begins with `entry` NULL
 * and `*bucket` 0. Whoever removes `entry` asks for the next before; nothing is added meanwhile. */
static inline struct entry *table_walk(const struct table *table, uint32_t *bucket, struct entry *entry)
{
    struct entry *next = entry != NULL ? entry->next : NULL;
    while (next == NULL && *bucket < table->buckets)
        next = table->bucket[(*bucket)++];
    return next;
}

#endif
