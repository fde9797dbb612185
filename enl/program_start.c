/* SPDX-License-Identifier: MIT */
/* program_start.c -- what is there before the loop runs, and why it is not. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/names.h"
#include "base/object.h"
#include "base/writer.h"
#include "bcri/environment.h"
#include "bcri/failure.h"
#include "bcri/refuse.h"
#include "bcri/signature.h"
#include "carry/carry.h"
#include "conductor/tree.h"
#include "debug/debug.h"
#include "host/output.h"
#include "inspect/crash/crash.h"
#include "inspect/deadlock/deadlock.h"
#include "inspect/look/look.h"
#include "links/links.h"

/* Open files: what the daemon and a root need, and what each further CCE needs, segments for its
 * cells and heap included. docs/man/enl.1 has the second number. */
enum { FILES_AT_LEAST = 32, FILES_PER_CCE = 10 };

/* Comes before anything is opened. */
static int raise_file_limit(const struct enl_program *program, char *error, size_t error_size)
{
    struct rlimit limit = program->self.inherited.files;
    if (getrlimit(RLIMIT_NOFILE, &(struct rlimit){0}) != 0)
        return bcri_refuse(error, error_size, 1, "the limit of open files is not known: getrlimit: %s",
                           strerror(errno));
    if (limit.rlim_max < FILES_AT_LEAST)
        return bcri_refuse(
            error, error_size, 1,
            "enl needs %d open files, and about %d more for each CCE; the limit here is %llu: raise it "
            "by ulimit -n, or as root in /etc/security/limits.conf",
            FILES_AT_LEAST, FILES_PER_CCE, (unsigned long long)limit.rlim_max);
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return bcri_refuse(error, error_size, 1, "the limit of open files cannot be raised: setrlimit: %s",
                           strerror(errno));
    return 0;
}

/* What a job of SCore's asks for of its hosts. Returns 0, or -1 with a sentence. */
static int choose_hosts(struct enl_program *program, char *error, size_t error_size)
{
    const struct enl_roster *roster = program->jobs.roster;
    if (roster == NULL || roster->front != ENL_FRONT_SCRUN)
        return 0;
    if (enl_hosts_choose(&program->hosts, &roster->choice, roster->is_heterogeneous, error, error_size) != 0)
        return -1;
    return roster->choice.networks == NULL
               ? 0
               : enl_networks_find(program, roster->choice.networks, error, error_size);
}

static int configure(struct enl_program *program, char *error, size_t error_size)
{
    const struct enl_options *options = &program->options;
    int failed = bcri_config_load(&program->self.config, NULL, error, error_size);
    if (failed == 0)
        failed = enl_options_apply(options, &program->self.config, error, error_size);
    const struct enl_hosts_options wish = {options->hostfile, options->host, options->local};
    if (failed == 0 && !options->child)
        failed = enl_hosts_load(&program->hosts, &program->self.config, &wish, error, error_size);
    if (failed == 0 && !options->child)
        failed = choose_hosts(program, error, error_size);
    if (options->child) { /* unless the parent says otherwise */
        program->self.config.output = BCRI_OUTPUT_NONE;
        program->self.config.outputdir = NULL;
        program->self.config.logdir = NULL;
    }
    return failed;
}

