/* SPDX-License-Identifier: MIT */
/* The control messages: what is written is read back, on every machine as the same bytes, and
 * nothing else is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/control.h"
#include "check.h"

/* Reads a message from memory that ends where it ends, so that valgrind and ASan see a read behind
 * it. */
static const char *decode(const void *bytes, size_t length, struct bcri_control *message)
{
    static uint8_t *copy; /* lives on: views point into it */
    free(copy);
    copy = malloc(length != 0 ? length : 1);
    CHECK(copy != NULL);
    memcpy(copy, bytes, length);
    return bcri_control_decode(copy, length, message);
}

static const struct bcri_control enlist = {
    .type = BCRI_MSG_enlist,
    .present = BCRI_HAS(id) | BCRI_HAS(machine) | BCRI_HAS(core) | BCRI_HAS(count) | BCRI_HAS(ordinal) |
               BCRI_HAS(object) | BCRI_HAS(data) | BCRI_HAS(archtype),
    .id = 0x80000001u,
    .machine = {"", 0},
    .core = -1,
    .count = 3,
    .ordinal = 7,
    .object = {"bin/ring", 8},
    .data = {"a\0b", 3},
    .archtype = 0x02faffa5,
};

TEST(every_field_of_a_message_is_read_back)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    struct bcri_control got;
    size_t length = bcri_control_encode(&enlist, bytes, sizeof bytes);
    CHECK(length > 0);
    CHECK_STR(decode(bytes, length, &got), NULL);
    CHECK_INT(got.type, BCRI_MSG_enlist);
    CHECK_UINT(got.present, enlist.present);
    CHECK_UINT(got.id, 0x80000001u);
    CHECK_UINT(got.machine.length, 0);
    CHECK_INT(got.core, -1);
    CHECK_UINT(got.count, 3);
    CHECK_UINT(got.ordinal, 7);
    CHECK_UINT(got.object.length, 8);
    CHECK_MEM(got.object.bytes, "bin/ring", 8);
    CHECK_UINT(got.data.length, 3);
    CHECK_MEM(got.data.bytes, "a\0b", 3);
    CHECK_UINT(got.archtype, 0x02faffa5);
}

/* What each type must and may have, from the same list as the code's; the table of control.h is
 * compared by eye. */
static const struct {
    const char *name;
    uint64_t required, optional;
    unsigned fds;
} types[] = {
#define K(key)                              BCRI_HAS(key)
#define TYPE(type, required, optional, fds) {#type, (required), (optional), (fds)},
    BCRI_CONTROL_TYPES(TYPE)
#undef TYPE
#undef K
};

/* Every field at its largest: text as long as it may be, numbers at their limit. */
static void fill(struct bcri_control *message)
{
    static char longest[BCRI_BLOCK_BYTES_MAX];
    memset(longest, 'x', sizeof longest);
#define LARGEST_U32(key, limit)   message->key = (uint32_t)(limit);
#define LARGEST_U64(key, limit)   message->key = (limit);
#define LARGEST_I32(key, limit)   message->key = (int32_t)(limit);
#define LARGEST_STR(key, limit)   message->key = (struct bcri_view){longest, (limit)};
#define LARGEST_BIN(key, limit)   message->key = (struct bcri_view){longest, (limit)};
#define LARGEST(key, kind, limit) LARGEST_##kind(key, limit)
    BCRI_CONTROL_KEYS(LARGEST)
}

#define SAME_U32(key) CHECK_UINT(got.key, sent.key);
#define SAME_U64(key) CHECK_UINT(got.key, sent.key);
#define SAME_I32(key) CHECK_INT(got.key, sent.key);
#define SAME_STR(key)                            \
    CHECK_UINT(got.key.length, sent.key.length); \
    CHECK_MEM(got.key.bytes, sent.key.bytes, sent.key.length);
#define SAME_BIN(key) SAME_STR(key)
#define SAME(key, kind, limit)                 \
    if ((sent.present & BCRI_HAS(key)) != 0) { \
        SAME_##kind(key)                       \
    }

