/* SPDX-License-Identifier: MIT */
/* How hosts are introduced to each other. The test is the parent of a real daemon, or the children of
 * a root's daemon: it speaks through the pipes of the tree, and as a host of its own over UDP, with
 * keys that it derives by docs/protocol.md alone. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bcr/error.h>
#include <sodium.h>

#include "addresses.h"
#include "bcri/archtype.h"
#include "bcri/link.h"
#include "check.h"
#include "key_search.h"
#include "run.h"
#include "tree_end.h"

enum { HOST = 7 }; /* the real child's number */

static struct run run;
static struct tree_child child;

/* ---- a host that the test is ---- */

struct own {
    uint32_t number;
    uint8_t public[32], secret[32], random[32];
    int udp;
    uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX];
    uint32_t addresses_length;
};

static struct bcri_view view(const void *bytes, size_t length)
{
    return (struct bcri_view){bytes, (uint32_t)length};
}

static void become(struct own *own, uint32_t number)
{
    struct bcri_link_address address = {.bytes = sizeof(struct sockaddr_in)};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    own->number = number;
    CHECK(sodium_init() >= 0);
    crypto_box_keypair(own->public, own->secret);
    randombytes_buf(own->random, sizeof own->random);
    own->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(own->udp >= 0 && bind(own->udp, (struct sockaddr *)&at, sizeof at) == 0 &&
          getsockname(own->udp, (struct sockaddr *)&at, &length) == 0);
    memcpy(&address.at, &at, sizeof at);
    own->addresses_length = enl_addresses_write(&address, 1, own->addresses);
    CHECK_UINT(own->addresses_length, 7);
}

static uint32_t own_flags(void)
{
    return crypto_aead_aes256gcm_is_available() ? 1 : 0;
}

/* ---- what it knows of another ---- */

struct other {
    uint32_t number, flags;
    uint8_t public[32], random[32];
    struct bcri_link_address address[BCRI_INTRODUCED_MAX];
    uint32_t address_count;
};

static void know(struct other *other, const struct bcri_control *message)
{
    CHECK_UINT(message->key.length, 32);
    memcpy(other->public, message->key.bytes, 32);
    CHECK(enl_addresses_read((const uint8_t *)message->addresses.bytes, message->addresses.length,
                             other->address, &other->address_count));
    CHECK(other->address_count > 0);
    other->flags = message->flags;
}

static void know_random(struct other *other, const struct bcri_control *message)
{
    CHECK_UINT(message->random.length, 32);
    memcpy(other->random, message->random.bytes, 32);
    CHECK(!sodium_is_zero(other->random, 32));
}

/* What two hosts have, and what follows from it: docs/protocol.md, "Sealing". */
struct derived {
    uint8_t kx[64]; /* from higher to lower, and back */
    struct bcri_seal_secret session;
    uint8_t to[32], from[32]; /* the keys of generation 0 */
};

static void put_u32(uint8_t *out, uint32_t number)
{
    number = htonl(number);
    memcpy(out, &number, sizeof number);
}

static void hash(uint8_t *out, size_t length, const uint8_t *key, const char *label, const void *rest,
                 size_t rest_length)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, key, key != NULL ? 32 : 0, length);
    if (label != NULL)
        crypto_generichash_update(&state, (const uint8_t *)label, strlen(label) + 1);
    crypto_generichash_update(&state, rest, rest_length);
    crypto_generichash_final(&state, out, length);
}

static enum bcri_cipher cipher_with(const struct other *other)
{
    return (own_flags() & other->flags) != 0 ? BCRI_CIPHER_AES256GCM : BCRI_CIPHER_CHACHA20POLY1305;
}

