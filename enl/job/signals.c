/* SPDX-License-Identifier: MIT */
/* signals.c -- a signalfd, and job control.
 *
 * The root is in the daemon's own process group, which the shell made and the terminal knows. All
 * other CCEs lead groups of their own. So the terminal's keys reach the daemon and the root, and
 * pipelines and `fg` work as for any command.
 *
 *   Ctrl-C, Ctrl-\, SIGTERM, SIGHUP   the daemon passes the signal on to all others, and sends
 *                                     SIGKILL after killafter
 *   Ctrl-Z, SIGTTIN, SIGTTOU          the daemon stops all others (by SIGSTOP, which cannot be
 *                                     blocked), then itself
 *   fg, bg (SIGCONT)                  the daemon lets all go on
 *
 * Other hosts' daemons, which have no terminal, are told by their parent (docs/protocol.md).
 *
 * A signal of these that is ignored when the daemon starts stays ignored in the daemon. CCEs begin with the default
 * actions, but for an ignored SIGHUP (nohup; spawn.c), which other hosts are told of. */
#include "job/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/failure.h"
#include "bcri/signal_sets.h"
#include "carry/relay/relay.h"
#include "debug/session.h"
#include "host/cce.h"
#include "inspect/crash/crash.h"
#include "job/enlist.h"
#include "tree/branch.h"
#include "tree/tree.h"

bool enl_signals_reap(struct enl_program *program)
{
    for (;;) {
        siginfo_t info = {0};
        int wait_status = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
            return true;
        pid_t pid = info.si_pid;
        if (pid == 0)
            return false;
        enl_cce_look_at_dead(&program->here, pid);
        waitpid(pid, &wait_status, 0);
        enl_crash_reaped(program, pid);
        if (enl_tree_reaped(program, pid, wait_status) || enl_branch_reaped(program, pid, wait_status) ||
            enl_relay_reaped(program, pid, wait_status) || enl_session_reaped(program, pid, wait_status)) {
            ; /* another host's daemon, or the command that reaches it; or a helper; or what serves a session */
        } else if (pid == program->script) {
            program->script = 0;
            if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
                bcri_log_write(&program->self.log, BCRI_LOG_DEBUG, "the script is done");
            else
                enl_report(&program->self, BCRI_LOG_WARN, "%s ended with %s %d", program->script_name,
                           WIFEXITED(wait_status) ? "status" : "signal",
                           WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : WTERMSIG(wait_status));
            program->script_done(program);
        } else {
            enl_cce_reaped(&program->here, pid, wait_status);
        }
    }
}

int enl_signals_kill_children(const struct enl_program *program)
{
    char path[64], word[32];
    int count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -1;
    while (fscanf(file, "%31s", word) == 1) {
        long pid = strtol(word, NULL, 10);
        if (pid <= 1 || enl_branch_is_left(program, (pid_t)pid))
            continue;
        kill((pid_t)pid, SIGKILL);
        count++;
    }
    fclose(file);
    return count;
}

void enl_signals_stop_cces(struct enl_program *program)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &program->here.all, entry)
        if (cce != program->here.root || !program->stop_from_terminal || cce->own_group)
            enl_cce_signal(cce, SIGSTOP, true);
}

void enl_signals_continue_cces(struct enl_program *program)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &program->here.all, entry)
        enl_cce_signal(cce, SIGCONT, true);
}

static void go_on(struct enl_program *program)
{
    program->stop_signal = 0;
    enl_signals_continue_cces(program);
    enl_tree_go_on(program);
}

/* Passes a signal on to all CCEs. If the signal came from the terminal, not to the root, which has
 * it already. */
static void pass_on(struct enl_program *program, int signal, bool from_terminal)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &program->here.all, entry)
        if (cce != program->here.root || !from_terminal || cce->own_group)
            enl_cce_signal(cce, signal, true);
}

/* Starts the time after which processes that have not heeded the signal get SIGKILL. */
static void start_grace(struct enl_program *program)
{
    uv_timer_start(&program->grace, (uv_timer_cb)program->grace.data,
                   (uint64_t)program->self.config.killafter, 0);
}

