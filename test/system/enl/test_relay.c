/* SPDX-License-Identifier: MIT */
/* Relays: a helper process is started for a visitor, speaks through his stream, can change nothing,
 * and ends with him. */
#include <errno.h>
#include <fcntl.h>
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
#include "run.h"
#include "snapshot.h"

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

/* Sends a request with one end of a new stream, and returns the other end. */
static int ask(int fd, const struct bcri_control *request, int type)
{
    int pair[2];
    CHECK_INT(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair), 0);
    CHECK_INT(bcri_channel_send(fd, request, &pair[1], 1, true), 0);
    close(pair[1]);
    return pair[0];
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

/* The helper waits in a write for a reader that does not come: only the visitor's leaving ends it. */
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

TEST(an_option_of_helpers_is_refused_to_a_person)
{
    run_start(&command, run_enl(), "--look-host");
    run_ends(&command, 2, "enl ps shows a program");
}
