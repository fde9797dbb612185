/* SPDX-License-Identifier: MIT */
/* conn.c -- accepting, reading and closing connections. */
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bcr/error.h>

#include "base/report.h"
#include "base/watch.h"
#include "bcri/failure.h"

/* Clients at the abstract address at a time. A command says what it wants at once, and leaves when
 * it has its answer. */
enum { CLIENTS_MAX = 64 };

/* Reads one message, if there is one, and does what it asks for, which may close the connection. Returns
 * whether there was one; -1: the peer has ended the connection, or must not use it any more; it is open still. */
static int take_message(struct enl_conn *conn)
{
    static struct bcri_incoming in; /* the loop's thread alone */
    int came = bcri_channel_recv(conn->watch->fd, &in, false);
    if (came <= 0)
        return came == -EAGAIN ? 0 : -1;
    const char *wrong = in.wrong;
    conn->spoke = wrong == NULL;
    if (wrong == NULL)
        wrong = conn->conns->ops->request(conn, &in);
    else if ((in.message.present & BCRI_HAS(id)) != 0)
        enl_conn_reply(conn, in.message.id, bcrE_ENLIST, wrong);
    bcri_incoming_close(&in);
    if (wrong == NULL)
        return 1;
    conn->wrong = wrong;
    static const char *const kinds[] = {"a starting process", "a client", "a waiting process", "a CCE",
                                        "a helper",           "a pane"};
    if (conn->cce != NULL)
        bcri_log_write(&conn->conns->self->log, BCRI_LOG_WARN,
                       "message of %s (pid %ld) not understood: %s; its connection is ended",
                       conn->conns->ops->cce_text(conn->cce), (long)in.pid, wrong);
    else
        enl_log_often(conn->conns->self, ENL_OFTEN_MALFORMED,
                      "message of %s (pid %ld) not understood: %s; its connection is ended",
                      kinds[conn->kind], (long)in.pid, wrong);
    return -1;
}

static void on_conn_readable(void *data)
{
    struct enl_conn *conn = data;
    if (take_message(conn) >= 0)
        return;
    const struct enl_conn_ops *ops = conn->conns->ops;
    struct enl_cce *cce = conn->cce;
    const enum enl_conn_kind kind = conn->kind;
    const char *wrong = conn->wrong;
    enl_conn_close(conn);
    if (cce != NULL)
        ops->cce_left(cce, kind, wrong);
}

void enl_conn_take_rest(struct enl_conn *const *place)
{
    struct enl_conn *conn = *place;
    if (conn == NULL)
        return;
    shutdown(conn->watch->fd, SHUT_RD); /* a child that it has forked may hold the socket, and add more */
    while (*place == conn && take_message(conn) > 0)
        ;
}

void enl_conns_init(struct enl_conns *conns, struct enl_self *self, const struct enl_conn_ops *ops)
{
    *conns = (struct enl_conns){.self = self, .ops = ops, .address_fd = -1, .spare_fd = -1};
    TAILQ_INIT(&conns->waiting);
}

void enl_conns_close(struct enl_conns *conns)
{
    enl_watch_stop(conns->listening);
    conns->listening = NULL;
    if (conns->spare_fd >= 0)
        close(conns->spare_fd);
    while (!LIST_EMPTY(&conns->all))
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed is in the list no more */
        enl_conn_close(LIST_FIRST(&conns->all));
}

void enl_conns_close_waiting(struct enl_conns *conns)
{
    while (!TAILQ_EMPTY(&conns->waiting))
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed is in the list no more */
        enl_conn_close(TAILQ_FIRST(&conns->waiting));
}

static void list_conn(struct enl_conn *conn, struct enl_conns *conns, enum enl_conn_kind kind)
{
    conn->conns = conns;
    conn->kind = kind;
    LIST_INSERT_HEAD(&conns->all, conn, entry);
}

