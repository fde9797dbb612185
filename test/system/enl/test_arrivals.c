/* SPDX-License-Identifier: MIT */
/* Start strings that come to a daemon from another one, the test: it asks for no more than it has said that it would take, and
 * what it has not asked for, or is no such block, ends the connection with the reason in its log. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/start_strings.h"
#include "check.h"
#include "run.h"
#include "tree_end.h"

enum { HOST = 0x0305, LONG = 100000, WINDOW = 65536 };

static struct tree_child child;
static uint8_t enlistor[BCRI_IDENTITY_BYTES]; /* a CCE on host 0 */
static uint8_t block[8 + 1 + 4 + LONG + 1];   /* "sum", and one argument of LONG bytes */

static void begin(void)
{
    tree_start(&child, tree_program(), HOST, 1);
    bcri_identity_name(enlistor, 0, 1);
    memset(enlistor + 4, 0xab, sizeof enlistor - 4);
    bcri_strings_write_u32(block, 2);
    bcri_strings_write_u32(block + 4, 0);
    memcpy(block + 9, "sum", 4);
    memset(block + 13, 'a', LONG);
}

static struct bcri_control enlist(uint32_t id, uint64_t size)
{
    return (struct bcri_control){.type = BCRI_MSG_enlist,
                                 .present = BCRI_HAS(id) | BCRI_HAS(machine) | BCRI_HAS(core) |
                                            BCRI_HAS(count) | BCRI_HAS(ordinal) | BCRI_HAS(object) |
                                            BCRI_HAS(enlistor) | BCRI_HAS(size) | BCRI_HAS(flags),
                                 .id = id,
                                 .machine = bcri_view_of(""),
                                 .core = -1,
                                 .count = 1,
                                 .ordinal = id,
                                 .object = bcri_view_of(getenv("SYS_START")),
                                 .enlistor = {(const char *)enlistor, sizeof enlistor},
                                 .size = size,
                                 .flags = BCRI_ENLIST_IDS};
}

static void say_enlist(uint32_t id, uint64_t size)
{
    const struct bcri_control message = enlist(id, size);
    tree_say(&child.end, &message);
}

/* It wants more of `id`, from that byte on. */
static void is_asked(uint32_t id, uint64_t from)
{
    const struct bcri_control *asks = tree_hear(&child.end, BCRI_MSG_strings_next);
    CHECK_UINT(asks->id, id);
    CHECK_UINT(asks->size, from);
}

static void say_strings(uint32_t id, size_t from, size_t to)
{
    for (size_t at = from, part; at < to; at += part) {
        part = to - at < 2048 ? to - at : 2048;
        const struct bcri_control message = {.type = BCRI_MSG_strings,
                                             .present = BCRI_HAS(id) | BCRI_HAS(bytes),
                                             .id = id,
                                             .bytes = {(const char *)block + at, (uint32_t)part}};
        tree_say(&child.end, &message);
    }
}

static void is_started(uint32_t id)
{
    const struct bcri_control *started = tree_hear(&child.end, BCRI_MSG_started);
    CHECK_UINT(started->id, id);
    CHECK_UINT(started->bytes.length, BCRI_IDENTITY_BYTES);
    CHECK_UINT(bcri_identity_host((const uint8_t *)started->bytes.bytes), HOST);
    const struct bcri_control *reply = tree_hear(&child.end, BCRI_MSG_reply);
    CHECK_UINT(reply->id, id);
    CHECK_UINT(reply->status, 0);
    CHECK_UINT(reply->count, 1);
}

/* When its CCEs have. */
static void ends(void)
{
    const struct bcri_control end = {.type = BCRI_MSG_end};
    tree_say(&child.end, &end);
    tree_hear_end(&child.end);
    CHECK_INT(tree_status(&child), 0);
}

TEST(long_strings_are_asked_for_a_part_at_a_time_and_arrive_whole)
{
    begin();
    say_enlist(100, sizeof block);
    is_asked(100, 0);
    say_strings(100, 0, WINDOW);
    is_asked(100, WINDOW);
    say_strings(100, WINDOW, sizeof block);
    is_started(100);
    unsigned long sum = 0;
    for (int i = 0; i < LONG; i++)
        sum = sum * 31 + 'a';
    char want[64];
    snprintf(want, sizeof want, "100 sum 1 %d %lx", LONG, sum);
    CHECK_STR(run_told(), want);
    ends();
}

TEST(of_several_requests_one_is_asked_for_and_others_overtake_it)
{
    begin();
    say_enlist(100, sizeof block);
    say_enlist(101, sizeof block);
    struct bcri_control brief = enlist(102, 0);
    brief.present = (brief.present & ~BCRI_HAS(size)) | BCRI_HAS(bytes);
    brief.bytes = (struct bcri_view){"\0\0\0\1\0\0\0\0\0end\0", 13};
    is_asked(100, 0);
    tree_say(&child.end, &brief);
    is_started(102);
    say_strings(100, 0, WINDOW);
    is_asked(100, WINDOW);
    say_strings(100, WINDOW, sizeof block);
    is_asked(101, 0);
    is_started(100);
    say_strings(101, 0, WINDOW);
    is_asked(101, WINDOW);
    say_strings(101, WINDOW, sizeof block);
    is_started(101);
    for (int i = 0; i < 2; i++)
        CHECK(strstr(run_told(), " sum 1 ") != NULL);
    ends();
}