static struct derived derive(const struct own *own, const struct other *other, const uint8_t *program_key,
                             enum bcri_cipher cipher)
{
    struct derived all = {0};
    uint8_t point[32 + 32 + 32], text[4 + 4 + 32 + 32 + 32 + 32 + 1], token[32], use[10] = {0};
    const bool lower = own->number < other->number;
    CHECK_INT(crypto_scalarmult(point, own->secret, other->public), 0);
    memcpy(point + 32, lower ? own->public : other->public, 32);
    memcpy(point + 64, lower ? other->public : own->public, 32);
    hash(all.kx, 64, NULL, NULL, point, sizeof point);
    put_u32(text, lower ? own->number : other->number);
    put_u32(text + 4, lower ? other->number : own->number);
    memcpy(text + 8, all.kx + 32, 32);
    memcpy(text + 40, all.kx, 32);
    memcpy(text + 72, lower ? own->random : other->random, 32);
    memcpy(text + 104, lower ? other->random : own->random, 32);
    all.session.cipher = cipher;
    text[136] = (uint8_t)all.session.cipher;
    hash(all.session.bytes, 32, program_key, "bcr session", text, sizeof text);
    hash(token, 32, all.session.bytes, "bcr token", NULL, 0);
    for (int i = 0; i < 8; i++)
        all.session.token = all.session.token << 8 | token[i];
    put_u32(use, own->number);
    put_u32(use + 4, other->number);
    hash(all.to, 32, all.session.bytes, "bcr key", use, sizeof use);
    put_u32(use, other->number);
    put_u32(use + 4, own->number);
    hash(all.from, 32, all.session.bytes, "bcr key", use, sizeof use);
    return all;
}

/* ---- packets between the two ---- */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool accept_none(void *owner, uint32_t source, uint32_t target)
{
    (void)owner, (void)source, (void)target;
    return false;
}

static enum bcri_link_verdict begin_none(void *owner, struct bcri_link_message *message)
{
    (void)owner, (void)message;
    return BCRI_LINK_REFUSE;
}

static void arrived_none(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner, (void)source, (void)target, (void)cookie;
}

static void completed_none(void *owner, uint32_t source, uint32_t target, void *cookie,
                           enum bcri_link_outcome outcome)
{
    (void)owner, (void)source, (void)target, (void)cookie, (void)outcome;
}

static struct bcri_link *link_to(const struct own *own, const struct other *other,
                                 const struct derived *derived)
{
    static const struct bcri_link_events events = {accept_none, begin_none, arrived_none, arrived_none,
                                                   completed_none};
    const struct bcri_link_config config = {.host = own->number,
                                            .peer = other->number,
                                            .packet_max = BCRI_LINK_PACKET_MIN,
                                            .carrier = {.packet_max = BCRI_LINK_PACKET_MIN, .room = 65536},
                                            .secret = &derived->session};
    struct bcri_link *link = bcri_link_new(&config, &events, NULL, now_ns());
    CHECK(link != NULL);
    return link;
}

static void send_ping(const struct own *own, const struct other *other, struct bcri_link *link)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    size_t length;
    bcri_link_ping(link);
    while ((length = bcri_link_fill(link, packet, now_ns())) != 0)
        for (uint32_t i = 0; i < other->address_count; i++)
            if (other->address[i].at.ss_family == AF_INET)
                (void)sendto(own->udp, packet, length, 0, (const struct sockaddr *)&other->address[i].at,
                             other->address[i].bytes);
}

/* Whether a packet is there in time that the link opens. */
static bool hears(const struct own *own, struct bcri_link *link, int msec)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    struct pollfd look = {.fd = own->udp, .events = POLLIN};
    while (poll(&look, 1, msec) > 0) {
        const ssize_t got = recv(own->udp, packet, sizeof packet, 0);
        if (got > 0 && bcri_link_receive(link, packet, (size_t)got, now_ns()))
            return true;
    }
    return false;
}

static void is_answered(const struct own *own, const struct other *other, struct bcri_link *link)
{
    do
        send_ping(own, other, link);
    while (!hears(own, link, 100));
}

/* ---- the test is the parent ---- */

