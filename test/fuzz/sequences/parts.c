/* SPDX-License-Identifier: MIT */
/* See parts.h. A part is played before main(), which is libFuzzer's. */
#include "parts.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bcri/archtype.h"
#include "bcri/channel.h"
#include "bcri/environment.h"
#include "bcri/frames.h"
#include "bcri/signature.h"
#include "make.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { STEPS_MAX = 64, PATIENCE_MS = 20, LONG_MS = 1000 };

static uint8_t says[FUZZ_SAYS_MAX];
static char self[4096];
static struct scene scene;
static uint8_t made[MADE_MAX];
static bool is_root; /* a CCE that nobody has enlisted */

/* The part's share of what is to be said: the `which` of 3. */
static struct feed share(unsigned which)
{
    const char *text = getenv(FUZZ_SAYS), *program = getenv(FUZZ_PROGRAM);
    size_t length = 0;
    unsigned byte;
    for (; text != NULL && length < sizeof says && sscanf(text + 2 * length, "%2x", &byte) == 1; length++)
        says[length] = (uint8_t)byte;
    const ssize_t got = readlink("/proc/self/exe", self, sizeof self - 1);
    self[got > 0 ? got : 0] = '\0';
    scene = (struct scene){.program = program != NULL ? program : "a", .self = self, .host = 1};
    return (struct feed){says + length * which / 3, length / 3};
}

/* ------------------------------------------------------------------------ a CCE, or a helper --- */

static const enum bcri_control_type of_cce[] = {
    BCRI_MSG_segment_add, BCRI_MSG_segment_again, BCRI_MSG_pages_take, BCRI_MSG_pages_back,
    BCRI_MSG_segment_fd,  BCRI_MSG_segment_freed, BCRI_MSG_fd_set,     BCRI_MSG_fd_get,
    BCRI_MSG_fd_ring,     BCRI_MSG_blocked_by,    BCRI_MSG_note,       BCRI_MSG_crashed,
    BCRI_MSG_enlist,      BCRI_MSG_host_name,     BCRI_MSG_host_arch,  BCRI_MSG_watch,
    BCRI_MSG_signal_cce,  BCRI_MSG_finish,        BCRI_MSG_publish,    BCRI_MSG_find,
    BCRI_MSG_team_new,    BCRI_MSG_team_cut,      BCRI_MSG_team_sync,  BCRI_MSG_idle,
    BCRI_MSG_tempdir,     BCRI_MSG_outdone,       BCRI_MSG_debug,      BCRI_MSG_host_add,
    BCRI_MSG_host_del,
};
static const enum bcri_control_type of_helper[] = {BCRI_MSG_segment_fd, BCRI_MSG_ps, BCRI_MSG_way_next,
                                                   BCRI_MSG_pane, BCRI_MSG_attach};

/* Reads answers until nothing more comes in that time, or so many have come. False: the connection has ended. */
static bool hear(int fd, int patience_ms, unsigned most)
{
    static struct bcri_incoming in;
    struct pollfd look = {.fd = fd, .events = POLLIN};
    while (most-- > 0 && poll(&look, 1, patience_ms) > 0) {
        if (bcri_channel_recv(fd, &in, true) != 1)
            return false;
        bcri_incoming_close(&in);
    }
    return true;
}

static void send_made(struct feed *feed, int fd, size_t length)
{
    int fds[BCRI_CONTROL_FDS_MAX];
    unsigned count = feed_byte(feed) % 16; /* mostly as many as a message may bring: one, or none */
    count = count > 8 ? 0 : count > 2 ? 1 : count;
    for (unsigned i = 0; i < count; i++)
        fds[i] = feed_byte(feed) % 2 == 0 ? memfd_create("part", MFD_CLOEXEC | MFD_ALLOW_SEALING)
                                          : eventfd(0, EFD_CLOEXEC);
    if (count != 0)
        (void)!ftruncate(fds[0], 1 << 16);
    for (unsigned i = 0; i < count; i++)
        (void)fcntl(fds[i], F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW); /* as files beside enlist have to be */
    (void)bcri_channel_send_bytes(fd, made, length, fds, count, false);
    for (unsigned i = 0; i < count; i++)
        close(fds[i]);
}

static void converse(struct feed *feed, int fd, const enum bcri_control_type *types, size_t count)
{
    static struct bcri_control message;
    for (unsigned step = 0; step < STEPS_MAX && feed->left != 0; step++) {
        const size_t length = make_of(feed, &scene, types, count, made);
        /* Whom it enlists plays the same part, and would do so, too. */
        if (is_root || bcri_control_decode(made, length, &message) != NULL || message.type != BCRI_MSG_enlist)
            send_made(feed, fd, length);
        if (!hear(fd, feed_byte(feed) % 16 == 0 ? PATIENCE_MS : 0, UINT_MAX))
            break;
    }
    (void)hear(fd, PATIENCE_MS, UINT_MAX);
}

