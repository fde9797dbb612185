/* SPDX-License-Identifier: MIT */
/* A root's daemon introduces hosts to each other and to itself: the test is its children, and speaks through
 * the pipes of the tree; over UDP it is a host, too. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/archtype.h"
#include "bcri/log.h"
#include "check.h"
#include "key_search.h"
#include "run.h"
#include "tree_end.h"
#include "tree_host.h"

static struct run run;

static struct tree_end far[3]; /* n1 and n2 */
static const char *command = "./ssh-far";
static pid_t beaters[3];     /* of n1 and n2; 0: none */
static uint8_t root_key[32]; /* the program key, as the root has made it */

/* A new one for each run: a script of the run before may still be about to find the end of its own. */
static void make_fifo(int n, const char *suffix)
{
    char name[32];
    snprintf(name, sizeof name, "n%d.%s", n, suffix);
    CHECK(unlink(name) == 0 || errno == ENOENT);
    CHECK_INT(mkfifo(name, 0600), 0);
}

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
    run_write_file(command + 2, script, sizeof script - 1, 0700);
    setenv("BCR_RSHPATH", command, 1);
    for (int i = 1; i <= 2; i++) {
        make_fifo(i, "up");
        make_fifo(i, "down");
    }
    memset(far, 0, sizeof far);
    run_start_words(&run, words);
}

static bool two_is_elsewhere; /* n2 is another machine than the root's */

