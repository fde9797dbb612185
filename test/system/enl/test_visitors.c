/* SPDX-License-Identifier: MIT */
/* The abstract address under attack: by other users, by silence, by numbers, by nonsense. Each time
 * the program goes on, answers the next command, and holds on to nothing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bcri/archtype.h"
#include "bcri/channel.h"
#include "bcri/signature.h"
#include "check.h"
#include "run.h"

static struct run run, command;
static char program[256];

/* A program with one CCE that waits, under this many open files; 0: as many as there may be. */
static void start(unsigned files)
{
    char line[1024];
    int ordinal;
    pid_t root;
    run_apart(); /* some tests here have addresses where nobody answers others, either */
    run_folder();
    snprintf(line, sizeof line, "ulimit -n %u; exec %s %s tell pause", files, run_enl(), run_cce());
    if (files != 0)
        run_start(&run, "/bin/sh", "-c", line);
    else
        run_start(&run, run_enl(), run_cce(), "tell", "pause");
    run_told_pid(&ordinal, &root);
    snprintf(program, sizeof program, "%s", run_program());
}

/* It still answers, and ends when it is told to. */
static void answers_and_ends(void)
{
    run_start(&command, run_enl(), "ps");
    run_end(&command); /* 1 if another test's program is seen, and stopped just now */
    CHECK(strstr(command.text, program) != NULL);
    run_start(&command, run_enl(), "kill", program);
    run_end(&command);
    CHECK_INT(command.status, 0);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGKILL);
}

static int visit(void)
{
    int fd = bcri_channel_connect(program, 10000);
    if (fd < 0)
        FAIL("no connection to %s: %s", program, strerror(-fd));
    return fd;
}

/* How many descriptors enl has, once it has nothing to do. */
static int descriptors(void)
{
    char path[64], text[512];
    int count = 0;
    do {
        sched_yield();
        snprintf(path, sizeof path, "/proc/%d/stat", (int)run.pid);
        run_read_file(path, text, sizeof text);
    } while (strrchr(text, ')')[2] != 'S');
    snprintf(path, sizeof path, "/proc/%d/fd", (int)run.pid);
    DIR *entries = opendir(path);
    CHECK(entries != NULL);
    while (readdir(entries) != NULL)
        count++;
    closedir(entries);
    return count;
}

/* Until the daemon has ended the connection; what it says before is read. */
static void wait_until_ended(int fd)
{
    static struct bcri_incoming in;
    while (bcri_channel_recv(fd, &in, true) > 0)
        bcri_incoming_close(&in);
    close(fd);
}

/* 9 MB of log in 18 s they were. */
TEST(nonsense_of_the_same_user_does_not_fill_the_log)
{
    static char text[1 << 16];
    start(0);
    for (int i = 0; i < 1000; i++) {
        const int fd = visit();
        CHECK_INT(send(fd, "nonsense", 8, 0), 8);
        wait_until_ended(fd);
    }
    run_read_file(run_file("bcr.", ".log"), text, sizeof text);
    CHECK(run_count(text, " not understood: ") >= 1);
    CHECK(run_count(text, " not understood: ") < 1000);
    CHECK(strstr(text, "(further such lines are left out for up to a minute)") != NULL);
    answers_and_ends();
}

/* Nor do messages that make sense. */
TEST(those_who_wait_and_those_who_audit_do_not_fill_the_log)
{
    static char text[1 << 16];
    static struct bcri_incoming in;
    start(0);
    const struct bcri_control audit = {.type = BCRI_MSG_audit, .present = BCRI_HAS(id), .id = 1};
    const struct bcri_control hello = {.type = BCRI_MSG_hello,
                                       .present = BCRI_HAS(id) | BCRI_HAS(layout) | BCRI_HAS(archtype) |
                                                  BCRI_HAS(flags) | BCRI_HAS(ccename),
                                       .id = 1,
                                       .layout = bcri_layout_signature(),
                                       .archtype = (uint32_t)bcri_archtype_native(),
                                       .ccename = bcri_view_of("odd")};
    for (int i = 0; i < 100; i++) {
        int fd = visit(), pair[2];
        CHECK_INT(bcri_channel_send(fd, &audit, NULL, 0, true), 0);
        CHECK_INT(bcri_channel_recv(fd, &in, true), 1);
        CHECK_INT(bcri_channel_pair(pair), 0);
        CHECK_INT(bcri_channel_send(fd, &hello, &pair[1], 1, true), 0);
        close(pair[1]);
        close(fd);
        close(pair[0]);
    }
    int fd = visit();
    CHECK_INT(bcri_channel_send(fd, &audit, NULL, 0, true),
              0); /* when this is answered all others were read */
    CHECK_INT(bcri_channel_recv(fd, &in, true), 1);
    close(fd);
    run_read_file(run_file("bcr.", ".log"), text, sizeof text);
    CHECK(run_count(text, " waits to be enlisted as odd") >= 1 &&
          run_count(text, " waits to be enlisted as odd") < 100);
    CHECK(run_count(text, " audit: ") >= 1 && run_count(text, " audit: ") < 100);
    CHECK_INT(run_count(text, "(further such lines are left out for up to a minute)"), 2);
    answers_and_ends();
}

