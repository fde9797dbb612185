/* SPDX-License-Identifier: MIT */
/* The ints by which a CCE names others, on a real host segment. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <bcr.h>

#include "bcri/cces.h"
#include "bcri/host.h"
#include "bcri/layout.h"
#include "bcri/self.h"
#include "check.h"

static struct bcri_host *host;

enum { NUMBER = 3 }; /* of the host */

static int no_add(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    return bcri_host_segment_add(up, fd, size_bytes, kind, 1, seg_out);
}
static int dup_fd(void *up, uint32_t seg)
{
    int fd = dup(bcri_host_segment_fd(up, seg));
    return fd >= 0 ? fd : -bcrE_NOMEM;
}
static const struct bcri_upcalls upcalls = {.segment_add = no_add, .segment_fd = dup_fd};

static uint32_t new_record(uint32_t ordinal)
{
    uint32_t index;
    if (host == NULL)
        CHECK_INT(bcri_host_init("test.1", NUMBER, bcri_core_layout(), &host), 0);
    CHECK_INT(bcri_host_cce_add(host, ordinal, &index), 0);
    return index;
}

static void new_cce(struct bcri_ctx *ctx, uint32_t ordinal)
{
    uint32_t index = new_record(ordinal);
    CHECK_INT(bcri_ctx_init(ctx, bcri_host_segment_fd(host, BCRI_HOST_SEG), index, bcri_core_layout(),
                            &upcalls, host),
              0);
    bcri_store(&ctx->record->id.state, BCRI_CCE_ALIVE);
}

static struct bcri_ctx one, two;

TEST(a_cce_is_1_to_itself)
{
    uint8_t none[BCRI_IDENTITY_BYTES] = {0};
    int id;
    new_cce(&one, 7);
    CHECK_INT(bcri_ids_set_globals(&one, none), 0);
    CHECK_INT(bcri_cce_id_of_index(&one, one.index, &id), 0);
    CHECK_INT(id, 1);
    bcri_self_set(&one);
    CHECK_INT(bcr_cce, 1);
    CHECK_INT(bcr_enlistor, -1);
    CHECK_INT(bcr_cceord, 7);
    CHECK(bcr_archtype > 0);
}

TEST(room_for_many_ids_is_made_at_once_and_those_that_are_there_stay)
{
    uint8_t identity[BCRI_IDENTITY_BYTES] = {0, 9, 0, 1};
    int id, again;
    new_cce(&one, 0);
    for (int i = 2; i < 20; i++) {
        identity[5] = (uint8_t)i;
        CHECK_INT(bcri_cce_decode(&one, identity, &id), 0);
        CHECK_INT(id, i);
    }
    CHECK_INT(bcri_cce_reserve(&one, 10), 0);
    CHECK_UINT(one.ids->capacity, 32);
    CHECK_INT(bcri_cce_reserve(&one, 12), 0); /* exactly full */
    CHECK_UINT(one.ids->capacity, 32);
    CHECK_INT(bcri_cce_reserve(&one, 13), 0);
    CHECK_UINT(one.ids->capacity, 64);
    CHECK_INT(bcri_cce_reserve(&one, 65000), 0);
    CHECK(one.ids->capacity >= 65020 && one.ids->count == 20);
    CHECK_INT(bcri_cce_reserve(&one, UINT32_MAX), bcrE_NOMEM);
    for (int i = 2; i < 20; i++) {
        identity[5] = (uint8_t)i;
        CHECK_INT(bcri_cce_decode(&one, identity, &again), 0);
        CHECK_INT(again, i);
    }
    bcri_ctx_fini(&one);
}

TEST(the_enlistor_is_named_by_its_identity)
{
    new_cce(&one, 0);
    new_cce(&two, 3);
    CHECK_INT(bcri_ids_set_globals(&two, one.record->id.identity), 0);
    bcri_self_set(&two);
    CHECK_INT(bcr_enlistor, 2);
    CHECK_UINT(bcri_cce_lookup(&two, 2)->index, one.index);
}

