/* SPDX-License-Identifier: MIT */
/* BCR_AWAIT: teams whose members come by themselves, without a launcher. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr/program.h>

#include "check.h"
#include "run.h"

enum { NOBODY = 65534, MEMBERS = 3 };

static struct run member[MEMBERS], other;
static char key[48];

static const char *self(void)
{
    return getenv("SYS_ENTER");
}

static void set_number(const char *name, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    setenv(name, text, 1);
}

/* The variables for a member of a team of that size. */
static void set(int rank, int size)
{
    run_folder();
    if (key[0] == '\0')
        snprintf(key, sizeof key, "test-%ld", (long)getpid());
    setenv("BCR_AWAIT", key, 1);
    set_number("BCR_TEAM", size);
    set_number("BCR_RANK", rank);
}

static void start_member(int rank, int size)
{
    set(rank, size);
    run_start(&member[rank], self(), "init", "environment", "team");
}

static void tells(int rank, int host)
{
    char want[64];
    snprintf(want, sizeof want, "- -\n%d of %d, %d\n", rank, MEMBERS, host);
    run_end(&member[rank]);
    if (member[rank].status != 0 || strcmp(member[rank].text, want) != 0)
        FAIL("member %d: status %d, text %s, it says: %s", rank, member[rank].status, member[rank].text,
             member[rank].error);
}

/* Waits until there is an address of that kind for that member, or there is none. */
static void wait_for_address(const char *kind, int rank, bool is)
{
    static char all[1 << 20];
    char address[128];
    snprintf(address, sizeof address, "@bcr-%s-%u-%s-%d\n", kind, (unsigned)geteuid(), key, rank);
    for (;;) {
        run_read_file("/proc/net/unix", all, sizeof all);
        if ((strstr(all, address) != NULL) == is)
            return;
        sched_yield();
    }
}

TEST(members_come_in_any_order)
{
    static const int orders[][MEMBERS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 12; i++) {
        bool is_root_there = false;
        for (int at = 0; at < MEMBERS; at++) {
            const int rank = orders[i / 2][at];
            start_member(rank, MEMBERS);
            is_root_there |= rank == 0;
            if (i % 2 == 0 && at < MEMBERS - 1 &&
                (rank == 0 || !is_root_there)) /* else that may be gone already */
                wait_for_address(rank == 0 ? "claim" : "await", rank, true);
        }
        for (int rank = 0; rank < MEMBERS; rank++)
            tells(rank, 0);
        CHECK_STR(member[1].error, "");
        wait_for_address("claim", 2, false);
    }
}

TEST(each_program_has_a_key_of_its_own)
{
    char first[48];
    static struct run others[2];
    start_member(0, MEMBERS);
    wait_for_address("claim", 2, true);
    set(0, MEMBERS); /* the same key once more */
    run_start(&other, self(), "init");
    run_end(&other);
    CHECK(other.status != 0);
    run_check_error(&other, "another program has claimed member 0");
    snprintf(first, sizeof first, "%s", key);
    snprintf(key, sizeof key, "%.40s-2", first);
    for (int rank = 0; rank < 2; rank++) {
        set(rank, 2);
        run_start(&others[rank], self(), "init", "team");
    }
    for (int rank = 0; rank < 2; rank++) {
        run_end(&others[rank]);
        CHECK_INT(others[rank].status, 0);
    }
    snprintf(key, sizeof key, "%s", first);
    start_member(2, MEMBERS);
    start_member(1, MEMBERS);
    for (int rank = 0; rank < MEMBERS; rank++)
        tells(rank, 0);
}

TEST(a_rank_belongs_to_one_process)
{
    char text[64];
    start_member(1, MEMBERS);
    wait_for_address("await", 1, true);
    set(1, MEMBERS);
    run_start(&other, self(), "init");
    run_end(&other);
    snprintf(text, sizeof text, "refused %d\n", bcrE_BUSY);
    CHECK_STR(other.text, text);
    run_check_error(&other, "another process waits as member 1");
    start_member(0, MEMBERS);
    start_member(2, MEMBERS);
    for (int rank = 0; rank < MEMBERS; rank++)
        tells(rank, 0);
}