TEST(another_users_connection_is_refused_and_logged)
{
    if (geteuid() != 0)
        SKIP("only root can be another user too");
    start(0);
    for (int i = 0; i < 25; i++) {
        pid_t stranger = fork();
        CHECK(stranger >= 0);
        if (stranger == 0) {
            char byte;
            struct sockaddr_un address;
            socklen_t length = bcri_channel_address(&address, 0, program);
            if (setgid(65534) != 0 || setuid(65534) != 0)
                _exit(99);
            int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
            if (connect(fd, (struct sockaddr *)&address, length) != 0)
                _exit(98);
            const struct bcri_control kill_it = {.type = BCRI_MSG_kill, .present = BCRI_HAS(id), .id = 1};
            bcri_channel_send(fd, &kill_it, NULL, 0, true);
            _exit(recv(fd, &byte, 1, 0) <= 0 ? 0 : 97);
        }
        test_join(stranger, 0);
    }
    static char text[1 << 16];
    run_read_file(run_file("bcr.", ".log"), text, sizeof text);
    CHECK(strstr(text, "a connection of user 65534 ") != NULL);
    CHECK(run_count(text, "a connection of user 65534 ") < 25); /* nor each of a million */
    CHECK(strstr(text, "(further such lines are left out for up to a minute)") != NULL);
    answers_and_ends();
}

TEST(another_user_neither_sees_nor_joins_the_program)
{
    char command_line[1024];
    if (geteuid() != 0)
        SKIP("only root can be another user too");
    start(0);
    /* The build may lie where another user cannot look: descriptors of it can be used by all. */
    int enl = open(run_enl(), O_RDONLY);
    CHECK(enl >= 0);
    pid_t stranger = fork();
    CHECK(stranger >= 0);
    if (stranger == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(99);
        snprintf(command_line, sizeof command_line, "/proc/self/fd/%d", enl);
        execl(command_line, "enl", "--join", program, "/bin/true", (char *)NULL);
        _exit(errno == EACCES ? 97 : 98);
    }
    int status = -1;
    CHECK_INT(waitpid(stranger, &status, 0), stranger);
    answers_and_ends();
    /* That of a foreign machine, whose libraries lie beside the build. */
    if (WIFEXITED(status) && WEXITSTATUS(status) == 97)
        SKIP("other users cannot reach the loader of this build's programs");
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 1);
}

TEST(visitors_that_say_nothing_make_room_for_others)
{
    int fds[200], most = 0;
    start(0);
    int before = descriptors();
    for (int i = 0; i < 200; i++) {
        fds[i] = visit();
        int now = descriptors();
        most = now > most ? now : most;
    }
    CHECK(most - before <= 64);
    wait_until_ended(fds[0]);
    for (int i = 1; i < 200; i++)
        close(fds[i]);
    answers_and_ends();
}

