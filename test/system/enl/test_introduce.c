/* SPDX-License-Identifier: MIT */
/* A daemon that is introduced to other hosts: the test is its parent, and speaks through the pipes of the
 * tree; over UDP it is the hosts that the daemon is introduced to. */
#include <arpa/inet.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "key_search.h"
#include "run.h"
#include "tree_end.h"
#include "tree_host.h"

enum { HOST = 7 }; /* the real child's number */

static struct tree_child child;

static void say_setting(const char *keyword, const char *value)
{
    const struct bcri_control setting = {.type = BCRI_MSG_setting,
                                         .present = BCRI_HAS(object) | BCRI_HAS(text),
                                         .object = bcri_view_of(keyword),
                                         .text = bcri_view_of(value)};
    tree_say(&child.end, &setting);
}

/* Starts the child, with one setting unless `keyword` is NULL, and knows what it announces. */
static void start_child_with(struct tree_other *other, const char *keyword, const char *value)
{
    const struct bcri_control *message;
    tree_spawn(&child);
    tree_greet(&child);
    if (keyword != NULL)
        say_setting(keyword, value);
    tree_say_start(&child, tree_program(), HOST, 1);
    other->number = HOST;
    tree_know(other, tree_hear(&child.end, BCRI_MSG_announce));
    message = tree_hear(&child.end, BCRI_MSG_reply);
    CHECK_UINT(message->id, 7);
    CHECK_UINT(message->status, 0);
}

static void start_child(struct tree_other *other)
{
    start_child_with(other, NULL, NULL);
}

static struct bcri_control introduction(enum bcri_control_type type, const struct tree_own *own,
                                        uint32_t flags)
{
    return (struct bcri_control){.type = type,
                                 .present = BCRI_HAS(host) | BCRI_HAS(key) | BCRI_HAS(addresses) |
                                            BCRI_HAS(random) | BCRI_HAS(flags),
                                 .host = own->number,
                                 .key = tree_view(own->public, 32),
                                 .addresses = tree_view(own->addresses, own->addresses_length),
                                 .random = tree_view(own->random, 32),
                                 .flags = flags};
}

/* Introduces the test's host to the child. Returns what the two derive. */
static struct tree_derived introduce(const struct tree_own *own, struct tree_other *other)
{
    const struct bcri_control message =
        introduction(BCRI_MSG_introduce, own, tree_own_flags() & other->flags);
    tree_say(&child.end, &message);
    const struct bcri_control *agreed = tree_hear(&child.end, BCRI_MSG_agreed);
    CHECK_UINT(agreed->host, own->number);
    tree_know_random(other, agreed);
    return tree_derive(own, other, tree_program_key, tree_cipher_with(other));
}

TEST(a_daemon_that_is_introduced_has_its_end_of_the_link)
{
    struct tree_other other;
    struct tree_own own;
    start_child(&other);
    tree_become(&own, 9);
    const struct tree_derived derived = introduce(&own, &other);
    struct bcri_link *link = tree_link_to(&own, &other, &derived);
    tree_is_answered(&own, &other, link);
    bcri_link_free(link);
}

TEST(a_daemon_tells_each_host_other_random_bytes)
{
    struct tree_other one, two;
    struct tree_own own;
    start_child(&one);
    tree_become(&own, 9);
    introduce(&own, &one);
    two = one;
    tree_become(&own, 10);
    introduce(&own, &two);
    CHECK(memcmp(one.random, two.random, 32) != 0);
    CHECK(memcmp(two.random, own.random, 32) != 0);
}

/* As when forged packets have worn the keys out. */
TEST(a_daemon_that_is_introduced_again_goes_on_with_new_keys)
{
    struct tree_other other;
    struct tree_own own;
    start_child(&other);
    tree_become(&own, 9);
    struct tree_derived derived = introduce(&own, &other);
    struct bcri_link *link = tree_link_to(&own, &other, &derived);
    tree_is_answered(&own, &other, link);
    own.random[0] ^= 1;
    derived = introduce(&own, &other);
    CHECK_INT(bcri_link_renew(link, &derived.session, tree_now_ns()), 0);
    tree_is_answered(&own, &other, link);
    bcri_link_free(link);
}

