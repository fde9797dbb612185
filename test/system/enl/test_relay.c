/* SPDX-License-Identifier: MIT */
/* Proxied streams: a helper process is started for a client, speaks through his stream, can change nothing,
 * and ends with him. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bcri/channel.h"
#include "bcri/record.h"
#include "check.h"
#include "inspect/look/look.h"
#include "run.h"

static struct run run, command;
static struct bcri_incoming in;
static char program[256];
static pid_t root;

static int start(void)
{
    int ordinal;
    run_start(&run, run_enl(), run_cce(), "tell", "pause");
    run_told_pid(&ordinal, &root);
    snprintf(program, sizeof program, "%s", run_program());
    int fd = bcri_channel_connect(program, 10000);
    CHECK(fd >= 0);
    return fd;
}

/* The program answers as before, and ends when it is told to. */
static void end(void)
{
    run_start(&command, run_enl(), "kill", program);
    run_ends(&command, 0, "");
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGKILL);
}

static const struct bcri_control look = {.type = BCRI_MSG_relay,
                                         .present = BCRI_HAS(id) | BCRI_HAS(kind) | BCRI_HAS(host),
                                         .id = 5,
                                         .kind = BCRI_RELAY_LOOK};

/* Sends a request with one end of a new stream, in which something is said already, and returns the other end. */
static int ask_saying(const char *said, int fd, const struct bcri_control *request, int type)
{
    int pair[2];
    const size_t length = strlen(said);
    CHECK_INT(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair), 0);
    if (length != 0)
        CHECK_INT(write(pair[0], said, length), length);
    CHECK_INT(bcri_channel_send(fd, request, &pair[1], 1, true), 0);
    close(pair[1]);
    return pair[0];
}

static int ask(int fd, const struct bcri_control *request, int type)
{
    return ask_saying("", fd, request, type);
}

static uint32_t reply(int fd)
{
    CHECK_INT(bcri_channel_recv(fd, &in, true), 1);
    CHECK_STR(in.wrong, NULL);
    CHECK_INT(in.message.type, BCRI_MSG_reply);
    CHECK_UINT(in.message.id, 5);
    return in.message.status;
}

TEST(a_look_gives_a_snapshot_of_all_cces_and_the_helpers_status)
{
    const int fd = start();
    static uint8_t bytes[1 << 16];
    size_t length = 0;
    const int stream = ask(fd, &look, SOCK_STREAM);
    CHECK_UINT(reply(fd), 0);
    for (ssize_t got; (got = read(stream, bytes + length, sizeof bytes - length)) > 0;)
        length += (size_t)got;
    struct bcri_cursor cursor = {bytes, length};
    struct look_row row;
    CHECK_INT(look_read(&cursor, &row), 1);
    CHECK_INT(row.kind, LOOK_KIND_HOST);
    CHECK_UINT(row.host.version, LOOK_VERSION);
    CHECK_STR(row.host.program, program);
    unsigned cces = 0;
    bool ended = false;
    while (look_read(&cursor, &row) == 1) {
        if (row.kind == LOOK_KIND_CCE) {
            cces++;
            CHECK_UINT(row.cce.pid, root);
            CHECK_UINT(row.cce.state, BCRI_CCE_ALIVE);
        }
        ended = row.kind == LOOK_KIND_END;
    }
    CHECK_UINT(cces, 1);
    CHECK(ended);
    CHECK_INT(bcri_channel_recv(fd, &in, true), 1);
    CHECK_INT(in.message.type, BCRI_MSG_relay_end);
    CHECK_UINT(in.message.id, 5);
    CHECK_UINT(in.message.status, 0);
    close(stream);
    close(fd);
    end();
}

TEST(a_request_that_cannot_be_met_is_answered_with_a_sentence)
{
    const int fd = start();
    struct bcri_control request = look;
    request.kind = 255;
    close(ask(fd, &request, SOCK_STREAM));
    CHECK(reply(fd) != 0);
    CHECK(in.message.text.length > 0);
    request = look;
    request.host = 9;
    close(ask(fd, &request, SOCK_STREAM));
    CHECK(reply(fd) != 0);
    CHECK(in.message.text.length > 0);
    close(fd);
    end();
}

TEST(a_stream_that_is_none_ends_the_connection)
{
    const int fd = start();
    close(ask(fd, &look, SOCK_SEQPACKET));
    CHECK_INT(bcri_channel_recv(fd, &in, true), 0);
    close(fd);
    end();
}

