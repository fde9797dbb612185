/* SPDX-License-Identifier: MIT */
/* requests.c -- does what each control message asks for. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/eventfds.h"
#include "bcri/machine.h"
#include "bcri/outbox.h"
#include "bcri/stopped.h"
#include "carry/peer.h"
#include "carry/relay/far.h"
#include "carry/relay/relay.h"
#include "debug/session.h"
#include "host/audit.h"
#include "host/blocked_by.h"
#include "host/cce.h"
#include "host/worker.h"
#include "inspect/crash/crash.h"
#include "job/enlist.h"
#include "links/links.h"
#include "links/ways.h"
#include "program.h"
#include "tree/parent.h"
#include "tree/states.h"
#include "tree/tree.h"
#include "wire/conn.h"

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
static const char *hello_of_visitor(struct enl_conn *conn, struct bcri_incoming *in)
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
    if (wrong == NULL) {
        enl_conn_wait(&program->conns, fd, in->pid, &in->message);
        return NULL;
    }
    struct bcri_control reply = {.type = BCRI_MSG_reply,
                                 .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(text),
                                 .id = in->message.id,
                                 .status = bcrE_ENLIST,
                                 .text = bcri_view_of(wrong)};
    bcri_channel_send(fd, &reply, NULL, 0, false);
    close(fd);
    return NULL;
}

/* A program has a limited number of segment numbers at a time. A person is told before they are
 * used up. */
static void watch_numbers(struct enl_program *program, int code)
{
    const uint32_t used = bcri_host_segment_count(program->here.host);
    if (code == bcrE_NOMEM && used == BCRI_SEG_MAX && program->numbers_told < 2) {
        program->numbers_told = 2;
        enl_report(
            &program->self, BCRI_LOG_ERROR,
            "all %u numbers of memory segments are used up: bcr_cagrow fails until CCEs end that have some "
            "of the same size; run fewer CCEs at a time",
            BCRI_SEG_MAX);
    } else if (used >= BCRI_SEG_MAX / 8 * 7 && program->numbers_told < 1) {
        program->numbers_told = 1;
        enl_report(
            &program->self, BCRI_LOG_WARN,
            "%u of the %u memory segments that a program can have are made; those of CCEs that have ended "
            "serve others again, and each CCE beyond as many as there were takes more",
            used, BCRI_SEG_MAX);
    }
}

static bool cces_make(const struct enl_conn *conn, const struct bcri_control *message)
{
    if (message->kind == BCRI_SEG_OUTBOX)
        return enl_program_of(conn)->links.agent != NULL && message->size == BCRI_OUTBOX_BYTES &&
               !conn->cce->has_outbox;
    return message->kind == BCRI_SEG_HEAP || message->kind == BCRI_SEG_SLOTS;
}

/* The agent learns of a CCE's outbox when the CCE has a number for it. Without memory for that the
 * CCE has no outbox, and the number is unused until it ends. Returns 0 or a code. */
static int tell_agent(struct enl_conn *conn, uint32_t kind, uint32_t seg)
{
    if (kind != BCRI_SEG_OUTBOX)
        return 0;
    conn->cce->has_outbox =
        enl_links_outbox(&enl_program_of(conn)->links, conn->cce->index, bcri_ref_make(seg, 0));
    return conn->cce->has_outbox ? 0 : bcrE_NOMEM;
}

static const char *segment_add(struct enl_conn *conn, struct bcri_incoming *in)
{
    const struct bcri_control *message = &in->message;
    struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = message->id};
    if (in->fds[0] < 0 || !cces_make(conn, message))
        return "segment_add without a descriptor, or of a kind that CCEs do not make";
    int code = bcri_host_segment_add(enl_program_of(conn)->here.host, in->fds[0], message->size,
                                     (enum bcri_seg_kind)message->kind, conn->cce->index, &reply.seg);
    if (code == 0) {
        bcri_incoming_take(in, 0);
        code = tell_agent(conn, message->kind, reply.seg);
    }
    if (code == 0)
        reply.present |= BCRI_HAS(seg);
    reply.status = (uint32_t)code;
    enl_conn_send(conn, &reply, NULL, 0);
    watch_numbers(enl_program_of(conn), code);
    return NULL;
}

