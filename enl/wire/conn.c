/* SPDX-License-Identifier: MIT */
/* conn.c -- accepting, reading and closing connections. */
#include "wire/conn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bcr/error.h>

#include "base/often.h"
#include "bcri/bell.h"
#include "bcri/failure.h"
#include "carry/peer.h"
#include "carry/relay/far.h"
#include "carry/relay/relay.h"
#include "debug/session.h"
#include "host/cce.h"
#include "job/enlist.h"
#include "tree/tree.h"

/* Visitors at the abstract address at a time. A command says what it wants at once, and leaves when
 * it has its answer. */
enum { VISITORS_MAX = 64 };

/* The peer has ended a connection, or must not use it any more. */
static void ended(struct enl_conn *conn)
{
    struct enl_cce *cce = conn->cce;
    enum enl_conn_kind kind = conn->kind;
    enl_conn_close(conn);
    if (kind == ENL_HANDSHAKE && cce != NULL)
        enl_cce_handshake_closed(cce);
    else if (kind == ENL_CONTROL && cce != NULL)
        enl_cce_disconnected(cce);
}

/* Reads one message, if there is one, and does what it asks for, which may close the connection. Returns
 * whether there was one; -1: the peer has ended the connection, or must not use it any more; it is open still. */
static int take_one(struct enl_conn *conn)
{
    static struct bcri_incoming in; /* the loop's thread alone */
    int came = bcri_channel_recv(conn->watch->fd, &in, false);
    if (came <= 0)
        return came == -EAGAIN ? 0 : -1;
    const char *wrong = in.wrong;
    conn->spoke = wrong == NULL;
    if (wrong == NULL)
        wrong = enl_request(conn, &in);
    else if ((in.message.present & BCRI_HAS(id)) != 0)
        enl_conn_reply(conn, in.message.id, bcrE_ENLIST, wrong);
    bcri_incoming_close(&in);
    if (wrong == NULL)
        return 1;
    static const char *const kinds[] = {"a starting process", "a visitor", "a waiting process", "a CCE",
                                        "a helper",           "a pane"};
    char who[ENL_CCE_TEXT_MAX];
    if (conn->cce != NULL)
        bcri_log_write(&conn->program->self.log, BCRI_LOG_WARN,
                       "message of %s (pid %ld) not understood: %s; its connection is ended",
                       enl_cce_text(conn->cce, who, sizeof who), (long)in.pid, wrong);
    else
        enl_log_often(&conn->program->self, ENL_OFTEN_MALFORMED,
                      "message of %s (pid %ld) not understood: %s; its connection is ended",
                      kinds[conn->kind], (long)in.pid, wrong);
    return -1;
}

static void on_readable(void *data)
{
    struct enl_conn *conn = data;
    if (take_one(conn) < 0)
        ended(conn);
}

void enl_conn_take_rest(struct enl_cce *cce)
{
    struct enl_conn *conn = cce->control;
    if (conn == NULL)
        return;
    shutdown(conn->watch->fd, SHUT_RD); /* a child that it has forked may hold the socket, and add more */
    while (cce->control == conn && take_one(conn) > 0)
        ;
}

static void list(struct enl_conn *conn, struct enl_program *program, enum enl_conn_kind kind)
{
    conn->program = program;
    conn->kind = kind;
    conn->next = program->conns;
    if (conn->next != NULL)
        conn->next->previous = conn;
    program->conns = conn;
}

struct enl_conn *enl_conn_new(struct enl_program *program, enum enl_conn_kind kind, int fd,
                              struct enl_cce *cce)
{
    struct enl_conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL) {
        close(fd);
        return NULL;
    }
    conn->watch = enl_watch_start(&program->self, fd, on_readable, conn);
    if (conn->watch == NULL) {
        free(conn);
        return NULL;
    }
    conn->cce = cce;
    program->visitors += kind == ENL_VISITOR;
    list(conn, program, kind);
    return conn;
}

struct enl_conn *enl_conn_of_peer(struct enl_program *program, enum enl_conn_kind kind, struct enl_peer *peer)
{
    struct enl_conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL) {
        enl_peer_close(peer);
        return NULL;
    }
    conn->peer = peer;
    list(conn, program, kind);
    return conn;
}

static void wait_no_more(struct enl_conn *conn)
{
    struct enl_program *program = conn->program;
    if (conn->wait_next != NULL)
        conn->wait_next->wait_prev = conn->wait_prev;
    else
        program->waiting_last = conn->wait_prev;
    if (conn->wait_prev != NULL)
        conn->wait_prev->wait_next = conn->wait_next;
    else
        program->waiting = conn->wait_next;
}

void enl_conn_wait(struct enl_program *program, int fd, pid_t pid, const struct bcri_control *hello)
{
    struct enl_conn *conn = enl_conn_new(program, ENL_WAITING, fd, NULL);
    if (conn == NULL)
        return;
    conn->pid = pid;
    conn->flags = hello->flags;
    conn->hello_id = hello->id;
    bcri_view_copy(hello->ccename, conn->ccename, sizeof conn->ccename);
    conn->wait_prev = program->waiting_last;
    if (conn->wait_prev != NULL)
        conn->wait_prev->wait_next = conn;
    else
        program->waiting = conn;
    program->waiting_last = conn;
    enl_log_often(&program->self, ENL_OFTEN_WAITS, "pid %ld waits to be enlisted as %s", (long)pid,
                  conn->ccename);
}

