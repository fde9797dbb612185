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
 * That is the plain row of the table in meaning.c. Once a CCE has asked for bcr_passsignals another one holds: most of
 * these signals, and some that mean nothing otherwise, go to all CCEs and end nothing. As soon as the program is ending
 * the plain row holds again, by which a further signal hurries the end.
 *
 * Other hosts' daemons, which have no terminal, are told by their parent (docs/protocol.md).
 *
 * A signal of these that is ignored when the daemon starts stays ignored in the daemon. CCEs begin with the default
 * actions, but for an ignored SIGHUP (nohup; spawn.c), which other hosts are told of.
 *
 * The loop's thread reads signals that all threads block, so that each waits until it is read. SIGABRT alone is not
 * blocked from the beginning: a daemon that hangs can be made to leave a core file by it, until a CCE asks for it. Then
 * the loop's thread blocks it, and a handler in any other one sends it there. */
#include "job/job.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/watch.h"
#include "bcri/failure.h"
#include "bcri/signal_sets.h"
#include "host/host.h"

bool enl_signals_reap(struct enl_jobs *jobs)
{
    for (;;) {
        siginfo_t info = {0};
        int wait_status = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
            return true;
        pid_t pid = info.si_pid;
        if (pid == 0)
            return false;
        enl_cce_look_at_dead(jobs->here, pid);
        struct rusage usage = {0};
        wait4(pid, &wait_status, 0, &usage);
        if (jobs->ops->reaped(jobs->self->program, pid, wait_status)) {
            ; /* another host's daemon, or the command that reaches it; or a helper; or what serves a session */
        } else if (pid == jobs->script) {
            jobs->script = 0;
            if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
                bcri_log_write(&jobs->self->log, BCRI_LOG_DEBUG, "the script is done");
            else
                enl_report(jobs->self, BCRI_LOG_WARN, "%s ended with %s %d", jobs->script_name,
                           WIFEXITED(wait_status) ? "status" : "signal",
                           WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : WTERMSIG(wait_status));
            jobs->script_done(jobs->self->program);
        } else {
            enl_cce_reaped(jobs->here, pid, wait_status, &usage);
        }
    }
}

int enl_signals_kill_children(const struct enl_jobs *jobs)
{
    char path[64], word[32];
    int count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -1;
    while (fscanf(file, "%31s", word) == 1) {
        long pid = strtol(word, NULL, 10);
        if (pid <= 1 || jobs->ops->is_spared(jobs->self->program, (pid_t)pid))
            continue;
        kill((pid_t)pid, SIGKILL);
        count++;
    }
    fclose(file);
    return count;
}

/* The terminal signals the root, which is in the daemon's group, itself. */
static bool has_it_already(const struct enl_jobs *jobs, const struct enl_cce *cce, bool from_terminal)
{
    return cce == jobs->here->root && from_terminal && !cce->own_group;
}

void enl_signals_pass(struct enl_jobs *jobs, int signal, bool from_terminal)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &jobs->here->all, entry)
        if (enl_cce_is_of_job(cce) && cce->pid == 0)
            enl_cce_signal(cce, signal, true); /* any program */
        else if (!has_it_already(jobs, cce, from_terminal))
            (void)enl_cce_signal_itself(cce, signal);
    jobs->ops->signal_others(jobs->self->program, signal);
}

/* Passes a signal on to all CCEs. If the signal came from the terminal, not to the root, which has
 * it already. */
static void signal_cces(struct enl_jobs *jobs, int signal, bool from_terminal)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &jobs->here->all, entry)
        if (!has_it_already(jobs, cce, from_terminal))
            enl_cce_signal(cce, signal, true);
}

void enl_signals_stop_cces(struct enl_jobs *jobs)
{
    if (!jobs->here->is_frozen)
        signal_cces(jobs, SIGSTOP, jobs->stop_from_terminal);
}

void enl_signals_continue_cces(struct enl_jobs *jobs)
{
    if (!jobs->here->is_frozen)
        signal_cces(jobs, SIGCONT, false);
}

/* A CCE that a debugger has started is stopped without its debugger, which a person may use meanwhile. */
void enl_signals_freeze(struct enl_jobs *jobs)
{
    struct enl_cce *cce;
    jobs->here->is_frozen = true;
    enl_enlist_drop(jobs);
    TAILQ_FOREACH (cce, &jobs->here->all, entry) {
        if (cce->debugged)
            (void)enl_cce_signal_itself(cce, SIGSTOP);
        else if (!cce->asks_debugger)
            enl_cce_signal(cce, SIGSTOP, true);
    }
}

