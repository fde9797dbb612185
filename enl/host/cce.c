/* SPDX-License-Identifier: MIT */
/* cce.c -- how a CCE comes to life. Its end is in death.c. */
#include "host/cce.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bcr/error.h>

#include "base/watch.h"
#include "bcri/archtype.h"
#include "bcri/bell.h"
#include "bcri/environment.h"
#include "bcri/failure.h"
#include "bcri/refuse.h"
#include "bcri/signature.h"
#include "host/death.h"
#include "host/lines.h"
#include "host/started.h"
#include "host/worker.h"
#include "wire/conn.h"

struct enl_cce *enl_cce_at(struct enl_here *here, uint32_t index)
{
    return index < here->cce_room ? here->cces[index] : NULL;
}

const char *enl_cce_text(const struct enl_cce *cce, char *buffer, size_t size)
{
    enum { OBJECT_SHOWN = 300 };
    const pid_t pid = cce->pid != 0 ? cce->pid : cce->process;
    const char *host = cce->here->self->hostname;
    const size_t length = strlen(cce->object), left_out = length > OBJECT_SHOWN ? length - OBJECT_SHOWN : 0;
    char object[OBJECT_SHOWN + 4];
    snprintf(object, sizeof object, "%s%s", left_out != 0 ? "..." : "", cce->object + left_out);
    if (pid != 0)
        snprintf(buffer, size, "CCE %u (%s, pid %ld) on %s", cce->ordinal, object, (long)pid, host);
    else
        snprintf(buffer, size, "CCE %u (%s) on %s", cce->ordinal, object, host);
    return buffer;
}