/* The helper waits in a write for a reader that does not come: only the client's leaving ends it. */
TEST(helpers_are_bounded_and_end_with_their_visitor)
{
    enum { HELPERS = 64 };
    const int fd = start();
    int streams[HELPERS];
    for (int i = 0; i < HELPERS; i++) {
        int pair[2], small = 1;
        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
        char fill[4096] = "";
        while (send(pair[1], fill, sizeof fill, MSG_DONTWAIT) > 0)
            ;
        while (send(pair[1], fill, 1, MSG_DONTWAIT) > 0)
            ;
        CHECK_INT(bcri_channel_send(fd, &look, &pair[1], 1, true), 0);
        close(pair[1]);
        streams[i] = pair[0];
        CHECK_UINT(reply(fd), 0);
    }
    close(ask(fd, &look, SOCK_STREAM));
    CHECK(reply(fd) != 0);
    close(fd);
    for (int i = 0; i < HELPERS; i++) { /* the end of each stream is its helper's */
        char bytes[65536];
        while (read(streams[i], bytes, sizeof bytes) > 0)
            ;
        close(streams[i]);
    }
    end();
}

/* A program with its CCE 1 on host 1. Returns a connection to the root's daemon. */
static int start_on_two_hosts(void)
{
    setenv("SYS_MODE", "slow", 1);
    setenv("SYS_CCES", "2", 1);
    setenv("SYS_MACH", "local2", 1);
    run_folder();
    run_start(&run, run_enl(), "--local", "2", "--onfail", "isolate", getenv("SYS_WAITS"));
    run_told_by(&run);
    run_told_by(&run);
    const char *name = strrchr(run_file("bcr.", ".1.log"), '/') + strlen("/bcr.");
    snprintf(program, sizeof program, "%.*s", (int)(strlen(name) - strlen(".1.log")), name);
    const int fd = bcri_channel_connect(program, 10000);
    CHECK(fd >= 0);
    return fd;
}

/* A look at host 1. */
static struct bcri_control far_look(void)
{
    struct bcri_control request = look;
    request.present |= BCRI_HAS(host);
    request.host = 1;
    return request;
}

static void far_end_comes(int fd, bool with_text)
{
    CHECK_INT(bcri_channel_recv(fd, &in, true), 1);
    CHECK_STR(in.wrong, NULL);
    CHECK_INT(in.message.type, BCRI_MSG_relay_end);
    CHECK_UINT(in.message.id, 5);
    CHECK_INT(in.message.text.length != 0, with_text);
}

static size_t read_all(int stream, uint8_t *bytes, size_t room)
{
    size_t length = 0;
    for (ssize_t got; (got = read(stream, bytes + length, room - length)) > 0;)
        length += (size_t)got;
    close(stream);
    return length;
}

TEST(a_look_at_another_host_comes_through_the_tree)
{
    static uint8_t bytes[1 << 16];
    const int fd = start_on_two_hosts();
    struct bcri_control request = far_look();
    struct look_row row;
    int stream = ask(fd, &request, SOCK_STREAM);
    CHECK_UINT(reply(fd), 0);
    CHECK_UINT(in.message.count, 2);
    struct bcri_cursor cursor = {bytes, read_all(stream, bytes, sizeof bytes)};
    CHECK_INT(look_read(&cursor, &row), 1);
    CHECK_UINT(row.host.host, 1);
    while (look_read(&cursor, &row) == 1)
        ;
    CHECK_INT(row.kind, LOOK_KIND_END);
    far_end_comes(fd, false);
    CHECK_UINT(in.message.status, 0);
    request.kind = 255; /* only the daemon there knows what kinds it has */
    stream = ask(fd, &request, SOCK_STREAM);
    CHECK_UINT(reply(fd), 0);
    CHECK_UINT(read_all(stream, bytes, sizeof bytes), 0);
    far_end_comes(fd, true);
    request.host = 77;
    close(ask(fd, &request, SOCK_STREAM));
    CHECK(reply(fd) != 0);
    close(fd);
    end();
}

