/* SPDX-License-Identifier: MIT */
/* start.c -- the process of a CCE: its command, its files, its core, its environment. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr/error.h>

#include "base/object.h"
#include "base/status.h"
#include "bcri/environment.h"
#include "bcri/failure.h"
#include "bcri/refuse.h"
#include "bcri/words.h"
#include "host/host.h"

/* The command's directory; else the root's, or the home directory if the root's is gone. NULL: the daemon's own, which
 * is the root's. */
static const char *folder_for(const struct enl_cce *cce, const struct enl_cce_command *command)
{
    struct enl_here *here = cce->here;
    struct stat status;
    if (command->folder != NULL)
        return command->folder;
    if (here->folder == NULL || stat(here->folder, &status) == 0)
        return NULL;
    bcri_log_write(&here->self->log, BCRI_LOG_WARN, "directory %s is gone; %s starts in %s", here->folder,
                   cce->object, here->self->config.home != NULL ? here->self->config.home : "/");
    return here->self->config.home != NULL ? here->self->config.home : "/";
}

/* The standard files of a CCE. The root keeps the daemon's, unless its lines are wanted. Returns 0
 * or -errno, where `*step_out` says what failed. */
static int open_files(struct enl_cce *cce, const struct enl_cce_command *command, struct enl_spawn *spawn,
                      const char **step_out)
{
    const bool root = cce == cce->here->root;
    if (root && !enl_lines_of_root_wanted(&cce->here->lines))
        return 0;
    spawn->in = root ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (!root && spawn->in < 0) {
        *step_out = "open /dev/null";
        return -errno;
    }
    const int failed = enl_output_open(cce, &spawn->out, &spawn->err);
    if (failed != 0 || !enl_cce_is_of_job(cce))
        return failed;
    const bool has_output = command->out != NULL && enl_members_claim_output(cce); /* the first one here */
    return enl_job_files_open(cce, enl_members_team(cce), has_output, command, spawn, step_out);
}

void enl_cce_begin_cores(struct enl_here *here)
{
    if (!here->cores.begun && here->root != NULL)
        enl_cores_begin(&here->cores, (int)enl_process_stat(here->root->pid, ENL_STAT_CORE));
}

const char *enl_cce_text_of_error(int error)
{
    switch (error) {
    case EMFILE:
        return "enl has no descriptors left; raise the limit of open files (ulimit -n), enl(1) says how much";
    case ENOEXEC: return "it is neither a program nor a script that begins with #!";
    case E2BIG:
        return "its arguments and environment are together, or one of them is, longer than this system takes "
               "(ulimit -s)";
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
    case E2BIG: return bcrE_ARG;
    case EACCES:
    case ELIBBAD:
    case ENOENT:
    case ENOEXEC:
    case ENOTDIR: /* of the directory it is to start in */
    case ETXTBSY: return bcrE_NOPROG;
    default: return bcrE_ENLIST;
    }
}

/* Makes the command `wrap` path argv[1] argv[2] ...: its file, and its words in one block, which the caller frees (NULL:
 * `wrap` has none). Returns 0, or a bcrE_ code with a sentence. */
static int put_wrap_before(const char *wrap, const char *path, char *const *argv, char file[PATH_MAX],
                           char ***words_out, char *error, size_t error_size)
{
    char reason[1024];
    size_t own = 0;
    const size_t count = (size_t)bcri_words_count(wrap);
    if (count == 0)
        return 0;
    while (argv[own] != NULL)
        own++;
    char **words = malloc((count + own + 1) * sizeof *words + strlen(wrap) + 1);
    if (words == NULL)
        return bcri_refuse(error, error_size, bcrE_NOMEM, "no memory");
    bcri_words_split(wrap, (char *)(words + count + own + 1), words);
    memcpy(words + count, argv, (own + 1) * sizeof *argv);
    words[count] = (char *)(uintptr_t)path; /* a wrapper shall find the same file */
    *words_out = words;
    if (enl_object_find(words[0], file, reason, sizeof reason) == 0)
        return 0;
    return bcri_refuse(error, error_size, bcrE_NOPROG, "%s, which is to run it: see --wrap and wrap in bcrrc",
                       reason);
}

/* Makes the command enl --gate FILE and the words of `spawn`, which the caller frees. NULL: no memory. */
static char **put_gate_before(struct enl_spawn *spawn)
{
    enum { OWN = 3 };
    static char name[] = "enl", option[] = "--gate";
    size_t count = 0;
    while (spawn->argv[count] != NULL)
        count++;
    char **words = malloc((OWN + count + 1) * sizeof *words);
    if (words == NULL)
        return NULL;
    words[0] = name;
    words[1] = option;
    words[2] = (char *)(uintptr_t)spawn->path;
    memcpy(words + OWN, spawn->argv, (count + 1) * sizeof *words);
    spawn->path = "/proc/self/exe";
    spawn->argv = words;
    return words;
}