static void continue_all(struct enl_jobs *jobs)
{
    jobs->stop_signal = 0;
    enl_signals_continue_cces(jobs);
    jobs->ops->go_on(jobs->self->program);
}

void enl_signals_start_again(struct enl_jobs *jobs)
{
    if (jobs->stop_signal != 0)
        continue_all(jobs);
}

static void on_grace(uv_timer_t *timer)
{
    struct enl_jobs *jobs = timer->data;
    if (jobs->script != 0)
        kill(-jobs->script, SIGKILL);
    jobs->self->ops->abort(jobs->self->program, jobs->status);
}

void enl_signals_start_grace(struct enl_jobs *jobs)
{
    uv_timer_start(&jobs->grace, on_grace, (uint64_t)jobs->self->config.killafter, 0);
}

void enl_signals_end(struct enl_jobs *jobs, int signal, bool from_terminal)
{
    enl_signals_start_again(jobs);
    if (jobs->script != 0) {
        kill(-jobs->script, SIGTERM);
        enl_signals_start_grace(jobs);
    }
    enl_report_hurry(jobs->self);
    if (jobs->self->phase == ENL_ENDING && jobs->insists)
        jobs->ops->cut(jobs->self->program);
    if (jobs->self->phase == ENL_ENDING) {
        jobs->insists = true;
        jobs->ops->kill(jobs->self->program);
    }
    if (jobs->self->phase != ENL_PREPARING && jobs->self->phase != ENL_RUNNING)
        return;
    if (jobs->self->is_child)
        bcri_log_write(&jobs->self->log, BCRI_LOG_WARN, "program %s is ended by signal %d (%s)",
                       jobs->self->name, signal, strsignal(signal));
    else
        enl_report(jobs->self, BCRI_LOG_WARN, "program %s is ended by signal %d (%s)", jobs->self->name,
                   signal, strsignal(signal));
    enl_enlist_drop(jobs);
    jobs->ops->pass_on(jobs->self->program, signal);
    jobs->self->phase = ENL_ENDING; /* before the abort, which would tell a child's parent of a failure */
    if (TAILQ_EMPTY(&jobs->here->all) || jobs->here->is_frozen) {
        jobs->self->ops->abort(jobs->self->program, 128 + signal);
        return;
    }
    jobs->status = 128 + signal; /* unless the root ends with another status */
    signal_cces(jobs, signal, from_terminal);
    enl_signals_start_grace(jobs);
    enl_await_none(jobs->here);
}

static volatile sig_atomic_t goes_on;

static void note_go_on(int signal)
{
    (void)signal;
    goes_on = true;
}

/* All others are stopped. The daemon stops by the signal's default action. The kernel does not stop
 * a group that no shell looks after.
 *
 * Whoever saw a CCE stop may have sent SIGCONT already, and the kernel discards a SIGCONT that is pending when a stopping signal comes.
 * So a handler takes what comes before that; what comes later discards the stopping signal, until it is delivered. */
void enl_signals_stopped(struct enl_jobs *jobs)
{
    const struct sigaction note = {.sa_handler = note_go_on, .sa_flags = SA_RESTART};
    const struct timespec none = {0};
    sigset_t stop, go_on;
    sigemptyset(&stop);
    sigaddset(&stop, jobs->stop_signal);
    sigemptyset(&go_on);
    sigaddset(&go_on, SIGCONT);
    goes_on = false;
    sigaction(SIGCONT, &note, NULL);
    pthread_sigmask(SIG_UNBLOCK, &go_on, NULL);
    raise(jobs->stop_signal);
    if (goes_on)
        (void)sigtimedwait(&stop, NULL, &none);
    pthread_sigmask(SIG_UNBLOCK, &stop, NULL);
    pthread_sigmask(SIG_BLOCK, &stop, NULL);
    pthread_sigmask(SIG_BLOCK, &go_on, NULL);
    continue_all(jobs);
}

static void stop_all(struct enl_jobs *jobs, int signal, bool from_terminal)
{
    if (jobs->stop_signal != 0)
        return; /* other hosts are being told */
    jobs->stop_signal = signal;
    jobs->stop_from_terminal = from_terminal;
    enl_signals_stop_cces(jobs);
    jobs->ops->stop(jobs->self->program);
}

/* A program that is ending takes no signals any more: they hurry its end. One that is frozen heeds none. */
static enum enl_signal_row row_now(const struct enl_jobs *jobs)
{
    return jobs->self->phase == ENL_RUNNING && !jobs->here->is_frozen ? jobs->signal_row : ENL_SIGNALS_PLAIN;
}