TEST(what_a_visitor_says_reaches_the_helper_of_another_host_and_more_than_it_reads_harms_nobody)
{
    static uint8_t bytes[1 << 16];
    const int fd = start_on_two_hosts();
    struct bcri_control request = far_look();
    const int stream = ask(fd, &request, SOCK_STREAM);
    CHECK_UINT(reply(fd), 0);
    while (send(stream, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        ; /* as much as there is room for on the way */
    CHECK(read_all(stream, bytes, sizeof bytes) > 0);
    far_end_comes(fd, false);
    close(fd);
    end();
}

/* The daemon there is held up now and then, so that it finds at once what the helper has written and its end. */
TEST(a_helper_that_leaves_something_unread_is_told_whole_and_ends_its_relay)
{
    static uint8_t bytes[1 << 16];
    const int fd = start_on_two_hosts();
    struct bcri_control request = far_look();
    struct look_row row;
    pid_t daemon = 0; /* known from the first time on */
    for (int i = 0; i < 30; i++) {
        const int stream = ask_saying("x", fd, &request, SOCK_STREAM);
        CHECK_UINT(reply(fd), 0);
        for (int held = 0; daemon != 0 && held < 20; held++) {
            kill(daemon, held % 2 == 0 ? SIGSTOP : SIGCONT);
            usleep((unsigned)(100 * i));
        }
        struct bcri_cursor cursor = {bytes, read_all(stream, bytes, sizeof bytes)};
        CHECK_INT(look_read(&cursor, &row), 1);
        daemon = (pid_t)row.host.pid;
        while (look_read(&cursor, &row) == 1)
            ;
        CHECK_INT(row.kind, LOOK_KIND_END);
        far_end_comes(fd, false);
    }
    close(fd);
    end();
}

/* The daemon is stopped until the client has left with an answer unread: it finds two requests and the end. */
TEST(what_a_visitor_has_asked_for_is_done_though_it_leaves_with_an_answer_unread)
{
    int streams[3];
    uint8_t bytes[1 << 16];
    const int fd = start();
    struct pollfd answered = {.fd = fd, .events = POLLIN};
    streams[0] = ask(fd, &look, SOCK_STREAM);
    CHECK_INT(poll(&answered, 1, -1), 1);
    kill(run.pid, SIGSTOP);
    for (int i = 1; i < 3; i++)
        streams[i] = ask(fd, &look, SOCK_STREAM);
    close(fd);
    kill(run.pid, SIGCONT);
    for (int i = 0; i < 3; i++)
        read_all(streams[i], bytes, sizeof bytes); /* its end comes */
    end();
}

TEST(a_relay_ends_with_its_host)
{
    static uint8_t bytes[1 << 16];
    const int fd = start_on_two_hosts();
    struct bcri_control request = far_look();
    struct look_row row;
    struct bcri_cursor cursor = {bytes, 0};
    cursor.left = read_all(ask(fd, &request, SOCK_STREAM), bytes, sizeof bytes);
    CHECK_UINT(reply(fd), 0);
    far_end_comes(fd, false);
    CHECK_INT(look_read(&cursor, &row), 1);
    kill((pid_t)row.host.pid, SIGSTOP); /* it does not answer any more, */
    const int stream = ask(fd, &request, SOCK_STREAM);
    CHECK_UINT(reply(fd), 0);
    kill((pid_t)row.host.pid, SIGKILL); /* and then is gone */
    CHECK_UINT(read_all(stream, bytes, sizeof bytes), 0);
    far_end_comes(fd, true);
    close(fd);
    end();
}

TEST(a_visitor_that_leaves_ends_his_relay_to_another_host)
{
    static uint8_t bytes[1 << 16];
    const int fd = start_on_two_hosts();
    struct bcri_control request = far_look();
    for (int i = 0; i < 100; i++) { /* more than helpers may be there at a time */
        const int other = bcri_channel_connect(program, 10000);
        CHECK(other >= 0);
        const int stream = ask(other, &request, SOCK_STREAM);
        CHECK_UINT(reply(other), 0);
        close(i % 2 == 0 ? other : stream);
        close(i % 2 == 0 ? stream : other);
    }
    size_t length = 0;
    while (length == 0) { /* until helpers of those have ended */
        const int stream = ask(fd, &request, SOCK_STREAM);
        CHECK_UINT(reply(fd), 0);
        length = read_all(stream, bytes, sizeof bytes);
        far_end_comes(fd, length == 0);
    }
    close(fd);
    end();
}

TEST(an_option_of_helpers_is_refused_to_a_person)
{
    run_start(&command, run_enl(), "--look-host");
    run_ends(&command, 2, "enl ps shows a program");
}
