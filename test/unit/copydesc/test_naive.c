/* SPDX-License-Identifier: MIT */
/*
 * Random descriptors, buffers and limits against a naive copy: one item after the other, every repeat walked, no
 * closed form, nothing shared with the library but <bcr/types.h>. Cases in which it would walk too far are left out.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <bcr/error.h>
#include <bcr/types.h>
#include <bcri/archtype.h>

#include "check.h"
#include "fixture.h"

enum { WALK_MAX = 20000, LENGTH_MAX = 160, TRIPLES_MAX = 32 };

/* ---- the naive copy ---- */

enum naive_stop { NOT_YET, SOURCE_RAN_OUT, DESTINATION_FULL, FAILED, TOO_LONG };

static struct naive {
    const int *desc;
    int to_region;
    uint8_t *source, *destination;
    long long source_pos, source_length, destination_pos, destination_length;
    int error;
    int walked;
} n;

#define ALIGN_OF(type) \
    (int)offsetof(     \
        struct {       \
            char c;    \
            type t;    \
        },             \
        t)

static int size_of(int type, int in_region)
{
    static const int sizes[] = {
        0, 1, sizeof(short), sizeof(int), sizeof(long), sizeof(long long), sizeof(float), sizeof(double)};
    return type == bcrT_CCE ? (in_region ? 16 : (int)sizeof(int)) : sizes[type];
}

static int align_of(int type, int in_region)
{
    static const int aligns[] = {0,
                                 1,
                                 ALIGN_OF(short),
                                 ALIGN_OF(int),
                                 ALIGN_OF(long),
                                 ALIGN_OF(long long),
                                 ALIGN_OF(float),
                                 ALIGN_OF(double)};
    return type == bcrT_CCE ? (in_region ? 4 : ALIGN_OF(int)) : aligns[type];
}

static long long place(long long pos, int align)
{
    while (pos % align != 0)
        pos++;
    return pos;
}

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

static enum naive_stop naive_item(int type, int skip)
{
    int take = skip == 0 || (skip & bcrT_SKIP_FM), give = skip == 0 || (skip & bcrT_SKIP_TO);
    int source_in_region = !n.to_region, destination_in_region = n.to_region;
    long long from = place(n.source_pos, align_of(type, source_in_region));
    long long to = place(n.destination_pos, align_of(type, destination_in_region));
    long long from_end = from + size_of(type, source_in_region),
              to_end = to + size_of(type, destination_in_region);
    if (take && from_end > n.source_length)
        return SOURCE_RAN_OUT;
    if (give && to_end > n.destination_length)
        return DESTINATION_FULL;
    if (skip == 0 && type != bcrT_CCE)
        memcpy(n.destination + to, n.source + from, (size_t)(to_end - to));
    if (skip == 0 && type == bcrT_CCE && n.to_region) {
        int id;
        uint8_t identity[16] = {0};
        memcpy(&id, n.source + from, sizeof id);
        if (id != -1 && (n.error = encode_any(NULL, id, identity)) != 0)
            return FAILED;
        memcpy(n.destination + to, identity, 16);
    }
    if (skip == 0 && type == bcrT_CCE && !n.to_region) {
        int id = -1;
        static const uint8_t zeros[16];
        if (memcmp(n.source + from, zeros, 16) != 0 &&
            (n.error = decode_any(NULL, n.source + from, &id)) != 0)
            return FAILED;
        memcpy(n.destination + to, &id, sizeof id);
    }
    if (take)
        n.source_pos = from_end;
    if (give)
        n.destination_pos = to_end;
    return NOT_YET;
}

static enum naive_stop naive_list(int first, int skip)
{
    for (int at = first;; at++) {
        int type = n.desc[3 * at + 1], flags = skip | (type & (bcrT_SKIP_FM | bcrT_SKIP_TO));
        long long *user_pos = n.to_region ? &n.source_pos : &n.destination_pos;
        *user_pos += n.desc[3 * at];
        if (*user_pos < 0 || *user_pos > INT_MAX) {
            n.error = bcrE_DESC;
            return FAILED;
        }
        for (int i = 0; i < n.desc[3 * at + 2]; i++) {
            int low = type % (1 << 24);
            enum naive_stop stop;
            if (++n.walked > WALK_MAX)
                return TOO_LONG;
            if (type & (1 << 29))
                stop = naive_list(at + low - (1 << 23), flags);
            else
                stop = naive_item(low, flags);
            if (stop)
                return stop;
        }
        if (type & bcrT_END)
            return NOT_YET;
    }
}

/* Returns 0 if that was too much. */
static int naive_copy(int repl, struct bcri_copy_result *result)
{
    enum naive_stop stop = NOT_YET;
    for (int i = 0; i < repl && !stop; i++)
        stop = ++n.walked > WALK_MAX ? TOO_LONG : naive_list(0, 0);
    int left = n.source_pos > n.source_length ? 0 : (int)(n.source_length - n.source_pos);
    result->error = 0;
    if (stop == NOT_YET)
        result->ret = left + 2;
    else if (stop == SOURCE_RAN_OUT || (stop == DESTINATION_FULL && left == 0))
        result->ret = 1;
    else if (stop == DESTINATION_FULL)
        result->ret = -left - 2;
    else {
        result->ret = -2;
        result->error = n.error;
    }
    return stop != TOO_LONG;
}

