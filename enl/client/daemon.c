/* SPDX-License-Identifier: MIT */
/* daemon.c -- a program that was started directly: its first process becomes enl.
 *
 *   shell's child, pid P            fork           child, pid C
 *     execs enl --root-socket=N  <---------------->  goes on in bcr_init, as the root CCE
 *
 * The original process becomes the daemon, since the shell waits for it, and the daemon stays until
 * the end. What the program has written by stdio and not flushed is in both processes; exec
 * discards the original's copy, so it comes out once. The child would not have a second thread of
 * the original; so the program may not have one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr.h>

#include "bcri/client.h"
#include "bcri/config.h"
#include "bcri/environment.h"
#include "bcri/failure.h"
#include "bcri/signal_sets.h"

/* In /proc an emulator's own threads count as the program's. The C library knows whether the
 * program has made a thread. */
static bool has_threads(void)
{
    if (__libc_single_threaded)
        return false;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL)
        return false;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count > 1;
}

/* The search for enl: `found` is the first path at which there is a program; `looked` lists the
 * paths tried before. */
struct search {
    char found[PATH_MAX];
    char looked[4096];
    size_t looked_length;
};

/* Looks at a path, unless an earlier one has been found or it is too long for a file. */
static void look_at(struct search *search, const char *why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void look_at(struct search *search, const char *why, const char *format, ...)
{
    char path[PATH_MAX];
    struct stat status;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    const int used = vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    if (search->found[0] != '\0' || (size_t)used >= sizeof path)
        return;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0) {
        strcpy(search->found, path);
        return;
    }
    const size_t room = sizeof search->looked - search->looked_length;
    const int length = snprintf(search->looked + search->looked_length, room, "\n       %s (%s)", path, why);
    search->looked_length += (size_t)length < room ? (size_t)length : room - 1;
}

static void look_on_path(struct search *search, const char *name)
{
    const char *path = secure_getenv("PATH"); /* not in a set-user-ID program */
    if (path == NULL || *path == '\0')
        path = "/usr/local/bin:/usr/bin:/bin";
    for (;; path++) {
        const int length = (int)strcspn(path, ":");
        look_at(search, "PATH", "%.*s/%s", length != 0 ? length : 1, length != 0 ? path : ".", name);
        path += length;
        if (*path == '\0')
            return;
    }
}

static void look_as_configured(struct search *search, const struct bcri_config *config)
{
    char *path;
    if (config->enlistpath == NULL)
        return;
    if (strchr(config->enlistpath, '/') == NULL)
        look_on_path(search, config->enlistpath);
    else if (bcri_config_resolve(config, config->enlistpath, &path) == 0) {
        look_at(search, config->settings[BCRI_CONFIG_enlistpath].origin, "%s", path);
        free(path);
    }
}

/* Looks for enl relative to the library: bin/enl beside lib/libbcr.so, also from
 * lib/x86_64-linux-gnu. A program with the static library may be in the same bin as enl. */
static void look_beside_library(struct search *search)
{
    static const char *const steps[] = {"../bin/enl", "../../bin/enl", "enl"};
    char real[PATH_MAX];
    if (bcri_client_own_file(real))
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
            look_at(search, "beside the library", "%.*s/%s", (int)(strrchr(real, '/') - real), real,
                    steps[i]);
    look_at(search, "where BCR is installed", BCR_INSTALL_BINDIR "/enl");
}

/* ---- what is left behind ---- */

/* What exec keeps of the process that becomes enl, and enl must not have. execve(2) has the list:
 *
 *   interval timers, the alarm     stopped, and go on in the root, which fork would have left without them
 *   signals ignored                those that ask the program to end or stop, as by nohup, stay so: enl does not act on
 *                                  them. Those that may stray are ignored, also by enl; others have their default action
 *   signals blocked, pending       none, but for those that ask the program to end or stop and are pending: enl finds
 *                                  them. One that comes before enl has begun ends the process, and so the program
 *   LD_PRELOAD, LD_AUDIT           kept for the CCEs under another name: a profiler would write two processes' figures into one
 *                                  file. Ends with exec: handlers, the alternate stack, POSIX timers, memory locks
 *   descriptors                    enl closes those above 2. So it holds no record lock (fcntl) of the process
 *   SIGIO and the like             go to the process that has set them up, which is enl: it ignores them
 *   parent-death signal            stays: the starter of the program has asked for its end so
 *   limits, umask, directory, nice value, scheduling, affinity, memory policy, timer slack, namespaces, capabilities,
 *   seccomp, no_new_privs          stay: CCEs get them from enl. Of limits enl raises that of open files, for itself, and
 *                                  ignores SIGXFSZ and SIGXCPU
 *
 * It must work with any enl, and with a script that executes one, so nothing here relies on enl but for the variables. */