/* A job is asked to end, which it may do as it likes; whoever asks again has waited long enough. */
static void ask_all(struct enl_jobs *jobs, int signal, bool from_terminal)
{
    if (!enl_summary_is_open(jobs)) { /* not all members are there yet */
        enl_signals_end(jobs, signal, from_terminal);
    } else if (!jobs->has_asked) {
        jobs->has_asked = true;
        enl_report(jobs->self, BCRI_LOG_WARN, "all processes get SIGTERM; a second signal kills them");
        enl_signals_pass(jobs, SIGTERM, false);
    } else {
        jobs->insists = true; /* a third one gives hosts up that do not answer */
        enl_report(jobs->self, BCRI_LOG_WARN, "program %s is ended by signal %d (%s)", jobs->self->name,
                   signal, strsignal(signal));
        jobs->self->ops->abort(jobs->self->program, 128 + signal);
    }
}

static void on_signal(void *data)
{
    struct enl_jobs *jobs = data;
    struct signalfd_siginfo info;
    while (jobs->signals != NULL && read(jobs->signals->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        const bool from_terminal = info.ssi_code == SI_KERNEL;
        const int signal = (int)info.ssi_signo;
        switch (enl_meaning_of_signal(row_now(jobs), signal)) {
        case ENL_MEANS_NOTHING: break;
        case ENL_MEANS_ASK: ask_all(jobs, signal, from_terminal); break;
        case ENL_MEANS_PASS: enl_signals_pass(jobs, signal, from_terminal); break;
        case ENL_MEANS_SAY:
            enl_report(
                jobs->self, BCRI_LOG_WARN,
                "signal %d (%s) is passed to no CCE and does not end program %s, which takes signals itself "
                "(bcr_passsignals); SIGTERM or enl kill %s ends it",
                signal, strsignal(signal), jobs->self->name, jobs->self->name);
            break;
        case ENL_MEANS_REAP:
            if (enl_signals_reap(jobs) || jobs->self->phase == ENL_ENDING || jobs->here->has_job)
                jobs->self->ops->something_ended(jobs->self->program);
            break;
        case ENL_MEANS_STOP: stop_all(jobs, signal, from_terminal); break;
        case ENL_MEANS_GO_ON:
            enl_signals_start_again(jobs);
            break; /* or it came while the daemon was stopped */
        case ENL_MEANS_END: enl_signals_end(jobs, signal, from_terminal); break;
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

/* Whether the loop reads it from the beginning. */
static bool is_read(int signal)
{
    struct sigaction action;
    if (!enl_meaning_has(signal) || signal == SIGABRT || sigaction(signal, NULL, &action) != 0)
        return false;
    if (bcri_signal_asks(signal))
        return action.sa_handler != SIG_IGN;
    return signal == SIGCHLD || action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL;
}

static pthread_t loop_thread;

/* Of SIGABRT. In the loop's thread it runs for an abort of that thread alone, which goes on when it has returned. */
static void send_to_loop(int signal)
{
    const int error = errno;
    if (pthread_equal(pthread_self(), loop_thread) == 0)
        pthread_kill(loop_thread, signal);
    errno = error;
}

void enl_signals_row_passed(struct enl_jobs *jobs, const char *who)
{
    const struct sigaction send = {.sa_handler = send_to_loop, .sa_flags = SA_RESTART};
    sigset_t set;
    if (jobs->signal_row != ENL_SIGNALS_PLAIN || jobs->signals == NULL)
        return;
    bcri_log_write(&jobs->self->log, BCRI_LOG_INFO,
                   "signals are passed on to all CCEs from now on: %s has asked for it (bcr_passsignals)",
                   who);
    jobs->signal_row = ENL_SIGNALS_PASSED;
    loop_thread = pthread_self();
    sigaction(SIGABRT, &send, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    sigaddset(&set, SIGABRT);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
    signalfd(jobs->signals->fd, &set, 0);
}

int enl_signals_start(struct enl_jobs *jobs)
{
    sigset_t set;
    sigemptyset(&set);
    for (int signal = 1; signal < SIGRTMIN; signal++)
        if (is_read(signal))
            sigaddset(&set, signal);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0) {
        bcri_failure_note("signalfd");
        return -errno;
    }
    jobs->signals = enl_watch_start(jobs->self, fd, on_signal, jobs);
    return jobs->signals != NULL ? 0 : -ENOMEM;
}