TEST(a_host_that_is_lost_is_not_answered_any_more)
{
    struct tree_other lost, other;
    struct tree_own nine, ten;
    start_child(&lost);
    tree_become(&nine, 9);
    tree_become(&ten, 10);
    struct tree_derived derived = introduce(&nine, &lost);
    struct bcri_link *to_lost = tree_link_to(&nine, &lost, &derived);
    tree_is_answered(&nine, &lost, to_lost);
    const struct bcri_control message = {.type = BCRI_MSG_lost, .present = BCRI_HAS(host), .host = 9};
    tree_say(&child.end, &message);
    other = lost;
    derived = introduce(&ten, &other);
    struct bcri_link *link = tree_link_to(&ten, &other, &derived);
    tree_is_answered(&ten, &other, link); /* so the child has done both */
    while (tree_hears(&nine, to_lost, 0))
        ;
    tree_ping(&nine, &lost, to_lost);
    tree_is_answered(&ten, &other, link); /* so it has had that ping */
    CHECK(!tree_hears(&nine, to_lost, 0));
    bcri_link_free(link);
    bcri_link_free(to_lost);
}

TEST(a_daemon_that_wants_a_link_makes_it_when_the_other_has_agreed)
{
    struct tree_other other;
    struct tree_own own;
    uint8_t enlistor[BCRI_IDENTITY_BYTES];
    setenv("SYS_CHILD", "enlistor wait", 1); /* puts into a cell on host 0 */
    start_child(&other);
    tree_become(&own, 0);
    bcri_identity_name(enlistor, 0, 1);
    memset(enlistor + 4, 0xab, sizeof enlistor - 4);
    const struct bcri_control enlist = {.type = BCRI_MSG_enlist,
                                        .present = BCRI_HAS(id) | BCRI_HAS(machine) | BCRI_HAS(core) |
                                                   BCRI_HAS(count) | BCRI_HAS(ordinal) | BCRI_HAS(object) |
                                                   BCRI_HAS(enlistor),
                                        .id = 100,
                                        .machine = bcri_view_of(""),
                                        .core = -1,
                                        .count = 1,
                                        .ordinal = 5,
                                        .object = bcri_view_of(run_cce()),
                                        .enlistor = tree_view(enlistor, sizeof enlistor)};
    tree_say(&child.end, &enlist);
    CHECK_UINT(tree_hear(&child.end, BCRI_MSG_reply)->status, 0);
    const struct bcri_control *want = tree_hear(&child.end, BCRI_MSG_want);
    CHECK_UINT(want->host, 0);
    tree_know_random(&other, want);
    const struct tree_derived derived = tree_derive(&own, &other, tree_program_key, tree_cipher_with(&other));
    struct bcri_link *link = tree_link_to(&own, &other, &derived);
    const struct bcri_control message =
        introduction(BCRI_MSG_introduced, &own, tree_own_flags() & other.flags);
    tree_say(&child.end, &message);
    CHECK(tree_hears(&own, link, -1));
    bcri_link_free(link);
}

TEST(no_core_file_of_a_daemon_has_a_key)
{
    struct tree_other other;
    struct tree_own own;
    start_child(&other);
    tree_become(&own, 9);
    const struct tree_derived derived = introduce(&own, &other);
    struct bcri_link *link = tree_link_to(&own, &other, &derived);
    tree_is_answered(&own, &other, link);
    tree_is_answered(&own, &other, link); /* the link thread has come to rest in between */
    const struct {
        const char *name;
        const uint8_t *key;
        bool kept;
    } keys[] = {
        {"the program key", tree_program_key, true}, {"a session key of crypto_kx", derived.kx, false},
        {"the other", derived.kx + 32, false},       {"the session's secret", derived.session.bytes, false},
        {"the key to it", derived.to, true},         {"the key from it", derived.from, true}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (key_found(child.pid, keys[i].key, 32, false))
            FAIL("%s is in memory that core files have", keys[i].name);
        if (keys[i].kept && !key_found(child.pid, keys[i].key, 32, true))
            FAIL("%s is nowhere: this test looks in the wrong place", keys[i].name);
    }
    bcri_link_free(link);
}

