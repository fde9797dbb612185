/* SPDX-License-Identifier: MIT */
/*
 * Random descriptors, archtypes, buffers and limits, against the reference. Cases in which it would
 * walk too far are left out. One copier serves all cases, so that kept compiled descriptors meet
 * descriptors that are like theirs but not the same. */
#include <stdio.h>
#include <string.h>

#include <bcr/error.h>
#include <bcr/types.h>
#include <bcri/archtype.h>

#include "check.h"
#include "fixture.h"
#include "reference.h"

enum { LISTS_MAX = 5, SHORT_LIST = 5, LONG_LIST = 25, TRIPLES_MAX = LISTS_MAX * LONG_LIST };

/* Small areas meet their ends more often, large ones the loops over blocks that stay in the
 * cache. */
static int length_max = 160, steps_max = 20000, repl_max = 4000;

enum direction { TO_REGION, FROM_REGION, BETWEEN, SIZE_ONLY, DIRECTIONS };

/* The identity of an ID is the ID four times over; some do not exist. */
static int encode_any(void *ctx, int id, uint8_t out[16])
{
    (void)ctx;
    for (int i = 0; i < 4; i++)
        memcpy(out + 4 * i, &id, 4);
    return id % 8 == 5 ? bcrE_NOCCE : 0;
}

static int decode_any(void *ctx, const uint8_t in[16], int *id_out)
{
    (void)ctx;
    memcpy(id_out, in + 8, 4);
    return in[0] % 16 == 5 ? bcrE_NOMEM : 0;
}

static const struct bcri_cce_codec any_codec = {NULL, encode_any, decode_any};

/* ---- cases ---- */

static uint64_t random_state;

static int below(int bound)
{
    return (int)test_rand_below(&random_state, (uint64_t)bound);
}

static int random_repl(void)
{
    const int bounds[] = {2, 4, 4, 8, 100, repl_max};
    return below(bounds[below(6)]);
}

/* The beginning of a later list, or somewhere within one. */
static int random_target(const int *starts, int lists, int list, int count)
{
    if (below(4) == 0)
        return starts[list + 1] + below(count - starts[list + 1]);
    return starts[list + 1 + below(lists - list - 1)];
}

/* A few lists of a few triples, or of many that mostly copy nothing; each nests only later ones, or
 * ends of them. In idle cases items move nothing in the region. */
static int random_descriptor(int *desc, int user_skip)
{
    int lists = 1 + below(LISTS_MAX), starts[LISTS_MAX], count = 0;
    bool stretches = below(4) == 0;
    for (int i = 0; i < lists; i++) {
        starts[i] = count;
        count += 1 + below(stretches ? LONG_LIST : SHORT_LIST);
    }
    for (int at = 0, list = 0; at < count; at++) {
        while (list + 1 < lists && starts[list + 1] <= at)
            list++;
        int end = list + 1 < lists ? starts[list + 1] - 1 : count - 1;
        int type;
        if (list + 1 < lists && below(3) == 0)
            type = bcrT_NEST + random_target(starts, lists, list, count) - at;
        else
            type = 1 + below(8);
        int skip = below(4) == 0 ? below(4) * bcrT_SKIP_FM : 0;
        bool idle = stretches && below(8) > 0;
        if (idle)
            skip = (1 + below(3)) * bcrT_SKIP_FM;
        if (user_skip)
            skip = below(20) ? user_skip : 0;
        desc[3 * at] = below(3) == 0 ? below(25) - 12 : 0;
        desc[3 * at + 1] = type | skip | (at == end ? bcrT_END : 0);
        desc[3 * at + 2] = idle ? below(3) : random_repl();
    }
    return count;
}

/* This machine's own archtype, its mirror image, or any other. */
static int random_archtype(void)
{
    int kind = below(4);
    if (kind < 2)
        return bcri_archtype_native() ^ kind << 24;
    for (;;) {
        int sizes[6], aligns[6];
        for (int i = 0; i < 6; i++) {
            sizes[i] = 1 << below(4);
            aligns[i] = 1 << below(4);
        }
        int archtype = reference_archtype(below(2), sizes, aligns);
        if (bcri_archtype_valid(archtype))
            return archtype;
    }
}

/* Small numbers and floats of ordinary size are frequent, so that narrowing works out often
 * enough. */
static void fill_randomly(uint8_t *data, int length)
{
    int kind = below(3);
    for (int i = 0; i < length; i++)
        data[i] = (uint8_t)(kind == 0 ? below(256) : kind == 1 ? 0xff * below(2) : 0x40 * below(2));
    for (int i = 0; i < length / 8; i++)
        data[below(length)] = (uint8_t)test_rand(&random_state);
    if (length >= 16 && below(2))
        memset(data + below(length / 4 - 3) * 4, 0, 16); /* reads as the CCE -1 */
}

static void describe(enum direction direction, const struct reference *ref, int count, int repl)
{
    static const char *const names[] = {"to region", "from region", "between regions", "size only"};
    fprintf(stderr,
            "%s, repl %d, source 0x%08x %lld bytes from %lld, destination 0x%08x %lld bytes from %lld\n",
            names[direction], repl, (unsigned)ref->source.archtype, ref->source.length, ref->source.pos,
            (unsigned)ref->destination.archtype, ref->destination.length, ref->destination.pos);
    for (int i = 0; i < count; i++)
        fprintf(stderr, "  %3d: %d, 0x%08x, %d\n", i, ref->desc[3 * i], (unsigned)ref->desc[3 * i + 1],
                ref->desc[3 * i + 2]);
}