TEST(more_than_a_daemon_keeps_is_refused_and_harms_nothing)
{
    begin();
    for (uint32_t id = 1; id <= 11; id++)
        say_enlist(99 + id, 6u << 20);
    is_asked(100, 0);
    const struct bcri_control *reply = tree_hear(&child.end, BCRI_MSG_reply);
    CHECK_UINT(reply->id, 110); /* ten have room in 64 MiB */
    CHECK_UINT(reply->status, bcrE_NOMEM);
    say_enlist(120, UINT64_MAX);
    reply = tree_hear(&child.end, BCRI_MSG_reply);
    CHECK_UINT(reply->id, 120);
    CHECK_UINT(reply->status, bcrE_NOMEM);
    close(child.end.to);
    CHECK_INT(tree_status(&child), 0);
}

static void ends_with(const char *why)
{
    static char log[1 << 16];
    tree_hear_end(&child.end);
    CHECK_INT(tree_status(&child), 0);
    run_read_file(run_file("bcr.far.", ".log"), log, sizeof log);
    if (strstr(log, why) == NULL)
        FAIL("wanted in the log: %s\ngot: %s", why, log);
    CHECK_INT(unlink(run_file("bcr.far.", ".log")), 0);
}

TEST(strings_that_were_not_asked_for_end_the_connection)
{
    static const struct {
        uint32_t id;
        size_t from, to;
    } cases[] = {
        {101, 0, 2048},          /* of another request */
        {100, 0, 0},             /* none: see below */
        {100, 0, WINDOW + 2048}, /* more than it takes at a time */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        say_enlist(100, sizeof block);
        is_asked(100, 0);
        const struct bcri_control empty = {
            .type = BCRI_MSG_strings, .present = BCRI_HAS(id) | BCRI_HAS(bytes), .id = 100};
        if (cases[i].to == 0)
            tree_say(&child.end, &empty);
        /* It asks for more as soon as it has what it asked for: so the piece that brings the last byte of that brings
         * one more, too. */
        if (cases[i].to > WINDOW) {
            say_strings(100, 0, WINDOW - 2048);
            say_strings(100, WINDOW - 2048, WINDOW - 1);
            say_strings(100, WINDOW - 1, WINDOW + 1);
        } else {
            say_strings(cases[i].id, cases[i].from, cases[i].to);
        }
        ends_with("start strings that nobody has asked for");
    }
    begin();
    say_strings(100, 0, 2048);
    ends_with("start strings that nobody has asked for");
}

TEST(a_block_that_is_none_ends_the_connection)
{
    begin();
    bcri_strings_write_u32(block, 3);
    say_enlist(100, sizeof block);
    is_asked(100, 0);
    say_strings(100, 0, WINDOW);
    is_asked(100, WINDOW);
    say_strings(100, WINDOW, sizeof block);
    ends_with("start strings are not as many as it says");
    begin();
    block[sizeof block - 1] = 'a';
    say_enlist(100, sizeof block);
    is_asked(100, 0);
    say_strings(100, 0, WINDOW);
    is_asked(100, WINDOW);
    say_strings(100, WINDOW, sizeof block);
    ends_with("the last start string has no end");
}

TEST(answers_to_what_was_not_asked_end_the_connection)
{
    static const struct {
        struct bcri_control message;
        const char *why;
    } cases[] = {
        {{.type = BCRI_MSG_strings_next, .present = BCRI_HAS(id) | BCRI_HAS(size), .id = 17},
         "it wants start strings that are not there"},
        {{.type = BCRI_MSG_strings_next, .present = BCRI_HAS(id) | BCRI_HAS(size)},
         "it wants start strings that are not there"},
        {{.type = BCRI_MSG_started,
          .present = BCRI_HAS(id) | BCRI_HAS(bytes),
          .id = 17,
          .bytes = {"0123456789abcdef", 16}},
         "CCEs that nobody has asked for"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        tree_say(&child.end, &cases[i].message);
        ends_with(cases[i].why);
    }
}

/* They may be on their way, and so may a request. A process that heeds no SIGTERM keeps the daemon meanwhile. */
TEST(start_strings_that_come_when_all_ends_are_of_no_use_and_no_mistake)
{
    static const char strings[] = "\0\0\0\2\0\0\0\0\0-c\0trap '' TERM; echo up >$SYS_TELL; exec sleep 1000";
    begin();
    struct bcri_control stubborn = enlist(102, 0);
    stubborn.present = (stubborn.present & ~BCRI_HAS(size)) | BCRI_HAS(bytes);
    stubborn.object = bcri_view_of("/bin/sh");
    stubborn.bytes = (struct bcri_view){strings, sizeof strings};
    tree_say(&child.end, &stubborn);
    is_started(102);
    CHECK_STR(run_told(), "up");
    say_enlist(100, sizeof block);
    is_asked(100, 0);
    const struct bcri_control ends = {.type = BCRI_MSG_signal, .present = BCRI_HAS(kind), .kind = SIGTERM};
    tree_say(&child.end, &ends);
    say_strings(100, 0, 4096);
    say_enlist(101, sizeof block);
    say_strings(101, 0, 2048);
    const struct bcri_control *reply = tree_hear(&child.end, BCRI_MSG_reply);
    CHECK_UINT(reply->id, 101);
    CHECK_UINT(reply->status, bcrE_ENLIST);
    const struct bcri_control kill = {.type = BCRI_MSG_kill, .present = BCRI_HAS(id), .id = 17};
    tree_say(&child.end, &kill);
    CHECK_UINT(tree_hear(&child.end, BCRI_MSG_reply)->id, 17);
    tree_hear_end(&child.end);
    CHECK_INT(tree_status(&child), 128 + SIGTERM);
}

TEST(a_daemon_whose_parent_goes_in_the_midst_ends)
{
    begin();
    say_enlist(100, sizeof block);
    is_asked(100, 0);
    say_strings(100, 0, 2048);
    close(child.end.to);
    CHECK_INT(tree_status(&child), 0);
}