/* Limits that shared memory may have met where the system has said this, as the end of a sentence. */
static const char *limits_here(int said)
{
    static char text[256];
    struct rlimit file, space;
    size_t used = 0;
    if (said == EFBIG && getrlimit(RLIMIT_FSIZE, &file) == 0 && file.rlim_cur != RLIM_INFINITY)
        used =
            (size_t)snprintf(text, sizeof text,
                             "; files, and shared memory with them, are limited to %llu KiB: raise ulimit -f",
                             (unsigned long long)file.rlim_cur >> 10);
    if (said == ENOMEM && getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        snprintf(text + used, sizeof text - used, "; address space is limited to %llu KiB: raise ulimit -v",
                 (unsigned long long)space.rlim_cur >> 10);
    return text;
}

/* Why there is no thread, as the end of a sentence: memory for its stack or the number of
 * processes; pthread_create gives EAGAIN in both cases. */
static const char *why_no_thread(int said)
{
    struct rlimit processes;
    if (said == 0) /* no call: what it takes memory for beforehand */
        return limits_here(ENOMEM);
    if (said != EAGAIN)
        return "";
    pthread_attr_t attributes;
    size_t stack_bytes = 0;
    if (pthread_getattr_default_np(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &stack_bytes);
        pthread_attr_destroy(&attributes);
    }
    void *stack = mmap(NULL, stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return limits_here(ENOMEM);
    munmap(stack, stack_bytes);
    return getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur != RLIM_INFINITY
               ? "; this user may have no more processes and threads: raise ulimit -u"
               : "; there may be no more processes and threads here: see pids.max of the control group";
}

/* stdout or stderr has room again, or all is written. */
static void on_written(struct enl_program *program)
{
    enl_lines_resume(&program->here.lines);
    enl_tree_resume(program);
    enl_drain_look(&program->here);
    enl_report_look(&program->self);
}

static void on_unwritten(struct enl_program *program, uint32_t ordinal, const char *bytes, size_t length,
                         int error)
{
    enl_lines_unwritten(&program->here.lines, ordinal, bytes, length, error);
}

static int start_writers(struct enl_program *program)
{
    static const struct enl_writer_hooks hooks = {on_written, on_unwritten};
    program->self.report.hooks = &hooks;
    const int failed =
        enl_report_start(&program->self, !program->self.is_child && enl_lines_wanted(&program->here.lines));
    return failed == 0 ? enl_lines_start(&program->here.lines) : failed;
}

/* The file of the root's program, also if bcr_init has started this daemon. */
static const char *root_file(const struct enl_program *program)
{
    static char path[PATH_MAX], place[64];
    snprintf(place, sizeof place, "/proc/%ld/exe", (long)program->options.root_pid);
    if (program->jobs.root_path[0] != '\0')
        return program->jobs.root_path;
    const ssize_t length = readlink(place, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return path;
}

/* --push: the programs of all command lines of a team. What is not on this machine may be on the others. */
static int prepare_push(struct enl_program *program, char *error, size_t error_size)
{
    const struct enl_roster *roster = program->jobs.roster;
    const bool is_job = enl_roster_is_job(roster);
    char path[PATH_MAX], reason[512];
    if (enl_push_begin(&program->carry, error, error_size) != 0 ||
        (!is_job && enl_push_program(&program->carry, root_file(program), error, error_size) != 0))
        return -1;
    for (size_t i = is_job ? 0 : 1; roster != NULL && i < roster->count; i++)
        if (enl_object_find(roster->lines[i].argv[0], path, reason, sizeof reason) == 0 &&
            enl_push_program(&program->carry, path, error, error_size) != 0)
            return -1;
    for (size_t i = 0; i < program->hosts.count; i++)
        if (enl_push_takes(program->hosts.hosts[i])) {
            enl_push_make_spare(&program->carry);
            break;
        }
    return enl_push_write_script(program->carry.push) ? 0 : bcri_refuse(error, error_size, -1, "no memory");
}

int enl_program_prepare(struct enl_program *program, char *error, size_t error_size)
{
    extern char **environ;
    int status = raise_file_limit(program, error, error_size);
    if (status != 0)
        return status;
    if (configure(program, error, error_size) != 0)
        return 2;
    if (program->jobs.roster != NULL &&
        (program->jobs.plan = enl_roster_plan_new(program->jobs.roster, &program->self, &program->hosts,
                                                  error, error_size)) == NULL)
        return 2;
    const bool is_job = enl_roster_is_job(program->jobs.roster);
    if (is_job)
        status = enl_roster_find(&program->jobs, error, error_size);
    else if (program->options.root_pid == 0 && !program->self.is_child)
        status = enl_object_find(program->jobs.root_argv[0], program->jobs.root_path, error, error_size);
    if (status == 0 && is_job && !enl_roster_fits(&program->jobs)) {
        error[0] = '\0'; /* it has said itself what is wrong */
        return 1;
    }
    if (status == 127 && !is_job && program->jobs.root_argv[0][0] != '\0' &&
        strchr(program->jobs.root_argv[0], '/') == NULL)
        snprintf(error + strlen(error), error_size - strlen(error),
                 ", nor has enl a command of that name; enl --help lists them");
    if (status == 0 && !program->self.is_child &&
        (enl_lines_open(&program->here.lines, error, error_size) != 0 ||
         enl_collect_open(&program->carry, error, error_size) != 0))
        status = 2;
    if (status != 0)
        return status;
    enl_host_name(program->self.hostname, sizeof program->self.hostname);
    enl_host_address(program->self.address);
    if (program->self.is_child && enl_parent_await(program, error, error_size) != 0)
        return 2;
    if (!program->self.is_child)
        enl_tree_take_own(program);
    if (enl_session_prepare(&program->session, error, error_size) != 0)
        return 2;
    if (program->options.tool != NULL && setenv("EARL_TOOLS", program->options.tool, 1) != 0)
        return bcri_refuse(error, error_size, 1, "no memory");
    unsetenv(BCRI_NAME_ENV); /* programs that CCEs start are others */
    program->self.environment = enl_environment_with(environ, BCRI_CONTROL_ENV, NULL);
    if (program->self.environment != NULL && !enl_pushed_use(&program->carry, &program->jobs.programs))
        return bcri_refuse(error, error_size, 1, "no memory, or what was pushed cannot be read");
    if (!program->self.is_child && program->self.config.push != 0 &&
        prepare_push(program, error, error_size) != 0)
        return 2;
    program->here.folder = getcwd(NULL, 0);
    if ((status = enl_own_name_take(program, error, error_size)) != 0)
        return status;
    error[0] = '\0'; /* it has said itself what is wrong */
    if (program->options.metrics != NULL &&
        (status = enl_metrics_start(program->options.metrics, program->self.name)) != 0)
        return status;
    enl_cores_init(&program->here.cores);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    bcri_failure_forget();
    if (program->self.environment == NULL ||
        bcri_host_init(program->self.name, program->self.host_number, bcri_layout_signature(),
                       &program->here.host) != 0) {
        char failure[BCRI_FAILURE_TEXT_MAX];
        return bcri_refuse(error, error_size, 1, "the program's host segment cannot be made: %s%s",
                           bcri_failure_text("no memory", failure), limits_here(bcri_failure_errno()));
    }
    bcri_host_set_name(program->here.host, program->self.hostname);
    /* Also without a list of hosts, since some may be added: CCEs get the agent's eventfd when they begin. */
    return enl_links_prepare(&program->links, error, error_size) ? 0 : 1;
}

/* Signals come first, since threads that are made later inherit that they are blocked. */
int enl_program_open(struct enl_program *program, char *error, size_t error_size)
{
    uv_loop_t *loop = &program->self.loop;
    int pair[2]; /* uv_loop_init wants a pipe for signals, without which it aborts */
    int failed = pipe2(pair, O_CLOEXEC) == 0 ? 0 : -errno;
    if (failed == 0) {
        close(pair[0]);
        close(pair[1]);
        failed = uv_loop_init(loop);
    }
    if (failed != 0) {
        snprintf(error, error_size, "cannot start: no event loop (epoll_create1, eventfd, pipe2): %s%s",
                 strerror(-failed), limits_here(-failed));
        return 1;
    }
    bcri_failure_forget();
    if ((failed = enl_jobs_start(&program->jobs)) == 0 && (failed = enl_conns_listen(&program->conns)) == 0 &&
        (failed = enl_here_start(&program->here)) == 0 && (failed = start_writers(program)) == 0) {
        enl_crash_start(&program->crashes);
        program->crashes.holds = enl_summary_tells_ranks(&program->jobs);
        enl_deadlock_start(&program->deadlock);
        return enl_session_start(&program->session, program->jobs.root_path, error, error_size) == 0 ? 0 : 1;
    }
    char failure[BCRI_FAILURE_TEXT_MAX];
    if (failed == -EAGAIN)
        snprintf(error, error_size, "cannot start: %s%s", bcri_failure_text("no memory", failure),
                 why_no_thread(bcri_failure_errno()));
    else
        snprintf(error, error_size, "cannot start: %s", bcri_failure_text(strerror(-failed), failure));
    return 1;
}