static void end_by(struct enl_program *program, int signal, bool from_terminal)
{
    if (program->stop_signal != 0)
        go_on(program); /* it was about to be stopped */
    if (program->script != 0) {
        kill(-program->script, SIGTERM);
        start_grace(program);
    }
    enl_report_hurry(&program->self);
    if (program->self.phase == ENL_ENDING && program->insists)
        enl_tree_cut(program);
    if (program->self.phase == ENL_ENDING) {
        program->insists = true;
        enl_session_cut(program);
        enl_tree_kill(program);
    }
    if (program->self.phase != ENL_PREPARING && program->self.phase != ENL_RUNNING)
        return;
    if (program->self.is_child)
        bcri_log_write(&program->self.log, BCRI_LOG_WARN, "program %s is ended by signal %d (%s)",
                       program->self.name, signal, strsignal(signal));
    else
        enl_report(&program->self, BCRI_LOG_WARN, "program %s is ended by signal %d (%s)", program->self.name,
                   signal, strsignal(signal));
    enl_enlist_drop(program);
    enl_tree_signal(program, signal);
    program->self.phase = ENL_ENDING; /* before the abort, which would tell a child's parent of a failure */
    if (TAILQ_EMPTY(&program->here.all)) {
        enl_program_abort(program, 128 + signal);
        return;
    }
    program->status = 128 + signal; /* unless the root ends with another status */
    pass_on(program, signal, from_terminal);
    start_grace(program);
}

void enl_signals_end(struct enl_program *program, int signal)
{
    end_by(program, signal, false);
}

/* All others are stopped. The daemon stops by the signal's default action. The kernel does not stop
 * a group that no shell looks after. */
static void stop_self(struct enl_program *program)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, program->stop_signal);
    raise(program->stop_signal);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    go_on(program);
}

static void stop_all(struct enl_program *program, int signal, bool from_terminal)
{
    if (program->stop_signal != 0)
        return; /* other hosts are being told */
    program->stop_signal = signal;
    program->stop_from_terminal = from_terminal;
    enl_signals_stop_cces(program);
    enl_tree_stop(program, stop_self);
}

static void on_signal(void *data)
{
    struct enl_program *program = data;
    struct signalfd_siginfo info;
    while (program->signals != NULL &&
           read(program->signals->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        bool from_terminal = info.ssi_code == SI_KERNEL;
        switch ((int)info.ssi_signo) {
        case SIGCHLD:
            if (enl_signals_reap(program) || program->self.phase == ENL_ENDING)
                enl_program_check_end(program);
            break;
        case SIGTSTP:
        case SIGTTIN:
        case SIGTTOU: stop_all(program, (int)info.ssi_signo, from_terminal); break;
        case SIGCONT: /* else it has come while the daemon was stopped */
            if (program->stop_signal != 0)
                go_on(program);
            break;
        default: end_by(program, (int)info.ssi_signo, from_terminal); break;
        }
    }
}

/* A handler is one of a sanitizer or a profiler that enl was started with. Setting a signal to be ignored discards what is
 * pending of it, and may be blocked. */
void enl_signals_quieten(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction action;
    for (int signal = 1; signal <= SIGRTMAX; signal++) {
        const bool harms = bcri_signal_strays(signal) || signal == SIGPIPE ||
                           signal == SIGXFSZ /* of a log */ || signal == SIGXCPU;
        if (harms && sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
            sigaction(signal, &ignore, NULL);
    }
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_DFL; /* an ignored SIGCHLD has the kernel reap children */
    action.sa_flags = SA_NOCLDSTOP;
    sigaction(SIGCHLD, &action, NULL);
}

int enl_signals_start(struct enl_program *program)
{
    struct sigaction action;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (int signal = 1; signal < SIGRTMIN; signal++)
        if (bcri_signal_asks(signal) && sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, signal);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0) {
        bcri_failure_note("signalfd");
        return -errno;
    }
    program->signals = enl_watch_start(&program->self, fd, on_signal, program);
    return program->signals != NULL ? 0 : -ENOMEM;
}

void enl_signals_stop(struct enl_program *program)
{
    enl_watch_stop(program->signals);
    program->signals = NULL;
}