TEST(an_introduction_that_makes_no_sense_ends_the_connection)
{
    static const uint8_t zeros[32];
    static char log[1 << 16];
    struct tree_own own;
    tree_become(&own, 9);
    const struct {
        const char *why;
        struct bcri_control message;
    } cases[] = {
        {"an introduction that this host has not asked for", introduction(BCRI_MSG_introduced, &own, 0)},
        {"an introduction that makes no sense",
         {.type = BCRI_MSG_introduce,
          .host = 9,
          .key = tree_view(own.public, 31),
          .random = tree_view(own.random, 32)}},
        {"an introduction that makes no sense",
         {.type = BCRI_MSG_introduce,
          .host = 9,
          .key = tree_view(own.public, 32),
          .random = tree_view(own.random, 31)}},
        {"an introduction that makes no sense",
         {.type = BCRI_MSG_introduce,
          .host = HOST,
          .key = tree_view(own.public, 32),
          .random = tree_view(own.random, 32)}},
        {"a public key that is none",
         {.type = BCRI_MSG_introduce,
          .host = 9,
          .key = tree_view(zeros, 32),
          .random = tree_view(own.random, 32)}},
        {"addresses that are none",
         {.type = BCRI_MSG_introduce,
          .host = 9,
          .key = tree_view(own.public, 32),
          .random = tree_view(own.random, 32),
          .addresses = tree_view(own.addresses, 6)}},
        {"it says that itself or this host is lost", {.type = BCRI_MSG_lost, .host = 0}},
        {"it says that itself or this host is lost", {.type = BCRI_MSG_lost, .host = HOST}},
        {"not a message for this connection",
         {.type = BCRI_MSG_want, .host = 9, .random = tree_view(own.random, 32)}},
        {"not a message for this connection", {.type = BCRI_MSG_announce, .key = tree_view(own.public, 32)}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tree_other other;
        struct bcri_control message = cases[i].message;
        if (message.present == 0)
            message.present = BCRI_HAS(host);
        if (message.type == BCRI_MSG_introduce)
            message.present |= BCRI_HAS(key) | BCRI_HAS(addresses) | BCRI_HAS(random) | BCRI_HAS(flags);
        if (message.type == BCRI_MSG_want)
            message.present |= BCRI_HAS(random);
        if (message.type == BCRI_MSG_announce)
            message.present = BCRI_HAS(key) | BCRI_HAS(addresses) | BCRI_HAS(flags);
        start_child(&other);
        tree_say(&child.end, &message);
        tree_hear_end(&child.end);
        CHECK_INT(tree_status(&child), 0);
        run_read_file(run_file("bcr.far.", ".log"), log, sizeof log);
        if (strstr(log, cases[i].why) == NULL)
            FAIL("wanted in the log: %s\ngot: %s", cases[i].why, log);
        CHECK_INT(unlink(run_file("bcr.far.", ".log")), 0);
    }
}

static unsigned port_of(const struct bcri_link_address *address)
{
    return ntohs(address->at.ss_family == AF_INET ? ((const struct sockaddr_in *)&address->at)->sin_port
                                                  : ((const struct sockaddr_in6 *)&address->at)->sin6_port);
}

TEST(a_host_has_the_roots_ports_unless_it_has_its_own)
{
    struct tree_other other;
    start_child_with(&other, "dataport", "41000-41999");
    CHECK(port_of(&other.address[0]) >= 41000 && port_of(&other.address[0]) <= 41999);
    close(child.end.to);
    CHECK_INT(tree_status(&child), 0);
    CHECK_INT(unlink(run_file("bcr.far.", ".log")), 0);
    setenv("BCR_DATAPORT", "42000-42999", 1);
    start_child_with(&other, "dataport", "41000-41999");
    CHECK(port_of(&other.address[0]) >= 42000 && port_of(&other.address[0]) <= 42999);
}

TEST(without_encryption_packets_have_a_token)
{
    struct tree_other other;
    struct tree_own own;
    start_child_with(&other, "security", "none");
    tree_become(&own, 9);
    introduce(&own, &other);
    const struct tree_derived derived = tree_derive(&own, &other, tree_program_key, BCRI_CIPHER_NONE);
    struct bcri_link *link = tree_link_to(&own, &other, &derived);
    tree_is_answered(&own, &other, link);
    bcri_link_free(link);
}

TEST(keys_that_cannot_be_locked_are_warned_about_and_used)
{
    if (test_is_instrumented())
        SKIP("a sanitizer's mlock(2) locks nothing and says that it has");
    const struct rlimit none = {0, 0};
    struct tree_other other;
    struct tree_own own;
    CHECK_INT(setrlimit(RLIMIT_MEMLOCK, &none), 0);
    (void)prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0); /* root's */
    start_child(&other);
    run_wait_for_text("bcr.", "the keys may be written to swap space");
    tree_become(&own, 9);
    const struct tree_derived derived = introduce(&own, &other);
    CHECK(!key_found(child.pid, tree_program_key, 32, false));
    CHECK(!key_found(child.pid, derived.session.bytes, 32, false));
}

TEST(a_start_without_a_whole_key_is_refused)
{
    const struct bcri_control start = {.type = BCRI_MSG_start,
                                       .present = BCRI_HAS(id) | BCRI_HAS(host) | BCRI_HAS(daemon) |
                                                  BCRI_HAS(program) | BCRI_HAS(key),
                                       .id = 7,
                                       .host = HOST,
                                       .daemon = 1,
                                       .program = bcri_view_of(tree_program()),
                                       .key = tree_view(tree_program_key, 31)};
    tree_spawn(&child);
    tree_write(&child.end, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
    tree_say(&child.end, &start);
    tree_hear_end(&child.end);
    CHECK_INT(tree_status(&child), 2);
    CHECK(strstr(tree_errors(&child), "gives no key") != NULL);
}
