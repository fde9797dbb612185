/* SPDX-License-Identifier: MIT */
/* start.c -- the process of a CCE: its files, its core, its environment. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr/error.h>

#include "base/status.h"
#include "bcri/environment.h"
#include "bcri/failure.h"
#include "bcri/refuse.h"
#include "host/host.h"
#include "host/host_private.h"

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

void enl_cce_begin_cores(struct enl_here *here)
{
    if (!here->cores.begun && here->root != NULL)
        enl_cores_begin(&here->cores, (int)enl_process_stat(here->root->pid, ENL_STAT_CORE));
}

static int choose_core(struct enl_here *here)
{
    enl_cce_begin_cores(here);
    return enl_cores_choose(&here->cores);
}

const char *enl_cce_text_of_error(int error)
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
    const bool debugged = here->ops->is_debugged(here->self->session, cce->ordinal);
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
                           failed == -EMFILE ? enl_cce_text_of_error(EMFILE)
                                             : bcri_failure_text("", failure));
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
        code = here->ops->dress(here->self->session, cce, &spawn, &words, error, error_size);
    pid_t pid = code != 0 ? -EAGAIN : failed != 0 ? failed : enl_spawn(&spawn, &step);
    if (words != NULL)
        here->ops->debugger_started(here->self->session, cce, pid);
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
                           enl_cce_text_of_error(-pid), bcri_fork_remedy(-pid));
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
