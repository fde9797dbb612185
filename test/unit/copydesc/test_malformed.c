/* SPDX-License-Identifier: MIT */
/* Every way in which a descriptor or an argument can be wrong: its code, and that nothing was
 * copied. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <bcr/error.h>
#include <bcr/types.h>
#include <bcri/archtype.h>
#include <bcri/private.h>

#include "check.h"
#include "fixture.h"

enum { LIMIT = 65536, SIZE = 64 };

/* Each malformed descriptor is tried with good triples in front, so that a copy made too early
 * would show. */
static void check_refused(const int *desc, int error)
{
    uint8_t *buffer = guarded(SIZE), *filled = guarded(SIZE);
    struct bcri_copy_region region = region_new(SIZE);
    fill(filled, SIZE);
    CHECK_INT(bcri_copydesc_check(the_copier(), desc), error);
    struct bcri_copy_region other = region_new(SIZE);
    CHECK_RESULT(bcri_copy_between(the_copier(), desc, 1, &region, &other), -2, error);
    CHECK_RESULT(bcri_copy_size(the_copier(), desc, 1, region.archtype, 0, SIZE), -1, error);
    for (int repl = 0; repl <= 1; repl++)
        CHECK_RESULT(copy_to(desc, repl, &region, filled, SIZE), -2, error);
    CHECK(untouched(region.data, SIZE));
    fill(region.data, SIZE);
    for (int repl = 0; repl <= 1; repl++)
        CHECK_RESULT(copy_from(desc, repl, &region, buffer, SIZE), -2, error);
    CHECK(untouched(buffer, SIZE));
}

/* A good triple, then this one with bcrT_END. */
static void check_last_triple_refused(int type, int repl)
{
    const int desc[] = {0, bcrT_CHAR, 1, 0, type | bcrT_END, repl};
    check_refused(desc, bcrE_DESC);
}

TEST(unknown_types_are_refused)
{
    check_last_triple_refused(0, 1);
    check_last_triple_refused(bcrT_CCE + 1, 1);
    check_last_triple_refused(0xff, 1);
    check_last_triple_refused((1 << 24) - 1, 1);
    check_last_triple_refused(bcrT_CCE + 1, 0); /* also where it would not be used */
}

TEST(unknown_flags_are_refused)
{
    check_last_triple_refused(bcrT_INT | 1 << 24, 1);
    check_last_triple_refused(bcrT_INT | 1 << 25, 1);
    check_last_triple_refused(bcrT_INT | 1 << 26, 1);
    check_last_triple_refused(bcrT_INT | INT_MIN, 1);
    check_last_triple_refused(-1, 1);
}

TEST(negative_repl_is_refused)
{
    check_last_triple_refused(bcrT_CHAR, -1);
    check_last_triple_refused(bcrT_CHAR, INT_MIN);
    check_last_triple_refused(bcrT_CHAR | bcrT_SKIP_FM, -1);
    const int nest[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST + 1) | bcrT_END, -1, 0, bcrT_CHAR | bcrT_END, 1};
    check_refused(nest, bcrE_DESC);
}

TEST(nest_before_the_array_is_refused)
{
    const int array[] = {0, bcrT_CHAR | bcrT_END, 1, 0, bcrT_CHAR, 1, 0, (bcrT_NEST - 2) | bcrT_END, 1};
    check_refused(array + 3, bcrE_DESC);
    CHECK_INT(bcri_copydesc_check(the_copier(), array), 0);
}

TEST(nest_behind_65536_triples_is_refused)
{
    const int just[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST + (LIMIT - 1)) | bcrT_END, 0};
    check_refused(just, bcrE_DESC);
    const int far_off[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST + ((1 << 23) - 1)) | bcrT_END, 0};
    check_refused(far_off, bcrE_DESC);
    const int lowest[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST - (1 << 23)) | bcrT_END, 0};
    check_refused(lowest, bcrE_DESC);
    const int too_far[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST + (1 << 23)) | bcrT_END, 0};
    check_refused(too_far, bcrE_DESC);
}

TEST(malformed_nested_lists_are_refused_even_with_repl_0)
{
    const int desc[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST + 1) | bcrT_END, 0, 0, 77 | bcrT_END, 1};
    check_refused(desc, bcrE_DESC);
}

