/* SPDX-License-Identifier: MIT */
/* The agent's tables, heap of deadlines and lists, beside arrays that do the same by walking. */
#include "base/table.h"

#include <stdlib.h>

#include "check.h"
#include "links/agent/list.h"

enum { RECORDS = 500, STEPS = 20000, KEYS = 100 };

struct record {
    struct entry at;
    struct item item;
    struct deadline deadline;
    bool in;
};
static struct record record[RECORDS];

static unsigned found_in(const struct table *table, uint64_t key)
{
    unsigned count = 0;
    for (struct entry *at = table_find(table, key); at != NULL; at = table_next(at->next, key)) {
        CHECK(RECORD_OF(at, struct record, at)->in);
        count++;
    }
    return count;
}

TEST(a_table_finds_what_was_added_and_not_removed)
{
    uint64_t dice = test_seed();
    unsigned of_key[KEYS] = {0};
    struct table table = {0};
    for (int step = 0; step < STEPS; step++) {
        struct record *one = &record[test_rand_below(&dice, RECORDS)];
        const uint64_t key = test_rand_below(&dice, KEYS);
        if (one->in) {
            of_key[one->at.key]--;
            bcri_table_remove(&table, &one->at);
        } else {
            bcri_table_add(&table, &one->at, key);
            of_key[key]++;
        }
        one->in = !one->in;
        CHECK_UINT(found_in(&table, key), of_key[key]);
    }
    CHECK(table.buckets > TABLE_FEW);
    bcri_table_free(&table);
}

static uint64_t first_of_all(void)
{
    uint64_t first = UINT64_MAX;
    for (int i = 0; i < RECORDS; i++)
        if (record[i].in && record[i].deadline.at_ns < first)
            first = record[i].deadline.at_ns;
    return first;
}

TEST(the_next_deadline_is_the_first_of_all)
{
    uint64_t dice = test_seed();
    struct deadlines deadlines = {0};
    for (int step = 0; step < STEPS; step++) {
        struct record *one = &record[test_rand_below(&dice, RECORDS)];
        if (one->in) {
            deadlines_remove(&deadlines, &one->deadline);
        } else {
            CHECK(deadlines_reserve(&deadlines));
            deadlines_add(&deadlines, &one->deadline, test_rand_below(&dice, 1000));
        }
        one->in = !one->in;
        const struct deadline *next = deadlines_next(&deadlines);
        CHECK_UINT(next != NULL ? next->at_ns : UINT64_MAX, first_of_all());
    }
    deadlines_remove(&deadlines, &(struct deadline){0});
    free(deadlines.heap);
}

TEST(a_list_keeps_its_order_and_loses_records_anywhere)
{
    struct list list = {0}, other = {0};
    CHECK(FIRST_OF(&list, struct record, item) == NULL);
    for (int i = 0; i < 4; i++)
        list_append(i < 2 ? &list : &other, &record[i].item);
    list_move(&other, &list);
    CHECK(list_is_empty(&other));
    list_remove(&record[1].item);
    list_remove(&record[1].item);
    CHECK(!is_listed(&record[1].item));
    CHECK(FIRST_OF(&list, struct record, item) == &record[0]);
    CHECK(LAST_OF(&list, struct record, item) == &record[3]);
    list_remove(&record[0].item);
    CHECK(FIRST_OF(&list, struct record, item) == &record[2]);
    list_move(&other, &list);
    list_remove(&record[2].item);
    list_remove(&record[3].item);
    CHECK(list_is_empty(&list));
}