static const char *segment_again(struct enl_conn *conn, const struct bcri_control *message)
{
    struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = message->id};
    if (!cces_make(conn, message))
        return "segment_again of a kind that CCEs do not make";
    if (bcri_host_segment_again(enl_program_of(conn)->here.host, message->size,
                                (enum bcri_seg_kind)message->kind, conn->cce->index, &reply.seg) &&
        tell_agent(conn, message->kind, reply.seg) == 0)
        reply.present |= BCRI_HAS(seg);
    enl_conn_send(conn, &reply, NULL, 0);
    return NULL;
}

/* Pages of cells for the CCE itself, or for another CCE into whose cells it gives regions back. A
 * CCE that has ended needs none any more; the pages that it got before its end go with it. */
static const char *pages_take(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_program *program = enl_program_of(conn);
    struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = message->id};
    const struct enl_cce *owner = enl_cce_at(&program->here, message->index);
    const bool too_many = message->size > UINT32_MAX || message->rings > UINT32_MAX;
    const uint32_t pages[] = {(uint32_t)message->size, (uint32_t)message->rings};
    struct bcri_pages got;
    int code = owner == NULL || owner->life == ENL_OVER || too_many
                   ? bcrE_NOMEM
                   : bcri_host_pages_take(program->here.host, message->index, pages, &got);
    int fds[BCRI_PAGE_SORTS];
    unsigned fd_count = 0;
    for (int sort = 0; sort < BCRI_PAGE_SORTS && code == 0; sort++)
        if (got.fd[sort] >= 0)
            fds[fd_count++] = got.fd[sort];
    if (code == 0) {
        reply.present |= BCRI_HAS(cell) | BCRI_HAS(rings);
        reply.cell = got.ref[BCRI_PAGE_HEADERS];
        reply.rings = got.ref[BCRI_PAGE_RINGS];
    }
    reply.status = (uint32_t)code;
    enl_conn_send(conn, &reply, fds, fd_count);
    watch_numbers(program, code);
    return NULL;
}

static const char *pages_back(struct enl_conn *conn, const struct bcri_control *message)
{
    bcri_host_pages_back(enl_program_of(conn)->here.host, conn->cce->index,
                         (const bcri_ref[]){message->cell, message->rings});
    return NULL;
}

static const char *segment_fd(struct enl_conn *conn, const struct bcri_control *message)
{
    int fd = bcri_host_segment_dup(enl_program_of(conn)->here.host,
                                   message->seg); /* the worker may drop the segment */
    enl_conn_reply_fd(conn, message->id, fd);
    return NULL;
}

static const char *give_fd(struct enl_conn *conn, struct bcri_incoming *in)
{
    struct bcri_eventfds *eventfds = bcri_host_eventfds(enl_program_of(conn)->here.host);
    int fd = in->fds[0];
    int code = bcri_eventfds_set(eventfds, in->message.cell, conn->cce->index, fd);
    if (code == 0 && fd >= 0)
        bcri_incoming_take(in, 0);
    enl_conn_reply(conn, in->message.id, code, NULL);
    return NULL;
}

static const char *fd_ring(struct enl_conn *conn, const struct bcri_control *message)
{
    bcri_eventfds_ring(bcri_host_eventfds(enl_program_of(conn)->here.host), message->cell);
    return NULL;
}

static void write_note(struct enl_conn *conn, const struct bcri_control *message)
{
    char who[ENL_CCE_TEXT_MAX];
    enl_log_often(&enl_program_of(conn)->self, ENL_OFTEN_NOTE, "%s %.*s",
                  enl_cce_text(conn->cce, who, sizeof who), (int)message->text.length, message->text.bytes);
}

static uint32_t state_of(const struct enl_cce *cce)
{
    uint32_t state = bcri_load(&cce->record->id.state);
    bool stopped = state == BCRI_CCE_ALIVE && cce->pid != 0 && bcri_process_stopped((uint32_t)cce->pid);
    return stopped ? BCRI_ROW_STOPPED : state;
}