TEST(cycles_are_refused)
{
    const int itself[] = {0, bcrT_CHAR, 1, 0, bcrT_NEST | bcrT_END, 1};
    check_refused(itself, bcrE_DESC);
    const int whole[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST - 1) | bcrT_END, 1};
    check_refused(whole, bcrE_DESC);
    const int unused[] = {0, bcrT_CHAR, 1, 0, bcrT_NEST | bcrT_END, 0};
    check_refused(unused, bcrE_DESC);
    const int two[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST + 1) | bcrT_END, 1,
                       0, bcrT_CHAR, 1, 0, (bcrT_NEST - 2) | bcrT_END, 1};
    check_refused(two, bcrE_DESC);
}

TEST(many_ways_into_a_cycle_take_no_longer)
{
    /* Every triple of a long list nests the whole list: 100^64 paths. */
    enum { COUNT = 100 };
    int desc[COUNT * 3];
    for (int i = 0; i < COUNT; i++) {
        desc[3 * i] = 0;
        desc[3 * i + 1] = (bcrT_NEST - i) | (i == COUNT - 1 ? bcrT_END : 0);
        desc[3 * i + 2] = 1;
    }
    check_refused(desc, bcrE_DESC);
}

/* A char, then a chain of `levels` NESTs, each in the list of the one before, that ends in a
 * char. */
static void make_chain(int *desc, int levels)
{
    for (int i = 0; i <= levels; i++) {
        desc[3 * i] = 0;
        desc[3 * i + 1] = (i < levels ? bcrT_NEST + 1 : bcrT_CHAR) | bcrT_END;
        desc[3 * i + 2] = 1;
    }
}

TEST(nesting_of_64_levels_works_and_65_are_refused)
{
    int desc[3 * 67];
    uint8_t source = 0x42;
    struct bcri_copy_region region = region_new(1);
    make_chain(desc, 64);
    CHECK_RESULT(copy_to(desc, 1, &region, &source, 1), 2, 0);
    CHECK_MEM(region.data, &source, 1);
    make_chain(desc, 65);
    check_refused(desc, bcrE_DESC);
}

TEST(depth_counts_also_through_lists_already_looked_at)
{
    /* Triple 0 nests the lower half of a chain first; then triple 1 goes down the whole of it. */
    int desc[3 * 70];
    for (int levels = 63; levels <= 64; levels++) {
        make_chain(desc + 3 * 2, levels);
        desc[0] = desc[3] = 0;
        desc[1] = bcrT_NEST + 2 + levels / 2;
        desc[4] = (bcrT_NEST + 1) | bcrT_END;
        desc[2] = desc[5] = 1;
        CHECK_INT(bcri_copydesc_check(the_copier(), desc), levels == 63 ? 0 : bcrE_DESC);
    }
}

/* `count` chars without an end, and nothing readable behind them. */
static int *endless(int count)
{
    int *desc = (int *)(void *)guarded((size_t)count * 3 * sizeof(int));
    for (int i = 0; i < count; i++) {
        desc[3 * i] = 0;
        desc[3 * i + 1] = bcrT_CHAR;
        desc[3 * i + 2] = 1;
    }
    return desc;
}

TEST(missing_end_is_refused_and_nothing_read_behind_65536_triples)
{
    check_refused(endless(LIMIT), bcrE_DESC);
}

TEST(missing_end_of_a_nested_list_is_refused)
{
    int *desc = endless(LIMIT);
    desc[3 * 1 + 1] = (bcrT_NEST + 1) | bcrT_END;
    check_refused(desc, bcrE_DESC);
    desc[3 * 1 + 1] = (bcrT_NEST + LIMIT - 2) | bcrT_END; /* nests the last triple of all */
    check_refused(desc, bcrE_DESC);
}

TEST(reading_stops_at_the_end)
{
    int *desc = endless(3);
    desc[3 * 2 + 1] |= bcrT_END;
    CHECK_INT(bcri_copydesc_check(the_copier(), desc), 0);
    check_guard((uint8_t *)desc);
}

