/* SPDX-License-Identifier: MIT */
/* requests.c -- does what each control message asks for. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bcr/error.h>

#include "carry/carry.h"
#include "conductor/tree.h"
#include "debug/debug.h"
#include "host/host.h"
#include "host/worker.h"
#include "inspect/crash/crash.h"
#include "job/job.h"
#include "links/links.h"
#include "program.h"
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

/* Why the program takes no process that comes by itself; NULL: it does. One that enters becomes a CCE at once, which one
 * that waits to be enlisted does only if the program goes on. */
static const char *takes_nobody(const struct enl_program *program, bool enters)
{
    const enum enl_phase phase = program->self.phase;
    if (phase == ENL_PREPARING && enters)
        return "the program has not begun yet: its startscript runs";
    if ((phase != ENL_RUNNING && phase != ENL_PREPARING) || (program->dismissed && enters))
        return "the program is ending";
    if (program->here.is_frozen && enters)
        return "the program is ending";
    return program->jobs.stop_signal != 0 && enters ? "the program is being stopped" : NULL;
}

/* At the abstract address: a process of enl --join says hello, or any says that it enters. The visit ends with that; the
 * private socket waits. */
static const char *hello_of_client(struct enl_conn *conn, struct bcri_incoming *in)
{
    struct enl_program *program = enl_program_of(conn);
    const bool enters = in->message.type == BCRI_MSG_enter;
    const char *wrong = enl_hello_wrong(&in->message);
    if (!is_private_socket(in->fds[0]))
        return "hello without a socket";
    shutdown(conn->watch->fd,
             SHUT_RDWR); /* others may hold it open: enl --join's watch, forks of the process */
    if (wrong == NULL)
        wrong = takes_nobody(program, enters);
    if (in->pid == 0)
        wrong = "enl cannot watch this process (another pid namespace?)";
    int fd = bcri_incoming_take(in, 0);
    if (wrong != NULL)
        enl_hello_refuse(fd, in->message.id, bcrE_ENLIST, wrong);
    else if (enters)
        enl_enter(&program->jobs, fd, in->pid, &in->message);
    else
        enl_conn_wait(&program->conns, fd, in->pid, &in->message);
    return NULL;
}

static void write_note(struct enl_conn *conn, const struct bcri_control *message)
{
    enl_log_often(&enl_program_of(conn)->self, ENL_OFTEN_NOTE, "%s %.*s", enl_cce_text(conn->cce),
                  (int)message->text.length, message->text.bytes);
}

/* What only the root knows: the parent's answer goes to `conn`. */
static const char *ask_parent(struct enl_conn *conn, const struct bcri_control *message, int status)
{
    if (!enl_parent_ask(conn, message, NULL))
        enl_conn_reply(conn, message->id, status, NULL);
    return NULL;
}

/* The root's daemon has the list of hosts. */
static const char *list_request(struct enl_conn *conn, const struct bcri_control *message)
{
    if (enl_program_of(conn)->self.is_child)
        return ask_parent(conn, message, bcrE_ENLIST);
    if (message->type == BCRI_MSG_host_name)
        return enl_states_of_listed(conn, message);
    return message->type == BCRI_MSG_host_add ? enl_changes_add(conn, message)
                                              : enl_changes_take_away(conn, message);
}

/* How CCEs of that host represent data, also of one that is gone. */
static const char *host_arch(struct enl_conn *conn, const struct bcri_control *message)
{
    const uint32_t archtype = enl_tree_arch(enl_program_of(conn), message->host);
    const struct bcri_control reply = {.type = BCRI_MSG_reply,
                                       .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(archtype),
                                       .id = message->id,
                                       .archtype = archtype};
    if (archtype != 0)
        enl_conn_send(conn, &reply, NULL, 0);
    else if (enl_program_of(conn)->self.is_child)
        return ask_parent(conn, message, bcrE_NOCCE);
    else
        enl_conn_reply(conn, message->id, bcrE_NOCCE, NULL);
    return NULL;
}

/* What a CCE asks of the root's daemon, which keeps something of it, with its identity. */
static struct bcri_control in_its_name(struct enl_conn *conn, const struct bcri_control *message)
{
    struct bcri_control whole = *message;
    if (conn->cce == NULL)
        return whole;
    conn->cce->is_kept_of = true;
    whole.present |= BCRI_HAS(enlistor);
    whole.enlistor = (struct bcri_view){(const char *)conn->cce->record->id.identity, BCRI_IDENTITY_BYTES};
    return whole;
}

/* The root's daemon has the names. */
static const char *name_request(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_program *program = enl_program_of(conn);
    const struct bcri_control whole = in_its_name(conn, message);
    if (program->self.is_child)
        return ask_parent(conn, &whole, bcrE_ENLIST);
    if (program->self.phase == ENL_RUNNING)
        return message->type == BCRI_MSG_find ? enl_names_find(&program->jobs.names, conn, &whole)
                                              : enl_names_publish(&program->jobs.names, conn, &whole);
    enl_cce_reply(conn, message->id, bcrE_ENLIST, NULL);
    return NULL;
}

/* The root's daemon has the teams. */
static const char *team_request(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_program *program = enl_program_of(conn);
    const struct bcri_control whole = in_its_name(conn, message);
    if (message->type == BCRI_MSG_team_cut && program->self.upward != NULL)
        program->self.upward->send(program, &whole);
    else if (message->type == BCRI_MSG_team_cut)
        enl_teams_cut(&program->jobs, &whole);
    else if (program->self.is_child)
        return ask_parent(conn, &whole, bcrE_ENLIST);
    else if (program->self.phase == ENL_RUNNING)
        return enl_teams_ask(&program->jobs, conn, &whole);
    else
        enl_cce_reply(conn, message->id, bcrE_ENLIST, NULL);
    return NULL;
}