TEST(every_type_is_read_back_with_all_that_it_may_have)
{
    for (int type = 0; type < BCRI_MSG_COUNT; type++) {
        uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
        struct bcri_control got, sent = {.type = (enum bcri_control_type)type};
        sent.present = types[type].required | types[type].optional;
        fill(&sent);
        size_t length = bcri_control_encode(&sent, bytes, sizeof bytes);
        CHECK(length > 0);
        CHECK_STR(decode(bytes, length, &got), NULL);
        CHECK_INT(got.type, type);
        CHECK_UINT(got.present, sent.present);
        BCRI_CONTROL_KEYS(SAME)
        CHECK_STR(bcri_control_name(got.type), types[type].name);
        CHECK_UINT(bcri_control_fds(got.type), types[type].fds);
        for (size_t cut = 0; cut < length; cut += 1 + length / 100)
            CHECK(decode(bytes, cut, &got) != NULL);
    }
}

TEST(no_type_is_written_or_read_without_each_of_its_required_keys)
{
    for (int type = 0; type < BCRI_MSG_COUNT; type++)
        for (uint64_t bit = 1; bit != 0; bit <<= 1) {
            uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
            struct bcri_control got, message = {.type = (enum bcri_control_type)type};
            if ((types[type].required & bit) == 0)
                continue;
            fill(&message);
            message.present = types[type].required;
            size_t length = bcri_control_encode(&message, bytes, sizeof bytes);
            message.present = types[type].required & ~bit;
            CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), 0);
            /* As another sender might: the key under an unknown name. */
            message.present = types[type].required;
            CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), length);
            static const char *const names[] = {
#define NAME(key, kind, limit) #key,
                BCRI_CONTROL_KEYS(NAME)};
            const char *name = names[__builtin_ctzll(bit)];
            size_t size = strlen(name);
            for (size_t at = 0; at + 1 + size <= length; at++)
                if (bytes[at] == (0xa0u | size) && memcmp(bytes + at + 1, name, size) == 0) {
                    bytes[at + 1] = '?';
                    break;
                }
            CHECK_STR(decode(bytes, length, &got), "a required key is missing");
        }
}

/* A seed for each type, so that libFuzzer has not to find their names. */
TEST(every_type_has_a_message_in_the_fuzzers_corpus)
{
    for (int type = 0; type < BCRI_MSG_COUNT; type++) {
        char path[4096];
        uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
        struct bcri_control got;
        snprintf(path, sizeof path, "%s/test/fuzz/corpus/control/%s", getenv("BCR_SOURCE_DIR"),
                 types[type].name);
        FILE *file = fopen(path, "rb");
        if (file == NULL)
            FAIL("no %s", path);
        size_t length = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        CHECK_STR(decode(bytes, length, &got), NULL);
        CHECK_INT(got.type, type);
    }
}

TEST(the_messages_of_armed_cells_are_the_same_bytes_on_every_machine)
{
    static const uint8_t set[] = "\x84\xa1v\x01\xa1t\xa6"
                                 "fd_set\xa2id\x07\xa4"
                                 "cell\xcf\x00\x00\x00\x05\x00\x00\x00\x09";
    static const uint8_t ring[] = "\x83\xa1v\x01\xa1t\xa7"
                                  "fd_ring\xa4"
                                  "cell\xcf\x00\x00\x00\x05\x00\x00\x00\x09";
    struct bcri_control message = {.type = BCRI_MSG_fd_set,
                                   .present = BCRI_HAS(id) | BCRI_HAS(cell),
                                   .id = 7,
                                   .cell = UINT64_C(0x500000009)};
    uint8_t bytes[64];
    CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), sizeof set - 1);
    CHECK_MEM(bytes, set, sizeof set - 1);
    message.type = BCRI_MSG_fd_get;
    CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), sizeof set - 1);
    CHECK_INT(bytes[10], 'g'); /* it differs from fd_set in this letter alone */
    bytes[10] = 's';
    CHECK_MEM(bytes, set, sizeof set - 1);
    message.type = BCRI_MSG_fd_ring;
    message.present = BCRI_HAS(cell);
    CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), sizeof ring - 1);
    CHECK_MEM(bytes, ring, sizeof ring - 1);
    message.cell = BCRI_REF_MASK + 1; /* no reference */
    CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), 0);
}