void enl_conn_adopt(struct enl_conn *conn, struct enl_cce *cce)
{
    wait_no_more(conn);
    conn->kind = ENL_CONTROL;
    conn->cce = cce;
    cce->control = conn;
}

void enl_conn_becomes_pane(struct enl_conn *conn, struct enl_pane *pane)
{
    conn->program->visitors--;
    conn->kind = ENL_PANE;
    conn->pane = pane;
}

void enl_conn_close(struct enl_conn *conn)
{
    struct enl_program *program = conn->program;
    if (conn->next != NULL)
        conn->next->previous = conn->previous;
    if (conn->previous != NULL)
        conn->previous->next = conn->next;
    else
        program->conns = conn->next;
    if (conn->kind == ENL_WAITING)
        wait_no_more(conn);
    program->visitors -= conn->kind == ENL_VISITOR;
    if (conn->cce != NULL && conn->cce->handshake == conn)
        conn->cce->handshake = NULL;
    if (conn->cce != NULL && conn->cce->control == conn)
        conn->cce->control = NULL;
    if (conn == program->parent) {
        program->parent = NULL;
        program->upward = NULL;
        program->self.report.upward = NULL;
    }
    enl_session_unseen(conn);
    enl_enlist_forget(program, conn);
    enl_tree_forget(program, conn);
    enl_relay_forget(program, conn);
    enl_far_forget(program, conn);
    if (conn->peer != NULL)
        enl_peer_close(conn->peer);
    enl_watch_stop(conn->watch);
    free(conn);
}

void enl_conn_send(struct enl_conn *conn, const struct bcri_control *message, const int *fds,
                   unsigned fd_count)
{
    if (conn->peer != NULL) {
        enl_peer_send(conn->peer, message);
        return;
    }
    int error = bcri_channel_send(conn->watch->fd, message, fds, fd_count, false);
    if (error == 0 || error == -EPIPE || error == -ECONNRESET)
        return; /* on_readable reads the end in a moment */
    enl_log_often(&conn->program->self, ENL_OFTEN_UNREAD,
                  "%s for pid %ld cannot be sent (%s); its connection is ended",
                  bcri_control_name(message->type), (long)(conn->cce != NULL ? conn->cce->pid : conn->pid),
                  strerror(-error));
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

void enl_conn_answer(struct enl_conn *conn, const struct bcri_control *reply)
{
    enl_conn_send(conn, reply, NULL, 0);
    if (conn->cce != NULL)
        bcri_bell_ring(bcri_host_ctx(conn->program->host), conn->cce->record);
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

struct enl_conn *enl_conn_waiting(struct enl_program *program, const char *object)
{
    for (struct enl_conn *conn = program->waiting; conn != NULL; conn = conn->wait_next)
        if (strcmp(last_component(conn->ccename), last_component(object)) == 0)
            return conn;
    return NULL;
}

/* A visitor that has said nothing, and from whom no message waits to be read. */
static bool is_silent(const struct enl_conn *conn)
{
    char byte;
    return conn->kind == ENL_VISITOR && !conn->spoke &&
           recv(conn->watch->fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

/* Closes the oldest silent visitor's connection. False: there is none. */
static bool show_out(struct enl_program *program)
{
    struct enl_conn *silent = NULL;
    for (struct enl_conn *conn = program->conns; conn != NULL; conn = conn->next)
        if (is_silent(conn))
            silent = conn;
    if (silent == NULL)
        return false;
    enl_log_often(&program->self, ENL_OFTEN_SILENT,
                  "a visitor that says nothing has to make room for another");
    enl_conn_close(silent);
    return true;
}

/* If the daemon had no descriptor for the next connection, that would stay in the queue and be
 * reported for ever. So one descriptor is kept in reserve, to be given up for accepting the
 * connection and closing it. */
static int accept_visitor(struct enl_program *program)
{
    int fd = accept4(program->listening->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0 || (errno != EMFILE && errno != ENFILE))
        return fd;
    if (show_out(program))
        return accept4(program->listening->fd, NULL, NULL, SOCK_CLOEXEC);
    close(program->spare_fd);
    fd = accept4(program->listening->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    program->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    enl_log_often(&program->self, ENL_OFTEN_FULL,
                  "a visitor was turned away: enl has no descriptors left (%s)", strerror(EMFILE));
    return -1;
}

static void on_visit(void *data)
{
    struct enl_program *program = data;
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    int on = 1, fd = accept_visitor(program);
    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
        close(fd);
        return;
    }
    if (peer.uid != geteuid() && peer.uid != 0) {
        enl_log_often(&program->self, ENL_OFTEN_STRANGER, "a connection of user %ld (pid %ld) was refused",
                      (long)peer.uid, (long)peer.pid);
        close(fd);
        return;
    }
    if (program->visitors >= VISITORS_MAX && !show_out(program)) {
        close(fd);
        return;
    }
    enl_conn_new(program, ENL_VISITOR, fd, NULL);
}

int enl_conn_bind(const struct enl_program *program)
{
    struct sockaddr_un address;
    socklen_t length = bcri_channel_address(&address, geteuid(), program->self.socket_name);
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

int enl_conn_listen(struct enl_program *program)
{
    const int fd = program->address_fd;
    if (listen(fd, 64) != 0) {
        bcri_failure_note("listen");
        return -errno;
    }
    program->address_fd = -1;
    program->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    program->listening = enl_watch_start(&program->self, fd, on_visit, program);
    return program->listening != NULL ? 0 : -ENOMEM;
}
