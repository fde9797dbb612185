/* SPDX-License-Identifier: MIT */
/* Control messages through real sockets, with descriptors and credentials. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bcri/channel.h"
#include "check.h"

static const struct bcri_control hello = {
    .type = BCRI_MSG_hello,
    .present = BCRI_HAS(id) | BCRI_HAS(layout) | BCRI_HAS(archtype) | BCRI_HAS(flags) | BCRI_HAS(ccename),
    .id = 1,
    .ccename = {"ring", 4},
};

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static int count_open(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += is_open(fd);
    return count;
}

TEST(a_message_brings_its_descriptor_and_its_sender)
{
    static struct bcri_incoming in;
    int pair[2], pipe_ends[2];
    CHECK_INT(bcri_channel_pair(pair), 0);
    CHECK_INT(pipe(pipe_ends), 0);
    CHECK_INT(bcri_channel_send(pair[1], &hello, &pipe_ends[1], 1, true), 0);
    close(pipe_ends[1]);
    CHECK_INT(bcri_channel_recv(pair[0], &in, false), 1);
    CHECK_STR(in.wrong, NULL);
    CHECK_INT(in.pid, getpid());
    CHECK_UINT(in.uid, getuid());
    int fd = bcri_incoming_take(&in, 0);
    CHECK(fd >= 0);
    CHECK_INT(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    CHECK_INT(write(fd, "x", 1), 1);
    char byte;
    CHECK_INT(read(pipe_ends[0], &byte, 1), 1);
    CHECK_INT(byte, 'x');
}

TEST(no_descriptor_of_a_channel_takes_the_place_of_a_standard_file)
{
    static struct bcri_incoming in;
    int aside[3], pair[2], memory[2], lowest = 99;
    for (int i = 0; i < 3; i++)
        aside[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
    CHECK_INT(pipe(memory), 0);
    for (int i = 0; i < 3; i++)
        close(i);
    const int made = bcri_channel_pair(pair);
    const int sent = bcri_channel_send(pair[1], &hello, memory, 1, true);
    const int came = bcri_channel_recv(pair[0], &in, false);
    for (int i = 2; i >= 0; i--)
        lowest = is_open(i) ? i : lowest;
    for (int i = 0; i < 3; i++)
        dup2(aside[i], i);
    CHECK_INT(made, 0);
    CHECK_INT(sent, 0);
    CHECK_INT(came, 1);
    CHECK_STR(in.wrong, NULL);
    CHECK_INT(lowest, 99);
    CHECK(is_open(in.fds[0]) && in.fds[0] > 2);
    CHECK_INT(fcntl(in.fds[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(credentials_name_the_process_that_sent_not_the_one_that_made_the_socket)
{
    static struct bcri_incoming in;
    int pair[2];
    CHECK_INT(bcri_channel_pair(pair), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(bcri_channel_send(pair[1], &hello, NULL, 0, true) == 0 ? 0 : 1);
    CHECK_INT(bcri_channel_recv(pair[0], &in, true), 1);
    CHECK_INT(in.pid, child);
    test_join(child, 0);
}

TEST(descriptors_lost_for_want_of_room_are_told_from_too_many)
{
    static struct bcri_incoming in;
    struct rlimit files;
    int pair[2];
    CHECK_INT(bcri_channel_pair(pair), 0);
    CHECK_INT(bcri_channel_send(pair[1], &hello, &pair[1], 1, true), 0);
    getrlimit(RLIMIT_NOFILE, &files);
    struct rlimit none = {0, files.rlim_max}; /* what is open stays open */
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
    int came = bcri_channel_recv(pair[0], &in, false);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &files), 0); /* sanitizers open files at the end */
    CHECK_INT(came, 1);
    CHECK(in.wrong != NULL && strstr(in.wrong, "no descriptors left") != NULL);
}

