/* SPDX-License-Identifier: MIT */
/* Every way of reversing bytes that this processor has, at every length and alignment, byte by
 * byte. */
#include <stdio.h>
#include <string.h>

#include <bcri/reverse.h>

#include "check.h"
#include "fixture.h"

enum { BYTES_MAX = 8 * 70, OFFSETS = 17 };

static void check_set(const struct bcri_reverse *set, int size, size_t count, size_t offset)
{
    static uint8_t *source_end, *destination_end;
    if (source_end == NULL) {
        source_end = guarded(BYTES_MAX + OFFSETS) + BYTES_MAX + OFFSETS;
        destination_end = guarded(BYTES_MAX + OFFSETS) + BYTES_MAX + OFFSETS;
    }
    size_t bytes = count * (size_t)size;
    /* One of the two ends where an inaccessible page begins. */
    uint8_t *source = source_end - bytes - offset,
            *destination = destination_end - bytes - (offset + 5) % OFFSETS;
    fill(source, bytes);
    memset(destination_end - BYTES_MAX - OFFSETS, 0xa5, BYTES_MAX + OFFSETS);
    (size == 2 ? set->items_2 : size == 4 ? set->items_4 : set->items_8)(destination, source, count);
    for (size_t i = 0; i < bytes; i++) {
        size_t item = i / (size_t)size * (size_t)size, at = i % (size_t)size;
        CHECK_INT(destination[i], source[item + (size_t)size - 1 - at]);
    }
    CHECK(untouched(destination_end - BYTES_MAX - OFFSETS,
                    (size_t)(destination - destination_end) + BYTES_MAX + OFFSETS));
    CHECK(untouched(destination + bytes, (size_t)(destination_end - destination) - bytes));
}

TEST(all_sets_reverse_the_bytes_of_each_item_and_touch_nothing_else)
{
    CHECK(bcri_reverse_nth(0) != NULL);
    CHECK(bcri_reverse_nth(-1) == NULL);
    for (int nth = 0; bcri_reverse_nth(nth) != NULL; nth++) {
        const struct bcri_reverse *set = bcri_reverse_nth(nth);
        fprintf(stderr, "%s\n", set->name);
        for (int size = 2; size <= 8; size *= 2)
            for (size_t count = 0; count * (size_t)size <= BYTES_MAX; count++)
                for (size_t offset = 0; offset < OFFSETS; offset += count % 3 + 1)
                    check_set(set, size, count, offset);
    }
}

TEST(the_best_set_is_the_last)
{
    const struct bcri_reverse *last = NULL;
    for (int nth = 0; bcri_reverse_nth(nth) != NULL; nth++)
        last = bcri_reverse_nth(nth);
    CHECK_PTR(bcri_reverse_best(), last);
    CHECK_STR(bcri_reverse_nth(0)->name, "portable");
}