struct enl_conn *enl_conn_new(struct enl_conns *conns, enum enl_conn_kind kind, int fd, struct enl_cce *cce)
{
    struct enl_conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL) {
        close(fd);
        return NULL;
    }
    conn->watch = enl_watch_start(conns->self, fd, on_conn_readable, conn);
    if (conn->watch == NULL) {
        free(conn);
        return NULL;
    }
    conn->cce = cce;
    conns->clients += kind == ENL_CLIENT;
    list_conn(conn, conns, kind);
    return conn;
}

struct enl_conn *enl_conn_of_peer(struct enl_conns *conns, enum enl_conn_kind kind, struct enl_peer *peer)
{
    struct enl_conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL) {
        conns->ops->close_peer(peer);
        return NULL;
    }
    conn->peer = peer;
    list_conn(conn, conns, kind);
    return conn;
}

void enl_conn_wait(struct enl_conns *conns, int fd, pid_t pid, const struct bcri_control *hello)
{
    struct enl_conn *conn = enl_conn_new(conns, ENL_WAITING, fd, NULL);
    if (conn == NULL)
        return;
    conn->pid = pid;
    conn->flags = hello->flags;
    conn->hello_id = hello->id;
    bcri_view_copy(hello->ccename, conn->ccename, sizeof conn->ccename);
    TAILQ_INSERT_TAIL(&conns->waiting, conn, waits);
    enl_log_often(conns->self, ENL_OFTEN_WAITS, "pid %ld waits to be enlisted as %s", (long)pid,
                  conn->ccename);
}

void enl_conn_adopt(struct enl_conn *conn, struct enl_cce *cce)
{
    TAILQ_REMOVE(&conn->conns->waiting, conn, waits);
    conn->kind = ENL_CONTROL;
    conn->cce = cce;
}

void enl_conn_becomes_pane(struct enl_conn *conn, struct enl_pane *pane)
{
    conn->conns->clients--;
    conn->kind = ENL_PANE;
    conn->pane = pane;
}

void enl_conn_close(struct enl_conn *conn)
{
    LIST_REMOVE(conn, entry);
    if (conn->kind == ENL_WAITING)
        TAILQ_REMOVE(&conn->conns->waiting, conn, waits);
    conn->conns->clients -= conn->kind == ENL_CLIENT;
    conn->conns->ops->closing(conn);
    if (conn->peer != NULL)
        conn->conns->ops->close_peer(conn->peer);
    enl_watch_stop(conn->watch);
    free(conn);
}

void enl_conn_send(struct enl_conn *conn, const struct bcri_control *message, const int *fds,
                   unsigned fd_count)
{
    if (conn->peer != NULL) {
        conn->conns->ops->send_by_peer(conn->peer, message);
        return;
    }
    int error = bcri_channel_send(conn->watch->fd, message, fds, fd_count, false);
    if (error == 0 || error == -EPIPE || error == -ECONNRESET)
        return; /* on_readable reads the end in a moment */
    enl_log_often(conn->conns->self, ENL_OFTEN_UNREAD,
                  "%s for pid %ld cannot be sent (%s); its connection is ended",
                  bcri_control_name(message->type), (long)conn->pid, strerror(-error));
    shutdown(conn->watch->fd, SHUT_RDWR); /* on_readable reads the end, when no caller uses conn */
}

void enl_conn_reply(struct enl_conn *conn, uint32_t id, int status, const char *text)
{
    struct bcri_control reply = {.type = BCRI_MSG_reply,
                                 .present = BCRI_HAS(id) | BCRI_HAS(status),
                                 .id = id,
                                 .status = (uint32_t)status};
    if (text != NULL) {
        reply.present |= BCRI_HAS(text);
        reply.text = bcri_view_of(text);
        if (reply.text.length > 1023)
            reply.text.length = 1023;
    }
    enl_conn_send(conn, &reply, NULL, 0);
}