static struct bcri_copier *copier;
static uint8_t *source_area, *destination_area, *want;

static struct bcri_copy_result copy_as_library(enum direction direction, const int *desc, int repl,
                                               const struct reference *ref)
{
    struct bcri_copy_region source = {ref->source.data, (int)ref->source.length, (int)ref->source.pos,
                                      ref->source.archtype};
    struct bcri_copy_region destination = {destination_area + length_max - ref->destination.length,
                                           (int)ref->destination.length, (int)ref->destination.pos,
                                           ref->destination.archtype};
    switch (direction) {
    case TO_REGION:
        return bcri_copy_to_region(copier, desc, repl, &destination, source.data, source.length_bytes,
                                   &any_codec);
    case FROM_REGION:
        return bcri_copy_from_region(copier, desc, repl, &source, destination.data, destination.length_bytes,
                                     &any_codec);
    case BETWEEN: return bcri_copy_between(copier, desc, repl, &destination, &source);
    default:
        return bcri_copy_size(copier, desc, repl, destination.archtype, destination.offset_bytes,
                              source.length_bytes);
    }
}

/* A side with room for `length` bytes at the end of an area, behind which an inaccessible page
 * begins. */
static struct reference_side random_side(bool user, uint8_t *area)
{
    struct reference_side side = {.archtype = user ? 0 : random_archtype(), .length = below(length_max + 1)};
    if (below(3) == 0)
        side.length = length_max;
    side.pos = user || below(3) ? 0 : below((int)side.length + 1);
    side.data = area + length_max - side.length;
    return side;
}

static unsigned long conversions, stops[TOO_LONG];

static bool compare_once(bool one_sided)
{
    int desc[3 * TRIPLES_MAX] = {0}, repl = random_repl();
    enum direction direction = (enum direction)below(DIRECTIONS);
    int count = random_descriptor(desc, !one_sided                 ? 0
                                        : direction == FROM_REGION ? bcrT_SKIP_TO
                                                                   : bcrT_SKIP_FM);
    fill_randomly(source_area, length_max);
    fill_randomly(destination_area, length_max);
    memcpy(want, destination_area, (size_t)length_max);
    struct reference ref = {.desc = desc,
                            .source =
                                random_side(direction == TO_REGION || direction == SIZE_ONLY, source_area),
                            .destination = random_side(direction == FROM_REGION, want),
                            .codec = &any_codec,
                            .dry = direction == SIZE_ONLY,
                            .steps = steps_max};
    if (direction == SIZE_ONLY) {
        ref.destination.length = INT32_MAX;
        ref.destination.data = NULL;
    }
    struct reference begin = ref;
    enum reference_stop stop = reference_run(&ref, repl);
    if (stop == TOO_LONG)
        return false;
    if (direction == SIZE_ONLY)
        begin.destination.length = 0;
    struct bcri_copy_result wanted =
        direction == SIZE_ONLY ? reference_size(&ref, stop) : reference_result(&ref, stop);
    struct bcri_copy_result got = copy_as_library(direction, desc, repl, &begin);
    if (got.ret != wanted.ret || got.error != wanted.error ||
        memcmp(destination_area, want, (size_t)length_max) != 0)
        describe(direction, &begin, count, repl);
    CHECK_INT(got.ret, wanted.ret);
    CHECK_INT(got.error, wanted.error);
    CHECK_MEM(destination_area, want, (size_t)length_max);
    conversions += (unsigned long)ref.conversions;
    stops[stop]++;
    return true;
}

static void compare(bool one_sided, const struct bcri_reverse *reverse, uint64_t cases)
{
    source_area = guarded((size_t)length_max);
    destination_area = guarded((size_t)length_max);
    want = guarded((size_t)length_max);
    copier = bcri_copier_create(reverse);
    CHECK(copier != NULL);
    random_state = test_seed() + (uint64_t)one_sided;
    for (uint64_t compared = 0; compared < cases;)
        compared += compare_once(one_sided);
    check_guard(source_area);
    check_guard(destination_area);
    for (int stop = NOT_STOPPED; stop < TOO_LONG; stop++)
        CHECK(stops[stop] > cases / 1000); /* or it would prove little */
    CHECK(one_sided || conversions > cases / 2);
    CHECK(bcri_copier_state(copier).compiled_count <= BCRI_COPIER_COMPILED);
    bcri_copier_destroy(copier);
}

TEST_TIMEOUT(random_copies_do_what_the_reference_does, 300)
{
    compare(false, bcri_reverse_best(), test_scale(40000, 1500000));
}

TEST_TIMEOUT(random_copies_with_portable_reversal_do_what_the_reference_does, 300)
{
    compare(false, bcri_reverse_nth(0), test_scale(10000, 300000));
}

TEST_TIMEOUT(random_descriptors_that_move_one_side_do_what_the_reference_does, 300)
{
    compare(true, bcri_reverse_best(), test_scale(12000, 500000));
}

TEST_TIMEOUT(large_random_copies_do_what_the_reference_does, 300)
{
    length_max = 30000;
    steps_max = 60000;
    repl_max = 20000;
    compare(false, bcri_reverse_best(), test_scale(3000, 50000));
}
