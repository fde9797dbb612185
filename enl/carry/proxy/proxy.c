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

#include "base/spawn.h"
#include "bcri/refuse.h"
#include "wire/wire.h"

enum { PROXYS_MAX = 64, DEBUGS_MAX = 1024 };

struct enl_proxy {
    LIST_ENTRY(enl_proxy) entry;
    struct enl_proxy_wish
        wish; /* requester NULL: the daemon itself, or gone; its strings and stream were the caller's */
    struct enl_conn *helper; /* NULL: the helper has closed its socket */
    pid_t pid;
};

/* The options by which helpers are started. */
static const char *const options[] = {[BCRI_RELAY_LOOK] = "--look-host",
                                      [BCRI_RELAY_DEBUG] = "--debug-host",
                                      [BCRI_RELAY_STACKS] = "--stacks-host"};

pid_t enl_proxy_start(struct enl_carry *carry, const struct enl_proxy_wish *wish, char *reason,
                      size_t reason_size)
{
    unsigned count = 0;
    int pair[2];
    struct enl_proxy *proxy;
    LIST_FOREACH (proxy, &carry->proxies, entry)
        count += proxy->wish.kind == wish->kind;
    const char *option = wish->kind < sizeof options / sizeof options[0] ? options[wish->kind] : NULL;
    if (option == NULL) {
        bcri_refuse(reason, reason_size, 0, "enl of this program knows no helper of kind %u", wish->kind);
        return -1;
    }
    if (count >= (wish->kind == BCRI_RELAY_DEBUG ? DEBUGS_MAX : PROXYS_MAX)) {
        bcri_refuse(reason, reason_size, 0, "%u helpers of enl are at work for this program; try again",
                    count);
        return -1;
    }
    proxy = calloc(1, sizeof *proxy);
    const int failed = proxy != NULL ? bcri_channel_pair(pair) : -ENOMEM;
    if (failed != 0) {
        free(proxy);
        bcri_refuse(reason, reason_size, 0, "enl has no socket for a helper: %s", strerror(-failed));
        return -1;
    }
    const char *const words[] = {"enl", option, wish->arguments[0], wish->arguments[1], NULL};
    const struct enl_own_start start = {
        .words = words, .in = wish->stream, .out = wish->stream, .keep = pair[1]};
    const pid_t pid = enl_own_start(carry->self, &start, reason, reason_size);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        free(proxy);
        return -1;
    }
    *proxy = (struct enl_proxy){
        .wish = *wish, .pid = pid, .helper = enl_conn_new(carry->conns, ENL_HELPER, pair[0], NULL)};
    if (proxy->helper != NULL)
        proxy->helper->pid = pid;
    LIST_INSERT_HEAD(&carry->proxies, proxy, entry);
    return pid;
}

/* A descriptor of the same file, for reading only. */
static int read_only(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

const char *enl_proxy_segment(struct bcri_host *host, struct enl_conn *conn,
                              const struct bcri_control *message)
{
    const int own = bcri_host_segment_dup(host, message->seg);
    enl_conn_reply_fd(conn, message->id, own >= 0 ? read_only(own) : -1);
    if (own >= 0)
        close(own);
    return NULL;
}

static void tell_end(const struct enl_proxy *proxy, int wait_status)
{
    const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
    const struct bcri_control end = {.type = BCRI_MSG_relay_end,
                                     .present = BCRI_HAS(id) | BCRI_HAS(status),
                                     .id = proxy->wish.id,
                                     .status = (uint32_t)status & 0xffu};
    if (proxy->wish.requester != NULL)
        enl_conn_send(proxy->wish.requester, &end, NULL, 0);
    if (proxy->wish.done != NULL)
        proxy->wish.done(proxy->wish.data, wait_status);
}

bool enl_proxy_reaped(struct enl_carry *carry, pid_t pid, int wait_status)
{
    struct enl_proxy *proxy;
    LIST_FOREACH (proxy, &carry->proxies, entry)
        if (proxy->pid == pid)
            break;
    if (proxy == NULL)
        return false;
    LIST_REMOVE(proxy, entry);
    tell_end(proxy, wait_status);
    struct enl_conn *helper = proxy->helper;
    free(proxy);
    if (helper != NULL)
        enl_conn_close(helper);
    return true;
}

void enl_proxy_forget(struct enl_carry *carry, const struct enl_conn *conn)
{
    struct enl_proxy *proxy;
    LIST_FOREACH (proxy, &carry->proxies, entry) {
        if (proxy->helper == conn)
            proxy->helper = NULL;
        if (proxy->wish.requester != conn)
            continue;
        proxy->wish.requester = NULL;
        kill(-proxy->pid, SIGKILL);
    }
}
