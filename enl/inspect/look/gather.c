/* SPDX-License-Identifier: MIT */
/* See look.h. The root's daemon is asked, which passes requests for other hosts on; a
 * daemon named NAME:K knows its own host only. */
#include "inspect/look/look.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grow.h"
#include "bcri/channel.h"
#include "bcri/escape.h"
#include "wire/wire.h"

/* Whether a daemon on another host is stopped is not known here: when only such are left, they have FAR_MS. */
enum {
    HOSTS_MAX = 1024,
    SNAPSHOT_MAX = 256 << 20,
    READ_BYTES = 65536,
    TURN_MS = 250,
    FAR_MS = 10000,
    PATIENCE_MS = 1000
};

/* One host that is asked; its number is its place in the list. */
struct asked {
    int stream; /* -1: closed */
    bool tells; /* it is part of the program, as far as is known */
    uint8_t *bytes;
    size_t length, room;
    bool has_ended; /* its proxied stream has, as the daemon says */
    const char *wrong;
    char reason[1024]; /* what a daemon says is wrong */
};

struct gathering {
    const char *program;
    int daemon; /* -1: it has ended */
    struct asked *asked;
    size_t count; /* hosts asked */
    size_t hosts; /* that there may be */
    const struct look_wish *wish;
    bool missed; /* a host has told nothing */
    char silence[ENL_SILENCE_TEXT_MAX];
};

static void give_up_host(struct asked *one, const char *wrong)
{
    if (one->wrong == NULL)
        one->wrong = wrong;
    if (one->stream >= 0)
        close(one->stream);
    one->stream = -1;
}

/* Asks the next host. The first one is that of the daemon itself, whatever number it has. */
static void ask_host(struct gathering *all)
{
    struct asked *one = &all->asked[all->count++];
    struct bcri_control relay = {.type = BCRI_MSG_relay,
                                 .present = BCRI_HAS(id) | BCRI_HAS(kind),
                                 .id = (uint32_t)all->count,
                                 .kind = all->wish->kind,
                                 .host = (uint32_t)all->count - 1};
    int pair[2];
    *one = (struct asked){.stream = -1, .tells = all->count == 1};
    if (all->count > 1)
        relay.present |= BCRI_HAS(host);
    if (all->wish->text[0] != '\0') {
        relay.present |= BCRI_HAS(text);
        relay.text = bcri_view_of(all->wish->text);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        snprintf(one->reason, sizeof one->reason, "this command has no socket for it: socketpair: %s%s",
                 strerror(errno), errno == EMFILE ? "; raise the limit of open files (ulimit -n)" : "");
        give_up_host(one, one->reason);
        return;
    }
    one->stream = pair[0];
    if (bcri_channel_send(all->daemon, &relay, &pair[1], 1, true) != 0)
        give_up_host(one, "it has ended");
    close(pair[1]);
}

static void disconnect(struct gathering *all)
{
    close(all->daemon);
    all->daemon = -1;
}

/* What the daemon says of one of the proxied streams. */
static void hear_daemon(struct gathering *all)
{
    static struct bcri_incoming in;
    const int got = bcri_channel_recv(all->daemon, &in, false);
    const struct bcri_control *message = &in.message;
    if (got == -EAGAIN)
        return;
    for (size_t i = 0; i < all->count && got == 1 && in.wrong != NULL; i++)
        give_up_host(&all->asked[i], in.wrong);
    if (got != 1 || in.wrong != NULL) {
        disconnect(all);
        return;
    }
    bcri_incoming_close(&in);
    if (message->id < 1 || message->id > all->count)
        return;
    struct asked *one = &all->asked[message->id - 1];
    if (message->type == BCRI_MSG_reply && message->status == 0) {
        one->tells = true;
        all->hosts = message->count < HOSTS_MAX ? message->count : HOSTS_MAX;
    } else if (message->type == BCRI_MSG_reply || (message->present & BCRI_HAS(text)) != 0) {
        bcri_escape(message->text.bytes, message->text.length, one->reason, sizeof one->reason, NULL);
        give_up_host(one, one->reason);
    } else if (message->type == BCRI_MSG_relay_end) {
        one->has_ended = true;
    }
}