enum { TIMERS = 3 };
static const int kinds[TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

/* Stops the interval timers of this process, and says how they stood. */
static void stop_timers(struct itimerval timers_out[TIMERS])
{
    const struct itimerval none = {.it_value = {0}};
    for (int i = 0; i < TIMERS; i++)
        if (setitimer((__itimer_which_t)kinds[i], &none, &timers_out[i]) != 0)
            timers_out[i] = none;
}

/* Lets them go on, after fork in another process perhaps. */
static void resume_timers(const struct itimerval timers[TIMERS])
{
    for (int i = 0; i < TIMERS; i++)
        setitimer((__itimer_which_t)kinds[i], &timers[i], NULL);
}

static bool is_ignored(int signal)
{
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* To ignore a signal discards what is pending of it. */
static void leave_signals(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, end = {.sa_handler = SIG_DFL};
    sigset_t pending, stay;
    for (int signal = 1; signal <= SIGRTMAX; signal++) {
        const bool asks = bcri_signal_asks(signal);
        if (!asks)
            sigaction(signal, &ignore, NULL);
        if (asks ? !is_ignored(signal) : !bcri_signal_strays(signal))
            sigaction(signal, &end, NULL);
    }
    sigemptyset(&stay);
    sigpending(&pending);
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        if (bcri_signal_asks(signal) && sigismember(&pending, signal) == 1)
            sigaddset(&stay, signal);
    sigprocmask(SIG_SETMASK, &stay, NULL);
}

/* Takes from this process what enl, or a script in its place, must not have. */
static void leave_inheritance(void)
{
    static const char *const variables[] = BCRI_KEPT_VARIABLES;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *name = variables[i], *value = getenv(name + strlen(BCRI_KEPT_PREFIX));
        if (value != NULL && setenv(name, value, 1) == 0)
            unsetenv(name + strlen(BCRI_KEPT_PREFIX));
    }
    leave_signals();
}

/* ---- becoming enl ---- */

/* Turns the original process into the daemon. Returns only if that failed, with a sentence on stderr. */
static void turn_into_enl(const char *path, bool is_certain, int socket, pid_t root,
                          const struct bcri_client_await *await)
{
    char why[1024];
    char socket_option[48], pid_option[48];
    snprintf(socket_option, sizeof socket_option, "--root-socket=%d", socket);
    snprintf(pid_option, sizeof pid_option, "--root-pid=%ld", (long)root);
    char await_option[sizeof await->key + 16], members[16];
    snprintf(await_option, sizeof await_option, "--await=%s", await->key);
    snprintf(members, sizeof members, "%u", await->members);
    char *arguments[12] = {(char *)(uintptr_t) "enl", socket_option, pid_option};
    size_t count = 3;
    if (await->members != 0) {
        arguments[count++] = await_option;
        arguments[count++] = (char *)(uintptr_t) "-n";
        arguments[count++] = members;
    }
    if (await->hosts != NULL) {
        arguments[count++] = (char *)(uintptr_t) "--host";
        arguments[count++] = await->hosts;
    }
    arguments[count++] = (char *)(uintptr_t) "--";
    arguments[count++] = program_invocation_name;
    arguments[count] = NULL;
    setenv(BCRI_BECOMES_ENL_ENV, path, 1);
    leave_inheritance();
    if (!is_certain && !bcri_client_becomes_enl(path, arguments + 1, why, sizeof why)) {
        bcri_client_complain("%s %s; a script in its place must end by: exec enl \"$@\"", path, why);
        return;
    }
    fcntl(socket, F_SETFD, 0);
    execv(path, arguments);
    bcri_client_complain("cannot run %s: %s; name a working enl as enlistpath in ~/.bcrrc", path,
                         strerror(errno));
}

/* enlistpath may name a script that runs a BCR program. That program would take itself for one that
 * a shell started, and so on for ever. */
static void refuse_to_be_enl(void)
{
    const char *path = getenv(BCRI_BECOMES_ENL_ENV);
    if (path == NULL)
        return;
    bcri_client_complain(
        "%s was started as enl, but it is (or runs) this BCR program; enlistpath must name enl itself: "
        "see enl --show-config",
        path);
    exit(127);
}

int bcri_client_start_daemon(const struct bcri_client_await *await)
{
    refuse_to_be_enl();
    if (has_threads()) {
        bcri_client_complain(
            "this program has more than one thread, so bcr_init cannot fork; start it as: enl %s",
            program_invocation_name);
        return -bcrE_ENLIST;
    }
    struct bcri_config config;
    char reason[512];
    if (bcri_config_load(&config, NULL, reason, sizeof reason) != 0) {
        bcri_client_complain("%s", reason);
        exit(2); /* as enl does: without the setting something else would run than its user means */
    }
    struct search search = {.looked_length = 0};
    look_as_configured(&search, &config);
    look_beside_library(&search);
    look_on_path(&search, "enl");
    bcri_config_fini(&config);
    if (search.found[0] == '\0') {
        bcri_client_complain("no enl to run this program was found; looked for%s\n"
                             "     install BCR, or name enl's path as enlistpath in ~/.bcrrc",
                             search.looked);
        exit(127);
    }

    const enum bcri_client_marker marker = bcri_client_marker(search.found);
    if (marker == BCRI_MARKER_OTHER) {
        bcri_client_complain(
            "%s is not an enl that this program can run under; enlistpath must name enl itself: "
            "see enl --show-config",
            search.found);
        exit(127);
    }

    int pair[2];
    if (bcri_channel_pair(pair) != 0) {
        char failure[BCRI_FAILURE_TEXT_MAX];
        bcri_client_complain("no socket for enl: %s", bcri_failure_text("", failure));
        return -bcrE_ENLIST;
    }
    sigset_t all, before; /* between fork and exec no handler of the program runs: the signal would be lost */
    struct itimerval timers[TIMERS];
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    stop_timers(timers);
    pid_t child = fork();
    if (child <= 0) {
        resume_timers(timers);
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
    if (child < 0) {
        bcri_client_complain("cannot fork: %s%s", strerror(errno), bcri_fork_remedy(errno));
        close(pair[0]);
        close(pair[1]);
        return -bcrE_ENLIST;
    }
    if (child == 0) {
        unsetenv(BCRI_NAME_ENV);
        close(pair[0]);
        return pair[1];
    }
    close(pair[1]);
    turn_into_enl(search.found, marker == BCRI_MARKER_ENL, pair[0], child, await);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    _exit(127);
}
