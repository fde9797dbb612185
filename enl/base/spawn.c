/* SPDX-License-Identifier: MIT */
/* spawn.c -- vfork and exec.
 *
 * vfork, since a daemon with many segments mapped would spend its time copying page tables. Between
 * vfork and exec the child makes only system calls, and changes no variable of the parent's. A pipe
 * that exec closes tells the parent which step failed, or that exec is done, also where a tool has
 * made a fork out of vfork.
 *
 * A daemon of 1,000 CCEs has 10,000 descriptors. Copying them all for the child and closing them
 * again in exec takes ten times as long as all the rest. So beyond some number of descriptors the
 * child shares the daemon's table until it takes a copy of the table's low end alone (close_range
 * with CLOSE_RANGE_UNSHARE). For this the daemon keeps some low numbers in reserve; it puts what
 * the child needs there. */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/self.h"
#include "bcri/environment.h"
#include "bcri/refuse.h"

/* What the pipe brings; `step` is the same address in parent and child. */
struct failure {
    const char *step;
    int error;
};

/* Moves `fd` to `target`, which then is not close-on-exec. */
static int place_descriptor(int fd, int target)
{
    if (fd < 0)
        return 0;
    if (fd == target)
        return fcntl(fd, F_SETFD, 0);
    return dup2(fd, target) < 0 ? -1 : 0;
}

static int pin_to_core(int core)
{
    cpu_set_t set;
    if (core < 0)
        return 0;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

/* The process that started enl may have ignored or blocked signals for purposes of its own: with SIGCHLD ignored,
 * system() fails in each CCE. Only an ignored SIGHUP says something about the program: it is to outlive its terminal. */
static void fresh_signals(void)
{
    const struct sigaction fresh = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        if (signal != SIGHUP)
            sigaction(signal, &fresh, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool enter_group(const char *procs)
{
    const int fd = open(procs, O_WRONLY | O_CLOEXEC);
    const bool is_in = fd >= 0 && write(fd, "0", 1) == 1;
    if (fd >= 0)
        close(fd);
    return is_in;
}

/* Runs in the child, until exec. */
static _Noreturn void become_program(const struct enl_spawn *spawn, int tell)
{
    const struct enl_inherited *back = spawn->inherited;
    const char *step = "join its process group";
    if (spawn->own_group && setpgid(0, 0) != 0)
        goto failed;
    if (spawn->own_session && setsid() < 0)
        goto failed;
    if (spawn->die_with_parent)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    step = ENL_SPAWN_ENTERS;
    if (spawn->group != NULL && !enter_group(spawn->group))
        goto failed;
    if (spawn->no_core_file)
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    step = "set up its standard files";
    if (place_descriptor(spawn->in, 0) != 0 || place_descriptor(spawn->out, 1) != 0 ||
        place_descriptor(spawn->err, 2) != 0)
        goto failed;
    if (spawn->own_terminal && ioctl(0, TIOCSCTTY, 0) != 0)
        goto failed;
    if (spawn->keep >= 0 && fcntl(spawn->keep, F_SETFD, 0) != 0)
        goto failed;
    step = "enter its directory";
    if (spawn->folder != NULL && chdir(spawn->folder) != 0)
        goto failed;
    step = "run on that core";
    if (pin_to_core(spawn->core) != 0 && spawn->core_is_wanted)
        goto failed;
    setrlimit(RLIMIT_NOFILE, &back->files);
    fresh_signals();
    step = "be executed";
    execve(spawn->path, spawn->argv, spawn->environment);
failed:
    (void)!write(tell, &(struct failure){step, errno}, sizeof(struct failure));
    _exit(127);
}

__attribute__((noinline)) static pid_t vfork_and_become(const struct enl_spawn *spawn, int tell)
{
    /* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): see the
     * head of this file */
    pid_t pid = vfork();
    if (pid == 0)
        become_program(spawn, tell);
    /* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
    return pid;
}

#if defined(__SANITIZE_ADDRESS__)
#define BCR_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BCR_SANITIZED
#endif
#endif

/* Low numbers that the daemon keeps for as long as it runs: one for /dev/null, the others for what
 * it lends to a child. */
enum { LENT_NULL, LENT_IN, LENT_OUT, LENT_ERR, LENT_KEEP, LENT_TELL, LENT_COUNT };
enum { MANY_DESCRIPTORS = 256, STACK_BYTES = 64 << 10 };
static int lent[LENT_COUNT];
static bool lent_tried, lent_ready; /* not ready: every child gets a copy of the whole table */

static void lent_init(void)
{
    lent_tried = true;
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool ready = fd >= 0;
    for (int i = 0; i < LENT_COUNT; i++) {
        lent[i] = i == LENT_NULL ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 3);
        ready = ready && lent[i] >= 0 && lent[i] < MANY_DESCRIPTORS;
    }
#ifdef BCR_SANITIZED
    ready = false; /* AddressSanitizer remembers the frames of a child that has left its stack by exec */
#endif
    lent_ready = ready;
}

static bool lend_descriptor(int which, int fd)
{
    return fd < 0 || dup3(fd, lent[which], O_CLOEXEC) >= 0;
}

static void take_descriptors_back(void)
{
    for (int i = LENT_IN; i < LENT_COUNT; i++)
        dup3(lent[LENT_NULL], lent[i], O_CLOEXEC);
}

/* Runs in the child, on a stack of its own, in the daemon's memory and with its descriptors. */
static int become_sharing(void *arg)
{
    struct enl_spawn spawn = *(const struct enl_spawn *)arg;
    const char *step = "leave the daemon's descriptors behind";
    if (close_range(MANY_DESCRIPTORS, ~0u, CLOSE_RANGE_UNSHARE) != 0 ||
        (spawn.keep >= 0 && dup2(lent[LENT_KEEP], spawn.keep) < 0)) {
        (void)!write(lent[LENT_TELL], &(struct failure){step, errno}, sizeof(struct failure));
        _exit(127);
    }
    spawn.in = spawn.in >= 0 ? lent[LENT_IN] : -1;
    spawn.out = spawn.out >= 0 ? lent[LENT_OUT] : -1;
    spawn.err = spawn.err >= 0 ? lent[LENT_ERR] : -1;
    become_program(&spawn, lent[LENT_TELL]);
}

static pid_t share_and_become(const struct enl_spawn *spawn, int tell)
{
    static _Alignas(16) char stack[STACK_BYTES];
    pid_t pid = -1;
    if (lend_descriptor(LENT_IN, spawn->in) && lend_descriptor(LENT_OUT, spawn->out) &&
        lend_descriptor(LENT_ERR, spawn->err) && lend_descriptor(LENT_KEEP, spawn->keep) &&
        lend_descriptor(LENT_TELL, tell))
        pid = clone(become_sharing, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD,
                    (void *)(uintptr_t)spawn);
    int error = errno;
    take_descriptors_back();
    errno = error;
    return pid;
}

pid_t enl_spawn(const struct enl_spawn *spawn, const char **step_out)
{
    struct failure failure = {NULL, 0};
    int pair[2];
    if (!lent_tried)
        lent_init();
    if (pipe2(pair, O_CLOEXEC) != 0) {
        *step_out = "get a pipe";
        return -errno;
    }
    pid_t pid = -1;
    if (lent_ready && pair[1] >= MANY_DESCRIPTORS) {
        pid = share_and_become(spawn, pair[1]);
        lent_ready = pid > 0 || errno != EINVAL; /* emulators do not support such children */
    }
    if (pid < 0)
        pid = vfork_and_become(spawn, pair[1]);
    int error = errno;
    close(pair[1]);
    ssize_t told = 0;
    do
        told = pid > 0 ? read(pair[0], &failure, sizeof failure) : 0;
    while (told < 0 && errno == EINTR);
    close(pair[0]);
    if (pid < 0) {
        *step_out = "be forked";
        return -error;
    }
    if (told != (ssize_t)sizeof failure)
        return pid;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *step_out = failure.step;
    return -failure.error;
}

void enl_spawn_close_files(const struct enl_spawn *spawn)
{
    const int files[] = {spawn->in, spawn->out, spawn->err};
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0)
            close(files[i]);
}

char **enl_environment_with(char *const *environment, const char *name, const char *value)
{
    size_t count = 0, length = strlen(name), extra = length + (value != NULL ? strlen(value) : 0) + 2;
    while (environment[count] != NULL)
        count++;
    char **copy = malloc((count + 2) * sizeof *copy + extra);
    if (copy == NULL)
        return NULL;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environment[i], name, length) != 0 || environment[i][length] != '=')
            copy[kept++] = environment[i];
    if (value != NULL) {
        char *text = (char *)(copy + count + 2);
        snprintf(text, extra, "%s=%s", name, value);
        copy[kept++] = text;
    }
    copy[kept] = NULL;
    return copy;
}

