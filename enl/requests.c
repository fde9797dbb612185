/* SPDX-License-Identifier: MIT */
/* requests.c -- does what each control message asks for. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/machine.h"
#include "carry/carry.h"
#include "debug/debug.h"
#include "host/host.h"
#include "host/worker.h"
#include "inspect/crash/crash.h"
#include "job/job.h"
#include "links/links.h"
#include "program.h"
#include "tree/tree.h"
#include "wire/wire.h"

/* Whether hello has brought a socket of the right kind: only that can be polled and answered
 * without waiting. */
static bool is_private_socket(int fd)
{
    int type = 0, domain = 0;
    socklen_t size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET &&
           getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

/* On a handshake socket: the started process says hello. */
static const char *hello_on_handshake(struct enl_conn *conn, struct bcri_incoming *in)
{
    if (!is_private_socket(in->fds[0]))
        return "hello without a socket";
    enl_cce_hello(conn->cce, in->pid, bcri_incoming_take(in, 0), &in->message);
    return NULL;
}

/* At the abstract address: a process of enl --join says hello. The visit ends with that; the
 * private socket waits. */
static const char *hello_of_client(struct enl_conn *conn, struct bcri_incoming *in)
{
    struct enl_program *program = enl_program_of(conn);
    const char *wrong = enl_hello_wrong(&in->message);
    if (!is_private_socket(in->fds[0]))
        return "hello without a socket";
    shutdown(conn->watch->fd,
             SHUT_RDWR); /* others may hold it open: enl --join's watch, forks of the process */
    if (program->self.phase != ENL_RUNNING && program->self.phase != ENL_PREPARING)
        wrong = "the program is ending";
    if (in->pid == 0)
        wrong = "enl cannot watch this process (another pid namespace?)";
    int fd = bcri_incoming_take(in, 0);
    if (wrong == NULL)
        enl_conn_wait(&program->conns, fd, in->pid, &in->message);
    else
        enl_hello_refuse(fd, in->message.id, bcrE_ENLIST, wrong);
    return NULL;
}

static void write_note(struct enl_conn *conn, const struct bcri_control *message)
{
    char who[ENL_CCE_TEXT_MAX];
    enl_log_often(&enl_program_of(conn)->self, ENL_OFTEN_NOTE, "%s %.*s",
                  enl_cce_text(conn->cce, who, sizeof who), (int)message->text.length, message->text.bytes);
}

/* The host of that place in the list; of a program without a list there is this one, with a slot for each processor. */
static const char *host_name(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_program *program = enl_program_of(conn);
    const struct enl_hosts *hosts = &program->hosts;
    struct bcri_control reply = {.type = BCRI_MSG_reply,
                                 .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(count),
                                 .id = message->id};
    const bool listed = message->index < hosts->count;
    if (program->self.is_child) {
        if (!enl_parent_ask(conn, message))
            enl_conn_reply(conn, message->id, bcrE_ENLIST, NULL);
        return NULL;
    }
    if (listed || (hosts->count == 0 && message->index == 0)) {
        reply.present |= BCRI_HAS(text);
        reply.text = bcri_view_of(listed ? hosts->hosts[message->index].name : program->self.hostname);
        reply.count = listed ? hosts->hosts[message->index].slots : bcri_machine_cpus();
    }
    enl_conn_send(conn, &reply, NULL, 0);
    return NULL;
}

/* How CCEs of that host represent data, also of one that is gone. */
static const char *host_arch(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_program *program = enl_program_of(conn);
    const uint32_t archtype = enl_tree_arch(program, message->host);
    const struct bcri_control reply = {.type = BCRI_MSG_reply,
                                       .present = BCRI_HAS(id) | BCRI_HAS(status) |
                                                  (archtype != 0 ? BCRI_HAS(archtype) : 0),
                                       .id = message->id,
                                       .status = archtype != 0 ? 0 : bcrE_NOCCE,
                                       .archtype = archtype};
    if (archtype != 0 || !program->self.is_child)
        enl_conn_send(conn, &reply, NULL, 0);
    else if (!enl_parent_ask(conn, message))
        enl_conn_reply(conn, message->id, bcrE_NOCCE, NULL);
    return NULL;
}

static void tell_killer(struct enl_program *program, pid_t pid)
{
    char by[64] = ", in another pid namespace";
    if (pid != 0)
        snprintf(by, sizeof by, " (pid %ld)", (long)pid);
    enl_report(&program->self, BCRI_LOG_WARN, "program %s is ended by enl kill%s", program->self.name, by);
}

static const char *end_program(struct enl_conn *conn, const struct bcri_incoming *in)
{
    struct enl_program *program = enl_program_of(conn);
    enl_conn_reply(conn, in->message.id, 0, NULL);
    if (program->self.phase == ENL_PREPARING || program->self.phase == ENL_RUNNING) {
        if (conn->kind == ENL_PARENT)
            bcri_log_write(&program->self.log, BCRI_LOG_WARN,
                           "program %s is ended by the daemon that started this one", program->self.name);
        else
            tell_killer(program, in->pid);
        enl_program_abort(program, 128 + 9);
    }
    if (program->jobs.script != 0)
        kill(-program->jobs.script, SIGKILL);
    enl_report_hurry(&program->self);
    return NULL;
}

static const char *request(struct enl_conn *conn, struct bcri_incoming *in)
{
    const struct bcri_control *message = &in->message;
    switch (conn->kind) {
    case ENL_HANDSHAKE:
        if (message->type == BCRI_MSG_hello)
            return hello_on_handshake(conn, in);
        break;
    case ENL_CLIENT:
        switch (message->type) {
        case BCRI_MSG_hello: return hello_of_client(conn, in);
        case BCRI_MSG_ps: return enl_rows_answer(&enl_program_of(conn)->here, conn, message);
        case BCRI_MSG_host_next: return enl_states_ask(conn, message);
        case BCRI_MSG_audit: return enl_audit_ask(&enl_program_of(conn)->here, conn, message);
        case BCRI_MSG_kill: return end_program(conn, in);
        case BCRI_MSG_relay: return enl_proxy_ask(&enl_program_of(conn)->carry, conn, in);
        case BCRI_MSG_pane: return enl_session_pane(&enl_program_of(conn)->session, conn, message);
        case BCRI_MSG_attach: return enl_session_attach(&enl_program_of(conn)->session, conn, message);
        default: break;
        }
        break;
    case ENL_HELPER:
        switch (message->type) {
        case BCRI_MSG_segment_fd: return enl_proxy_segment(enl_program_of(conn)->here.host, conn, message);
        case BCRI_MSG_ps: return enl_rows_answer(&enl_program_of(conn)->here, conn, message);
        case BCRI_MSG_way_next: return enl_ways_ask(&enl_program_of(conn)->links, conn, message);
        case BCRI_MSG_pane: return enl_session_pane(&enl_program_of(conn)->session, conn, message);
        case BCRI_MSG_attach: return enl_session_attach(&enl_program_of(conn)->session, conn, message);
        default: break;
        }
        break;
    case ENL_PANE: return "a pane has nothing to say";
    case ENL_PARENT:
        switch (message->type) {
        case BCRI_MSG_enlist: return enl_enlist(&enl_program_of(conn)->jobs, conn, message);
        case BCRI_MSG_ps: return enl_rows_answer(&enl_program_of(conn)->here, conn, message);
        case BCRI_MSG_kill: return end_program(conn, in);
        default: break;
        }
        break;
    case ENL_CHILD:
        if (message->type == BCRI_MSG_enlist)
            return enl_enlist(&enl_program_of(conn)->jobs, conn, message);
        if (message->type == BCRI_MSG_host_name)
            return host_name(conn, message);
        if (message->type == BCRI_MSG_host_arch)
            return host_arch(conn, message);
        break;
    case ENL_WAITING: return "a process that waits has nothing to say";
    case ENL_CONTROL:
        switch (message->type) {
        case BCRI_MSG_segment_add: return enl_memory_segment_add(conn, in);
        case BCRI_MSG_segment_again: return enl_memory_segment_again(conn, message);
        case BCRI_MSG_pages_take: return enl_memory_pages_take(conn, message);
        case BCRI_MSG_pages_back: return enl_memory_pages_back(conn, message);
        case BCRI_MSG_segment_fd: return enl_memory_segment_fd(conn, message);
        case BCRI_MSG_segment_freed: enl_worker_look(enl_program_of(conn)->here.worker); return NULL;
        case BCRI_MSG_fd_set: return enl_memory_fd_set(conn, in);
        case BCRI_MSG_fd_ring: return enl_memory_fd_ring(conn, message);
        case BCRI_MSG_crashed: return enl_crash_begun(&enl_program_of(conn)->crashes, conn->cce, in);
        case BCRI_MSG_note: write_note(conn, message); return NULL;
        case BCRI_MSG_blocked_by:
            enl_blocked_by(&enl_program_of(conn)->here, message->index, conn->cce->index);
            return NULL;
        case BCRI_MSG_enlist: return enl_enlist(&enl_program_of(conn)->jobs, conn, message);
        case BCRI_MSG_host_name: return host_name(conn, message);
        case BCRI_MSG_host_arch: return host_arch(conn, message);
        default: break;
        }
        break;
    }
    return "not a message for this connection";
}

static void on_closing(struct enl_conn *conn)
{
    struct enl_program *program = enl_program_of(conn);
    if (conn->cce != NULL && conn->cce->handshake == conn)
        conn->cce->handshake = NULL;
    if (conn->cce != NULL && conn->cce->control == conn)
        conn->cce->control = NULL;
    if (conn == program->parent) {
        program->parent = NULL;
        program->self.upward = NULL;
    }
    enl_session_unseen(conn);
    enl_enlist_forget(&program->jobs, conn);
    enl_tree_forget(program, conn);
    enl_proxy_forget(&program->carry, conn);
    enl_far_forget(&program->carry, conn);
}

static void on_cce_left(struct enl_cce *cce, enum enl_conn_kind kind, const char *wrong)
{
    if (kind == ENL_HANDSHAKE)
        enl_cce_handshake_closed(cce, wrong);
    else if (kind == ENL_CONTROL)
        enl_cce_disconnected(cce);
}

const struct enl_conn_ops enl_program_conn_ops = {request,      on_closing,    on_cce_left,
                                                  enl_cce_text, enl_peer_send, enl_peer_close};
