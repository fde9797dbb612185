/* SPDX-License-Identifier: MIT */
/* See gather.h. The program's daemons on this machine are found by their addresses, NAME and
 * NAME:K. */
#include "gather.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bcri/channel.h"
#include "bcri/escape.h"
#include "programs.h"

enum { HOSTS_MAX = 1024, SNAPSHOT_MAX = 256 << 20, PATIENCE_MS = 3000 };

/* One daemon that is asked. */
struct asked {
    char name[BCRI_PROGRAM_NAME_MAX + 16];
    int daemon, stream; /* -1: closed */
    uint8_t *bytes;
    size_t length, room;
    const char *wrong;
    char reason[1024]; /* what the daemon says is wrong */
};

struct gathering {
    const char *program;
    struct asked *asked;
    size_t count;
};

static void hang_up(struct asked *one)
{
    if (one->stream >= 0)
        close(one->stream);
    if (one->daemon >= 0)
        close(one->daemon);
    one->stream = one->daemon = -1;
}

static void give_up(struct asked *one, const char *wrong)
{
    if (one->wrong == NULL)
        one->wrong = wrong;
    hang_up(one);
}

static bool of_program(const char *name, const char *program)
{
    const size_t length = strlen(program);
    return strncmp(name, program, length) == 0 && (name[length] == '\0' || name[length] == ':');
}

static bool ask(void *data, const char *name)
{
    struct gathering *all = data;
    int pair[2];
    if (!of_program(name, all->program) || all->count >= HOSTS_MAX)
        return true;
    struct asked *one = &all->asked[all->count];
    *one = (struct asked){.daemon = bcri_channel_connect(name, 1000), .stream = -1};
    if (one->daemon < 0 && one->daemon != -EAGAIN)
        return true; /* it has ended meanwhile */
    all->count++;
    snprintf(one->name, sizeof one->name, "%s", name);
    if (one->daemon < 0) {
        give_up(one, "it does not answer; it may be stopped: fg or enl kill ends that");
        return true;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        give_up(one, "this command has no descriptors left (ulimit -n)");
        return true;
    }
    const struct bcri_control relay = {
        .type = BCRI_MSG_relay, .present = BCRI_HAS(id) | BCRI_HAS(kind), .id = 1, .kind = BCRI_RELAY_LOOK};
    one->stream = pair[0];
    if (bcri_channel_send(one->daemon, &relay, &pair[1], 1, true) != 0)
        give_up(one, "it has ended");
    close(pair[1]);
    return true;
}

/* The daemon's answer: a refusal ends it. */
static void hear(struct asked *one)
{
    static struct bcri_incoming in;
    const int got = bcri_channel_recv(one->daemon, &in, false);
    if (got == -EAGAIN)
        return;
    if (got != 1 || in.wrong != NULL) {
        give_up(one, got == 1 ? "its answer makes no sense" : "it has ended");
        return;
    }
    bcri_incoming_close(&in);
    if (in.message.type == BCRI_MSG_reply && in.message.status != 0) {
        bcri_escape(in.message.text.bytes, in.message.text.length, one->reason, sizeof one->reason, NULL);
        give_up(one, one->reason);
    } else if (in.message.type == BCRI_MSG_relay_end) {
        close(one->daemon); /* the stream may still have bytes */
        one->daemon = -1;
    }
}

static void read_more(struct asked *one)
{
    if (one->length == one->room) {
        const size_t room = one->room != 0 ? one->room * 2 : 65536;
        uint8_t *grown = room <= SNAPSHOT_MAX ? realloc(one->bytes, room) : NULL;
        if (grown == NULL) {
            give_up(one, "its snapshot is too large");
            return;
        }
        one->bytes = grown;
        one->room = room;
    }
    const ssize_t got = recv(one->stream, one->bytes + one->length, one->room - one->length, MSG_DONTWAIT);
    if (got > 0)
        one->length += (size_t)got;
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        hang_up(one);
}

/* Reads from all that are left, until each has ended or none has said anything for a while. */
static void read_all(struct gathering *all)
{
    struct pollfd *fds = calloc(2 * all->count + 1, sizeof *fds);
    for (size_t open = 1; fds != NULL && open != 0;) {
        open = 0;
        for (size_t i = 0; i < all->count; i++) {
            fds[2 * i] = (struct pollfd){.fd = all->asked[i].stream, .events = POLLIN};
            fds[2 * i + 1] = (struct pollfd){.fd = all->asked[i].daemon, .events = POLLIN};
            open += all->asked[i].stream >= 0;
        }
        const int ready = open != 0 ? poll(fds, 2 * all->count, PATIENCE_MS) : 0;
        if (ready == 0 || (ready < 0 && errno != EINTR))
            break;
        for (size_t i = 0; i < all->count; i++) {
            if (fds[2 * i].fd >= 0 && fds[2 * i].revents != 0)
                read_more(&all->asked[i]);
            if (all->asked[i].daemon >= 0 && fds[2 * i + 1].revents != 0)
                hear(&all->asked[i]);
        }
    }
    free(fds);
    for (size_t i = 0; i < all->count; i++)
        if (all->asked[i].stream >= 0)
            give_up(&all->asked[i], "it does not answer; it may be stopped: fg or enl kill ends that");
}

bool look_gather(const char *name, struct look_view *view_out)
{
    struct gathering all = {.program = name, .asked = calloc(HOSTS_MAX, sizeof *all.asked)};
    *view_out = (struct look_view){0};
    if (all.asked == NULL) {
        fprintf(stderr, "enl: no memory\n");
        return false;
    }
    enl_each_program(ask, &all);
    read_all(&all);
    if (all.count == 0)
        fprintf(stderr,
                "enl: program %s: no program of yours has that name, or it has ended; enl ps lists them\n",
                name);
    for (size_t i = 0; i < all.count; i++) {
        struct asked *one = &all.asked[i];
        if (one->wrong == NULL)
            one->wrong = one->length != 0 ? look_view_add(view_out, one->bytes, one->length)
                                          : "it has ended, or could not be looked at";
        if (one->wrong != NULL)
            fprintf(stderr, "enl: program %s: %s\n", one->name, one->wrong);
        hang_up(one);
        free(one->bytes);
    }
    free(all.asked);
    look_view_sort(view_out);
    for (size_t i = 0; i < view_out->end.count; i++)
        if (view_out->end.at[i].cut != 0)
            fprintf(stderr, "enl: host %llu has more than a snapshot may have; not all of it is shown\n",
                    (unsigned long long)view_out->end.at[i].host);
    return view_out->host.count != 0;
}