static bool room_at(struct enl_here *here, uint32_t index)
{
    if (index < here->cce_room)
        return true;
    size_t room = here->cce_room != 0 ? here->cce_room * 2 : 64;
    while (room <= index)
        room *= 2;
    struct enl_cce **cces = realloc(here->cces, room * sizeof(struct enl_cce *));
    if (cces == NULL)
        return false;
    memset(cces + here->cce_room, 0, (room - here->cce_room) * sizeof(struct enl_cce *));
    here->cces = cces;
    here->cce_room = room;
    return true;
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
    if (!room_at(here, index)) {
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

/* The root's directory, or the home directory if the root's is gone. NULL: the daemon's own, which
 * is the root's. */
static const char *folder_for(const struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    struct stat status;
    if (here->folder == NULL || stat(here->folder, &status) == 0)
        return NULL;
    bcri_log_write(&here->self->log, BCRI_LOG_WARN, "directory %s is gone; %s starts in %s", here->folder,
                   cce->object, here->self->config.home != NULL ? here->self->config.home : "/");
    return here->self->config.home != NULL ? here->self->config.home : "/";
}

/* The standard files of a CCE. The root keeps the daemon's, unless its lines are wanted. Returns 0
 * or -errno, where `*step_out` says what failed. */
static int open_files(struct enl_cce *cce, struct enl_spawn *spawn, const char **step_out)
{
    int ends[2];
    const bool root = cce == cce->here->root;
    if (root && !enl_lines_of_root_wanted(&cce->here->lines))
        return 0;
    spawn->in = root ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (!root && spawn->in < 0) {
        *step_out = "open /dev/null";
        return -errno;
    }
    int error = enl_output_open(cce, ends);
    if (error != 0) {
        if (spawn->in >= 0)
            close(spawn->in);
        spawn->in = -1;
        return error;
    }
    spawn->out = ends[0];
    spawn->err = ends[1];
    return 0;
}

static void close_files(const struct enl_spawn *spawn)
{
    if (spawn->in >= 0)
        close(spawn->in);
    if (spawn->out >= 0)
        close(spawn->out);
    if (spawn->err >= 0)
        close(spawn->err);
}

/* Field `number` of /proc/<pid>/stat, or 0 if it cannot be read. Fields are counted from the last
 * ')', since the name may hold anything. */
enum { STAT_START_TIME = 22, STAT_CORE = 39 };
static uint64_t stat_of(pid_t pid, int number)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < number; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

void enl_cce_begin_cores(struct enl_here *here)
{
    if (!here->cores.begun && here->root != NULL)
        enl_cores_begin(&here->cores, (int)stat_of(here->root->pid, STAT_CORE));
}

static int choose_core(struct enl_here *here)
{
    enl_cce_begin_cores(here);
    return enl_cores_choose(&here->cores);
}

static const char *text_of(int error)
{
    switch (error) {
    case EMFILE:
        return "enl has no descriptors left; raise the limit of open files (ulimit -n), enl(1) says how much";
    case ENOEXEC: return "it is neither a program nor a script that begins with #!";
    default: return strerror(error);
    }
}

/* The code for a start that the system has refused. EAGAIN: no more processes. */
static int code_of(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN: return bcrE_NOMEM;
    case EACCES:
    case ELIBBAD:
    case ENOENT:
    case ENOEXEC:
    case ETXTBSY: return bcrE_NOPROG;
    default: return bcrE_ENLIST;
    }
}

int enl_cce_start(struct enl_cce *cce, const char *path, char *const *argv, int core, char *error,
                  size_t error_size)
{
    struct enl_here *here = cce->here;
    bool root = cce == here->root;
    struct enl_started started;
    const bool debugged = here->ops->is_debugged(here->owner, cce->ordinal);
    char **words = NULL; /* of its debugger */
    int code =
        enl_started_make(&started, debugged ? NULL : here->self->config.wrap, path, argv, error, error_size);
    if (code != 0)
        return code;
    struct enl_spawn spawn = {.path = started.path,
                              .argv = started.argv,
                              .in = -1,
                              .out = -1,
                              .err = -1,
                              .core = core >= 0 || root ? core : choose_core(here),
                              .core_is_wanted = core >= 0,
                              .own_group = !root,
                              .die_with_parent = true,
                              .folder = root ? NULL : folder_for(cce),
                              .inherited = &here->self->inherited};
    int pair[2];
    int failed = bcri_channel_pair(pair);
    if (failed != 0) {
        enl_started_free(&started);
        char failure[BCRI_FAILURE_TEXT_MAX];
        return bcri_refuse(error, error_size, bcrE_NOMEM, "no socket for it: %s",
                           failed == -EMFILE ? text_of(EMFILE) : bcri_failure_text("", failure));
    }
    spawn.keep = pair[1];
    char number[16];
    snprintf(number, sizeof number, "%d", pair[1]);
    char **environment = enl_environment_with(here->self->environment, BCRI_CONTROL_ENV, number);
    spawn.environment = environment;
    if (environment != NULL)
        enl_environment_give_back(environment);
    const char *step = "get its files";
    failed = environment == NULL ? -ENOMEM : open_files(cce, &spawn, &step);
    if (failed == 0 && debugged)
        code = here->ops->dress(cce, &spawn, &words, error, error_size);
    pid_t pid = code != 0 ? -EAGAIN : failed != 0 ? failed : enl_spawn(&spawn, &step);
    if (words != NULL)
        here->ops->debugger_started(cce, pid);
    free(words);
    free(environment);
    enl_started_free(&started);
    close_files(&spawn);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        if (code != 0)
            return code;
        return bcri_refuse(error, error_size, code_of(-pid), "%s could not %s: %s%s", path, step,
                           text_of(-pid), bcri_fork_remedy(-pid));
    }
    cce->process = pid;
    cce->own_group = spawn.own_group || spawn.own_session;
    cce->core = spawn.core;
    enl_cores_take(&here->cores, cce->core);
    cce->handshake = enl_conn_new(here->conns, ENL_HANDSHAKE, pair[0], cce);
    bcri_log_write(&here->self->log, BCRI_LOG_DEBUG, "started CCE %u: %s, pid %ld", cce->ordinal, path,
                   (long)pid);
    return 0; /* without a handshake socket (no memory) its bcr_init fails, which is reported */
}

bool enl_cce_adopt_root(struct enl_cce *cce, pid_t process, int handshake)
{
    cce->process = process;
    cce->handshake = enl_conn_new(cce->here->conns, ENL_HANDSHAKE, handshake, cce);
    /* It may have ended before this process was an enl that hears of that: the signal came too early, and would not come again. */
    kill(getpid(), SIGCHLD);
    return cce->handshake != NULL;
}