static void say_setting(const char *keyword, const char *value)
{
    const struct bcri_control setting = {.type = BCRI_MSG_setting,
                                         .present = BCRI_HAS(object) | BCRI_HAS(text),
                                         .object = bcri_view_of(keyword),
                                         .text = bcri_view_of(value)};
    tree_say(&child.end, &setting);
}

/* Starts the child, with one setting unless `keyword` is NULL, and knows what it announces. */
static void start_child_with(struct other *other, const char *keyword, const char *value)
{
    const struct bcri_control *message;
    tree_spawn(&child);
    tree_greet(&child);
    if (keyword != NULL)
        say_setting(keyword, value);
    tree_say_start(&child, tree_program(), HOST, 1);
    other->number = HOST;
    know(other, tree_hear(&child.end, BCRI_MSG_announce));
    message = tree_hear(&child.end, BCRI_MSG_reply);
    CHECK_UINT(message->id, 7);
    CHECK_UINT(message->status, 0);
}

static void start_child(struct other *other)
{
    start_child_with(other, NULL, NULL);
}

static struct bcri_control introduction(enum bcri_control_type type, const struct own *own, uint32_t flags)
{
    return (struct bcri_control){.type = type,
                                 .present = BCRI_HAS(host) | BCRI_HAS(key) | BCRI_HAS(addresses) |
                                            BCRI_HAS(random) | BCRI_HAS(flags),
                                 .host = own->number,
                                 .key = view(own->public, 32),
                                 .addresses = view(own->addresses, own->addresses_length),
                                 .random = view(own->random, 32),
                                 .flags = flags};
}

/* Introduces the test's host to the child. Returns what the two derive. */
static struct derived introduce(const struct own *own, struct other *other)
{
    const struct bcri_control message = introduction(BCRI_MSG_introduce, own, own_flags() & other->flags);
    tree_say(&child.end, &message);
    const struct bcri_control *agreed = tree_hear(&child.end, BCRI_MSG_agreed);
    CHECK_UINT(agreed->host, own->number);
    know_random(other, agreed);
    return derive(own, other, tree_program_key, cipher_with(other));
}

TEST(a_daemon_that_is_introduced_has_its_end_of_the_link)
{
    struct other other;
    struct own own;
    start_child(&other);
    become(&own, 9);
    const struct derived derived = introduce(&own, &other);
    struct bcri_link *link = link_to(&own, &other, &derived);
    is_answered(&own, &other, link);
    bcri_link_free(link);
}

TEST(a_daemon_tells_each_host_other_random_bytes)
{
    struct other one, two;
    struct own own;
    start_child(&one);
    become(&own, 9);
    introduce(&own, &one);
    two = one;
    become(&own, 10);
    introduce(&own, &two);
    CHECK(memcmp(one.random, two.random, 32) != 0);
}

TEST(a_host_that_is_lost_is_not_answered_any_more)
{
    struct other lost, other;
    struct own nine, ten;
    start_child(&lost);
    become(&nine, 9);
    become(&ten, 10);
    struct derived derived = introduce(&nine, &lost);
    struct bcri_link *to_lost = link_to(&nine, &lost, &derived);
    is_answered(&nine, &lost, to_lost);
    const struct bcri_control message = {.type = BCRI_MSG_lost, .present = BCRI_HAS(host), .host = 9};
    tree_say(&child.end, &message);
    other = lost;
    derived = introduce(&ten, &other);
    struct bcri_link *link = link_to(&ten, &other, &derived);
    is_answered(&ten, &other, link); /* so the child has done both */
    while (hears(&nine, to_lost, 0))
        ;
    send_ping(&nine, &lost, to_lost);
    is_answered(&ten, &other, link); /* so it has had that ping */
    CHECK(!hears(&nine, to_lost, 0));
    bcri_link_free(link);
    bcri_link_free(to_lost);
}