/* The root's daemon asks all others. */
static const char *outdone_request(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_program *program = enl_program_of(conn);
    if (program->self.is_child)
        return ask_parent(conn, message, bcrE_ENLIST);
    if (program->self.phase == ENL_RUNNING)
        return enl_outdone_ask(&program->jobs, conn, message);
    enl_cce_reply(conn, message->id, bcrE_ENLIST, NULL);
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
    } else if (program->self.phase == ENL_ENDING) { /* by a signal, which CCEs have killafter to heed */
        enl_program_abort(program, program->jobs.status);
    }
    if (program->jobs.script != 0)
        kill(-program->jobs.script, SIGKILL);
    enl_report_hurry(&program->self);
    return NULL;
}

#define ON(kind, type) ((unsigned)ENL_##kind << 16 | (unsigned)BCRI_MSG_##type)

static const char *request(struct enl_conn *conn, struct bcri_incoming *in)
{
    const struct bcri_control *message = &in->message;
    struct enl_program *program = enl_program_of(conn);
    switch ((unsigned)conn->kind << 16 | (unsigned)message->type) {
    case ON(HANDSHAKE, hello): return hello_on_handshake(conn, in);
    case ON(HANDSHAKE, held): enl_cce_held(conn->cce); return NULL;
    case ON(CLIENT, hello):
    case ON(CLIENT, enter): return hello_of_client(conn, in);
    case ON(CLIENT, ps):
    case ON(HELPER, ps):
    case ON(PARENT, ps): return enl_rows_answer(&program->here, conn, message);
    case ON(CLIENT, host_next): return enl_states_ask(conn, message);
    case ON(CLIENT, audit): return enl_audit_ask(&program->here, conn, message);
    case ON(CLIENT, kill):
    case ON(PARENT, kill): return end_program(conn, in);
    case ON(CLIENT, relay): return enl_proxy_ask(&program->carry, conn, in);
    case ON(CLIENT, pane):
    case ON(HELPER, pane): return enl_session_pane(&program->session, conn, message);
    case ON(CLIENT, attach):
    case ON(HELPER, attach): return enl_session_attach(&program->session, conn, message);
    case ON(HELPER, segment_fd): return enl_proxy_segment(program->here.host, conn, message);
    case ON(HELPER, way_next): return enl_ways_ask(&program->links, conn, message);
    case ON(PARENT, enlist):
    case ON(CHILD, enlist):
    case ON(CONTROL, enlist): return enl_enlist(&program->jobs, conn, in);
    case ON(PARENT, strings):
    case ON(CHILD, strings): return enl_enlist_strings(&program->jobs, conn, message);
    case ON(PARENT, signal_cce):
    case ON(CHILD, signal_cce):
    case ON(CONTROL, signal_cce): return enl_asked_signal(&program->jobs, conn, message);
    case ON(CONTROL, finish): enl_asked_end(&program->jobs, conn, message); return NULL;
    case ON(CHILD, host_name):
    case ON(CHILD, host_add):
    case ON(CHILD, host_del):
    case ON(CONTROL, host_name):
    case ON(CONTROL, host_add):
    case ON(CONTROL, host_del): return list_request(conn, message);
    case ON(CHILD, host_arch):
    case ON(CONTROL, host_arch): return host_arch(conn, message);
    case ON(CONTROL, segment_add): return enl_memory_segment_add(conn, in);
    case ON(CONTROL, segment_again): return enl_memory_segment_again(conn, message);
    case ON(CONTROL, pages_take): return enl_memory_pages_take(conn, message);
    case ON(CONTROL, pages_back): return enl_memory_pages_back(conn, message);
    case ON(CONTROL, segment_fd): return enl_memory_segment_fd(conn, message);
    case ON(CONTROL, segment_freed): enl_worker_look(program->here.worker); return NULL;
    case ON(CONTROL, fd_set): return enl_memory_fd_set(conn, in);
    case ON(CONTROL, fd_get): return enl_memory_fd_get(conn, message);
    case ON(CONTROL, fd_ring): return enl_memory_fd_ring(conn, message);
    case ON(CONTROL, debug): enl_inspection_ask(&program->session, conn->cce, message); return NULL;
    case ON(CONTROL, crashed): return enl_crash_begun(&program->crashes, conn->cce, in);
    case ON(CHILD, publish):
    case ON(CHILD, find):
    case ON(CONTROL, publish):
    case ON(CONTROL, find): return name_request(conn, message);
    case ON(CHILD, team_new):
    case ON(CHILD, team_cut):
    case ON(CONTROL, team_new):
    case ON(CONTROL, team_cut): return team_request(conn, message);
    case ON(CONTROL, team_sync): return enl_members_sync(conn, message);
    case ON(CHILD, outdone):
    case ON(CONTROL, outdone): return outdone_request(conn, message);
    case ON(CONTROL, tempdir): return enl_tempdir_ask(conn, message);
    case ON(CONTROL, watch): return enl_watches_ask(conn, message);
    case ON(CONTROL, note): write_note(conn, message); return NULL;
    case ON(CONTROL, idle): enl_deadlock_idle(&program->deadlock, conn->cce, message); return NULL;
    case ON(CONTROL, blocked_by):
        enl_blocked_by(&program->here, message->index, conn->cce->index);
        return NULL;
    default: return "not a message for this connection";
    }
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
    enl_names_forget(&program->jobs.names, conn);
    enl_outdone_forget(&program->jobs.outdone, conn);
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