TEST(a_message_is_the_same_bytes_on_every_machine)
{
    static const uint8_t golden[] =
        "\x84\xa1v\x01\xa1t\xaasegment_fd\xa2id\xce\x00\x01\x00\x02\xa3seg\xcd\x01\x02";
    const struct bcri_control message = {.type = BCRI_MSG_segment_fd,
                                         .present = BCRI_HAS(id) | BCRI_HAS(seg),
                                         .id = 0x00010002,
                                         .seg = 0x0102};
    uint8_t bytes[64];
    CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), sizeof golden - 1);
    CHECK_MEM(bytes, golden, sizeof golden - 1);
}

TEST(a_message_with_a_required_key_missing_is_not_written)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    struct bcri_control message = enlist;
    message.present &= ~BCRI_HAS(object);
    CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), 0);
}

TEST(a_key_that_the_type_does_not_have_is_not_written)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    struct bcri_control message = {.type = BCRI_MSG_kill, .present = BCRI_HAS(id) | BCRI_HAS(seg)};
    CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), 0);
}

TEST(a_value_over_its_limit_is_not_written)
{
    static char longer[5000];
    memset(longer, 'x', sizeof longer);
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    struct bcri_control message = enlist;
    message.object = (struct bcri_view){longer, 4096};
    CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), 0);
    message.object.length = 4095;
    CHECK(bcri_control_encode(&message, bytes, sizeof bytes) > 0);
    message.count = BCRI_CCE_MAX + 1;
    CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), 0);
    message = enlist;
    message.object = (struct bcri_view){"a\0b", 3};
    CHECK_UINT(bcri_control_encode(&message, bytes, sizeof bytes), 0);
}

TEST(too_small_a_buffer_is_never_overrun)
{
    uint8_t whole[BCRI_CONTROL_BYTES_MAX];
    size_t length = bcri_control_encode(&enlist, whole, sizeof whole);
    for (size_t room = 0; room < length; room++) {
        uint8_t *bytes = malloc(room != 0 ? room : 1);
        CHECK(bytes != NULL);
        CHECK_UINT(bcri_control_encode(&enlist, bytes, room), 0);
        free(bytes);
    }
}

TEST(every_message_that_is_cut_off_is_malformed)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    size_t length = bcri_control_encode(&enlist, bytes, sizeof bytes);
    for (size_t cut = 0; cut < length; cut++) {
        struct bcri_control got;
        CHECK(decode(bytes, cut, &got) != NULL);
    }
}

TEST(damaged_messages_are_read_or_refused_but_never_crash)
{
    uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    size_t length = bcri_control_encode(&enlist, bytes, sizeof bytes);
    uint64_t state = test_seed();
    for (uint64_t round = 0; round < test_scale(20000, 2000000); round++) {
        uint8_t damaged[BCRI_CONTROL_BYTES_MAX];
        struct bcri_control got;
        memcpy(damaged, bytes, length);
        for (uint64_t changes = test_rand_below(&state, 4) + 1; changes > 0; changes--)
            damaged[test_rand_below(&state, length)] = (uint8_t)test_rand(&state);
        if (decode(damaged, length, &got) == NULL)
            CHECK(got.object.length <= 4095 && got.count <= BCRI_CCE_MAX);
    }
}

/* Hand-made messages: what is between "{v:1, t:kill" and the end. */
struct bad {
    const char *bytes;
    size_t length;
    const char *why; /* NULL: accepted */
};
#define BAD(bytes, why)                   \
    {                                     \
        (bytes), sizeof(bytes) - 1, (why) \
    }
#define VT "\xa1v\x01\xa1t\xa4kill"