TEST(a_daemon_that_wants_a_link_makes_it_when_the_other_has_agreed)
{
    struct other other;
    struct own own;
    uint8_t enlistor[BCRI_IDENTITY_BYTES];
    setenv("SYS_CHILD", "enlistor wait", 1); /* puts into a cell on host 0 */
    start_child(&other);
    become(&own, 0);
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
                                        .enlistor = view(enlistor, sizeof enlistor)};
    tree_say(&child.end, &enlist);
    CHECK_UINT(tree_hear(&child.end, BCRI_MSG_reply)->status, 0);
    const struct bcri_control *want = tree_hear(&child.end, BCRI_MSG_want);
    CHECK_UINT(want->host, 0);
    know_random(&other, want);
    const struct derived derived = derive(&own, &other, tree_program_key, cipher_with(&other));
    struct bcri_link *link = link_to(&own, &other, &derived);
    const struct bcri_control message = introduction(BCRI_MSG_introduced, &own, own_flags() & other.flags);
    tree_say(&child.end, &message);
    CHECK(hears(&own, link, -1));
    bcri_link_free(link);
}

TEST(no_core_file_of_a_daemon_has_a_key)
{
    struct other other;
    struct own own;
    start_child(&other);
    become(&own, 9);
    const struct derived derived = introduce(&own, &other);
    struct bcri_link *link = link_to(&own, &other, &derived);
    is_answered(&own, &other, link);
    is_answered(&own, &other, link); /* the link thread has come to rest in between */
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
    struct own own;
    become(&own, 9);
    const struct {
        const char *why;
        struct bcri_control message;
    } cases[] = {
        {"an introduction that this host has not asked for", introduction(BCRI_MSG_introduced, &own, 0)},
        {"an introduction that makes no sense",
         {.type = BCRI_MSG_introduce,
          .host = 9,
          .key = view(own.public, 31),
          .random = view(own.random, 32)}},
        {"an introduction that makes no sense",
         {.type = BCRI_MSG_introduce,
          .host = 9,
          .key = view(own.public, 32),
          .random = view(own.random, 31)}},
        {"an introduction that makes no sense",
         {.type = BCRI_MSG_introduce,
          .host = HOST,
          .key = view(own.public, 32),
          .random = view(own.random, 32)}},
        {"a public key that is none",
         {.type = BCRI_MSG_introduce, .host = 9, .key = view(zeros, 32), .random = view(own.random, 32)}},
        {"addresses that are none",
         {.type = BCRI_MSG_introduce,
          .host = 9,
          .key = view(own.public, 32),
          .random = view(own.random, 32),
          .addresses = view(own.addresses, 6)}},
        {"it says that itself or this host is lost", {.type = BCRI_MSG_lost, .host = 0}},
        {"it says that itself or this host is lost", {.type = BCRI_MSG_lost, .host = HOST}},
        {"not a message for this connection",
         {.type = BCRI_MSG_want, .host = 9, .random = view(own.random, 32)}},
        {"not a message for this connection", {.type = BCRI_MSG_announce, .key = view(own.public, 32)}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct other other;
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
    struct other other;
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
    struct other other;
    struct own own;
    start_child_with(&other, "security", "none");
    become(&own, 9);
    introduce(&own, &other);
    const struct derived derived = derive(&own, &other, tree_program_key, BCRI_CIPHER_NONE);
    struct bcri_link *link = link_to(&own, &other, &derived);
    is_answered(&own, &other, link);
    bcri_link_free(link);
}

TEST(keys_that_cannot_be_locked_are_warned_about_and_used)
{
    const struct rlimit none = {0, 0};
    struct other other;
    struct own own;
    CHECK_INT(setrlimit(RLIMIT_MEMLOCK, &none), 0);
    (void)prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0); /* root's */
    start_child(&other);
    run_wait_for_text("bcr.", "the keys may be written to swap space");
    become(&own, 9);
    const struct derived derived = introduce(&own, &other);
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
                                       .key = view(tree_program_key, 31)};
    tree_spawn(&child);
    tree_write(&child.end, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
    tree_say(&child.end, &start);
    tree_hear_end(&child.end);
    CHECK_INT(tree_status(&child), 2);
    CHECK(strstr(tree_errors(&child), "gives no key") != NULL);
}

/* ---- the test is the children of a root's daemon ---- */

static struct tree_end far[3]; /* n1 and n2 */
static pid_t beater;           /* 0: none */
static uint8_t root_key[32];   /* the program key, as the root has made it */

/* Its daemons are what the test writes into NAME.up; it reads NAME.down. */
static void start_root(const char *const *words)
{
    static const char script[] = "#!/bin/sh\n"
                                 "for word; do case $word in n?) host=$word;; esac; done\n"
                                 "echo $$ >$host.pid\n"
                                 "cat $host.up &\n"
                                 "exec cat >$host.down\n";
    run_folder();
    run_write_file("machines", "n1\nn2\n", 6, 0600);
    run_write_file("far", script, sizeof script - 1, 0700);
    setenv("BCR_RSHPATH", "./far", 1);
    for (int i = 1; i <= 2; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%d.up", i);
        CHECK(mkfifo(name, 0600) == 0 || errno == EEXIST);
        snprintf(name, sizeof name, "n%d.down", i);
        CHECK(mkfifo(name, 0600) == 0 || errno == EEXIST);
    }
    memset(far, 0, sizeof far);
    run_start_words(&run, words);
}

/* Host `n` presents itself. */
static void open_pipes(int n)
{
    struct tree_end *end = &far[n];
    char name[32];
    snprintf(name, sizeof name, "n%d.up", n);
    end->to = open(name, O_WRONLY | O_CLOEXEC);
    snprintf(name, sizeof name, "n%d.down", n);
    end->from = open(name, O_RDONLY | O_CLOEXEC);
    CHECK(end->to >= 0 && end->from >= 0);
    snprintf(name, sizeof name, "station %d", n);
    const struct bcri_control present = {.type = BCRI_MSG_present,
                                         .present = BCRI_HAS(machine) | BCRI_HAS(text) | BCRI_HAS(object) |
                                                    BCRI_HAS(archtype),
                                         .machine = bcri_view_of("n"),
                                         .text = bcri_view_of(name),
                                         .object = bcri_view_of("any"),
                                         .archtype = (uint32_t)bcri_archtype_native()};
    tree_write(end, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES);
    tree_say(end, &present);
}

/* Host `n` comes up to where it was told to start. */
static void open_far(int n)
{
    open_pipes(n);
    const struct bcri_control *start = tree_hear(&far[n], BCRI_MSG_start);
    CHECK_UINT(start->host, n);
    CHECK_UINT(start->key.length, 32);
    CHECK(!sodium_is_zero((const uint8_t *)start->key.bytes, 32));
    if (n == 2)
        CHECK_MEM(root_key, start->key.bytes, 32);
    memcpy(root_key, start->key.bytes, 32);
}

static struct bcri_control announcement(const struct own *own, uint32_t flags)
{
    return (struct bcri_control){.type = BCRI_MSG_announce,
                                 .present = BCRI_HAS(key) | BCRI_HAS(addresses) | BCRI_HAS(flags),
                                 .key = view(own->public, 32),
                                 .addresses = view(own->addresses, own->addresses_length),
                                 .flags = flags};
}

static void say_reply(int n, uint32_t id, uint32_t status)
{
    const struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = id, .status = status};
    tree_say(&far[n], &reply);
}