TEST(a_visitor_that_has_said_something_is_not_shown_out)
{
    static struct bcri_incoming in;
    int fds[100];
    start(0);
    const struct bcri_control ps = {
        .type = BCRI_MSG_ps, .present = BCRI_HAS(id) | BCRI_HAS(index), .id = 1, .index = 1};
    int guest = visit();
    CHECK_INT(bcri_channel_send(guest, &ps, NULL, 0, true), 0);
    CHECK_INT(bcri_channel_recv(guest, &in, true), 1);
    for (int i = 0; i < 100; i++)
        fds[i] = visit();
    wait_until_ended(fds[0]);
    CHECK_INT(bcri_channel_send(guest, &ps, NULL, 0, true), 0);
    CHECK_INT(bcri_channel_recv(guest, &in, true), 1);
    CHECK_INT(in.message.type, BCRI_MSG_row);
    for (int i = 1; i < 100; i++)
        close(fds[i]);
    close(guest);
    answers_and_ends();
}

/* None of them is silent, so none makes room: who comes next is turned away, and later let in. */
TEST(a_visitor_beyond_the_limit_is_turned_away_and_leaves_no_descriptor)
{
    static struct bcri_incoming in;
    enum { GUESTS = 64, BEYOND = 5 };
    int fds[GUESTS];
    start(0);
    const int before = descriptors();
    const struct bcri_control ps = {
        .type = BCRI_MSG_ps, .present = BCRI_HAS(id) | BCRI_HAS(index), .id = 1, .index = 1};
    for (int i = 0; i < GUESTS; i++) {
        fds[i] = visit();
        CHECK_INT(bcri_channel_send(fds[i], &ps, NULL, 0, true), 0);
        CHECK_INT(bcri_channel_recv(fds[i], &in, true), 1);
        bcri_incoming_close(&in);
    }
    CHECK_INT(descriptors(), before + GUESTS);
    for (int i = 0; i < BEYOND; i++)
        wait_until_ended(visit());
    CHECK_INT(descriptors(), before + GUESTS);
    for (int i = 0; i < GUESTS; i++)
        close(fds[i]);
    while (descriptors() != before)
        sched_yield();
    answers_and_ends();
}

TEST(visitors_for_whom_there_is_no_descriptor_are_turned_away)
{
    int fds[60];
    start(40);
    const struct bcri_control ps = {
        .type = BCRI_MSG_ps, .present = BCRI_HAS(id) | BCRI_HAS(index), .id = 1, .index = 1};
    for (int i = 0; i < 60; i++) {
        fds[i] = visit();
        bcri_channel_send(fds[i], &ps, NULL, 0, true);
    }
    run_wait_for_text("bcr.", "a client was turned away: enl has no descriptors left");
    descriptors(); /* comes back only when enl sleeps: it does not look at the same connection for ever */
    for (int i = 0; i < 60; i++)
        close(fds[i]);
    answers_and_ends();
}

TEST(nonsense_ends_its_connection_and_leaves_no_descriptor)
{
    static char bytes[3 * BCRI_CONTROL_BYTES_MAX];
    uint64_t state = test_seed();
    start(0);
    int before = descriptors();
    for (uint64_t round = 0; round < test_scale(300, 5000); round++) {
        int fd = visit(), fds[16];
        struct iovec part = {bytes, 1 + (size_t)test_rand_below(&state, sizeof bytes - 1)};
        for (size_t i = 0; i < part.iov_len; i++)
            bytes[i] = (char)test_rand(&state);
        if (round % 2 == 0)
            bytes[0] = (char)(0x80 | test_rand_below(&state, 16)); /* a map */
        union {
            struct cmsghdr header;
            char room[CMSG_SPACE(sizeof fds)];
        } side = {0};
        struct msghdr record = {.msg_iov = &part, .msg_iovlen = 1};
        size_t count = (size_t)test_rand_below(&state, 17);
        if (count != 0) {
            for (size_t i = 0; i < count; i++)
                fds[i] = 0;
            record.msg_control = &side;
            record.msg_controllen = CMSG_SPACE(count * sizeof(int));
            side.header.cmsg_level = SOL_SOCKET;
            side.header.cmsg_type = SCM_RIGHTS;
            side.header.cmsg_len = CMSG_LEN(count * sizeof(int));
            memcpy(CMSG_DATA(&side.header), fds, count * sizeof(int));
        }
        CHECK(sendmsg(fd, &record, MSG_NOSIGNAL) > 0);
        wait_until_ended(fd);
    }
    CHECK_INT(descriptors(), before);
    answers_and_ends();
}

