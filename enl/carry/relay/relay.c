/* SPDX-License-Identifier: MIT */
/* See carry.h. */
#include "carry/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr/error.h>

#include "base/own_start.h"
#include "bcri/refuse.h"
#include "wire/wire.h"

enum { RELAYS_MAX = 64, DEBUGS_MAX = 1024 };

struct enl_relay {
    LIST_ENTRY(enl_relay) entry;
    struct enl_conn *asker;  /* NULL: the daemon itself, or gone */
    struct enl_conn *helper; /* NULL: the helper has closed its socket */
    uint32_t kind;
    uint32_t id; /* of the asker's request */
    pid_t pid;
    void (*done)(void *data, int wait_status);
    void *data;
};

/* The options by which helpers are started. */
static const char *option_of(uint32_t kind)
{
    switch (kind) {
    case BCRI_RELAY_LOOK: return "--look-host";
    case BCRI_RELAY_DEBUG: return "--debug-host";
    case BCRI_RELAY_STACKS: return "--stacks-host";
    default: return NULL;
    }
}

pid_t enl_relay_start(struct enl_carry *carry, const struct enl_relay_wish *wish, char *reason,
                      size_t reason_size)
{
    unsigned count = 0;
    int pair[2];
    struct enl_relay *relay;
    LIST_FOREACH (relay, &carry->relays, entry)
        count += relay->kind == wish->kind;
    if (option_of(wish->kind) == NULL) {
        bcri_refuse(reason, reason_size, 0, "enl of this program knows no helper of kind %u", wish->kind);
        return -1;
    }
    if (count >= (wish->kind == BCRI_RELAY_DEBUG ? DEBUGS_MAX : RELAYS_MAX)) {
        bcri_refuse(reason, reason_size, 0, "%u helpers of enl are at work for this program; try again",
                    count);
        return -1;
    }
    relay = calloc(1, sizeof *relay);
    const int failed = relay != NULL ? bcri_channel_pair(pair) : -ENOMEM;
    if (failed != 0) {
        free(relay);
        bcri_refuse(reason, reason_size, 0, "enl has no socket for a helper: %s", strerror(-failed));
        return -1;
    }
    const char *const words[] = {"enl", option_of(wish->kind), wish->arguments[0], wish->arguments[1], NULL};
    const struct enl_own_start start = {
        .words = words, .in = wish->stream, .out = wish->stream, .keep = pair[1]};
    relay->pid = enl_own_start(carry->self, &start, reason, reason_size);
    close(pair[1]);
    if (relay->pid < 0) {
        close(pair[0]);
        free(relay);
        return -1;
    }
    relay->asker = wish->asker;
    relay->kind = wish->kind;
    relay->id = wish->id;
    relay->done = wish->done;
    relay->data = wish->data;
    relay->helper = enl_conn_new(carry->conns, ENL_HELPER, pair[0], NULL);
    if (relay->helper != NULL)
        relay->helper->pid = relay->pid;
    LIST_INSERT_HEAD(&carry->relays, relay, entry);
    return relay->pid;
}

/* A descriptor of the same file, for reading only. */
static int read_only(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

const char *enl_relay_segment(struct bcri_host *host, struct enl_conn *conn,
                              const struct bcri_control *message)
{
    const int own = bcri_host_segment_dup(host, message->seg);
    enl_conn_reply_fd(conn, message->id, own >= 0 ? read_only(own) : -1);
    if (own >= 0)
        close(own);
    return NULL;
}

static void tell_end(const struct enl_relay *relay, int wait_status)
{
    const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
    const struct bcri_control end = {.type = BCRI_MSG_relay_end,
                                     .present = BCRI_HAS(id) | BCRI_HAS(status),
                                     .id = relay->id,
                                     .status = (uint32_t)status & 0xffu};
    if (relay->asker != NULL)
        enl_conn_send(relay->asker, &end, NULL, 0);
    if (relay->done != NULL)
        relay->done(relay->data, wait_status);
}

bool enl_relay_reaped(struct enl_carry *carry, pid_t pid, int wait_status)
{
    struct enl_relay *relay;
    LIST_FOREACH (relay, &carry->relays, entry)
        if (relay->pid == pid)
            break;
    if (relay == NULL)
        return false;
    LIST_REMOVE(relay, entry);
    tell_end(relay, wait_status);
    struct enl_conn *helper = relay->helper;
    free(relay);
    if (helper != NULL)
        enl_conn_close(helper);
    return true;
}

void enl_relay_forget(struct enl_carry *carry, const struct enl_conn *conn)
{
    struct enl_relay *relay;
    LIST_FOREACH (relay, &carry->relays, entry) {
        if (relay->helper == conn)
            relay->helper = NULL;
        if (relay->asker != conn)
            continue;
        relay->asker = NULL;
        kill(-relay->pid, SIGKILL);
    }
}