TEST(each_kind_of_malformed_message_is_told_apart)
{
    static const struct bad bad[] = {
        BAD("\x83" VT "\xa2id\x05", NULL),
        BAD("\x85" VT "\xa2id\x05\xa3new\x01\xa5other\x92\x81\xa1x\x01\xc0", NULL),
        BAD("\x84" VT "\xa2id\x05\xa3new\xdd\xff\xff\xff\xff", "an unknown key's value is cut off"),
        BAD("\x84" VT "\xa2id\x05\xa3new\xc1", "an unknown key's value is cut off"),
        BAD("\x93\x01\x02\x03", "not a map, or cut off"),
        BAD("\xdf\xff\xff\xff\xff", "not a map, or cut off"),
        BAD("", "not a map, or cut off"),
        BAD("\x83" VT "\x05\x05", "a key is no string"),
        BAD("\x83" VT "\xa2id\x05\x05", "bytes follow the map"),
        BAD("\x82" VT, "a required key is missing"),
        BAD("\x84" VT "\xa2id\x05\xa2id\x05", "a key is there twice"),
        BAD("\x83" VT "\xa2id\xa1x", "a value is cut off, of the wrong type, or out of range"),
        BAD("\x83" VT "\xa2id\xff", "a value is cut off, of the wrong type, or out of range"),
        BAD("\x83" VT "\xa2id\xcf\0\0\0\1\0\0\0\0", "a value is cut off, of the wrong type, or out of range"),
        BAD("\x83" VT "\xa2id\xce\0\0", "a value is cut off, of the wrong type, or out of range"),
        BAD("\x83\xa1v\x01\xa1t\xa4none\xa2id\x05", "unknown type"),
        BAD("\x83\xa1v\x01\xa1t\x01\xa2id\x05", "unknown type"),
        BAD("\x84\xa1v\x01\xa1t\xa4kill\xa1t\xa4kill\xa2id\x05", "unknown type"),
        BAD("\x84\xa1v\x01\xa1t\xa4kill\xa2id\x05\xa1t\xa2ps", "unknown type"),
        BAD("\x82\xa1v\x01\xa2id\x05", "no type"),
        BAD("\x83\xa1v\x01\xa1v\x01\xa2id\x05", "bad version"),
        BAD("\x83\xa1v\xa1x\xa1t\xa4kill\xa2id\x05", "bad version"),
        BAD("\x82\xa1t\xa4kill\xa2id\x05", "no version"),
        BAD("\x83\xa1v\x02\xa1t\xa4none\xa2id\x05",
            "another version of the protocol; CCE and enl must come from the same installation"),
        BAD("\x83\xa1v\x02\xa1t\xa4kill\xa2id\x05",
            "another version of the protocol; CCE and enl must come from the same installation"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct bcri_control got;
        CHECK_STR(decode(bad[i].bytes, bad[i].length, &got), bad[i].why);
    }
}

TEST(a_refused_message_still_tells_its_id)
{
    struct bcri_control got;
    CHECK(decode("\x83\xa1v\x02\xa1t\xa4kill\xa2id\x05", 15, &got) != NULL);
    CHECK_UINT(got.present, BCRI_HAS(id));
    CHECK_UINT(got.id, 5);
}

TEST(a_string_with_a_nul_in_it_is_malformed)
{
    static const char bytes[] = "\x85\xa1v\x01\xa1t\xa5reply\xa2id\x05\xa6status\x00\xa4text\xa3"
                                "a\0b";
    struct bcri_control got;
    CHECK(decode(bytes, sizeof bytes - 1, &got) != NULL);
}

TEST(deep_nesting_is_skipped_without_a_stack)
{
    static uint8_t bytes[BCRI_CONTROL_BYTES_MAX];
    static const char head[] = "\x84" VT "\xa2id\x05\xa3new";
    memcpy(bytes, head, sizeof head - 1);
    memset(bytes + sizeof head - 1, 0x91, sizeof bytes - sizeof head);
    bytes[sizeof bytes - 1] = 0x01;
    struct bcri_control got;
    CHECK_STR(decode(bytes, sizeof bytes, &got), NULL);
}

TEST(a_view_is_copied_whole_or_not_at_all)
{
    char out[4];
    CHECK(bcri_view_copy(bcri_view_of("abc"), out, sizeof out));
    CHECK_STR(out, "abc");
    CHECK(!bcri_view_copy(bcri_view_of("abcd"), out, sizeof out));
    CHECK_STR(out, "");
}