TEST(bad_arguments_are_refused)
{
    uint8_t buffer[SIZE] = {0};
    struct bcri_copy_region region = region_new(SIZE);
    CHECK_INT(bcri_copydesc_check(the_copier(), NULL), bcrE_ARG);
    CHECK_RESULT(copy_to(NULL, 1, &region, buffer, SIZE), -2, bcrE_ARG);
    CHECK_RESULT(copy_to(bcrT_1INT, -1, &region, buffer, SIZE), -2, bcrE_ARG);
    CHECK_RESULT(copy_to(bcrT_1INT, 1, &region, buffer, -1), -2, bcrE_ARG);
    CHECK_RESULT(copy_to(bcrT_1INT, 1, &region, NULL, 1), -2, bcrE_ARG);
    CHECK_RESULT(copy_from(NULL, 1, &region, buffer, SIZE), -2, bcrE_ARG);
    CHECK_RESULT(copy_from(bcrT_1INT, -1, &region, buffer, SIZE), -2, bcrE_ARG);
    CHECK_RESULT(copy_from(bcrT_1INT, 1, &region, buffer, INT_MIN), -2, bcrE_ARG);
    CHECK_RESULT(copy_from(bcrT_1INT, 1, &region, NULL, SIZE), -2, bcrE_ARG);
    region.offset_bytes = -1;
    CHECK_RESULT(copy_to(bcrT_1INT, 1, &region, buffer, SIZE), -2, bcrE_ARG);
    CHECK_RESULT(copy_from(bcrT_1INT, 1, &region, buffer, SIZE), -2, bcrE_ARG);
    region.offset_bytes = SIZE + 1;
    CHECK_RESULT(copy_to(bcrT_1INT, 1, &region, buffer, SIZE), -2, bcrE_ARG);
    CHECK_RESULT(copy_from(bcrT_1INT, 1, &region, buffer, SIZE), -2, bcrE_ARG);
    CHECK(untouched(region.data, SIZE));
}