static void enlist(int fd, const char *machine)
{
    const struct bcri_control message = {.type = BCRI_MSG_enlist,
                                         .present = BCRI_HAS(id) | BCRI_HAS(machine) | BCRI_HAS(core) |
                                                    BCRI_HAS(count) | BCRI_HAS(ordinal) | BCRI_HAS(object),
                                         .id = 1000,
                                         .machine = bcri_view_of(machine),
                                         .core = -1,
                                         .count = 1,
                                         .ordinal = 1,
                                         .object = bcri_view_of(self)};
    (void)bcri_channel_send(fd, &message, NULL, 0, true);
}

static void say_hello(struct feed *feed, int fd, int pair[2])
{
    const struct bcri_control hello = {.type = BCRI_MSG_hello,
                                       .present = BCRI_HAS(id) | BCRI_HAS(layout) | BCRI_HAS(archtype) |
                                                  BCRI_HAS(flags) | BCRI_HAS(ccename),
                                       .id = 1,
                                       .layout = bcri_layout_signature(),
                                       .archtype = (uint32_t)bcri_archtype_native(),
                                       .ccename = bcri_view_of("part")};
    for (unsigned before = feed_byte(feed) % 16; before > 13; before--)
        send_made(feed, fd, make_of(feed, &scene, of_cce, COUNT(of_cce), made));
    (void)bcri_channel_send(fd, &hello, &pair[0], 1, true);
    if (feed_byte(feed) % 16 == 1)
        (void)bcri_channel_send(fd, &hello, NULL, 0, true); /* once more, without a socket */
}

static void be_cce(int fd)
{
    struct feed feed = share(0);
    static struct bcri_incoming in;
    int pair[2];
    if (bcri_channel_pair(pair) != 0)
        _exit(3);
    say_hello(&feed, fd, pair);
    close(pair[0]);
    close(fd);
    if (bcri_channel_recv(pair[1], &in, true) != 1)
        _exit(4);
    const struct bcri_view enlistor = in.message.enlistor;
    is_root = enlistor.length > 4 &&
              memcmp(enlistor.bytes, (const char[BCRI_IDENTITY_BYTES]){0}, enlistor.length) == 0;
    const int kill_socket = bcri_incoming_take(&in, 1); /* closing it would end this process */
    bcri_incoming_close(&in);
    if (is_root) {
        const bool both = feed_byte(&feed) % 2 == 1;
        enlist(pair[1], "h1");
        if (both)
            enlist(pair[1], "h2");
        (void)hear(pair[1], LONG_MS, both ? 2 : 1);
    }
    converse(&feed, pair[1], of_cce, COUNT(of_cce));
    (void)kill_socket;
    _exit(feed_byte(&feed) % 4 == 1 ? 3 : 0);
}

static void be_helper(int fd)
{
    struct feed feed = share(2);
    converse(&feed, fd, of_helper, COUNT(of_helper));
    _exit(feed_byte(&feed) % 2);
}

/* -------------------------------------------------------------------- a daemon on another host --- */

static const enum bcri_control_type of_child[] = {
    BCRI_MSG_present,   BCRI_MSG_reply,        BCRI_MSG_alive,        BCRI_MSG_output,    BCRI_MSG_report,
    BCRI_MSG_died,      BCRI_MSG_debugged,     BCRI_MSG_failed,       BCRI_MSG_unstarted, BCRI_MSG_enlist,
    BCRI_MSG_host_name, BCRI_MSG_host_arch,    BCRI_MSG_announce,     BCRI_MSG_want,      BCRI_MSG_agreed,
    BCRI_MSG_carry,     BCRI_MSG_still,        BCRI_MSG_ended,        BCRI_MSG_said,      BCRI_MSG_closed,
    BCRI_MSG_beat,      BCRI_MSG_relay_bytes,  BCRI_MSG_relay_window, BCRI_MSG_relay_end, BCRI_MSG_asked,
    BCRI_MSG_strings,   BCRI_MSG_strings_next, BCRI_MSG_started,      BCRI_MSG_watched,   BCRI_MSG_signal_cce,
    BCRI_MSG_finish,    BCRI_MSG_publish,      BCRI_MSG_find,         BCRI_MSG_left,      BCRI_MSG_team_new,
    BCRI_MSG_team_cut,  BCRI_MSG_member,       BCRI_MSG_team_arrived, BCRI_MSG_team_back, BCRI_MSG_outdone,
    BCRI_MSG_debug,     BCRI_MSG_host_add,     BCRI_MSG_host_del,
};

static void put(const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        const ssize_t got = write(1, at, length);
        if (got <= 0)
            _exit(0);
        at += got;
        length -= (size_t)got;
    }
}