static void send_row(struct enl_conn *conn, struct bcri_control *row, const char *name)
{
    row->type = BCRI_MSG_row;
    row->present = BCRI_HAS(id) | BCRI_HAS(index) | BCRI_HAS(ordinal) | BCRI_HAS(pid) | BCRI_HAS(state) |
                   BCRI_HAS(ccename) | BCRI_HAS(program);
    row->ccename = bcri_view_of(name);
    if (row->ccename.length > 255) { /* the end of a long path tells more */
        row->ccename.bytes += row->ccename.length - 255;
        row->ccename.length = 255;
    }
    row->program = bcri_view_of(enl_program_of(conn)->self.name);
    enl_conn_send(conn, row, NULL, 0);
}

/* Answers with the `nth` process that waits to be enlisted; its index follows those of all CCEs.
 * False: there are fewer. */
static bool send_waiting(struct enl_conn *conn, const struct bcri_control *message, uint32_t nth)
{
    const struct enl_conn *waiting = TAILQ_FIRST(&conn->conns->waiting);
    for (uint32_t i = 0; i < nth && waiting != NULL; i++)
        waiting = TAILQ_NEXT(waiting, waits);
    const size_t index = enl_program_of(conn)->here.cce_room + nth;
    if (waiting == NULL || index >= BCRI_CCE_MAX)
        return false;
    struct bcri_control row = {.id = message->id,
                               .index = (uint32_t)index,
                               .pid = (uint32_t)waiting->pid,
                               .state = BCRI_ROW_WAITING};
    send_row(conn, &row, waiting->ccename);
    return true;
}

/* Answers with one CCE: the first one with at least that index. So a list of any length needs no
 * queue. */
static const char *ps(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_program *program = enl_program_of(conn);
    for (uint32_t index = message->index; index < program->here.cce_room; index++) {
        const struct enl_cce *cce = program->here.cces[index];
        if (cce == NULL || cce->life == ENL_OVER)
            continue;
        struct bcri_control row = {.id = message->id,
                                   .index = index,
                                   .ordinal = cce->ordinal,
                                   .pid = (uint32_t)(cce->pid != 0 ? cce->pid : cce->process),
                                   .state = state_of(cce)};
        send_row(conn, &row, cce->object);
        return NULL;
    }
    const size_t room = program->here.cce_room;
    if (send_waiting(conn, message, message->index > room ? (uint32_t)(message->index - room) : 0))
        return NULL;
    enl_conn_reply(conn, message->id, 0, NULL);
    return NULL;
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
    case ENL_VISITOR:
        switch (message->type) {
        case BCRI_MSG_hello: return hello_of_visitor(conn, in);
        case BCRI_MSG_ps: return ps(conn, message);
        case BCRI_MSG_host_next: return enl_states_ask(conn, message);
        case BCRI_MSG_audit: return enl_audit_ask(&enl_program_of(conn)->here, conn, message);
        case BCRI_MSG_kill: return end_program(conn, in);
        case BCRI_MSG_relay: return enl_relay_ask(&enl_program_of(conn)->carry, conn, in);
        case BCRI_MSG_pane: return enl_session_pane(&enl_program_of(conn)->session, conn, message);
        case BCRI_MSG_attach: return enl_session_attach(&enl_program_of(conn)->session, conn, message);
        default: break;
        }
        break;
    case ENL_HELPER:
        switch (message->type) {
        case BCRI_MSG_segment_fd: return enl_relay_segment(enl_program_of(conn)->here.host, conn, message);
        case BCRI_MSG_ps: return ps(conn, message);
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
        case BCRI_MSG_ps: return ps(conn, message);
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
        case BCRI_MSG_segment_add: return segment_add(conn, in);
        case BCRI_MSG_segment_again: return segment_again(conn, message);
        case BCRI_MSG_pages_take: return pages_take(conn, message);
        case BCRI_MSG_pages_back: return pages_back(conn, message);
        case BCRI_MSG_segment_fd: return segment_fd(conn, message);
        case BCRI_MSG_segment_freed: enl_worker_look(enl_program_of(conn)->here.worker); return NULL;
        case BCRI_MSG_fd_set: return give_fd(conn, in);
        case BCRI_MSG_fd_ring: return fd_ring(conn, message);
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
        program->upward = NULL;
        program->self.report.upward = NULL;
        program->here.lines.upward = NULL;
    }
    enl_session_unseen(conn);
    enl_enlist_forget(&program->jobs, conn);
    enl_tree_forget(program, conn);
    enl_relay_forget(&program->carry, conn);
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
