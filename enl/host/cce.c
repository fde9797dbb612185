/* SPDX-License-Identifier: MIT */
/* cce.c -- how a CCE comes to life. Its end is in death.c. */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bcr/error.h>
#include <bcr/program.h>

#include "base/grow.h"
#include "base/status.h"
#include "base/watch.h"
#include "bcri/archtype.h"
#include "bcri/bell.h"
#include "bcri/failure.h"
#include "bcri/refuse.h"
#include "bcri/signature.h"
#include "host/worker.h"
#include "wire/wire.h"

const char *enl_cce_text(const struct enl_cce *cce)
{
    enum { OBJECT_SHOWN = 300 };
    static char texts[2][ENL_CCE_TEXT_MAX];
    static unsigned turn;
    char *text = texts[turn++ % 2], process[32] = "";
    const pid_t pid = cce->pid != 0 ? cce->pid : cce->process;
    const size_t length = strlen(cce->object), left_out = length > OBJECT_SHOWN ? length - OBJECT_SHOWN : 0;
    if (pid != 0)
        snprintf(process, sizeof process, ", pid %ld", (long)pid);
    snprintf(text, ENL_CCE_TEXT_MAX, "CCE %u (%s%s%s) on %s", cce->ordinal, left_out != 0 ? "..." : "",
             cce->object + left_out, process, cce->here->self->hostname);
    return text;
}

struct enl_cce *enl_cce_new(struct enl_here *here, const char *object, uint32_t ordinal,
                            const struct enl_origin *origin, char *error, size_t error_size)
{
    uint32_t index;
    char failure[BCRI_FAILURE_TEXT_MAX];
    struct enl_cce *cce = calloc(1, sizeof *cce);
    bcri_failure_forget();
    if (cce == NULL || (cce->object = strdup(object)) == NULL ||
        bcri_host_cce_add(here->host, ordinal, &index) != 0) {
        bcri_refuse(error, error_size, 0, "no room for one more CCE's record (%s); free some, or end CCEs",
                    bcri_failure_text("no memory", failure));
        goto free_cce;
    }
    if (!enl_grow(&here->cces, &here->cce_room, index + 1ul, sizeof(struct enl_cce *))) {
        bcri_refuse(error, error_size, 0, "no memory for one more CCE");
        bcri_host_cce_release(here->host, index);
        goto free_cce;
    }
    cce->here = here;
    cce->index = index;
    cce->ordinal = ordinal;
    cce->record = bcri_host_record(here->host, index);
    cce->kill_socket = -1;
    cce->core = -1;
    cce->origin = *origin;
    cce->output.streams[0].cce = cce->output.streams[1].cce = cce;
    here->cces[index] = cce;
    TAILQ_INSERT_TAIL(&here->all, cce, entry);
    here->alive++;
    return cce;

free_cce:
    if (cce != NULL)
        free(cce->object);
    free(cce);
    return NULL;
}

struct enl_origin enl_origin_of(const struct enl_cce *enlistor)
{
    struct enl_origin origin;
    memcpy(origin.identity, enlistor->record->id.identity, sizeof origin.identity);
    return origin;
}

void enl_cce_of_job(struct enl_cce *cce, bool of_score)
{
    cce->flags |= ENL_OF_JOB | (of_score ? ENL_OF_SCORE_JOB : 0);
    cce->here->has_job = true;
    cce->here->isolated++;
}