/* Host `n` comes up, and starts nothing: what was to be enlisted there fails. */
static void come_up(int n, struct own *own, uint32_t flags)
{
    become(own, (uint32_t)n);
    open_far(n);
    const struct bcri_control message = announcement(own, flags);
    tree_say(&far[n], &message);
    say_reply(n, 1, 0);
    say_reply(n, tree_hear(&far[n], BCRI_MSG_enlist)->id, bcrE_NOPROG);
}

static void say_random(int n, enum bcri_control_type type, uint32_t host, const uint8_t *random)
{
    const struct bcri_control message = {
        .type = type, .present = BCRI_HAS(host) | BCRI_HAS(random), .host = host, .random = view(random, 32)};
    tree_say(&far[n], &message);
}

/* Wants a host that never was. The answer comes behind all that was caused by what was said before. */
static void nothing_more_came(int n)
{
    say_random(n, BCRI_MSG_want, 77, far[n].frames.bytes);
    CHECK_UINT(tree_hear(&far[n], BCRI_MSG_lost)->host, 77);
}

/* `message` presents `own` to host `n`. */
static void presents(const struct bcri_control *message, const struct own *own, uint32_t flags)
{
    CHECK_UINT(message->host, own->number);
    CHECK_UINT(message->key.length, 32);
    CHECK_MEM(message->key.bytes, own->public, 32);
    CHECK_UINT(message->addresses.length, own->addresses_length);
    CHECK_MEM(message->addresses.bytes, own->addresses, own->addresses_length);
    CHECK_UINT(message->random.length, 32);
    CHECK_MEM(message->random.bytes, own->random, 32);
    CHECK_UINT(message->flags, flags);
}

