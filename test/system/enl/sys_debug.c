/* SPDX-License-Identifier: MIT */
/* sys_debug TOLD WHERE MOST WAY... -- members of a team that want debuggers: the member of rank R does what the R-th WAY says, or computes.
 * Each tells its pid by the fifo TOLD first. WHERE - is NULL. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

static const char *where;
static int most;

/* ---- malloc: in place of the C library's; it faults in its midst, and takes no second call then */

#pragma GCC visibility push(default)

static volatile bool faults, is_busy;

void *__libc_malloc(size_t bytes); /* NOLINT(bugprone-reserved-identifier): the C library's name */

void *malloc(size_t bytes)
{
    if (is_busy) {
        static const char text[] = "sys_debug: malloc was called while it is in malloc\n";
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(99);
    }
    is_busy = faults;
    if (faults)
        (void)*(volatile int *)8; /* NOLINT: that is the fault */
    return __libc_malloc(bytes);
}

#pragma GCC visibility pop

/* ---- the ways */

static void compute(void)
{
    for (;;)
        continue;
}

static void ask(void)
{
    bcr_debug(where, most);
}

static void on_fault(int signal)
{
    (void)signal;
    bcr_debug(where, most);
}

static void fault_in_malloc(void)
{
    static char stack[8192 + 4096];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    faults = true;
    void *volatile block = malloc(1);
    free(block);
}

static void *thread_asks(void *argument)
{
    bcr_debug(where, most);
    return argument;
}

/* In a thread, while the first one waits for a region. */
static void ask_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_asks, NULL);
    (void)!bcr_deq(bcr_cce, 0, bcr_BLOCK);
    for (;;)
        pause();
}

static void ask_in_fork(void)
{
    int status = 0;
    const pid_t fork_pid = fork();
    if (fork_pid == 0)
        bcr_debug(where, most);
    waitpid(fork_pid, &status, 0);
    exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 7 : 1);
}

/* When it gets SIGUSR1. */
static void ask_by_signal(void)
{
    const struct sigaction action = {.sa_handler = on_fault};
    sigaction(SIGUSR1, &action, NULL);
    for (;;)
        pause();
}

/* On a host that is not up yet. */
static void enlist_late(void)
{
    (void)!bcr_enlist("n1", -1, 7, "./started", NULL, bcr_FREE);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"ask", ask},          {"fault", fault_in_malloc}, {"thread", ask_in_thread},
                {"fork", ask_in_fork}, {"signal", ask_by_signal},  {"enlist", enlist_late}};
    if (argc < 4)
        return 2;
    where = strcmp(argv[2], "-") != 0 ? argv[2] : NULL;
    most = atoi(argv[3]);
    if (strcmp(argv[1], "alone") == 0)
        ask();
    if (bcr_init(bcr_passsignals, NULL) != 0) /* while all go on */
        return 3;
    FILE *told = fopen(argv[1], "a");
    if (told == NULL || fprintf(told, "%d %ld\n", bcr_teamrank(), (long)getpid()) < 0 || fclose(told) != 0 ||
        bcr_teamsync(bcr_BLOCK) != 0)
        return 4;
    const int way = 4 + bcr_teamrank();
    for (size_t i = 0; way < argc && i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(argv[way], ways[i].name) == 0)
            ways[i].run();
    compute();
}