/* ---- cases ---- */

static uint64_t random_state;

static int below(int bound)
{
    return (int)test_rand_below(&random_state, (uint64_t)bound);
}

static int random_repl(void)
{
    static const int bounds[] = {2, 4, 4, 8, 100, 4000};
    return below(bounds[below(6)]);
}

/* A few lists of a few triples; each nests only later ones. In idle cases items move nothing in the region. */
static int random_descriptor(int *desc, int user_skip)
{
    int lists = 1 + below(5), starts[5], count = 0;
    for (int i = 0; i < lists; i++) {
        starts[i] = count;
        count += 1 + below(5);
    }
    for (int at = 0, list = 0; at < count; at++) {
        while (list + 1 < lists && starts[list + 1] <= at)
            list++;
        int end = list + 1 < lists ? starts[list + 1] - 1 : count - 1;
        int type;
        if (list + 1 < lists && below(3) == 0)
            type = bcrT_NEST + starts[list + 1 + below(lists - list - 1)] - at;
        else
            type = 1 + below(8);
        int skip = below(4) == 0 ? below(4) * bcrT_SKIP_FM : 0;
        if (user_skip)
            skip = below(20) ? user_skip : 0;
        desc[3 * at] = below(3) == 0 ? below(25) - 12 : 0;
        desc[3 * at + 1] = type | skip | (at == end ? bcrT_END : 0);
        desc[3 * at + 2] = random_repl();
    }
    return count;
}

static void fill_randomly(uint8_t *data, int length)
{
    for (int i = 0; i < length; i++)
        data[i] = (uint8_t)(below(12) ? test_rand(&random_state) : 0xff);
    if (length >= 16 && below(2))
        memset(data + below(length / 4 - 3) * 4, 0, 16); /* reads as the CCE -1 */
}

static void describe(const int *desc, int count, int repl)
{
    fprintf(stderr, "repl %d, source %lld bytes from %lld, destination %lld bytes from %lld, %s region\n",
            repl, n.source_length, n.source_pos, n.destination_length, n.destination_pos,
            n.to_region ? "to" : "from");
    for (int i = 0; i < count; i++)
        fprintf(stderr, "  %3d: %d, 0x%08x, %d\n", i, desc[3 * i], (unsigned)desc[3 * i + 1],
                desc[3 * i + 2]);
}

static uint8_t *user, *region_data, *want;

static int compare_once(int idle)
{
    int desc[3 * TRIPLES_MAX] = {0}, to_region = below(2), repl = random_repl();
    int buflen = below(LENGTH_MAX + 1), length = below(LENGTH_MAX + 1), offset = below(length + 1);
    int count = random_descriptor(desc, idle ? (to_region ? bcrT_SKIP_FM : bcrT_SKIP_TO) : 0);

    /* Both end where an inaccessible page begins. */
    uint8_t *buffer = user + LENGTH_MAX - buflen, *data = region_data + LENGTH_MAX - length;
    fill_randomly(user, LENGTH_MAX);
    fill_randomly(region_data, LENGTH_MAX);
    uint8_t *result_area = to_region ? region_data : user;
    memcpy(want, result_area, LENGTH_MAX);

    n = (struct naive){.desc = desc,
                       .to_region = to_region,
                       .source = to_region ? buffer : data,
                       .source_length = to_region ? buflen : length,
                       .source_pos = to_region ? 0 : offset,
                       .destination = want + LENGTH_MAX - (to_region ? length : buflen),
                       .destination_length = to_region ? length : buflen,
                       .destination_pos = to_region ? offset : 0};
    struct naive begin = n;
    struct bcri_copy_result wanted, got;
    if (!naive_copy(repl, &wanted))
        return 0;

    struct bcri_copy_region region = {data, length, offset, bcri_archtype_native()};
    if (to_region)
        got = bcri_copy_to_region(desc, repl, &region, buffer, buflen, &any_codec);
    else
        got = bcri_copy_from_region(desc, repl, &region, buffer, buflen, &any_codec);
    if (got.ret != wanted.ret || got.error != wanted.error || memcmp(result_area, want, LENGTH_MAX) != 0) {
        n = begin;
        describe(desc, count, repl);
    }
    CHECK_INT(got.ret, wanted.ret);
    CHECK_INT(got.error, wanted.error);
    CHECK_MEM(result_area, want, LENGTH_MAX);
    return 1;
}

static void compare(int idle, uint64_t rounds)
{
    user = guarded(LENGTH_MAX);
    region_data = guarded(LENGTH_MAX);
    want = guarded(LENGTH_MAX);
    random_state = test_seed() + (uint64_t)idle;
    uint64_t compared = 0;
    for (uint64_t i = 0; i < rounds; i++)
        compared += (uint64_t)compare_once(idle);
    CHECK(compared > rounds / 4);
    check_guard(user);
    check_guard(region_data);
}

TEST_TIMEOUT(random_copies_do_what_a_naive_copy_does, 300)
{
    compare(0, test_scale(100000, 1000000));
}

TEST_TIMEOUT(random_idle_descriptors_do_what_a_naive_copy_does, 300)
{
    compare(1, test_scale(50000, 500000));
}
