/* SPDX-License-Identifier: MIT */
/* spawn.c -- vfork and exec.
 *
 * vfork, since a daemon with many segments mapped would spend its time copying page tables. Between vfork and exec
 * only system calls are made, and no variable of the parent's is changed. A pipe that exec closes tells which step
 * failed, and when exec is done, also where a tool has made vfork a fork. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void enl_inherited_take(struct enl_inherited *inherited_out)
{
    sigprocmask(SIG_SETMASK, NULL, &inherited_out->mask);
    sigaction(SIGPIPE, NULL, &inherited_out->pipe);
    sigaction(SIGXFSZ, NULL, &inherited_out->file_size);
    sigaction(SIGCHLD, NULL, &inherited_out->child);
    getrlimit(RLIMIT_NOFILE, &inherited_out->files);
}

/* What the pipe brings; `step` is the same address on both sides. */
struct failure {
    const char *step;
    int error;
};

/* Moves `fd` to `target`, which is not close-on-exec afterwards. */
static int place(int fd, int target)
{
    if (fd < 0)
        return 0;
    if (fd == target)
        return fcntl(fd, F_SETFD, 0);
    return dup2(fd, target) < 0 ? -1 : 0;
}

static int pin(int core)
{
    cpu_set_t set;
    if (core < 0)
        return 0;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

/* In the child, until exec. */
static _Noreturn void become(const struct enl_spawn *spawn, int tell)
{
    const struct enl_inherited *back = spawn->inherited;
    const char *step = "join its process group";
    if (spawn->own_group && setpgid(0, 0) != 0)
        goto failed;
    if (spawn->die_with_parent)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    step = "set up its standard files";
    if (place(spawn->in, 0) != 0 || place(spawn->out, 1) != 0 || place(spawn->err, 2) != 0)
        goto failed;
    if (spawn->keep >= 0 && fcntl(spawn->keep, F_SETFD, 0) != 0)
        goto failed;
    step = "enter its directory";
    if (spawn->folder != NULL && chdir(spawn->folder) != 0)
        goto failed;
    step = "run on that core";
    if (pin(spawn->core) != 0)
        goto failed;
    setrlimit(RLIMIT_NOFILE, &back->files);
    sigaction(SIGPIPE, &back->pipe, NULL);
    sigaction(SIGXFSZ, &back->file_size, NULL);
    sigaction(SIGCHLD, &back->child, NULL);
    sigprocmask(SIG_SETMASK, &back->mask, NULL);
    step = "be executed";
    execve(spawn->path, spawn->argv, spawn->environment);
failed:
    (void)!write(tell, &(struct failure){step, errno}, sizeof(struct failure));
    _exit(127);
}

__attribute__((noinline)) static pid_t vfork_and_become(const struct enl_spawn *spawn, int tell)
{
    /* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): see the head of this file */
    pid_t pid = vfork();
    if (pid == 0)
        become(spawn, tell);
    /* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
    return pid;
}

pid_t enl_spawn(const struct enl_spawn *spawn, const char **step_out)
{
    struct failure failure = {NULL, 0};
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0) {
        *step_out = "get a pipe";
        return -errno;
    }
    pid_t pid = vfork_and_become(spawn, pair[1]);
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
