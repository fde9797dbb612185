/* SPDX-License-Identifier: MIT */
/* What a request to start CCEs may have beside it, and what it may not: start strings that are well-formed or not,
 * memory files and other files, identities for a CCE and for a daemon, and how much of it is kept. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "wire/attached.h"
#include "wire/wire.h"

enum { SENT_MAX = 64 };
static struct {
    enum bcri_control_type type;
    uint32_t id, length;
    uint8_t bytes[2048];
} sent[SENT_MAX];
static unsigned sent_count;

/* In place of the daemon's connections. */
void enl_conn_send(struct enl_conn *conn, const struct bcri_control *message, const int *fds,
                   unsigned fd_count)
{
    (void)conn;
    CHECK(fds == NULL && fd_count == 0 && sent_count < SENT_MAX);
    sent[sent_count].type = message->type;
    sent[sent_count].id = message->id;
    sent[sent_count].length = message->bytes.length;
    memcpy(sent[sent_count++].bytes, message->bytes.bytes, message->bytes.length);
}

static int memory(const void *bytes, size_t length, int seals)
{
    const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(fd >= 0);
    CHECK_INT(ftruncate(fd, (off_t)length), 0);
    if (bytes != NULL)
        CHECK_INT(pwrite(fd, bytes, length, 0), (ssize_t)length);
    CHECK_INT(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

enum { BOTH = F_SEAL_SHRINK | F_SEAL_GROW };

/* A request of three CCEs. */
static void request(struct bcri_incoming *in, uint64_t present, uint32_t flags, struct bcri_view bytes,
                    uint64_t size, int first, int second)
{
    in->message = (struct bcri_control){.type = BCRI_MSG_enlist,
                                        .present = present,
                                        .flags = flags,
                                        .bytes = bytes,
                                        .size = size,
                                        .count = 3};
    in->fds[0] = first;
    in->fds[1] = second;
    in->fds[2] = -1;
}

#define BLOCK(text)              \
    {                            \
        (text), sizeof(text) - 1 \
    }
#define GOOD "\0\0\0\2\0\0\0\1/tmp\0one\0\0V=1\0"

TEST(a_block_of_start_strings_is_read_as_it_was_written)
{
    static struct bcri_incoming in;
    struct enl_attached attached;
    bool refused;
    char *list[3];
    request(&in, BCRI_HAS(bytes), 0, (struct bcri_view)BLOCK(GOOD), 0, -1, -1);
    CHECK_STR(enl_attached_take(&attached, &in, true, &refused), NULL);
    CHECK(!refused);
    CHECK_INT(attached.ids, -1);
    CHECK_UINT(attached.strings->arguments, 2);
    CHECK_UINT(attached.strings->variables, 1);
    CHECK_STR(enl_strings_list(attached.strings, list), "/tmp");
    CHECK_STR(list[0], "one");
    CHECK_STR(list[1], "");
    CHECK_STR(list[2], "V=1");
    enl_attached_close(&attached);
    CHECK(attached.strings == NULL);
}

TEST(a_block_that_is_none_is_malformed)
{
    static const struct {
        struct bcri_view block;
        const char *wrong;
    } blocks[] = {
        {BLOCK(""), "start strings of no length, or in no memory file"},
        {BLOCK("\0\0\0\0\0\0\0\0"), "start strings of no length, or in no memory file"},
        {BLOCK("\0\0\0\0\0\0\0\0\0"), NULL},
        {BLOCK("\0\0\0\0\0\0\0\0x"), "the last start string has no end"},
        {BLOCK("\0\0\0\0\0\0\0\0\0\0"), "start strings are not as many as it says"},
        {BLOCK("\0\0\0\1\0\0\0\0\0"), "start strings are not as many as it says"},
        {BLOCK("\0\0\0\1\0\0\0\0\0\0"), NULL},
        {BLOCK("\0\0\0\0\0\0\0\1\0\0"), NULL},
        {BLOCK("\xff\xff\xff\xff\0\0\0\1\0\0"), "start strings are not as many as it says"},
        {BLOCK("\xff\xff\xff\xff\xff\xff\xff\xff\0"), "start strings are not as many as it says"},
    };
    static struct bcri_incoming in;
    struct enl_attached attached;
    bool refused;
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        for (int in_file = 0; in_file < 2; in_file++) {
            const struct bcri_view block = blocks[i].block;
            const int fd = in_file ? memory(block.bytes, block.length, BOTH) : -1;
            request(&in, in_file ? BCRI_HAS(size) : BCRI_HAS(bytes), 0, block, block.length, fd, -1);
            CHECK_STR(enl_attached_take(&attached, &in, true, &refused), blocks[i].wrong);
            CHECK((attached.strings != NULL) == (blocks[i].wrong == NULL));
            enl_attached_close(&attached);
            bcri_incoming_close(&in);
        }
}

TEST(only_memory_files_that_keep_their_size_are_read_or_written)
{
    static struct bcri_incoming in;
    struct enl_attached attached;
    bool refused;
    int ends[2];
    const size_t size = sizeof GOOD - 1;
    const char *const strings = "start strings of no length, or in no memory file",
                      *const ids = "no memory file for identities";
    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    const int files[] = {ends[0],
                         open("/dev/zero", O_RDWR | O_CLOEXEC),
                         open("/tmp", O_RDONLY | O_CLOEXEC),
                         memory(GOOD, size, 0),
                         memory(GOOD, size, F_SEAL_GROW),
                         memory(GOOD, size, F_SEAL_SHRINK),
                         memory(GOOD, size - 1, BOTH)};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        request(&in, BCRI_HAS(size), 0, (struct bcri_view){0}, size, files[i], -1);
        CHECK_STR(enl_attached_take(&attached, &in, true, &refused), strings);
        request(&in, BCRI_HAS(flags), BCRI_ENLIST_IDS, (struct bcri_view){0}, 0, files[i], -1);
        CHECK_STR(enl_attached_take(&attached, &in, true, &refused), ids);
    }
    const int good = memory(GOOD, size, BOTH);
    const uint64_t sizes[] = {0, 8, size + 1, (6u << 20) + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        request(&in, BCRI_HAS(size), 0, (struct bcri_view){0}, sizes[i], good, -1);
        CHECK_STR(enl_attached_take(&attached, &in, true, &refused), strings);
    }
}

TEST(files_and_fields_must_be_those_that_the_request_says)
{
    static struct bcri_incoming in;
    struct enl_attached attached;
    bool refused;
    const size_t size = sizeof GOOD - 1;
    const int one = memory(GOOD, size, BOTH), two = memory(NULL, 48, BOTH), small = memory(NULL, 47, BOTH);
    const struct {
        uint64_t present;
        uint32_t flags;
        int first, second;
        const char *wrong;
    } rows[] = {
        {0, 0, -1, -1, NULL},
        {0, 0, one, -1, "other files than the request says"},
        {BCRI_HAS(size), 0, -1, -1, "other files than the request says"},
        {BCRI_HAS(size), 0, one, two, "other files than the request says"},
        {BCRI_HAS(bytes), 0, one, -1, "other files than the request says"},
        {BCRI_HAS(bytes) | BCRI_HAS(size), 0, one, -1, "start strings in two places"},
        {BCRI_HAS(size) | BCRI_HAS(flags), BCRI_ENLIST_IDS, one, -1, "other files than the request says"},
        {BCRI_HAS(size) | BCRI_HAS(flags), BCRI_ENLIST_IDS, one, small, "no memory file for identities"},
        {BCRI_HAS(flags), BCRI_ENLIST_IDS, -1, -1, "other files than the request says"},
        {BCRI_HAS(flags), BCRI_ENLIST_IDS, two, one, "other files than the request says"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        request(&in, rows[i].present, rows[i].flags, (struct bcri_view)BLOCK(GOOD), size, rows[i].first,
                rows[i].second);
        CHECK_STR(enl_attached_take(&attached, &in, true, &refused), rows[i].wrong);
        enl_attached_close(&attached);
    }
    request(&in, BCRI_HAS(size) | BCRI_HAS(flags), BCRI_ENLIST_IDS, (struct bcri_view){0}, size, one, two);
    CHECK_STR(enl_attached_take(&attached, &in, true, &refused), NULL);
    CHECK_INT(attached.ids, two);
    CHECK_INT(in.fds[1], -1); /* taken */
    struct enl_attached moved = enl_attached_move(&attached);
    enl_attached_close(&attached);
    CHECK(fcntl(two, F_GETFD) >= 0);
    enl_attached_close(&moved);
    CHECK_INT(fcntl(two, F_GETFD), -1);
}

TEST(what_is_kept_is_bounded_and_shared_blocks_count_once)
{
    struct enl_strings *all[16];
    unsigned kept = 0;
    while (kept < 16 && (all[kept] = enl_strings_new(BCRI_STRINGS_MAX)) != NULL)
        kept++;
    CHECK_UINT(kept, 10); /* of 64 MiB */
    CHECK(enl_strings_new((4u << 20) + 1) == NULL);
    struct enl_strings *last = enl_strings_new(4u << 20);
    CHECK(last != NULL);
    CHECK(enl_strings_new(9) == NULL);
    CHECK(enl_strings_share(last) == last);
    enl_strings_drop(last);
    CHECK(enl_strings_new(9) == NULL);
    enl_strings_drop(last);
    enl_strings_drop(enl_strings_new(9));
    for (unsigned i = 0; i < kept; i++)
        enl_strings_drop(all[i]);
    CHECK(enl_strings_new(8) == NULL);
    enl_strings_drop(NULL);
}

TEST(too_many_pointers_are_too_much_too)
{
    const uint32_t count = (6u << 20) / 9;
    uint8_t *block = calloc(1, 8 + count + 1);
    static struct bcri_incoming in;
    struct enl_attached attached;
    bool refused;
    for (uint32_t less = 0; less < 2; less++) {
        const uint32_t arguments = count - less, length = 8 + 1 + arguments;
        bcri_strings_write_u32(block, arguments);
        const bool fits = length + 8ul * arguments <= BCRI_STRINGS_MAX;
        const int fd = memory(block, length, BOTH);
        request(&in, BCRI_HAS(size), 0, (struct bcri_view){0}, length, fd, -1);
        CHECK_STR(enl_attached_take(&attached, &in, true, &refused),
                  fits ? NULL : "more start strings than there may be");
        enl_attached_close(&attached);
    }
    free(block);
}

TEST(strings_go_to_another_daemon_as_it_asks_for_them)
{
    const uint32_t length = ENL_STRINGS_WINDOW + 2048 + 1;
    struct enl_strings *strings = enl_strings_new(length);
    uint8_t came[2048];
    for (uint32_t at = 0; at < length; at += 1) {
        came[0] = (uint8_t)(at * 7 >> 3);
        CHECK(enl_strings_add(strings, (struct bcri_view){(const char *)came, 1}));
    }
    CHECK(!enl_strings_add(strings, (struct bcri_view){(const char *)came, 1}));
    CHECK(enl_strings_send(strings, NULL, 9, 0));
    CHECK_UINT(sent_count, 32);
    for (unsigned i = 0; i < sent_count; i++) {
        CHECK_INT(sent[i].type, BCRI_MSG_strings);
        CHECK_UINT(sent[i].id, 9);
        CHECK_UINT(sent[i].length, 2048);
        CHECK_MEM(sent[i].bytes, strings->bytes + 2048ul * i, 2048);
    }
    sent_count = 0;
    CHECK(enl_strings_send(strings, NULL, 9, ENL_STRINGS_WINDOW));
    CHECK_UINT(sent_count, 2);
    CHECK_UINT(sent[1].length, 1);
    CHECK(!enl_strings_send(strings, NULL, 9, length));
    CHECK(!enl_strings_send(strings, NULL, 9, UINT64_MAX));
    CHECK(!enl_strings_send(NULL, NULL, 9, 0));
    enl_strings_drop(strings);
}

TEST(identities_go_into_the_file_of_a_cce_and_to_a_daemon_in_messages)
{
    enum { MANY = 300 };
    static uint8_t identities[MANY * BCRI_IDENTITY_BYTES], back[sizeof identities];
    for (size_t i = 0; i < sizeof identities; i++)
        identities[i] = (uint8_t)(i * 11 >> 2);
    struct enl_attached attached = {.ids = memory(NULL, sizeof identities, BOTH)};
    struct enl_conn of_cce = {.peer = NULL}, of_daemon = {.peer = (struct enl_peer *)&of_cce};
    const int fd = dup(attached.ids);
    enl_attached_started(&attached, &of_cce, 5, 7, identities, 1);
    enl_attached_started(&attached, NULL, 5, 7, identities + BCRI_IDENTITY_BYTES, MANY - 1); /* it has died */
    CHECK_UINT(attached.told, MANY);
    CHECK_INT(pread(fd, back, sizeof back, 0), sizeof back);
    CHECK_MEM(back, identities, sizeof back);
    enl_attached_close(&attached);
    CHECK_UINT(sent_count, 0);
    enl_attached_started(&attached, &of_daemon, 5, 7, identities, MANY);
    CHECK_UINT(sent_count, 3);
    CHECK_INT(sent[0].type, BCRI_MSG_started);
    CHECK_UINT(sent[0].length, 2048);
    CHECK_UINT(sent[2].length, (MANY - 256) * BCRI_IDENTITY_BYTES);
    CHECK_MEM(sent[2].bytes, identities + 256ul * BCRI_IDENTITY_BYTES, sent[2].length);
    sent_count = 0;
    enl_attached_started(&attached, NULL, 5, 7, identities, MANY);
    CHECK_UINT(sent_count, 0);
}