static void welcome(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    int pair[2];
    if (cce->team.members != NULL && enl_members_table(cce) < 0) {
        enl_conn_reply(cce->control, cce->hello_id, bcrE_NOMEM, "enl has no memory for its team's table");
        enl_cce_fail(cce, bcrE_NOMEM, "no memory for its team's table");
        return;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        int error = errno;
        enl_conn_reply(cce->control, cce->hello_id, bcrE_NOMEM, "enl has no descriptors left");
        enl_cce_fail(cce, bcrE_NOMEM, "%s", enl_cce_text_of_error(error));
        return;
    }
    cce->kill_socket = pair[0];
    bcri_store(&cce->record->id.pid, (uint32_t)cce->pid);
    bcri_store(&cce->record->id.start_time, enl_process_stat(cce->pid, ENL_STAT_START_TIME));
    cce->life = ENL_ALIVE;
    struct bcri_control message = {.type = BCRI_MSG_welcome,
                                   .present = BCRI_HAS(id) | BCRI_HAS(index) | BCRI_HAS(enlistor) |
                                              BCRI_HAS(program),
                                   .id = cce->hello_id,
                                   .index = cce->index,
                                   .enlistor = {(const char *)cce->origin.identity, BCRI_IDENTITY_BYTES},
                                   .program = bcri_view_of(here->self->name)};
    if (here->self->config.crashreport != 0) {
        message.present |= BCRI_HAS(flags);
        message.flags |= BCRI_WELCOME_CRASHES;
        if (here->self->config.crashreport == BCRI_CRASHREPORT_LOCALS)
            message.flags |= BCRI_WELCOME_LOCALS;
    }
    const uint8_t *nonce = enl_await_nonce(cce);
    if (nonce != NULL) {
        message.present |= BCRI_HAS(random);
        message.random = (struct bcri_view){(const char *)nonce, BCRI_NONCE_BYTES};
    }
    if (cce->core >= 0) {
        message.present |= BCRI_HAS(core) | BCRI_HAS(bytes);
        message.core = cce->core;
        message.bytes = (struct bcri_view){(const char *)&here->cores.allowed, sizeof here->cores.allowed};
    }
    int fds[BCRI_CONTROL_FDS_MAX] = {bcri_host_segment_fd(here->host, BCRI_HOST_SEG), pair[1]};
    unsigned count = 2;
    if (cce->team.members != NULL) {
        message.present |= BCRI_HAS(flags) | BCRI_HAS(rank);
        message.flags |= BCRI_WELCOME_TEAM;
        message.rank = cce->team.rank;
        fds[count++] = enl_members_table(cce);
    }
    fds[count] = here->ops->network_bell(here->self->links);
    count += fds[count] >= 0;
    enl_conn_send(cce->control, &message, fds, count);
    close(pair[1]);
    bcri_log_write(&here->self->log, BCRI_LOG_DEBUG, "CCE %u is in: %s, pid %ld", cce->ordinal, cce->object,
                   (long)cce->pid);
}

static void welcome_if_ready(struct enl_cce *cce)
{
    if (cce->life == ENL_HELD && cce->cell0_ready && cce->control != NULL && enl_members_may_go(cce))
        welcome(cce);
}

/* It has said hello, with those flags of bcr_init. The root hears of them before the CCE's bcr_init returns, from another
 * host unless that is about to be lost. */
static void accept_hello(struct enl_cce *cce, uint32_t flags)
{
    struct enl_here *here = cce->here;
    const bool was_isolated = enl_cce_is_isolated(cce);
    cce->life = ENL_HELD;
    cce->flags =
        (cce->flags & (ENL_OF_JOB | ENL_OF_SCORE_JOB)) | ((int)flags & ~(ENL_OF_JOB | ENL_OF_SCORE_JOB));
    if (enl_cce_is_isolated(cce) && !was_isolated) {
        here->isolated++;
        if (here->self->upward != NULL)
            here->self->upward->alive(here->self->program);
    }
    if ((flags & bcr_passsignals) != 0)
        here->ops->asked(here->self->program, cce);
    if (cce->team.members != NULL && !cce->team.has_come)
        enl_members_came(cce); /* the last one, which opens the gate, may fail to be welcomed, and be freed */
    else
        welcome_if_ready(cce);
}

void enl_cce_gate_open(struct enl_cce *cce)
{
    static const struct bcri_control release = {.type = BCRI_MSG_release};
    if (cce->life == ENL_STARTED && cce->team.has_come && cce->handshake != NULL) {
        bcri_store(&cce->record->id.pid, (uint32_t)cce->process); /* it runs, and may never say hello */
        enl_conn_send(cce->handshake, &release, NULL, 0);
    }
    welcome_if_ready(cce);
}

void enl_cce_held(struct enl_cce *cce)
{
    if (cce->life == ENL_STARTED && cce->team.members != NULL && !cce->team.has_come)
        enl_members_came(cce);
}

bool enl_cce_init_cell0(struct enl_cce *cce, uint32_t archtype, const void *data, uint32_t length)
{
    struct enl_work work = {.kind = ENL_WORK_CELL0_INIT, .index = cce->index, .has_data = data != NULL};
    if (data != NULL) {
        work.archtype = archtype;
        work.length = length;
        memcpy(work.data, data, length);
    }
    return enl_worker_add(cce->here->worker, &work);
}

void enl_cce_cell0_ready(struct enl_cce *cce, int code)
{
    if (cce->life == ENL_OVER)
        return;
    if (code != 0) {
        enl_cce_fail(cce, bcrE_NOMEM, "its birth region found no memory");
        return;
    }
    cce->cell0_ready = true;
    welcome_if_ready(cce);
}

/* Watches a process that is not the daemon's own child. Returns 0 or an errno; ESRCH: it has
 * ended. */
static int watch_pid(struct enl_cce *cce, pid_t pid)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0)
        return errno;
    fcntl(pidfd, F_SETFD, FD_CLOEXEC);
    cce->pid_watch = enl_watch_start(cce->here->self, pidfd, enl_death_of_pid, cce);
    return cce->pid_watch != NULL ? 0 : ENOMEM;
}