/* That of a user of its own for each, since one machine and user are one host. */
static void name_machine_id(int n, char *out, size_t size)
{
    char boot[64], net[64] = "";
    run_read_file("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    boot[strcspn(boot, "\n")] = '\0';
    CHECK(readlink("/proc/self/ns/net", net, sizeof net - 1) > 0);
    snprintf(out, size, "%s %s %d any", boot, n == 2 && two_is_elsewhere ? "net:[1]" : net, n);
}

/* Host `n` presents itself. */
static void open_pipes(int n)
{
    struct tree_end *end = &far[n];
    char name[32], machine_id[200];
    snprintf(name, sizeof name, "n%d.up", n);
    end->to = open(name, O_WRONLY | O_CLOEXEC);
    snprintf(name, sizeof name, "n%d.down", n);
    end->from = open(name, O_RDONLY | O_CLOEXEC);
    CHECK(end->to >= 0 && end->from >= 0);
    name_machine_id(n, machine_id, sizeof machine_id);
    const struct bcri_control present = {.type = BCRI_MSG_present,
                                         .present = BCRI_HAS(machine) | BCRI_HAS(text) | BCRI_HAS(object) |
                                                    BCRI_HAS(archtype),
                                         .machine = bcri_view_of("n"),
                                         .text = bcri_view_of(machine_id),
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

static struct bcri_control announcement(const struct tree_own *own, uint32_t flags)
{
    return (struct bcri_control){.type = BCRI_MSG_announce,
                                 .present = BCRI_HAS(key) | BCRI_HAS(addresses) | BCRI_HAS(flags),
                                 .key = tree_view(own->public, 32),
                                 .addresses = tree_view(own->addresses, own->addresses_length),
                                 .flags = flags};
}

static void say_reply(int n, uint32_t id, uint32_t status)
{
    const struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = id, .status = status};
    tree_say(&far[n], &reply);
}

static void announce(int n, const struct tree_own *own, uint32_t flags)
{
    const struct bcri_control message = announcement(own, flags);
    tree_say(&far[n], &message);
}

/* Host `n` is up, and starts nothing: what was to be enlisted there fails. */
static void reply_and_refuse(int n)
{
    say_reply(n, 1, 0);
    say_reply(n, tree_hear(&far[n], BCRI_MSG_enlist)->id, bcrE_NOPROG);
}

static void announce_and_refuse(int n, const struct tree_own *own, uint32_t flags)
{
    announce(n, own, flags);
    reply_and_refuse(n);
}

static void come_up(int n, struct tree_own *own, uint32_t flags)
{
    tree_become(own, (uint32_t)n);
    open_far(n);
    announce_and_refuse(n, own, flags);
}

static void say_random(int n, enum bcri_control_type type, uint32_t host, const uint8_t *random)
{
    const struct bcri_control message = {.type = type,
                                         .present = BCRI_HAS(host) | BCRI_HAS(random),
                                         .host = host,
                                         .random = tree_view(random, 32)};
    tree_say(&far[n], &message);
}

/* Wants a host that never was. The answer comes behind all that was caused by what was said before. */
static void nothing_more_came(int n)
{
    say_random(n, BCRI_MSG_want, 77, far[n].frames.bytes);
    const struct bcri_control *lost = tree_hear(&far[n], BCRI_MSG_lost);
    CHECK_UINT(lost->host, 77);
    CHECK_UINT(lost->flags, BCRI_LOST_UNKNOWN);
}

/* `message` presents `own` to host `n`. */
static void presents(const struct bcri_control *message, const struct tree_own *own, uint32_t flags)
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
    for (int n = 1; n <= 2; n++) {
        if (beaters[n] != 0)
            CHECK_INT(kill(beaters[n], SIGKILL), 0);
        beaters[n] = 0;
        if (far[n].to != 0) {
            close(far[n].to);
            close(far[n].from);
        }
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

/* A root that two hosts have come up for. */
static void start_both(struct tree_own *one, uint32_t flags_of_one, struct tree_own *two,
                       uint32_t flags_of_two)
{
    setenv("BCR_ONFAIL", "isolate", 1);
    start_root(BOTH);
    come_up(1, one, flags_of_one);
    come_up(2, two, flags_of_two);
}

/* The root has taken all that host `n` has said. */
static void wait_until_heard(int n)
{
    const struct bcri_control report = {.type = BCRI_MSG_report,
                                        .present = BCRI_HAS(kind) | BCRI_HAS(bytes),
                                        .kind = BCRI_LOG_WARN,
                                        .bytes = bcri_view_of("so far\n")};
    tree_say(&far[n], &report);
    run_wait_for_text("bcr.", "so far");
}

static void want_is_too_early(const struct tree_own *one)
{
    say_random(1, BCRI_MSG_want, 2, one->random);
    const struct bcri_control *lost = tree_hear(&far[1], BCRI_MSG_lost);
    CHECK_UINT(lost->host, 2);
    CHECK_UINT(lost->flags, BCRI_LOST_UNKNOWN);
}

/* Somebody meant another host 2, perhaps one of an earlier program. What the root would tell the right one before it is
 * up could be lost with the way to it. */
TEST(a_host_that_is_wanted_before_it_is_up_can_be_wanted_again)
{
    struct tree_own one, two;
    setenv("BCR_ONFAIL", "isolate", 1);
    start_root(BOTH);
    come_up(1, &one, 0);
    tree_become(&two, 2);
    open_far(2);
    want_is_too_early(&one);
    announce(2, &two, 0);
    wait_until_heard(2);
    want_is_too_early(&one);
    reply_and_refuse(2);
    say_random(1, BCRI_MSG_want, 2, one.random);
    presents(tree_hear(&far[2], BCRI_MSG_introduce), &one, 0);
    end_root();
}

TEST(the_root_introduces_two_hosts_once_and_the_other_first)
{
    struct tree_own one, two;
    start_both(&one, 1, &two, 0);
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

/* Elsewhere they would be another host. */
TEST(addresses_of_the_loopback_are_told_on_the_same_machine_alone)
{
    struct tree_own one, two;
    two_is_elsewhere = true;
    start_both(&one, 0, &two, 0);
    say_random(1, BCRI_MSG_want, 2, one.random);
    one.addresses_length = two.addresses_length = 0;
    const struct bcri_control *told = tree_hear(&far[2], BCRI_MSG_introduce);
    presents(told, &one, 0);
    CHECK_UINT(told->machine.length, 2);
    CHECK_MEM(told->machine.bytes, "n1", 2);
    say_random(2, BCRI_MSG_agreed, 1, two.random);
    presents(tree_hear(&far[1], BCRI_MSG_introduced), &two, 0);
    end_root();
    two_is_elsewhere = false;
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
    struct tree_own one, two;
    start_both(&one, 1, &two, 1);
    say_random(1, BCRI_MSG_want, 2, one.random);
    presents(tree_hear(&far[2], BCRI_MSG_introduce), &one, 1);
    say_random(2, BCRI_MSG_agreed, 1, two.random);
    presents(tree_hear(&far[1], BCRI_MSG_introduced), &two, 1);
    end_root();
}

TEST(the_root_is_introduced_itself_and_no_core_file_of_it_has_a_key)
{
    struct tree_own one, two;
    struct tree_other root = {.number = 0};
    start_both(&one, tree_own_flags(), &two, tree_own_flags());
    say_random(1, BCRI_MSG_want, 0, one.random);
    const struct bcri_control *message = tree_hear(&far[1], BCRI_MSG_introduced);
    CHECK_UINT(message->host, 0);
    tree_know(&root, message);
    tree_know_random(&root, message);
    const struct tree_derived derived = tree_derive(&one, &root, root_key, tree_cipher_with(&root));
    struct bcri_link *link = tree_link_to(&one, &root, &derived);
    tree_is_answered(&one, &root, link);
    tree_is_answered(&one, &root, link);
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
    struct tree_own one, two;
    start_both(&one, 0, &two, 0);
    say_random(1, BCRI_MSG_want, 2, one.random);
    tree_hear(&far[2], BCRI_MSG_introduce);
    close(far[2].to);
    close(far[2].from);
    far[2].to = 0;
    CHECK_UINT(tree_hear(&far[1], BCRI_MSG_lost)->host, 2); /* which answers the want */
    say_random(1, BCRI_MSG_want, 2, one.random);
    const struct bcri_control *lost = tree_hear(&far[1], BCRI_MSG_lost);
    CHECK_UINT(lost->host, 2);
    CHECK_UINT(lost->flags, 0);
    say_random(1, BCRI_MSG_agreed, 2, one.random); /* it may have been late */
    nothing_more_came(1);
    end_root();
}

/* Host `n` beats until the root is ended. */
static void keep_beating(int n)
{
    const struct bcri_control beat = {.type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = 1};
    beaters[n] = fork();
    CHECK(beaters[n] >= 0);
    while (beaters[n] == 0) {
        tree_say(&far[n], &beat);
        poll(NULL, 0, 100);
    }
}

/* Host 2 is gone, by a signal to the command that reached it or by itself; host 1 learns that its lease is
 * over, and no earlier. */
static void lost_by_lease(int signal)
{
    enum { LEASE_MS = 1200 };
    struct tree_own one, two;
    char text[32] = "";
    setenv("BCR_ONFAIL", "isolate", 1);
    setenv("BCR_HOSTTIMEOUT", "1091", 1); /* and a tenth: LEASE_MS */
    start_root(BOTH);
    come_up(1, &one, 0);
    keep_beating(1);
    const uint64_t before = tree_now_ns();
    come_up(2, &two, 0);
    run_read_file("n2.pid", text, sizeof text);
    if (signal != 0)
        CHECK_INT(kill((pid_t)strtol(text, NULL, 10), signal), 0);
    close(far[2].to);
    close(far[2].from);
    far[2].to = 0;
    run_wait_for_text("bcr.", "host n2 is lost");
    say_random(1, BCRI_MSG_want, 2, one.random); /* answered when that is lost */
    CHECK_UINT(tree_hear(&far[1], BCRI_MSG_lost)->host, 2);
    CHECK(tree_now_ns() - before >= (uint64_t)LEASE_MS * 1000000u);
    nothing_more_came(1);
    end_root();
}

TEST(a_host_that_may_still_work_is_lost_when_its_lease_is_over)
{
    lost_by_lease(SIGKILL); /* as if ssh alone had ended */
}

/* Which may be that of a connection that was reset. */
TEST(what_rsh_ends_with_says_nothing_of_the_daemon_there)
{
    command = "./rsh-far";
    lost_by_lease(0);
    command = "./ssh-far";
}

/* As a mad one does, or one whose CCE the kernel does not let go. */
TEST(hosts_that_go_on_talking_and_do_not_end_are_given_up_after_one_signal)
{
    struct tree_own one, two;
    setenv("BCR_HOSTTIMEOUT", "1000", 1);
    setenv("BCR_ONFAIL", "isolate", 1);
    start_root(BOTH);
    come_up(1, &one, 0);
    keep_beating(1); /* or it is lost if the other one takes a second */
    come_up(2, &two, 0);
    keep_beating(2);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_wait_for_text("bcr.", "hosts n1 and n2 have not ended 3500 ms after being killed, and are given up");
    end_root();
    CHECK_INT(run.status, 128 + SIGTERM);
    unsetenv("BCR_HOSTTIMEOUT");
}

TEST(a_child_that_breaks_the_protocol_of_introductions_is_given_up)
{
    static const uint8_t zeros[32];
    enum { UP, EARLY };
    struct tree_own one;
    const struct {
        const char *why;
        int when;
        struct bcri_control message;
    } cases[] = {
        {"it speaks before it was started",
         EARLY,
         {.type = BCRI_MSG_want,
          .present = BCRI_HAS(host) | BCRI_HAS(random),
          .random = tree_view(zeros, 32)}},
        {"it does not say where it can be reached",
         EARLY,
         {.type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = 1}},
        {"its public key is none", EARLY, {.type = BCRI_MSG_announce, .key = tree_view(zeros, 32)}},
        {"its public key is none", EARLY, {.type = BCRI_MSG_announce, .key = tree_view("short", 5)}},
        {"its addresses are none",
         EARLY,
         {.type = BCRI_MSG_announce,
          .key = tree_view("\x09 a point of the curve as any oth", 32),
          .addresses = tree_view("\x04\x10\x00\xe0\x00\x00\x01", 7)}},
        {"it announces itself twice",
         UP,
         {.type = BCRI_MSG_announce, .key = tree_view("\x09 a point of the curve as any oth", 32)}},
        {"it wants a link to itself",
         UP,
         {.type = BCRI_MSG_want,
          .present = BCRI_HAS(host) | BCRI_HAS(random),
          .host = 1,
          .random = tree_view(zeros, 32)}},
        {"its random bytes are too few",
         UP,
         {.type = BCRI_MSG_want,
          .present = BCRI_HAS(host) | BCRI_HAS(random),
          .random = tree_view(zeros, 31)}},
        {"it agrees to a link that nobody wanted",
         UP,
         {.type = BCRI_MSG_agreed,
          .present = BCRI_HAS(host) | BCRI_HAS(random),
          .random = tree_view(zeros, 32)}},
        {"it says what no daemon says to its parent",
         UP,
         {.type = BCRI_MSG_lost, .present = BCRI_HAS(host), .host = 2}},
        {"it speaks for a host that there is not",
         UP,
         {.type = BCRI_MSG_beat, .present = BCRI_HAS(id) | BCRI_HAS(from), .from = 9}},
        {"it tells of a host that it has not begun",
         UP,
         {.type = BCRI_MSG_said, .present = BCRI_HAS(host) | BCRI_HAS(bytes), .host = 1}},
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