TEST(a_hello_that_brings_no_socket_ends_its_connection)
{
    int pair[2], stream[2];
    start(0);
    int before = descriptors();
    CHECK_INT(pipe2(pair, O_CLOEXEC), 0);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
    int file = open(run_file("bcr.", ".log"), O_RDONLY | O_CLOEXEC);
    const int brought[] = {pair[0], pair[1], stream[0], file};
    for (size_t i = 0; i < sizeof brought / sizeof brought[0]; i++) {
        const struct bcri_control hello = {.type = BCRI_MSG_hello,
                                           .present = BCRI_HAS(id) | BCRI_HAS(layout) | BCRI_HAS(archtype) |
                                                      BCRI_HAS(flags) | BCRI_HAS(ccename),
                                           .id = 1,
                                           .ccename = bcri_view_of("odd")};
        int fd = visit();
        CHECK_INT(bcri_channel_send(fd, &hello, &brought[i], 1, true), 0);
        wait_until_ended(fd);
        CHECK_INT(fcntl(brought[i], F_GETFL) & O_NONBLOCK, 0); /* and is as it was */
    }
    CHECK_INT(descriptors(), before);
    answers_and_ends();
}

TEST(a_process_that_waits_and_dies_is_forgotten)
{
    start(0);
    int before = descriptors();
    run_start(&command, run_enl(), "--join", program, run_cce());
    run_wait_for_text("bcr.", "waits to be enlisted");
    CHECK_INT(kill(command.pid, SIGKILL), 0);
    run_end(&command);
    while (descriptors() != before)
        sched_yield();
    answers_and_ends();
}

/* A socket of another program at such an address, with so many connections waiting that one more has
 * to wait too. */
static int fill(const char *name)
{
    struct sockaddr_un address;
    socklen_t length = bcri_channel_address(&address, geteuid(), name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(fd, (struct sockaddr *)&address, length), 0);
    CHECK_INT(listen(fd, 0), 0);
    for (int error = 0; error == 0;) {
        int one = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        error = connect(one, (struct sockaddr *)&address, length);
    }
    CHECK_INT(errno, EAGAIN);
    return fd;
}

/* As one does whose machine has too much to do. */
TEST(a_daemon_that_takes_its_time_is_waited_for)
{
    static struct bcri_incoming in;
    const struct timespec late = {.tv_sec = 1, .tv_nsec = 500000000};
    struct sockaddr_un address;
    char name[64];
    run_apart();
    run_folder();
    snprintf(name, sizeof name, "late.%d", (int)getpid());
    const socklen_t length = bcri_channel_address(&address, geteuid(), name);
    const int listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(listening >= 0);
    CHECK_INT(bind(listening, (struct sockaddr *)&address, length), 0);
    CHECK_INT(listen(listening, 8), 0);
    run_start(&command, run_enl(), "ps");
    const int requester = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    CHECK(requester >= 0);
    while (bcri_channel_recv(requester, &in, true) == 1) {
        const struct bcri_control reply = {.type = BCRI_MSG_reply,
                                           .present = BCRI_HAS(id) | BCRI_HAS(status),
                                           .id = in.message.id,
                                           .status = 0};
        nanosleep(&late, NULL);
        CHECK_INT(bcri_channel_send(requester, &reply, NULL, 0, true), 0);
    }
    run_end(&command);
    CHECK_INT(command.status, 0);
    CHECK(strstr(command.text, "has no CCE now") != NULL);
    close(requester);
    close(listening);
}

TEST(an_address_where_nobody_is_let_in_holds_up_no_command)
{
    char name[64];
    start(0);
    snprintf(name, sizeof name, "full.%d", (int)getpid());
    int fd = fill(name);
    run_start(&command, run_enl(), "ps");
    run_end(&command);
    CHECK_INT(command.status, 1);
    CHECK(strstr(command.text, name) != NULL);
    CHECK(strstr(command.text, "does not answer") != NULL);
    close(fd);
    answers_and_ends();
}

TEST(a_name_that_is_none_of_a_daemons_is_not_shown)
{
    char name[64];
    start(0);
    snprintf(name, sizeof name, "odd\033[2J.%d", (int)getpid());
    int fd = fill(name);
    run_start(&command, run_enl(), "ps");
    run_end(&command);
    CHECK(strstr(command.text, "odd") == NULL);
    close(fd);
    answers_and_ends();
}