static void read_more(struct asked *one)
{
    if (one->length >= SNAPSHOT_MAX || !enl_grow(&one->bytes, &one->room, one->length + READ_BYTES, 1)) {
        give_up_host(one, "its snapshot is too large");
        return;
    }
    const ssize_t got = recv(one->stream, one->bytes + one->length, one->room - one->length, MSG_DONTWAIT);
    if (got > 0) {
        one->length += (size_t)got;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(one->stream);
        one->stream = -1;
    }
}

/* The first stream has ended before anything came by it: the daemon says why, or ends its connection, too. */
static bool lacks_reason(const struct gathering *all)
{
    const struct asked *first = &all->asked[0];
    return first->stream < 0 && first->wrong == NULL && first->length == 0 && !first->has_ended &&
           all->daemon >= 0;
}

/* Reads from all that are left, until each has ended or none has said anything for a while. */
static void read_all(struct gathering *all)
{
    static struct pollfd fds[HOSTS_MAX + 1];
    unsigned waited_ms = 0;
    for (;;) {
        size_t open = 0;
        while (all->daemon >= 0 && all->count < all->hosts)
            ask_host(all);
        for (size_t i = 0; i < all->count; i++) {
            fds[i] = (struct pollfd){.fd = all->asked[i].stream, .events = POLLIN};
            open += all->asked[i].stream >= 0;
        }
        if (open == 0 && !lacks_reason(all))
            return;
        const size_t count = all->count;
        fds[count] = (struct pollfd){.fd = all->daemon, .events = POLLIN};
        const int ready = poll(fds, count + 1, TURN_MS);
        waited_ms = ready == 0 ? waited_ms + TURN_MS : 0;
        const bool only_far = open != 0 && all->asked[0].stream < 0;
        if ((ready < 0 && errno != EINTR) ||
            (ready == 0 && (enl_is_silent(all->daemon, waited_ms) || (only_far && waited_ms >= FAR_MS))))
            return;
        if (ready <= 0)
            continue;
        if (fds[count].revents != 0)
            hear_daemon(all);
        for (size_t i = 0; i < count; i++)
            if (fds[i].revents != 0 && all->asked[i].stream >= 0)
                read_more(&all->asked[i]);
    }
}

/* Adds what host `i` has told. */
static void add_told(struct gathering *all, size_t i, FILE *complaints)
{
    struct asked *one = &all->asked[i];
    const bool counts = i == 0 || one->tells;
    if (one->stream >= 0)
        give_up_host(one, i == 0 || !all->asked[0].tells ? enl_silence(all->daemon, all->silence)
                                                         : "it does not answer");
    if (one->wrong == NULL)
        one->wrong = one->length != 0 ? all->wish->add(all->wish->data, one->bytes, one->length)
                                      : "it has ended, or could not be looked at";
    if (one->wrong != NULL && i == 0)
        fprintf(complaints, "enl: program %s: %s\n", all->program, one->wrong);
    else if (one->wrong != NULL && counts)
        fprintf(complaints, "enl: program %s, host %zu: %s\n", all->program, i, one->wrong);
    all->missed |= one->wrong != NULL && counts;
    free(one->bytes);
}

bool look_collect(const char *name, const struct look_wish *wish, FILE *complaints)
{
    struct gathering all = {
        .program = name, .asked = calloc(HOSTS_MAX, sizeof *all.asked), .hosts = 1, .wish = wish};
    all.daemon = all.asked != NULL ? bcri_channel_connect(name, PATIENCE_MS) : -ENOMEM;
    if (all.daemon < 0) {
        fprintf(complaints, "enl: program %s: %s\n", name,
                all.daemon == -ECONNREFUSED
                    ? "no program of yours has that name, or it has ended; enl ps lists them"
                : all.daemon == -EAGAIN ? enl_silence(-1, all.silence)
                                        : strerror(-all.daemon));
        free(all.asked);
        return false;
    }
    read_all(&all);
    for (size_t i = 0; i < all.count; i++)
        add_told(&all, i, complaints);
    if (all.daemon >= 0)
        disconnect(&all);
    free(all.asked);
    return !all.missed;
}