static void end_root(void)
{
    if (beater != 0)
        CHECK_INT(kill(beater, SIGKILL), 0);
    beater = 0;
    for (int n = 1; n <= 2; n++)
        if (far[n].to != 0) {
            close(far[n].to);
            close(far[n].from);
        }
    run_go();
    run_end(&run);
}

#define BOTH                                                                                           \
    (const char *const[])                                                                              \
    {                                                                                                  \
        run_enl(), "--hosts", "machines", run_cce(), "at", "n1", "enlist", run_cce(), "1", "at", "n2", \
            "enlist", run_cce(), "1", "wait", NULL                                                     \
    }

TEST(the_root_introduces_two_hosts_once_and_the_other_first)
{
    struct own one, two;
    setenv("BCR_ONFAIL", "isolate", 1);
    start_root(BOTH);
    come_up(1, &one, 1);
    come_up(2, &two, 0);
    say_random(1, BCRI_MSG_want, 2, one.random);
    presents(tree_hear(&far[2], BCRI_MSG_introduce), &one, 0); /* only one has AES */
    say_random(1, BCRI_MSG_want, 2, two.random);               /* dropped, */
    say_random(2, BCRI_MSG_want, 1, one.random);               /* and from the other side, too */
    nothing_more_came(2);
    nothing_more_came(1);
    say_random(2, BCRI_MSG_agreed, 1, two.random);
    presents(tree_hear(&far[1], BCRI_MSG_introduced), &two, 0);
    nothing_more_came(1);
    nothing_more_came(2);
    say_random(2, BCRI_MSG_want, 1, two.random); /* anew, since it was done */
    presents(tree_hear(&far[1], BCRI_MSG_introduce), &two, 0);
    end_root();
}

/* The settings that host 1 is told before it is started. */
static const char *settings_told(void)
{
    static char text[4096];
    const struct bcri_control *message;
    text[0] = '\0';
    start_root((const char *const[]){run_enl(), "--hosts", "machines", run_cce(), "at", "n1", "enlist",
                                     run_cce(), "1", NULL});
    open_pipes(1);
    while ((message = tree_hear_any(&far[1]))->type != BCRI_MSG_start)
        if (message->type == BCRI_MSG_setting)
            sprintf(text + strlen(text), "%.*s %.*s\n", (int)message->object.length, message->object.bytes,
                    (int)message->text.length, message->text.bytes);
    end_root();
    return text;
}