TEST(a_member_that_never_comes_is_named_and_ends_the_program)
{
    setenv("BCR_AWAITTIMEOUT", "300", 1);
    start_member(0, 2);
    run_ends(&member[0], 1, "no process has come for it in 300 ms (awaittimeout)");
    wait_for_address("claim", 0, false);
    wait_for_address("claim", 1, false);
}

TEST(a_member_whose_daemon_never_comes_gets_a_code)
{
    char text[64];
    snprintf(text, sizeof text, "refused %d\n", bcrE_TIMEOUT);
    setenv("BCR_AWAITTIMEOUT", "300", 1);
    set(1, 2);
    run_start(&other, self(), "init");
    run_end(&other);
    CHECK_STR(other.text, text);
    run_check_error(&other, "no enl has asked for member 1");
    wait_for_address("await", 1, false);
}

TEST(one_that_is_killed_while_it_waits_can_be_replaced)
{
    start_member(1, MEMBERS);
    wait_for_address("await", 1, true);
    CHECK_INT(kill(member[1].pid, SIGKILL), 0);
    run_end(&member[1]);
    start_member(0, MEMBERS);
    wait_for_address("claim", 1, true);
    for (int rank = 1; rank < MEMBERS; rank++)
        start_member(rank, MEMBERS);
    for (int rank = 0; rank < MEMBERS; rank++)
        tells(rank, 0);
}

/* Member 1 is claimed when its address is gone; member 2 does not come. */
static void claim_one(void)
{
    start_member(1, MEMBERS);
    wait_for_address("await", 1, true);
    start_member(0, MEMBERS);
    wait_for_address("await", 1, false);
}

TEST(a_second_process_for_a_member_that_has_come_is_refused_at_once)
{
    char text[64];
    snprintf(text, sizeof text, "refused %d\n", bcrE_BUSY);
    setenv("BCR_AWAITTIMEOUT", "1000000", 1);
    claim_one();
    set(1, MEMBERS);
    run_start(&other, self(), "init");
    run_end(&other);
    CHECK_STR(other.text, text);
    run_check_error(&other, "another process waits as member 1 of");
    start_member(2, MEMBERS);
    for (int rank = 0; rank < MEMBERS; rank++)
        tells(rank, 0);
    wait_for_address("taken", 1, false);
}

TEST(a_member_that_expects_another_team_is_refused)
{
    char text[64];
    snprintf(text, sizeof text, "refused %d\n", bcrE_ENLIST);
    start_member(0, 2);
    start_member(1, MEMBERS);
    run_end(&member[1]);
    if (member[1].status != 128 + SIGKILL) /* else the daemon had seen it leave, and ended the program */
        CHECK_STR(member[1].text, text);
    run_check_error(&member[1], "BCR_TEAM=3 here, but the team of member 0 has 2 members");
    run_end(&member[0]);
    CHECK(member[0].status != 0);
}

TEST(one_that_is_killed_when_it_is_claimed_ends_the_program)
{
    claim_one();
    CHECK_INT(kill(member[1].pid, SIGKILL), 0);
    run_end(&member[1]);
    run_end(&member[0]);
    CHECK_INT(member[0].status, 1);
    run_check_error(&member[0], "CCE 1 (");
    run_check_error(&member[0], "that ends the program (onfail abort)");
    wait_for_address("claim", 2, false);
}

TEST(a_daemon_that_is_killed_lets_its_members_go)
{
    char text[64];
    snprintf(text, sizeof text, "refused %d\n", bcrE_ENLIST);
    claim_one();
    CHECK_INT(kill(member[0].pid, SIGKILL), 0); /* which is its daemon */
    run_end(&member[0]);
    run_end(&member[1]);
    CHECK_STR(member[1].text, text);
    run_check_error(&member[1], "enl has not taken this process");
    wait_for_address("claim", 2, false);
}

TEST(a_signal_ends_a_program_that_waits_for_members)
{
    setenv("BCR_KILLAFTER", "1000000", 1); /* none of those that are awaited is waited for */
    claim_one();
    CHECK_INT(kill(member[0].pid, SIGTERM), 0);
    run_end(&member[0]);
    CHECK_INT(member[0].status, 128 + SIGTERM);
    run_end(&member[1]);
    CHECK(member[1].status != 0);
    wait_for_address("claim", 2, false);
}