static void say(const struct bcri_control *message)
{
    uint8_t frame[BCRI_FRAME_BYTES_MAX];
    put(frame, bcri_frame_encode(message, frame, sizeof frame));
}

/* Reads what the root says, in that time; answers what it waits for. Returns the type of the last message, or
 * BCRI_MSG_COUNT: the pipe has ended; BCRI_MSG_row: nothing came. */
static uint32_t start_id;
static enum bcri_control_type listen_for(int patience_ms)
{
    static struct bcri_frames frames;
    struct bcri_control message;
    struct pollfd look = {.fd = 0, .events = POLLIN};
    const char *wrong;
    enum bcri_control_type last = BCRI_MSG_row;
    for (;;) {
        while (bcri_frames_next(&frames, &message, &wrong) == 1) {
            last = message.type;
            start_id = last == BCRI_MSG_start ? message.id : start_id;
            const struct bcri_control reply = {
                .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = message.id};
            if (message.type == BCRI_MSG_stop || message.type == BCRI_MSG_enlist ||
                message.type == BCRI_MSG_kill || message.type == BCRI_MSG_signal_cce)
                say(&reply);
            if (message.type == BCRI_MSG_start || message.type == BCRI_MSG_end ||
                message.type == BCRI_MSG_kill || message.type == BCRI_MSG_finish)
                return last;
        }
        if (poll(&look, 1, patience_ms) <= 0)
            return last;
        uint8_t *at;
        const size_t room = bcri_frames_room(&frames, &at);
        const ssize_t got = read(0, at, room);
        if (got <= 0)
            return BCRI_MSG_COUNT;
        bcri_frames_came(&frames, (size_t)got);
    }
}

static void come_up(struct feed *feed)
{
    const struct bcri_control present = {.type = BCRI_MSG_present,
                                         .present = BCRI_HAS(machine) | BCRI_HAS(text) | BCRI_HAS(object) |
                                                    BCRI_HAS(archtype),
                                         .machine = bcri_view_of("there"),
                                         .text = bcri_view_of("boot there 0 x"),
                                         .object = bcri_view_of("x86_64"),
                                         .archtype = (uint32_t)bcri_archtype_native()};
    const struct bcri_control announce = {.type = BCRI_MSG_announce,
                                          .present = BCRI_HAS(key) | BCRI_HAS(addresses) | BCRI_HAS(flags),
                                          .key = {"the public key of this host, 32b", 32},
                                          .addresses = bcri_view_of("")};
    const uint8_t skipped = feed_byte(feed);
    if (skipped % 16 != 1)
        say(&present);
    enum bcri_control_type came = BCRI_MSG_row;
    while (skipped % 16 != 1 && came != BCRI_MSG_start && came != BCRI_MSG_COUNT)
        came = listen_for(-1);
    const struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = start_id};
    if (skipped % 16 != 2)
        say(&announce);
    if (skipped % 16 != 3)
        say(&reply);
}

static void be_child(void)
{
    struct feed feed = share(1);
    uint8_t head[BCRI_FRAME_HEAD_BYTES];
    put("hello\n" BCRI_FRAMES_MAGIC, 6 + BCRI_FRAMES_MAGIC_BYTES);
    come_up(&feed);
    enum bcri_control_type came = BCRI_MSG_row;
    for (unsigned step = 0; step < STEPS_MAX && feed.left != 0 && came != BCRI_MSG_COUNT; step++) {
        const size_t length = make_of(&feed, &scene, of_child, COUNT(of_child), made);
        make_head((uint32_t)length, head);
        put(head, sizeof head);
        put(made, length);
        came = listen_for(feed_byte(&feed) % 16 == 0 ? PATIENCE_MS : 0);
    }
    while (came != BCRI_MSG_COUNT && came != BCRI_MSG_end && came != BCRI_MSG_kill &&
           came != BCRI_MSG_finish && came != BCRI_MSG_row)
        came = listen_for(PATIENCE_MS);
    if (came == BCRI_MSG_row)
        (void)listen_for(PATIENCE_MS);
    _exit(feed_byte(&feed) % 2);
}

/* ------------------------------------------------------------------------------------------- --- */

__attribute__((constructor)) static void play_part(int argc, char **argv)
{
    const char *socket_text = getenv(BCRI_CONTROL_ENV), *word = argc > 1 ? argv[1] : "";
    const int fd = socket_text != NULL ? atoi(socket_text) : -1;
    if (strcmp(word, "--child") == 0)
        be_child();
    if (fd >= 0 && (strcmp(word, "--debug-host") == 0 || strcmp(word, "--stacks-host") == 0))
        be_helper(fd);
    if (argc > 1 && strcmp(argv[0], "enl") == 0) { /* as it starts itself */
        execv(FUZZ_ENL, argv);
        _exit(127);
    }
    if (fd >= 0)
        be_cce(fd);
}