TEST(hosts_are_told_the_roots_settings_but_no_address_that_is_its_own)
{
    setenv("BCR_DATAPORT", "41000-41999", 1);
    setenv("BCR_BINDADDR", "127.0.0.0/8", 1);
    setenv("BCR_RECVPOOL", "64", 1);
    setenv("BCR_SECURITY", "none", 1);
    const char *told = settings_told();
    CHECK(strstr(told, "dataport 41000-41999\n") != NULL);
    CHECK(strstr(told, "bindaddr 127.0.0.0/8\n") != NULL);
    CHECK(strstr(told, "recvpool 64\n") != NULL);
    CHECK(strstr(told, "security none\n") != NULL);
    run_wait_for_text("bcr.", "security none: what hosts say to each other is not encrypted");
    CHECK_INT(unlink(run_file("bcr.", ".log")), 0);
    setenv("BCR_BINDADDR", "127.0.0.1", 1);
    CHECK_PTR(strstr(settings_told(), "bindaddr"), NULL);
}

TEST(both_processors_decide_the_cipher)
{
    struct own one, two;
    setenv("BCR_ONFAIL", "isolate", 1);
    start_root(BOTH);
    come_up(1, &one, 1);
    come_up(2, &two, 1);
    say_random(1, BCRI_MSG_want, 2, one.random);
    presents(tree_hear(&far[2], BCRI_MSG_introduce), &one, 1);
    say_random(2, BCRI_MSG_agreed, 1, two.random);
    presents(tree_hear(&far[1], BCRI_MSG_introduced), &two, 1);
    end_root();
}

TEST(the_root_is_introduced_itself_and_no_core_file_of_it_has_a_key)
{
    struct own one, two;
    struct other root = {.number = 0};
    setenv("BCR_ONFAIL", "isolate", 1);
    start_root(BOTH);
    come_up(1, &one, own_flags());
    come_up(2, &two, own_flags());
    say_random(1, BCRI_MSG_want, 0, one.random);
    const struct bcri_control *message = tree_hear(&far[1], BCRI_MSG_introduced);
    CHECK_UINT(message->host, 0);
    know(&root, message);
    know_random(&root, message);
    const struct derived derived = derive(&one, &root, root_key, cipher_with(&root));
    struct bcri_link *link = link_to(&one, &root, &derived);
    is_answered(&one, &root, link);
    is_answered(&one, &root, link);
    CHECK(key_found(run.pid, root_key, 32, true));
    CHECK(key_found(run.pid, derived.from, 32, true));
    CHECK(!key_found(run.pid, root_key, 32, false));
    CHECK(!key_found(run.pid, derived.kx, 32, false));
    CHECK(!key_found(run.pid, derived.kx + 32, 32, false));
    CHECK(!key_found(run.pid, derived.session.bytes, 32, false));
    CHECK(!key_found(run.pid, derived.from, 32, false));
    CHECK(!key_found(run.pid, derived.to, 32, false));
    bcri_link_free(link);
    end_root();
}

TEST(all_hosts_learn_that_one_is_gone)
{
    struct own one, two;
    setenv("BCR_ONFAIL", "isolate", 1);
    start_root(BOTH);
    come_up(1, &one, 0);
    come_up(2, &two, 0);
    say_random(1, BCRI_MSG_want, 2, one.random);
    tree_hear(&far[2], BCRI_MSG_introduce);
    close(far[2].to);
    close(far[2].from);
    far[2].to = 0;
    CHECK_UINT(tree_hear(&far[1], BCRI_MSG_lost)->host, 2); /* which answers the want */
    say_random(1, BCRI_MSG_want, 2, one.random);
    CHECK_UINT(tree_hear(&far[1], BCRI_MSG_lost)->host, 2);
    say_random(1, BCRI_MSG_agreed, 2, one.random); /* it may have been late */
    nothing_more_came(1);
    end_root();
}

/* Host `n` beats until the root is ended. */
static void keep_beating(int n)
{
    const struct bcri_control beat = {.type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = 1};
    beater = fork();
    CHECK(beater >= 0);
    while (beater == 0) {
        tree_say(&far[n], &beat);
        poll(NULL, 0, 100);
    }
}