TEST(what_makes_no_sense_is_refused)
{
    static char long_key[BUFSIZ];
    static const struct {
        const char *key, *team, *rank, *hosts;
    } cases[] = {
        {"", "2", "1", NULL},       {"a b", "2", "1", NULL}, {"a/b", "2", "1", NULL},
        {long_key, "2", "1", NULL}, {"k", "0", "0", NULL},   {"k", "65001", "1", NULL},
        {"k", "2", "2", NULL},      {"k", "2", "-1", NULL},  {"k", "2", "", NULL},
        {"k", NULL, "1", NULL},     {"k", "2", NULL, NULL},  {"k", "2", "0", ""},
        {"k", "2x", "1", NULL},     {"k", "2", "0x1", NULL}, {"k", "99999999999999999999", "1", NULL}};
    char text[64];
    memset(long_key, 'x', 49);
    snprintf(text, sizeof text, "refused %d\n", bcrE_ARG);
    run_folder();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const names[] = {"BCR_AWAIT", "BCR_TEAM", "BCR_RANK", "BCR_HOSTS"};
        const char *const values[] = {cases[i].key, cases[i].team, cases[i].rank, cases[i].hosts};
        for (int at = 0; at < 4; at++)
            if (values[at] != NULL)
                setenv(names[at], values[at], 1);
            else
                unsetenv(names[at]);
        run_start(&other, self(), "init");
        run_end(&other);
        if (strcmp(other.text, text) != 0 || strstr(other.error, "BCR_") == NULL)
            FAIL("case %zu: %s %s", i, other.text, other.error);
    }
}

TEST(hosts_that_are_none_end_the_program_with_a_sentence)
{
    set(0, 2);
    setenv("BCR_HOSTS", "a b", 1);
    run_start(&other, self(), "init");
    run_end(&other);
    CHECK(other.status != 0);
    CHECK(strstr(other.error, "enl: ") != NULL);
    setenv("BCR_HOSTS", "no-such-machine.invalid", 1);
    setenv("BCR_RSHPATH", "false", 1);
    set(0, 2);
    run_start(&other, self(), "init");
    run_end(&other);
    CHECK(other.status != 0);
    run_check_error(&other, "no-such-machine.invalid");
}

TEST(members_of_other_hosts_come_to_the_daemons_there)
{
    static const char hosts[] = "one local slots=1\ntwo local slots=1\n";
    run_folder();
    run_write_file("machines", hosts, sizeof hosts - 1, 0600);
    setenv("BCR_HOSTSFILE", run_file("machines", ""), 1);
    for (int round = 0; round < 2; round++) {
        setenv("BCR_HOSTS", "one,two", 1);
        for (int at = 0; at < MEMBERS; at++) {
            const int rank = round == 0 ? at : MEMBERS - 1 - at;
            start_member(rank, MEMBERS);
        }
        for (int rank = 0; rank < MEMBERS; rank++) {
            run_end(&member[rank]);
            if (member[rank].status != 0)
                FAIL("member %d: status %d: %s", rank, member[rank].status, member[rank].error);
        }
        CHECK(strstr(member[1].text, "1 of 3, 0") == NULL && strstr(member[2].text, "2 of 3, 0") == NULL);
    }
}

/* Each looks at the other's user before it reads or writes a byte. */
TEST(a_process_of_another_user_claims_no_member)
{
    if (geteuid() != 0)
        SKIP("only root can be another user");
    start_member(1, MEMBERS);
    wait_for_address("await", 1, true);
    const pid_t stranger = fork();
    CHECK(stranger >= 0);
    if (stranger == 0) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        char byte;
        const int length =
            snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "bcr-await-0-%s-1", key);
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
        if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0 || connect(fd, (struct sockaddr *)&address, size) != 0)
            _exit(2);
        _exit(read(fd, &byte, 1) == 0 ? 0 : 1); /* its end, and nothing before */
    }
    int status;
    CHECK_INT(waitpid(stranger, &status, 0), stranger);
    CHECK_INT(status, 0);
    start_member(0, MEMBERS);
    start_member(2, MEMBERS);
    for (int rank = 0; rank < MEMBERS; rank++)
        tells(rank, 0);
    run_check_error(&member[1], "a process of another user asked for member 1");
}
