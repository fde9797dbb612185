/* SPDX-License-Identifier: MIT */
/* Starts on another host, whose daemon is the test: what it is told, how it asks for the rest, and what the root's daemon does
 * if it says what it should not. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/archtype.h"
#include "bcri/start_strings.h"
#include "check.h"
#include "run.h"
#include "tree_end.h"

enum { HOST = 1, WINDOW = 65536 };

static struct run run;
static struct tree_end far;
static uint32_t request; /* the number of its enlist */

/* The host comes up. Its pipes are two fifos, between which and the root's daemon a script copies. */
static void come_up(void)
{
    static const char loopback[] = "\x04\x12\x34\x7f\0\0\x01", key[] = "a public key of thirty-two bytes";
    const struct bcri_control present = {.type = BCRI_MSG_present,
                                         .present = BCRI_HAS(machine) | BCRI_HAS(text) | BCRI_HAS(object) |
                                                    BCRI_HAS(archtype),
                                         .machine = bcri_view_of("n"),
                                         .text = bcri_view_of("elsewhere"),
                                         .object = bcri_view_of("any"),
                                         .archtype = (uint32_t)bcri_archtype_native()},
                              announce = {.type = BCRI_MSG_announce,
                                          .present = BCRI_HAS(key) | BCRI_HAS(addresses) | BCRI_HAS(flags),
                                          .key = {key, 32},
                                          .addresses = {loopback, sizeof loopback - 1}},
                              reply = {.type = BCRI_MSG_reply,
                                       .present = BCRI_HAS(id) | BCRI_HAS(status),
                                       .id = 1};
    far = (struct tree_end){.to = open("n1.up", O_WRONLY | O_CLOEXEC),
                            .from = open("n1.down", O_RDONLY | O_CLOEXEC)};
    CHECK(far.to >= 0 && far.from >= 0);
    tree_write(&far, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
    tree_say(&far, &present);
    CHECK_UINT(tree_hear(&far, BCRI_MSG_start)->host, HOST);
    tree_say(&far, &announce);
    tree_say(&far, &reply);
}

/* A root that starts CCEs there, as the word says (sys_start.c). Returns its request. */
static const struct bcri_control *begin(const char *word, const char *value, const char *more)
{
    static const char script[] = "#!/bin/sh\ncat >&1 <n1.up &\nexec cat >n1.down\n";
    run_folder();
    run_write_file("machines", "n1\n", 3, 0600);
    run_write_file("ssh", script, sizeof script - 1, 0700);
    setenv("BCR_RSHPATH", "./ssh", 1);
    /* New ones each time: a script of the run before may still be about to find the end of its own. */
    CHECK(unlink("n1.up") == 0 || errno == ENOENT);
    CHECK(unlink("n1.down") == 0 || errno == ENOENT);
    CHECK(mkfifo("n1.up", 0600) == 0 && mkfifo("n1.down", 0600) == 0);
    run_start(&run, run_enl(), "--hosts", "machines", "--onfail", "isolate", getenv("SYS_START"), word, "n1",
              value, more);
    come_up();
    const struct bcri_control *enlist = tree_hear(&far, BCRI_MSG_enlist);
    request = enlist->id;
    return enlist;
}

static void ask(uint32_t id, uint64_t from)
{
    const struct bcri_control message = {
        .type = BCRI_MSG_strings_next, .present = BCRI_HAS(id) | BCRI_HAS(size), .id = id, .size = from};
    tree_say(&far, &message);
}

/* Says that `count` CCEs of that host have started, whose records are those from `index` on. */
static void say_started(uint32_t host, uint32_t index, uint32_t count, uint32_t less_bytes)
{
    uint8_t identities[8][BCRI_IDENTITY_BYTES];
    for (uint32_t i = 0; i < count; i++) {
        memset(identities[i], (int)(index + i + 1), BCRI_IDENTITY_BYTES);
        bcri_identity_name(identities[i], host, index + i);
    }
    const struct bcri_control message = {
        .type = BCRI_MSG_started,
        .present = BCRI_HAS(id) | BCRI_HAS(bytes),
        .id = request,
        .bytes = {(const char *)identities, count * BCRI_IDENTITY_BYTES - less_bytes}};
    tree_say(&far, &message);
}

static void say_reply(uint32_t count)
{
    const struct bcri_control reply = {.type = BCRI_MSG_reply,
                                       .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(count),
                                       .id = request,
                                       .count = count};
    tree_say(&far, &reply);
}

static void tells(const char *line)
{
    CHECK_STR(run_told_by(&run), line);
}

static void close_pipes(void)
{
    close(far.to);
    while (tree_hear_any(&far) != NULL)
        ;
    close(far.from);
}

static void ends(void)
{
    close_pipes();
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(a_host_is_told_all_and_gets_the_strings_once_as_it_asks_for_them)
{
    static uint8_t block[1 << 21];
    const struct bcri_control *enlist = begin("megabyte", "", "");
    const uint64_t length = enlist->size, want = 8 + 1 + 4 + (1ul << 10) * ((1ul << 10) + 1);
    CHECK_UINT(length, want);
    CHECK_UINT(enlist->count, 3);
    CHECK_UINT(enlist->flags, BCRI_ENLIST_IDS);
    CHECK((enlist->present & BCRI_HAS(bytes)) == 0);
    for (uint64_t at = 0, end; at < length;) {
        ask(request, at);
        end = at + WINDOW < length ? at + WINDOW : length;
        while (at < end) {
            const struct bcri_control *strings = tree_hear(&far, BCRI_MSG_strings);
            CHECK_UINT(strings->id, request);
            CHECK(strings->bytes.length != 0 && strings->bytes.length <= end - at);
            memcpy(block + at, strings->bytes.bytes, strings->bytes.length);
            at += strings->bytes.length;
        }
    }
    CHECK_UINT(bcri_strings_read_u32(block), 1025);
    CHECK_UINT(bcri_strings_read_u32(block + 4), 0);
    CHECK_MEM(block + 8, "\0sum\0!", 6);
    CHECK_UINT(block[length - 1], 0);
    say_started(HOST, 0, 3, 0);
    say_reply(3);
    CHECK(strncmp(run_told_by(&run), "wanted sum 1024", 15) == 0);
    tells("start 3 0");
    tree_hear(&far, BCRI_MSG_enlist); /* the root's second start */
    ends();
}

TEST(ids_come_in_parts_and_what_an_answer_claims_beyond_is_no_id)
{
    begin("many", "3", "");
    say_started(HOST, 7, 1, 0);
    say_started(HOST, 8, 2, 0);
    say_reply(3);
    tells("start 3 0");
    tells("distinct 3");
    ends();
    begin("many", "3", "");
    say_started(HOST, 7, 1, 0);
    say_reply(99);
    tells("start 3 0");
    tells("distinct 1");
    ends();
}

TEST(a_host_that_says_what_it_should_not_is_lost)
{
    static const struct {
        const char *why;
        uint32_t host, count, less, times;
    } cases[] = {
        {"CCEs that nobody has asked for", HOST, 4, 0, 1},
        {"CCEs that nobody has asked for", HOST, 2, 0, 2},
        {"CCEs that nobody has asked for", HOST, 1, 1, 1},
        {"CCEs that nobody has asked for", HOST, 1, 16, 1},
        {"it tells of CCEs of another host", 0, 1, 0, 1},
        {"it tells of CCEs of another host", 2, 2, 0, 1},
        {"it wants start strings that are not there", HOST, 0, 0, 0},
        {"start strings that nobody has asked for", HOST, 1, 0, 0},
    };
    char want[64];
    snprintf(want, sizeof want, "start -1 %d", bcrE_HOSTLOST);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct bcri_control strings = {
            .type = BCRI_MSG_strings, .present = BCRI_HAS(id) | BCRI_HAS(bytes), .id = 1, .bytes = {"x", 1}};
        begin("many", "3", "");
        for (uint32_t told = 0; told < cases[i].times; told++)
            say_started(cases[i].host, 1 + told * cases[i].count, cases[i].count, cases[i].less);
        if (cases[i].times == 0 && cases[i].count == 0)
            ask(request, 1 << 20);
        else if (cases[i].times == 0)
            tree_say(&far, &strings);
        tells(want);
        tells("distinct 0"); /* nothing is told of a start that has failed */
        close_pipes();
        run_ends(&run, 0, cases[i].why);
    }
}

TEST(nobody_is_told_of_cces_who_did_not_want_to_know)
{
    begin("longest", "10", "1");
    say_started(HOST, 1, 1, 0);
    char want[64];
    snprintf(want, sizeof want, "start -1 %d", bcrE_HOSTLOST);
    tells(want);
    close_pipes();
    run_ends(&run, 0, "CCEs that nobody has asked for");
}