TEST(an_identity_makes_the_round_trip_and_keeps_its_int)
{
    uint8_t identity[BCRI_IDENTITY_BYTES];
    int id, again;
    new_cce(&one, 0);
    new_cce(&two, 1);
    CHECK_INT(bcri_cce_encode(&two, 1, identity), 0);
    CHECK_INT(bcri_cce_decode(&one, identity, &id), 0);
    CHECK_INT(id, 2);
    CHECK_INT(bcri_cce_decode(&one, identity, &again), 0);
    CHECK_INT(again, 2);
    struct bcri_cce *cce = bcri_cce_lookup(&one, id);
    CHECK(cce->record != NULL);
    CHECK_UINT(cce->index, two.index);
    CHECK_INT(bcri_cce_check(cce), 0);
}

/* Many that have the same bytes but the last ones meet in the buckets of the table. */
TEST(identities_that_begin_alike_are_different_CCEs)
{
    enum { COUNT = 5000 };
    static bool given[COUNT + 2];
    uint8_t identity[BCRI_IDENTITY_BYTES];
    new_cce(&one, 0);
    memcpy(identity, one.record->id.identity, sizeof identity);
    for (uint32_t i = 0; i < COUNT; i++) {
        int id, again;
        identity[14] = (uint8_t)(identity[14] + (i % 256 == 0));
        identity[15]++;
        if (memcmp(identity, one.record->id.identity, sizeof identity) == 0)
            continue;
        CHECK_INT(bcri_cce_decode(&one, identity, &id), 0);
        CHECK(id > 1 && id < COUNT + 2 && !given[id]);
        given[id] = true;
        CHECK_INT(bcri_cce_decode(&one, identity, &again), 0);
        CHECK_INT(again, id);
    }
}

TEST(no_cce_is_minus_1_and_zeros)
{
    uint8_t identity[BCRI_IDENTITY_BYTES], zeros[BCRI_IDENTITY_BYTES] = {0};
    int id;
    new_cce(&one, 0);
    CHECK_INT(bcri_cce_encode(&one, -1, identity), 0);
    CHECK_MEM(identity, zeros, sizeof zeros);
    CHECK_INT(bcri_cce_decode(&one, zeros, &id), 0);
    CHECK_INT(id, -1);
}

TEST(ints_never_given_out_are_nobody)
{
    static const int never[] = {0, 2, -2, 1000, INT_MAX, INT_MIN};
    uint8_t identity[BCRI_IDENTITY_BYTES];
    new_cce(&one, 0);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        CHECK_PTR(bcri_cce_lookup(&one, never[i]), NULL);
        CHECK_INT(bcri_cce_encode(&one, never[i], identity), bcrE_NOCCE);
    }
    CHECK_PTR(bcri_cce_lookup(&one, -1), NULL);
}

TEST(an_unknown_identity_gets_an_int_that_names_nobody_and_can_be_passed_on)
{
    uint8_t unknown[BCRI_IDENTITY_BYTES] = {0, NUMBER, 0, 1, 9, 9, 9}, back[BCRI_IDENTITY_BYTES];
    int id;
    new_cce(&one, 0);
    CHECK_INT(bcri_cce_decode(&one, unknown, &id), 0);
    CHECK_INT(bcri_cce_check(bcri_cce_lookup(&one, id)), bcrE_NOCCE);
    CHECK_INT(bcri_cce_encode(&one, id, back), 0);
    CHECK_MEM(back, unknown, sizeof back);
}

