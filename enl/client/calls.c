/* SPDX-License-Identifier: MIT */
/* Calls to the daemon over the private socket: a request and its answer, and messages that have
 * none. And what the library says to a person. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/error.h>

#include "bcri/client.h"
#include "bcri/clock.h"
#include "bcri/scheduler.h"
#include "bcri/self.h"
#include "bcri/wait.h"

/* Gives an answer to the call that waits for it. If none does, since a signal handler's longjmp has
 * abandoned the call, drops the answer. */
static void keep_for_its_call(struct bcri_client *client, struct bcri_incoming *in)
{
    const struct bcri_control *message = &in->message;
    for (struct bcri_client_call **at = &client->calls; *at != NULL; at = &(*at)->next) {
        struct bcri_client_call *call = *at;
        if ((message->present & BCRI_HAS(id)) == 0 || call->id != message->id)
            continue;
        *at = call->next;
        call->code = message->type == BCRI_MSG_reply ? (int)message->status : bcrE_ENLIST;
        call->count = message->count;
        call->cell = message->cell;
        call->team = message->team;
        if (message->enlistor.length == sizeof call->identity)
            memcpy(call->identity, message->enlistor.bytes, sizeof call->identity);
        call->fd = bcri_incoming_take(in, 0);
        call->answered = true;
        break;
    }
    bcri_incoming_close(in);
}

/* An answer whose descriptors this process has no number for is an answer all the same. */
static bool is_understood(const struct bcri_incoming *in)
{
    return in->wrong == NULL || in->poor;
}

static int note_disconnected(void)
{
    bcri_store(&bcri_self_disconnected, true);
    return bcrE_ENLIST;
}

bool bcri_client_has_socket(const struct bcri_client *client)
{
    struct stat status;
    return fstat(client->fd, &status) == 0 && status.st_dev == client->fd_device &&
           status.st_ino == client->fd_inode;
}

bool bcri_client_lost(struct bcri_client *client)
{
    if (bcri_client_has_socket(client))
        return false;
    if (!client->lost_said)
        bcri_client_complain("this program has closed its connection to enl; it must close no descriptor "
                             "that it has not opened");
    client->lost_said = true;
    return true;
}

static int send_request(struct bcri_client *client, struct bcri_control *request, const int *fds,
                        unsigned fd_count)
{
    if (bcri_client_lost(client))
        return note_disconnected();
    request->id = ++client->last_id;
    request->present |= BCRI_HAS(id);
    int error = bcri_channel_send(client->fd, request, fds, fd_count, true);
    if (error == -EMSGSIZE)
        return bcrE_ARG;
    return error == 0 ? 0 : note_disconnected();
}

int bcri_client_call(struct bcri_client *client, struct bcri_control *request, int fd_out,
                     struct bcri_incoming *in)
{
    int error = send_request(client, request, &fd_out, fd_out >= 0 ? 1 : 0);
    while (error == 0) {
        if (bcri_channel_recv(client->fd, in, true) <= 0 || !is_understood(in))
            return note_disconnected();
        if ((in->message.present & BCRI_HAS(id)) != 0 && in->message.id == request->id)
            return 0;
        keep_for_its_call(client, in);
    }
    return error;
}

int bcri_client_ask(struct bcri_client *client, struct bcri_control *request, int fd_out,
                    struct bcri_incoming *in)
{
    const int error = bcri_client_call(client, request, fd_out, in);
    if (error != 0)
        return error;
    bcri_incoming_close(in);
    return in->message.type == BCRI_MSG_reply ? (int)in->message.status : bcrE_ENLIST;
}

/* Reads the answers that have come. If the daemon is gone there is none, and this process will be
 * gone in a moment, too. */
static bool read_answers(struct bcri_event *event)
{
    struct bcri_client_call *call = (struct bcri_client_call *)(void *)event;
    struct bcri_incoming in;
    while (!call->answered && !bcri_client_lost(call->client) &&
           bcri_channel_recv(call->client->fd, &in, false) == 1 && is_understood(&in))
        keep_for_its_call(call->client, &in);
    return call->answered;
}

/* Not inlined: gcc would take the call, which is out of the list again when its caller returns, for one that is left there. */
__attribute__((noinline)) int bcri_client_begin(struct bcri_client *client, struct bcri_client_call *call,
                                                struct bcri_control *request, const int *fds,
                                                unsigned fd_count)
{
    *call = (struct bcri_client_call){
        .event = {.happened = read_answers}, .client = client, .next = client->calls, .fd = -1};
    int error = send_request(client, request, fds, fd_count);
    if (error != 0)
        return error;
    call->id = request->id;
    client->calls = call;
    return 0;
}

int bcri_client_finish(struct bcri_client_call *call)
{
    struct bcri_client *client = call->client;
    struct bcri_incoming in;
    if (client->ctx.hooks != NULL)
        bcri_sched_wait_for(bcri_sched_of(&client->ctx), &call->event);
    while (client->ctx.hooks == NULL && !call->answered) {
        if (bcri_channel_recv(client->fd, &in, true) <= 0 || !is_understood(&in)) {
            client->calls = NULL; /* nothing is answered any more */
            return note_disconnected();
        }
        keep_for_its_call(client, &in);
    }
    return call->code;
}

int bcri_client_go_on(struct bcri_client *client, struct bcri_client_pending *pending,
                      struct bcri_control *request, int msec)
{
    struct bcri_client_call *const call = &pending->call;
    if (!pending->is_begun) {
        const int code = bcri_client_begin(client, call, request, NULL, 0);
        if (code != 0)
            return code;
        pending->is_begun = true;
    }
    const bool is_over = msec == bcr_PENDING
                             ? read_answers(&call->event)
                             : bcri_wait_event(&client->ctx, &call->event, bcri_deadline_after(msec));
    if (!is_over && bcri_client_lost(client))
        return note_disconnected();
    pending->is_begun = !is_over;
    return is_over ? call->code : bcrE_TIMEOUT;
}

void bcri_client_abandon(struct bcri_client *client, const struct bcri_client_call *call)
{
    struct bcri_client_call **at = &client->calls;
    while (*at != NULL && *at != call)
        at = &(*at)->next;
    if (*at != NULL)
        *at = call->next;
}

int bcri_client_ask_long(struct bcri_client *client, struct bcri_control *request)
{
    struct bcri_client_call call;
    const int code = bcri_client_begin(client, &call, request, NULL, 0);
    return code != 0 ? code : bcri_client_finish(&call);
}

bool bcri_client_tell(struct bcri_client *client, const struct bcri_control *message, bool waits)
{
    return !bcri_client_lost(client) && bcri_channel_send(client->fd, message, NULL, 0, waits) == 0;
}

void bcri_client_complain(const char *format, ...)
{
    char text[1600]; /* written without stdio's streams, which need malloc and have locks (private.h) */
    size_t length = (size_t)snprintf(text, sizeof text, "bcr: %.64s: ", program_invocation_short_name);
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    const int wanted = vsnprintf(text + length, sizeof text - length - 1, format, arguments);
    va_end(arguments);
    if (wanted > 0)
        length += (size_t)wanted < sizeof text - length - 2 ? (size_t)wanted : sizeof text - length - 2;
    text[length++] = '\n';
    for (size_t done = 0; done < length;) {
        const ssize_t written = write(STDERR_FILENO, text + done, length - done);
        if (written < 0 && errno != EINTR)
            return;
        done += written > 0 ? (size_t)written : 0;
    }
}