TEST(a_copy_onto_its_own_descriptor_is_refused)
{
    /* Were it followed while it changes, its END might vanish. */
    static const int good[] = {0, bcrT_CHAR, 12, 0, (bcrT_NEST + 1) | bcrT_END, 1, 0, bcrT_CHAR | bcrT_END,
                               24};
    struct bcri_copy_region region = region_new(SIZE);
    uint8_t *memory = guarded(100 + sizeof good), *desc_bytes = memory + 48;
    int *desc = (int *)(void *)(memory + 48);
    memcpy(desc, good, sizeof good);
    static const struct {
        int from, length;
        bool refused;
    } rows[] = {{0, 48, false}, {0, 49, true},  {48, 36, true}, {60, 4, true},
                {60, 0, false}, {83, 48, true}, {84, 48, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool refused = rows[i].refused;
        struct bcri_copy_result result = copy_from(desc, 1, &region, memory + rows[i].from, rows[i].length);
        CHECK_INT(result.error, refused ? bcrE_ARG : 0);
        CHECK_INT(result.ret == -2, refused);
        struct bcri_copy_region onto = region;
        onto.data = memory + rows[i].from;
        onto.length_bytes = rows[i].length;
        result = copy_to(desc, 1, &onto, region.data, SIZE);
        CHECK_INT(result.error, refused ? bcrE_ARG : 0);
        CHECK_INT(result.ret == -2, refused);
        CHECK_MEM(desc_bytes, good, sizeof good);
    }
    /* As the source it is like any other memory. */
    CHECK_RESULT(copy_to(desc, 1, &region, desc, sizeof good), 2, 0);
    CHECK_MEM(region.data, good, sizeof good);
}

TEST(null_buffer_of_no_length_is_an_empty_one)
{
    struct bcri_copy_region region = region_new(4);
    CHECK_RESULT(copy_to(bcrT_1INT, 0, &region, NULL, 0), 2, 0);
    CHECK_RESULT(copy_to(bcrT_1INT, 1, &region, NULL, 0), 1, 0);
    CHECK_RESULT(copy_from(bcrT_1INT, 1, &region, NULL, 0), -2 - 4, 0);
    struct bcri_copy_region empty = {.data = NULL, .archtype = bcri_archtype_native()};
    uint8_t buffer[4] = {0};
    CHECK_RESULT(copy_to(bcrT_1INT, 1, &empty, buffer, 4), -2 - 4, 0);
    CHECK_RESULT(copy_from(bcrT_1INT, 1, &empty, buffer, 4), 1, 0);
}

TEST(adjust_out_of_bounds_stops_the_copy_there)
{
    static const int before[] = {0, bcrT_CHAR, 1, -2, bcrT_CHAR, 0, 2, bcrT_CHAR | bcrT_END, 1};
    static const int behind[] = {0, bcrT_CHAR, 1, INT_MAX, bcrT_CHAR, 0, INT_MIN, bcrT_CHAR | bcrT_END, 1};
    static const int *const descs[] = {before, behind};
    for (int i = 0; i < 2; i++) {
        uint8_t *buffer = guarded(4), filled[4];
        struct bcri_copy_region region = region_new(4);
        fill(filled, 4);
        CHECK_INT(bcri_copydesc_check(the_copier(), descs[i]), 0);
        CHECK_RESULT(copy_to(descs[i], 1, &region, filled, 4), -2, bcrE_DESC);
        CHECK_MEM(region.data, filled, 1);
        CHECK(untouched((uint8_t *)region.data + 1, 3));
        CHECK_RESULT(copy_from(descs[i], 1, &region, buffer, 4), -2, bcrE_DESC);
        CHECK_MEM(buffer, filled, 1);
        CHECK(untouched(buffer + 1, 3));
        check_guard(buffer);
        check_guard(region.data);
    }
}

TEST(adjusts_whose_sum_overflows_stop_the_copy)
{
    /* 2^31 repeats of 2^31 repeats of 2^31 bytes more (or less): 2^93, without a single item. */
    static const int adjusts[] = {-INT_MAX, INT_MAX};
    for (int i = 0; i < 2; i++) {
        int desc[] = {0,
                      bcrT_CHAR,
                      1,
                      0,
                      (bcrT_NEST + 1) | bcrT_END,
                      INT_MAX,
                      0,
                      (bcrT_NEST + 1) | bcrT_END,
                      INT_MAX,
                      0,
                      bcrT_CHAR | bcrT_END,
                      0};
        desc[9] = adjusts[i];
        uint8_t source[4] = {1, 2, 3, 4};
        struct bcri_copy_region region = region_new(4);
        CHECK_RESULT(copy_to(desc, 1, &region, source, 4), -2, bcrE_DESC);
        CHECK_MEM(region.data, source, 1);
        CHECK(untouched((uint8_t *)region.data + 1, 3));
    }
}

/* From here on neither malloc nor the library's own memory gives anything to this process. */
static void use_up_all_memory(void)
{
    const struct rlimit none = {0, 0};
    CHECK_INT(setrlimit(RLIMIT_AS, &none), 0);
    void *volatile taken = malloc((size_t)1 << 30); /* volatile keeps the compiler from leaving malloc out */
    if (taken)
        SKIP("this machine does not hold its programs to RLIMIT_AS");
    for (size_t size = 1 << 16; size > 0; size /= 2)
        do
            taken = malloc(size);
        while (taken);
    for (size_t size = 1 << 14; size > 0; size -= 16)
        do
            taken = bcri_private_alloc(size);
        while (taken);
}

/* The stack cannot grow any more then either. */
static void have_stack(void)
{
    volatile char pages[1 << 18];
    for (size_t i = 0; i < sizeof pages; i += 512)
        pages[i] = 0;
}

TEST(without_memory_only_known_descriptors_are_copied)
{
    if (test_is_instrumented())
        SKIP("the tool's own memory cannot be used up");
    static const int known[] = {0, bcrT_CHAR, 1, 0, (bcrT_NEST + 1) | bcrT_END, 1, 0, bcrT_CHAR | bcrT_END,
                                1};
    static const int unknown[] = {0, bcrT_CHAR, 1, 0, bcrT_CHAR | bcrT_END, 1};
    uint8_t source[2] = {1, 2};
    struct bcri_copy_region region = region_new(2), known_region = region_new(2);
    CHECK_RESULT(copy_to(known, 0, &known_region, source, 2), 2 + 2, 0);
    have_stack();
    use_up_all_memory();
    CHECK_RESULT(copy_to(unknown, 1, &region, source, 2), -2, bcrE_NOMEM);
    CHECK_INT(bcri_copydesc_check(the_copier(), unknown), bcrE_NOMEM);
    CHECK_RESULT(bcri_copy_size(the_copier(), unknown, 1, bcri_archtype_native(), 0, 2), -1, bcrE_NOMEM);
    CHECK(untouched(region.data, 2));
    CHECK_RESULT(copy_to(known, 1, &known_region, source, 2), 2, 0);
    CHECK_MEM(known_region.data, source, 2);
    /* One that overlaps cannot be set aside. */
    struct bcri_copy_region itself = known_region;
    CHECK_RESULT(copy_to(known, 1, &itself, known_region.data, 2), -2, bcrE_NOMEM);
}