/* In the job's control group, if there is one. Returns the pid, or -errno with the step that failed. */
static pid_t start_in_group(struct enl_here *here, struct enl_spawn *spawn, const char **step_out)
{
    spawn->group = here->group.procs;
    const pid_t pid = enl_spawn(spawn, step_out);
    if (pid > 0 || spawn->group == NULL || strcmp(*step_out, ENL_SPAWN_ENTERS) != 0)
        return pid;
    enl_group_give_up(here, -pid);
    spawn->group = NULL;
    return enl_spawn(spawn, step_out);
}

int enl_cce_start(struct enl_cce *cce, const struct enl_cce_command *command, char *error, size_t error_size)
{
    struct enl_here *here = cce->here;
    const bool root = cce == here->root;
    const bool debugged = here->ops->is_debugged(here->self->session, cce->ordinal);
    char number[16], wrap[PATH_MAX], failure[BCRI_FAILURE_TEXT_MAX];
    char **wrapped = NULL, **gated = NULL, **words = NULL; /* of its wrapper, its gate, and its debugger */
    const char *step = "get its files";
    int pair[2], code = 0;
    const int failed = bcri_channel_pair(pair);
    if (failed != 0)
        return bcri_refuse(error, error_size, bcrE_NOMEM, "no socket for it: %s",
                           failed == -EMFILE ? enl_cce_text_of_error(EMFILE)
                                             : bcri_failure_text("", failure));
    snprintf(number, sizeof number, "%d", pair[1]);
    char **environment =
        enl_environment_with(command->environment != NULL ? command->environment : here->self->environment,
                             BCRI_CONTROL_ENV, number);
    if (environment != NULL)
        enl_environment_give_back(environment);
    enl_cce_begin_cores(here);
    struct enl_spawn spawn = {.path = command->path,
                              .argv = command->argv,
                              .environment = environment,
                              .in = -1,
                              .out = -1,
                              .err = -1,
                              .keep = pair[1],
                              .core =
                                  command->core >= 0 || root ? command->core : enl_cores_choose(&here->cores),
                              .core_is_wanted = command->core >= 0,
                              .own_group = !root,
                              .die_with_parent = true,
                              .folder = root ? NULL : folder_for(cce, command),
                              .inherited = &here->self->inherited};
    if (!debugged && here->self->config.wrap != NULL)
        code = put_wrap_before(here->self->config.wrap, command->path, command->argv, wrap, &wrapped, error,
                               error_size);
    if (wrapped != NULL) {
        spawn.path = wrap;
        spawn.argv = wrapped;
    }
    if (code == 0 && command->is_held && !debugged && (gated = put_gate_before(&spawn)) == NULL)
        code = bcri_refuse(error, error_size, bcrE_NOMEM, "no memory");
    pid_t pid = environment == NULL ? -ENOMEM : 0;
    if (code == 0 && pid == 0)
        pid = open_files(cce, command, &spawn, &step);
    if (code == 0 && pid == 0 && debugged)
        code = here->ops->dress(here->self->session, cce, &spawn, &words, error, error_size);
    if (code == 0 && pid == 0) {
        pid = start_in_group(here, &spawn, &step);
    }
    if (words != NULL)
        here->ops->debugger_started(here->self->session, cce, pid);
    free(words);
    free(gated);
    free(wrapped);
    free(environment);
    enl_spawn_close_files(&spawn);
    close(pair[1]);
    if (code != 0 || pid < 0)
        close(pair[0]);
    if (code != 0)
        return code;
    if (pid < 0)
        return bcri_refuse(error, error_size, code_of(-pid), "%s could not %s: %s%s", command->path, step,
                           enl_cce_text_of_error(-pid), bcri_fork_remedy(-pid));
    cce->process = pid;
    cce->own_group = spawn.own_group || spawn.own_session;
    cce->core = spawn.core;
    enl_cores_take(&here->cores, cce->core);
    cce->handshake = enl_conn_new(here->conns, ENL_HANDSHAKE, pair[0], cce);
    bcri_log_write(&here->self->log, BCRI_LOG_DEBUG, "started CCE %u: %s, pid %ld", cce->ordinal,
                   command->path, (long)pid);
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