void enl_hello_refuse(int fd, uint32_t id, int status, const char *text)
{
    struct bcri_control reply = {.type = BCRI_MSG_reply,
                                 .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(text),
                                 .id = id,
                                 .status = (uint32_t)status,
                                 .text = bcri_view_of(text)};
    bcri_channel_send(fd, &reply, NULL, 0, false);
    close(fd);
}

static void refuse_hello(struct enl_cce *cce, int fd, uint32_t id, int status, const char *text)
{
    enl_hello_refuse(fd, id, status, text);
    enl_log_often(cce->here->self, ENL_OFTEN_HELLO, "hello of %s refused: %s", enl_cce_text(cce), text);
}

const char *enl_hello_wrong(const struct bcri_control *hello)
{
    if (hello->archtype != (uint32_t)bcri_archtype_native())
        return "the program is of another architecture than this enl; path= in the hosts file says where a "
               "host has its own";
    if (hello->layout != bcri_layout_signature())
        return "the program and this enl come from different builds of BCR that lay out shared memory "
               "differently; "
               "link the program with the library of this enl";
    return NULL;
}

void enl_cce_hello(struct enl_cce *cce, pid_t pid, int fd, const struct bcri_control *hello)
{
    const char *wrong = enl_hello_wrong(hello);
    if (cce->life == ENL_OVER) { /* the process ended, or its birth region failed: reported */
        refuse_hello(cce, fd, hello->id, bcrE_ENLIST, "its start has failed");
        return;
    }
    if (cce->life != ENL_STARTED) {
        refuse_hello(cce, fd, hello->id, bcrE_BUSY,
                     "another process has joined with the socket that both inherited");
        return;
    }
    if (wrong == NULL && pid == 0)
        wrong = "enl cannot see its process, which is in another pid namespace";
    if (wrong == NULL && pid != cce->process) {
        int error = watch_pid(cce, pid);
        if (error == ESRCH) { /* the daemon's child or a wrapper's, whose end is reported */
            cce->hello_late = true;
            close(fd);
            return;
        }
        wrong = error != 0 ? enl_cce_text_of_error(error) : NULL;
    }
    if (wrong != NULL) {
        cce->refused = true;
        enl_report(cce->here->self, BCRI_LOG_ERROR, "%s is refused: %s", enl_cce_text(cce), wrong);
        refuse_hello(cce, fd, hello->id, bcrE_ENLIST, wrong);
        return;
    }
    cce->pid = pid;
    cce->hello_id = hello->id;
    cce->control = enl_conn_new(cce->here->conns, ENL_CONTROL, fd, cce);
    if (cce->control == NULL)
        return;
    cce->control->pid = pid;
    accept_hello(cce, hello->flags);
}

bool enl_cce_take(struct enl_cce *cce, struct enl_conn *conn, int core)
{
    pid_t pid = conn->pid;
    if (watch_pid(cce, pid) != 0)
        return false;
    if (core >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)core, &set);
        sched_setaffinity(pid, sizeof set, &set);
        cce->core = core;
        enl_cores_take(&cce->here->cores, core);
    }
    cce->pid = pid;
    cce->hello_id = conn->hello_id;
    enl_conn_adopt(conn, cce);
    cce->control = conn;
    accept_hello(cce, conn->flags);
    return true;
}

static void ring_bell_of(const struct enl_conn *conn)
{
    if (conn->cce != NULL)
        bcri_bell_ring(bcri_host_ctx(conn->cce->here->host), conn->cce->record);
}

void enl_cce_answer(struct enl_conn *conn, const struct bcri_control *reply)
{
    enl_conn_send(conn, reply, NULL, 0);
    ring_bell_of(conn);
}

void enl_cce_reply(struct enl_conn *conn, uint32_t id, int status, const char *text)
{
    enl_conn_reply(conn, id, status, text);
    ring_bell_of(conn);
}

int enl_cce_signal_itself(const struct enl_cce *cce, int signal)
{
    if (cce->pid == 0)
        return ESRCH;
    const long sent = cce->pid_watch != NULL
                          ? syscall(SYS_pidfd_send_signal, cce->pid_watch->fd, signal, NULL, 0)
                          : kill(cce->pid, signal);
    return sent == 0 ? 0 : errno;
}

void enl_cce_signal(struct enl_cce *cce, int signal, bool group)
{
    if (cce->process != 0)
        kill(cce->own_group && group ? -cce->process : cce->process, signal);
    if (cce->pid_watch != NULL)
        syscall(SYS_pidfd_send_signal, cce->pid_watch->fd, signal, NULL, 0);
}