static void welcome(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        int error = errno;
        enl_conn_reply(cce->control, cce->hello_id, bcrE_NOMEM, "enl has no descriptors left");
        enl_cce_fail(cce, bcrE_NOMEM, "%s", text_of(error));
        return;
    }
    cce->kill_socket = pair[0];
    bcri_store(&cce->record->id.pid, (uint32_t)cce->pid);
    bcri_store(&cce->record->id.start_time, stat_of(cce->pid, STAT_START_TIME));
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
        message.flags = BCRI_WELCOME_CRASHES;
        if (here->self->config.crashreport == BCRI_CRASHREPORT_LOCALS)
            message.flags |= BCRI_WELCOME_LOCALS;
    }
    const int fds[] = {bcri_host_segment_fd(here->host, BCRI_HOST_SEG), pair[1],
                       here->ops->network_bell(here->owner)};
    enl_conn_send(cce->control, &message, fds, fds[2] >= 0 ? 3 : 2);
    close(pair[1]);
    bcri_log_write(&here->self->log, BCRI_LOG_DEBUG, "CCE %u is in: %s, pid %ld", cce->ordinal, cce->object,
                   (long)cce->pid);
}

static void welcome_if_ready(struct enl_cce *cce)
{
    if (cce->life == ENL_HELD && cce->cell0_ready && cce->control != NULL)
        welcome(cce);
}

static void hold(struct enl_cce *cce)
{
    cce->life = ENL_HELD;
    welcome_if_ready(cce);
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

static void refuse(struct enl_cce *cce, int fd, uint32_t id, int status, const char *text)
{
    struct bcri_control reply = {.type = BCRI_MSG_reply,
                                 .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(text),
                                 .id = id,
                                 .status = (uint32_t)status,
                                 .text = bcri_view_of(text)};
    char who[ENL_CCE_TEXT_MAX];
    bcri_channel_send(fd, &reply, NULL, 0, false);
    close(fd);
    enl_log_often(cce->here->self, ENL_OFTEN_HELLO, "hello of %s refused: %s",
                  enl_cce_text(cce, who, sizeof who), text);
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
        refuse(cce, fd, hello->id, bcrE_ENLIST, "its start has failed");
        return;
    }
    if (cce->life != ENL_STARTED) {
        refuse(cce, fd, hello->id, bcrE_BUSY,
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
        wrong = error != 0 ? text_of(error) : NULL;
    }
    if (wrong != NULL) {
        char who[ENL_CCE_TEXT_MAX];
        cce->refused = true;
        enl_report(cce->here->self, BCRI_LOG_ERROR, "%s is refused: %s", enl_cce_text(cce, who, sizeof who),
                   wrong);
        refuse(cce, fd, hello->id, bcrE_ENLIST, wrong);
        return;
    }
    cce->pid = pid;
    cce->flags = (int)hello->flags;
    cce->hello_id = hello->id;
    cce->control = enl_conn_new(cce->here->conns, ENL_CONTROL, fd, cce);
    if (cce->control == NULL)
        return;
    cce->control->pid = pid;
    hold(cce);
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
    cce->flags = (int)conn->flags;
    cce->hello_id = conn->hello_id;
    enl_conn_adopt(conn, cce);
    cce->control = conn;
    hold(cce);
    return true;
}

void enl_cce_answer(struct enl_conn *conn, const struct bcri_control *reply)
{
    enl_conn_send(conn, reply, NULL, 0);
    if (conn->cce != NULL)
        bcri_bell_ring(bcri_host_ctx(conn->cce->here->host), conn->cce->record);
}

void enl_cce_signal(struct enl_cce *cce, int signal, bool group)
{
    if (cce->process != 0)
        kill(cce->own_group && group ? -cce->process : cce->process, signal);
    if (cce->pid_watch != NULL)
        syscall(SYS_pidfd_send_signal, cce->pid_watch->fd, signal, NULL, 0);
}
