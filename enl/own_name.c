/* SPDX-License-Identifier: MIT */
/* own_name.c -- names that nobody else has.
 *
 *   daemon            program          address      log
 *   the root's        HOST.PID         as program   bcr.HOST.PID.log
 *     n-th attempt    HOST.PID-n       as program   bcr.HOST.PID-n.log
 *     with a `name`   NAME             as program   bcr.NAME.log, or bcr.NAME-n.log
 *   another's, number K on its machine              NAME:K, bcr.NAME.K.log; n-th attempt: the (n - 1)-th number after K
 *
 * A dot in front of the number at the end of HOST (web.1, web.1-2) is an underscore there.
 *
 * HOST.PID is not unique: process 1 of two containers may share the host's name, and either the network, by which they
 * share addresses, or the directory of logs. So the address and the log's file decide together, and the next name is
 * tried. A program name that comes from two root's machines decides likewise on a third machine, by the number. A name
 * that the user has given is that name or none, since others are to find the program by it: only its log gives way,
 * to that of another user, say. It cannot be like one that enl makes (bcri/config.h). */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bcri/channel.h"
#include "bcri/failure.h"
#include "bcri/refuse.h"
#include "wire/wire.h"

enum { ATTEMPTS = 1000 };

/* A host may be called web.1: that would look as if 1 were the process, and the process a daemon's number. */
static void name_by_host(struct enl_program *program, const char *next)
{
    const size_t dot = bcri_log_without_pid(program->self.hostname, strlen(program->self.hostname));
    snprintf(program->self.name, sizeof program->self.name, "%s.%ld%s", program->self.hostname,
             (long)getpid(), next);
    if (dot != 0)
        program->self.name[dot] = '_';
}

static void name_all(struct enl_program *program, unsigned attempt, char *log_name, size_t size)
{
    char next[16] = "";
    const size_t most = sizeof program->self.name;
    const char *given = program->self.config.name;
    if (program->self.is_child) {
        const unsigned number = program->self.daemon_number + attempt;
        snprintf(program->self.socket_name, sizeof program->self.socket_name, "%s:%u", program->self.name,
                 number);
        snprintf(log_name, size, "%s.%u", program->self.name, number);
        return;
    }
    if (attempt != 0)
        snprintf(next, sizeof next, "-%u", attempt + 1);
    if (given != NULL)
        snprintf(program->self.name, most, "%s", given);
    else
        name_by_host(program, next);
    memcpy(program->self.socket_name, program->self.name, most);
    snprintf(log_name, size, "%s%s", program->self.name, given != NULL ? next : "");
}

static int refuse_name(const struct enl_program *program, int failed, char *error, size_t error_size)
{
    const char *name = program->self.socket_name;
    char failure[BCRI_FAILURE_TEXT_MAX];
    if (failed != -EADDRINUSE)
        return bcri_refuse(error, error_size, 1, "no address for the program %s: %s", name,
                           bcri_failure_errno() == -failed ? bcri_failure_text("", failure)
                                                           : strerror(-failed));
    const int daemon = bcri_channel_connect(name, 200);
    if (daemon >= 0)
        close(daemon);
    else if (daemon != -EAGAIN) /* any process can bind that address */
        return bcri_refuse(
            error, error_size, 1,
            "the address of the name %s is taken by a process that is no enl of this user; give "
            "the program another name",
            name);
    return bcri_refuse(
        error, error_size, 1,
        "a program of this user that has the name %s is running; end it (enl kill %s), or give "
        "this one another name",
        name, name);
}

/* -EEXIST: the file's name is somebody else's. No other trouble is a reason not to start. */
static int open_log(struct enl_program *program, const char *name, bool last)
{
    const struct bcri_config *config = &program->self.config;
    const enum bcri_log_level level = (enum bcri_log_level)config->loglevel;
    const struct bcri_log_who self = {program->self.hostname, getpid(), 0};
    char why[1024];
    if (config->log == BCRI_LOG_TO_STDERR)
        bcri_log_show(&program->self.log, level, &self, enl_report_line, &program->self);
    if (config->log != BCRI_LOG_TO_FILE)
        return 0;
    const int failed =
        bcri_log_open(&program->self.log, config->tempdir, name, level, &self, why, sizeof why);
    if (failed == -EEXIST && !last)
        return failed;
    if (failed != 0) {
        program->self.no_log = strdup(why);
        return 0;
    }
    program->self.log.limit_bytes = (uint64_t)config->logsize << 20;
    bcri_log_keep(config->tempdir, (unsigned)config->logkeep);
    return 0;
}

int enl_own_name_take(struct enl_program *program, char *error, size_t error_size)
{
    const bool given = !program->self.is_child && program->self.config.name != NULL;
    int bound = -1, failed = -EADDRINUSE;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        char log_name[sizeof program->self.socket_name];
        name_all(program, attempt, log_name, sizeof log_name);
        if (bound < 0 && (bound = enl_conn_bind(&program->self)) < 0) {
            failed = bound;
            if (failed != -EADDRINUSE || given)
                break;
            continue;
        }
        if (open_log(program, log_name, attempt + 1 == ATTEMPTS) == 0) {
            program->conns.address_fd = bound;
            return 0;
        }
        if (!given) {
            close(bound);
            bound = -1;
        }
    }
    return refuse_name(program, failed, error, error_size);
}
