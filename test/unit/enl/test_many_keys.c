/* SPDX-License-Identifier: MIT */
/* The codec with more keys than fit in 32 bits (many_keys.h): none is taken for another. */
#include "bcri/control.h"
#include "check.h"

_Static_assert(BCRI_KEY_test_b7 >= 32, "the keys of the test lie beyond a word of 32 bits");

static uint8_t bytes[BCRI_CONTROL_BYTES_MAX];

TEST(a_key_beyond_32_is_written_and_read_and_none_below_it)
{
    const struct bcri_control sent = {.type = BCRI_MSG_many,
                                      .present = BCRI_HAS(id) | BCRI_HAS(test_b7) | BCRI_HAS(last),
                                      .id = 1,
                                      .test_b7 = 7,
                                      .last = bcri_view_of("last")};
    struct bcri_control got;
    const size_t length = bcri_control_encode(&sent, bytes, sizeof bytes);
    CHECK(length != 0);
    CHECK_PTR(bcri_control_decode(bytes, length, &got), NULL);
    CHECK_INT(got.type, BCRI_MSG_many);
    CHECK(got.present == sent.present);
    CHECK_UINT(got.test_b7, 7);
    CHECK_UINT(got.last.length, 4);
    CHECK_MEM(got.last.bytes, "last", 4);
}

TEST(a_key_beyond_32_that_is_required_is_missed)
{
    struct bcri_control sent = {
        .type = BCRI_MSG_many, .present = BCRI_HAS(id) | BCRI_HAS(last), .id = 1, .last = bcri_view_of("x")};
    CHECK_UINT(bcri_control_encode(&sent, bytes, sizeof bytes), 0);
    sent.present |= BCRI_KEY_BIT(BCRI_KEY_test_b7 - 32); /* the key 32 places below is no substitute */
    CHECK_UINT(bcri_control_encode(&sent, bytes, sizeof bytes), 0);
}

TEST(a_key_beyond_32_that_a_type_does_not_have_is_not_written)
{
    const struct bcri_control sent = {
        .type = BCRI_MSG_kill, .present = BCRI_HAS(id) | BCRI_HAS(test_b8), .id = 1};
    CHECK_UINT(bcri_control_encode(&sent, bytes, sizeof bytes), 0);
}

TEST(a_key_beyond_32_is_found_to_be_there_twice)
{
    const struct bcri_control sent = {
        .type = BCRI_MSG_many, .present = BCRI_HAS(id) | BCRI_HAS(test_b7) | BCRI_HAS(test_b8), .id = 1};
    struct bcri_control got;
    const size_t length = bcri_control_encode(&sent, bytes, sizeof bytes);
    CHECK(length != 0);
    for (size_t at = 0; at + 7 <= length; at++)
        if (__builtin_memcmp(bytes + at, "test_b8", 7) == 0)
            bytes[at + 6] = '7';
    CHECK_STR(bcri_control_decode(bytes, length, &got), "a key is there twice");
}