void enl_environment_give_back(char **environment)
{
    const size_t length = strlen(BCRI_KEPT_PREFIX);
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, BCRI_KEPT_PREFIX, length) == 0)
            *environment += length;
}

/* Whether one of `added` has the name of `variable`. */
static bool is_replaced(const char *variable, char *const *added)
{
    const size_t length = strcspn(variable, "=");
    for (; *added != NULL; added++)
        if (strncmp(*added, variable, length) == 0 && (*added)[length] == '=')
            return true;
    return false;
}

char **enl_environment_joined(char *const *environment, char *const *added)
{
    size_t count = 0, more = 0, kept = 0;
    while (environment[count] != NULL)
        count++;
    while (added[more] != NULL)
        more++;
    char **copy = malloc((count + more + 1) * sizeof *copy);
    if (copy == NULL)
        return NULL;
    memcpy(copy, environment, (count + 1) * sizeof *copy);
    enl_environment_give_back(copy);
    for (size_t i = 0; i < count; i++)
        if (!is_replaced(copy[i], added))
            copy[kept++] = copy[i];
    memcpy(copy + kept, added, (more + 1) * sizeof *copy);
    return copy;
}

pid_t enl_own_start(struct enl_self *self, const struct enl_own_start *start, char *reason,
                    size_t reason_size)
{
    char number[16];
    snprintf(number, sizeof number, "%d", start->keep);
    char **environment =
        enl_environment_with(self->environment, BCRI_CONTROL_ENV, start->keep >= 0 ? number : NULL);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct enl_spawn spawn = {.path = "/proc/self/exe",
                                    .argv = (char *const *)(uintptr_t)start->words,
                                    .environment = environment,
                                    .in = start->in >= 0 ? start->in : null,
                                    .out = start->out >= 0 ? start->out : null,
                                    .err = start->outlives ? -1 : null,
                                    .keep = start->keep,
                                    .core = -1,
                                    .own_group = !start->outlives,
                                    .die_with_parent = !start->outlives,
                                    .no_core_file = true,
                                    .inherited = &self->inherited};
    const char *step = null >= 0 ? "get memory" : "open /dev/null";
    pid_t pid = null >= 0 ? -ENOMEM : -errno;
    if (environment != NULL && null >= 0)
        pid = enl_spawn(&spawn, &step);
    if (null >= 0)
        close(null);
    free(environment);
    if (pid < 0)
        return bcri_refuse(reason, reason_size, -1, "enl %s could not %s: %s", start->words[1], step,
                           strerror(-pid));
    return pid;
}