TEST(an_identity_of_another_host_is_told_from_that_of_no_cce)
{
    uint8_t identity[BCRI_IDENTITY_BYTES], back[BCRI_IDENTITY_BYTES];
    int id, other;
    new_cce(&one, 0);
    CHECK_INT(bcri_cce_encode(&one, 1, identity), 0);
    CHECK_UINT(bcri_identity_host(identity), NUMBER);
    CHECK_UINT(bcri_identity_index(identity), one.index);
    CHECK_INT(bcri_cce_decode(&one, identity, &id), 0);
    CHECK_INT(id, 1);
    static const uint32_t hosts[] = {0, NUMBER - 1, NUMBER << 8, NUMBER << 8 | NUMBER, BCRI_HOST_NUMBER_MAX};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        bcri_identity_name(identity, hosts[i], one.index);
        CHECK_INT(bcri_cce_decode(&one, identity, &other), 0);
        CHECK(other != 1);
        CHECK_INT(bcri_cce_check(bcri_cce_lookup(&one, other)), 0);
        CHECK(bcri_cce_lookup(&one, other)->elsewhere);
        CHECK_INT(bcri_cce_encode(&one, other, back), 0);
        CHECK_MEM(back, identity, sizeof back);
        CHECK_INT(bcri_cce_decode(&one, back, &id), 0);
        CHECK_INT(id, other);
    }
}

TEST(a_host_number_that_no_identity_can_carry_is_refused)
{
    struct bcri_host *none = NULL;
    CHECK_INT(bcri_host_init("test.2", BCRI_HOST_NUMBER_MAX + 1, bcri_core_layout(), &none), bcrE_ARG);
    CHECK_PTR(none, NULL);
}

TEST(an_index_that_was_never_given_out_is_nobody)
{
    int id;
    new_cce(&one, 0);
    CHECK_INT(bcri_cce_id_of_index(&one, 60000, &id), bcrE_NOCCE);
    CHECK_INT(bcri_cce_id_of_index(&one, 40, &id), bcrE_NOCCE);
}

TEST(a_record_given_out_again_is_another_cce)
{
    int id, new_id;
    new_cce(&one, 0);
    uint32_t index = new_record(1);
    CHECK_INT(bcri_cce_id_of_index(&one, index, &id), 0);
    CHECK_INT(bcri_cce_check(bcri_cce_lookup(&one, id)), 0);
    bcri_store(&bcri_host_record(host, index)->id.state, BCRI_CCE_DEAD);
    CHECK_INT(bcri_cce_check(bcri_cce_lookup(&one, id)), bcrE_DEAD);
    bcri_host_cce_release(host, index);
    CHECK_INT(bcri_cce_check(bcri_cce_lookup(&one, id)), bcrE_DEAD);
    CHECK_INT(bcri_cce_id_of_index(&one, index, &new_id), bcrE_NOCCE);
    bcri_store(&bcri_host_record(host, index)->bell.lock_event, 7);
    CHECK_UINT(new_record(2), index);
    CHECK_UINT(bcri_load(&bcri_host_record(host, index)->bell.lock_event), 8); /* who slept on it wakes */
    CHECK_INT(bcri_cce_check(bcri_cce_lookup(&one, id)), bcrE_DEAD);
    CHECK_INT(bcri_cce_id_of_index(&one, index, &new_id), 0);
    CHECK(new_id != id);
    CHECK_INT(bcri_cce_check(bcri_cce_lookup(&one, new_id)), 0);
}

TEST(the_table_grows_and_every_int_keeps_its_meaning)
{
    enum { COUNT = 5000 };
    static uint8_t identity[COUNT][BCRI_IDENTITY_BYTES];
    static int id[COUNT];
    uint64_t state = test_seed();
    new_cce(&one, 0);
    for (int i = 0; i < COUNT; i++) {
        for (unsigned byte = 0; byte < BCRI_IDENTITY_BYTES; byte++)
            identity[i][byte] = (uint8_t)test_rand(&state);
        CHECK_INT(bcri_cce_decode(&one, identity[i], &id[i]), 0);
        CHECK_INT(id[i], i + 2);
    }
    for (int i = 0; i < COUNT; i++) {
        uint8_t back[BCRI_IDENTITY_BYTES];
        int again;
        CHECK_INT(bcri_cce_decode(&one, identity[i], &again), 0);
        CHECK_INT(again, id[i]);
        CHECK_INT(bcri_cce_encode(&one, id[i], back), 0);
        CHECK_MEM(back, identity[i], sizeof back);
    }
}