void enl_conn_reply_fd(struct enl_conn *conn, uint32_t id, int fd)
{
    const struct bcri_control reply = {.type = BCRI_MSG_reply,
                                       .present = BCRI_HAS(id) | BCRI_HAS(status),
                                       .id = id,
                                       .status = fd >= 0 ? 0 : bcrE_NOMEM};
    enl_conn_send(conn, &reply, &fd, fd >= 0 ? 1 : 0);
    if (fd >= 0)
        close(fd);
}

struct enl_conn *enl_conn_waiting(const struct enl_conns *conns, const char *object)
{
    struct enl_conn *conn;
    TAILQ_FOREACH (conn, &conns->waiting, waits)
        if (strcmp(basename(conn->ccename), basename(object)) == 0)
            return conn;
    return NULL;
}

/* Closes the connection of the oldest client that has said nothing, and from whom no message waits to be read. False: there
 * is none. */
static bool close_silent_client(struct enl_conns *conns)
{
    struct enl_conn *conn, *silent = NULL;
    char byte;
    LIST_FOREACH (conn, &conns->all, entry)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed is in the list no more, which the analyzer does not see */
        if (conn->kind == ENL_CLIENT && !conn->spoke &&
            recv(conn->watch->fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) <= 0)
            silent = conn;
    if (silent == NULL)
        return false;
    enl_log_often(conns->self, ENL_OFTEN_SILENT, "a client that says nothing has to make room for another");
    enl_conn_close(silent);
    return true;
}

/* If the daemon had no descriptor for the next connection, that would stay in the queue and be
 * reported for ever. So one descriptor is kept in reserve, to be given up for accepting the
 * connection and closing it. */
static int accept_client(struct enl_conns *conns)
{
    int fd = accept4(conns->listening->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0 || (errno != EMFILE && errno != ENFILE))
        return fd;
    if (close_silent_client(conns))
        return accept4(conns->listening->fd, NULL, NULL, SOCK_CLOEXEC);
    close(conns->spare_fd);
    fd = accept4(conns->listening->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    conns->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    enl_log_often(conns->self, ENL_OFTEN_FULL, "a client was turned away: enl has no descriptors left (%s)",
                  strerror(EMFILE));
    return -1;
}

static void on_client(void *data)
{
    struct enl_conns *conns = data;
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    int on = 1, fd = accept_client(conns);
    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
        close(fd);
        return;
    }
    if (peer.uid != geteuid() && peer.uid != 0) {
        enl_log_often(conns->self, ENL_OFTEN_STRANGER, "a connection of user %ld (pid %ld) was refused",
                      (long)peer.uid, (long)peer.pid);
        close(fd);
        return;
    }
    if (conns->clients >= CLIENTS_MAX && !close_silent_client(conns)) {
        close(fd);
        return;
    }
    enl_conn_new(conns, ENL_CLIENT, fd, NULL);
}

int enl_conn_bind(const struct enl_self *self)
{
    struct sockaddr_un address;
    socklen_t length = bcri_channel_address(&address, geteuid(), self->socket_name);
    int on = 1;
    if (length == 0)
        return -ENAMETOOLONG;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        bcri_failure_note("socket");
        return -errno;
    }
    /* Accepted sockets inherit SO_PASSCRED, so a message that is sent before accept has its
     * credentials, too. */
    const bool has_option = setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0;
    if (!has_option || bind(fd, (struct sockaddr *)&address, length) != 0) {
        int error = errno;
        bcri_failure_note(has_option ? "bind" : "setsockopt");
        close(fd);
        return -error;
    }
    return fd;
}

int enl_conns_listen(struct enl_conns *conns)
{
    const int fd = conns->address_fd;
    if (listen(fd, 64) != 0) {
        bcri_failure_note("listen");
        return -errno;
    }
    conns->address_fd = -1;
    conns->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    conns->listening = enl_watch_start(conns->self, fd, on_client, conns);
    return conns->listening != NULL ? 0 : -ENOMEM;
}