TEST(a_host_that_may_still_work_is_lost_when_its_lease_is_over)
{
    enum { LEASE_MS = 1200 };
    struct own one, two;
    char text[32] = "";
    setenv("BCR_ONFAIL", "isolate", 1);
    setenv("BCR_HOSTTIMEOUT", "1091", 1); /* and a tenth: LEASE_MS */
    start_root(BOTH);
    come_up(1, &one, 0);
    keep_beating(1);
    const uint64_t before = now_ns();
    come_up(2, &two, 0);
    run_read_file("n2.pid", text, sizeof text);
    CHECK_INT(kill((pid_t)strtol(text, NULL, 10), SIGKILL), 0); /* as if ssh alone had ended */
    close(far[2].to);
    close(far[2].from);
    far[2].to = 0;
    run_wait_for_text("bcr.", "host n2 is lost");
    say_random(1, BCRI_MSG_want, 2, one.random); /* answered when that is lost */
    CHECK_UINT(tree_hear(&far[1], BCRI_MSG_lost)->host, 2);
    CHECK(now_ns() - before >= (uint64_t)LEASE_MS * 1000000u);
    nothing_more_came(1);
    end_root();
}

TEST(a_child_that_breaks_the_protocol_of_introductions_is_given_up)
{
    static const uint8_t zeros[32];
    enum { UP, EARLY };
    struct own one;
    const struct {
        const char *why;
        int when;
        struct bcri_control message;
    } cases[] = {
        {"it speaks before it was started",
         EARLY,
         {.type = BCRI_MSG_want, .present = BCRI_HAS(host) | BCRI_HAS(random), .random = view(zeros, 32)}},
        {"it does not say where it can be reached",
         EARLY,
         {.type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = 1}},
        {"its public key is none", EARLY, {.type = BCRI_MSG_announce, .key = view(zeros, 32)}},
        {"its public key is none", EARLY, {.type = BCRI_MSG_announce, .key = view("short", 5)}},
        {"its addresses are none",
         EARLY,
         {.type = BCRI_MSG_announce,
          .key = view("\x09 a point of the curve as any oth", 32),
          .addresses = view("\x04\x10\x00\xe0\x00\x00\x01", 7)}},
        {"it announces itself twice",
         UP,
         {.type = BCRI_MSG_announce, .key = view("\x09 a point of the curve as any oth", 32)}},
        {"it wants a link to itself",
         UP,
         {.type = BCRI_MSG_want,
          .present = BCRI_HAS(host) | BCRI_HAS(random),
          .host = 1,
          .random = view(zeros, 32)}},
        {"its random bytes are too few",
         UP,
         {.type = BCRI_MSG_want, .present = BCRI_HAS(host) | BCRI_HAS(random), .random = view(zeros, 31)}},
        {"it agrees to a link that nobody wanted",
         UP,
         {.type = BCRI_MSG_agreed, .present = BCRI_HAS(host) | BCRI_HAS(random), .random = view(zeros, 32)}},
        {"it says what no daemon says to its parent",
         UP,
         {.type = BCRI_MSG_lost, .present = BCRI_HAS(host), .host = 2}},
    };
    setenv("BCR_ONFAIL", "isolate", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bcri_control message = cases[i].message;
        if (message.type == BCRI_MSG_announce)
            message.present = BCRI_HAS(key) | BCRI_HAS(addresses) | BCRI_HAS(flags);
        start_root((const char *const[]){run_enl(), "--hosts", "machines", run_cce(), "at", "n1", "enlist",
                                         run_cce(), "1", "wait", NULL});
        if (cases[i].when == UP)
            come_up(1, &one, 0);
        else
            open_far(1);
        tree_say(&far[1], &message);
        tree_hear_end(&far[1]);
        run_wait_for_text("bcr.", cases[i].why);
        CHECK_INT(unlink(run_file("bcr.", ".log")), 0);
        end_root();
        run_check_error(&run, cases[i].why);
    }
}