static const char *add_snapshot(void *data, const uint8_t *bytes, size_t length)
{
    return look_view_add(data, bytes, length);
}

bool look_gather(const char *name, bool names, FILE *complaints, struct look_view *view_out)
{
    const struct look_wish wish = {
        .kind = BCRI_RELAY_LOOK, .text = names ? "names" : "", .add = add_snapshot, .data = view_out};
    *view_out = (struct look_view){.partial = strchr(name, ':') != NULL}; /* a daemon that knows one host */
    view_out->unanswered = !look_collect(name, &wish, complaints);
    view_out->partial |= view_out->unanswered;
    look_view_sort(view_out);
    for (size_t i = 0; i < view_out->end.count; i++)
        if (view_out->end.at[i].cut != 0) {
            fprintf(complaints, "enl: host %llu has more than a snapshot may have; not all of it is shown\n",
                    (unsigned long long)view_out->end.at[i].host);
            view_out->partial = true;
        }
    return view_out->host.count != 0;
}

bool look_again(struct look_series *series, FILE *complaints)
{
    struct look_view view;
    if (!look_gather(series->program, series->names, complaints, &view)) {
        look_view_fini(&view);
        return false;
    }
    look_seen_add(&series->seen, &view);
    look_view_fini(&series->earlier);
    series->earlier = series->view;
    series->earlier.before = NULL;
    series->view = view;
    series->view.before = series->earlier.host.count != 0 ? &series->earlier : NULL;
    return true;
}

void look_series_fini(struct look_series *series)
{
    look_view_fini(&series->view);
    look_view_fini(&series->earlier);
    look_seen_fini(&series->seen);
}

/* ---- what the daemon knows of hosts ---- */

bool look_host_next(int daemon, uint64_t number, struct look_daemon *host_out)
{
    static const char *const words[] = {[0] = "?",
                                        [BCRI_HOST_STARTING] = "starting",
                                        [BCRI_HOST_UP] = "up",
                                        [BCRI_HOST_ENDING] = "ending",
                                        [BCRI_HOST_LOST] = "lost",
                                        [BCRI_HOST_FAILED] = "failed"};
    static struct bcri_incoming in;
    const struct bcri_control *message = &in.message;
    const struct bcri_control ask = {.type = BCRI_MSG_host_next,
                                     .present = BCRI_HAS(id) | BCRI_HAS(host),
                                     .id = 1,
                                     .host = (uint32_t)number};
    if (number > BCRI_HOST_NUMBER_MAX || bcri_channel_send(daemon, &ask, NULL, 0, true) != 0 ||
        enl_hear(daemon, &in) != 1)
        return false;
    bcri_incoming_close(&in);
    if (in.wrong != NULL || message->type != BCRI_MSG_host_state || message->host < number)
        return false;
    *host_out = (struct look_daemon){.host = message->host, .cces = message->count};
    snprintf(host_out->standing, sizeof host_out->standing, "%s",
             message->state < sizeof words / sizeof words[0] ? words[message->state] : "?");
    bcri_escape(message->machine.bytes, message->machine.length, host_out->name, sizeof host_out->name, NULL);
    bcri_escape(message->text.bytes, message->text.length, host_out->why, sizeof host_out->why, NULL);
    return true;
}

void look_hosts_add(struct look_view *view, const char *name)
{
    struct look_row row = {.kind = LOOK_KIND_DAEMON};
    const int daemon = bcri_channel_connect(name, PATIENCE_MS);
    if (daemon < 0)
        return;
    for (uint64_t number = 0; look_host_next(daemon, number, &row.daemon); number = row.daemon.host + 1)
        if (!look_view_keep(view, &row))
            break;
    close(daemon);
}