TEST(more_descriptors_than_a_message_may_bring_are_closed)
{
    static struct bcri_incoming in;
    int pair[2], fds[2];
    CHECK_INT(bcri_channel_pair(pair), 0);
    CHECK_INT(pipe(fds), 0);
    int before = count_open();
    CHECK_INT(bcri_channel_send(pair[1], &hello, fds, 2, true), 0);
    CHECK_INT(bcri_channel_recv(pair[0], &in, false), 1);
    CHECK_STR(in.wrong, "more descriptors than that message may bring");
    CHECK_INT(count_open(), before);
}

TEST(a_record_longer_than_a_message_is_malformed)
{
    static struct bcri_incoming in;
    static char bytes[BCRI_CONTROL_BYTES_MAX + 1];
    int pair[2];
    CHECK_INT(bcri_channel_pair(pair), 0);
    CHECK_INT(send(pair[1], bytes, sizeof bytes, 0), (ssize_t)sizeof bytes);
    CHECK_INT(bcri_channel_recv(pair[0], &in, false), 1);
    CHECK_STR(in.wrong, "longer than a message may be");
}

TEST(nothing_there_and_the_end_are_told_apart)
{
    static struct bcri_incoming in;
    int pair[2];
    CHECK_INT(bcri_channel_pair(pair), 0);
    CHECK_INT(bcri_channel_recv(pair[0], &in, false), -EAGAIN);
    close(pair[1]);
    CHECK_INT(bcri_channel_recv(pair[0], &in, false), 0);
    CHECK_INT(bcri_channel_send(pair[0], &hello, NULL, 0, true), -EPIPE);
}

TEST(what_was_sent_before_the_end_comes_though_the_sender_had_not_read_all)
{
    static struct bcri_incoming in;
    int pair[2];
    CHECK_INT(bcri_channel_pair(pair), 0);
    CHECK_INT(bcri_channel_send(pair[0], &hello, NULL, 0, true), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcri_channel_send(pair[1], &hello, NULL, 0, true), 0);
    close(pair[1]);
    for (int i = 0; i < 2; i++)
        CHECK_INT(bcri_channel_recv(pair[0], &in, false), 1);
    CHECK_INT(bcri_channel_recv(pair[0], &in, false), 0);
}

TEST(a_full_socket_is_said_and_not_waited_for)
{
    int pair[2], error = 0;
    CHECK_INT(bcri_channel_pair(pair), 0);
    for (int i = 0; i < 100000 && error == 0; i++)
        error = bcri_channel_send(pair[1], &hello, NULL, 0, false);
    CHECK_INT(error, -EAGAIN);
}

TEST(a_program_that_does_not_run_cannot_be_reached)
{
    CHECK_INT(bcri_channel_connect("no.such.program.1", 1000), -ECONNREFUSED);
    char name[200];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK_INT(bcri_channel_connect(name, 1000), -ECONNREFUSED);
}

/* Abstract addresses have no owner: another user may have bound the one of a program. */
TEST(an_address_that_another_user_has_taken_is_not_connected_to)
{
    int ready[2];
    char byte, program[64];
    if (geteuid() != 0)
        SKIP("only root can be another user too");
    CHECK_INT(pipe(ready), 0);
    snprintf(program, sizeof program, "taken.%d", (int)getpid());
    const pid_t stranger = fork();
    CHECK(stranger >= 0);
    if (stranger == 0) {
        struct sockaddr_un address;
        const socklen_t length = bcri_channel_address(&address, 65533, program);
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if (setgid(65534) != 0 || setuid(65534) != 0 ||
            bind(fd, (const struct sockaddr *)&address, length) != 0 || listen(fd, 1) != 0)
            _exit(1);
        CHECK_INT(write(ready[1], "x", 1), 1);
        for (;;)
            pause();
    }
    CHECK_INT(read(ready[0], &byte, 1), 1);
    CHECK_INT(setuid(65533), 0);
    CHECK_INT(bcri_channel_connect(program, 1000), -EPERM);
}
