/* SPDX-License-Identifier: MIT */
/* scripts.c -- the user's programs that every daemon runs when it starts and before it ends.
 *
 * They find the log's directory in BCR_TEMPDIR, wherever that is set.
 *
 * If a script cannot be run, or fails, the daemon only warns: a program should not be lost because
 * a script that moves its logs fails. What a script prints goes to stderr. */
#include "job/job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/object.h"

static pid_t start_script(struct enl_jobs *jobs, const char *name, const char *path, int when)
{
    char first[2] = {(char)('0' + when), '\0'};
    char last[] = {jobs->self->is_child ? '0' : '1', '\0'}; /* 1: the program was started here */
    char *argv[] = {(char *)(uintptr_t)path, first, jobs->self->name, jobs->self->address, last, NULL};
    char **environment =
        enl_environment_with(jobs->self->environment, "BCR_TEMPDIR", jobs->self->config.tempdir);
    struct enl_spawn spawn = {.path = path,
                              .argv = argv,
                              .environment = environment != NULL ? environment : jobs->self->environment,
                              .in = open("/dev/null", O_RDONLY | O_CLOEXEC),
                              .out = fcntl(2, F_DUPFD_CLOEXEC, 3),
                              .err = -1,
                              .keep = -1,
                              .core = -1,
                              .own_group = true,
                              .inherited = &jobs->self->inherited};
    const char *step = "open /dev/null";
    pid_t pid = spawn.in >= 0 ? enl_spawn(&spawn, &step) : -errno;
    free(environment);
    if (pid < 0)
        enl_report(jobs->self, BCRI_LOG_WARN, "%s %s could not %s: %s", name, path, step, strerror(-pid));
    enl_spawn_close_files(&spawn);
    return pid;
}

void enl_script_run(struct enl_jobs *jobs, const char *script, int when,
                    void (*done)(struct enl_program *program))
{
    const char *name = when == 0 ? "startscript" : "endscript";
    char path[PATH_MAX], reason[1024], *resolved = NULL;
    pid_t pid = -1;
    if (script != NULL && bcri_config_resolve(&jobs->self->config, script, &resolved) == 0) {
        if (enl_object_find(resolved, path, reason, sizeof reason) == 0)
            pid = start_script(jobs, name, path, when);
        else
            enl_report(jobs->self, BCRI_LOG_WARN, "%s: %s", name, reason);
    }
    free(resolved);
    jobs->script_done = done;
    if (pid <= 0) {
        done(jobs->self->program);
        return;
    }
    jobs->script = pid;
    snprintf(jobs->script_name, sizeof jobs->script_name, "%s %s", name, path);
}
