/* SPDX-License-Identifier: MIT */
/* bench_team -- how long it takes until all CCEs of a program are there, and how long a barrier takes: team.sh.
 *
 *   enl -n N bench_team gate          a team: until bcr_init of member 0 returns
 *   enl bench_team cries N            the root and N - 1 CCEs that it enlists: until it has all their birthcries
 *   enl -n N bench_team sync ROUNDS   a round of bcr_teamsync
 *   enl bench_team calls ROUNDS       a call that enl answers at once
 *   enl bench_team killed ROUNDS      from kill(SIGKILL) to a CCE until the handler runs that a watch of it requests
 *   enl bench_team buried ROUNDS      the same to a CCE's child, a copy of it, until waitpid has its status
 *
 * The first two count from BENCH_BEGIN_NS, of CLOCK_REALTIME, at which enl was started. Each prints one number, in microseconds. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bcr/program.h>

enum { CRIES = 1, ENDS = 2 };

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double begin_us(void)
{
    const char *text = getenv("BENCH_BEGIN_NS");
    return text != NULL ? strtod(text, NULL) / 1e3 : 0;
}

static int fail(const char *what)
{
    fprintf(stderr, "bench_team: %s: %s\n", what, bcr_strerror(bcr_errno));
    return 1;
}

static int cry(void)
{
    bcr_region region = bcr_rgalloc(16, 0);
    if (region == NULL || bcr_enq(region, bcr_enlistor, CRIES, bcr_FREE) != 0)
        return fail("birthcry");
    return bcr_rgfree(bcr_deq(bcr_cce, CRIES, bcr_BLOCK)); /* until all are there */
}

static int hear_cries(const char *program, int count)
{
    if (bcr_enlist(NULL, -(count - 1), 1, program, NULL, 0) != 0)
        return fail("bcr_enlist");
    for (int i = 1; i < count; i++)
        if (bcr_rgfree(bcr_deq(bcr_cce, CRIES, bcr_BLOCK)) != 0)
            return fail("bcr_deq");
    printf("%.1f\n", now_us() - begin_us());
    fflush(stdout);
    return bcr_end(0, bcr_ALL);
}

static int sync_rounds(int rounds)
{
    for (int i = 0; i < 10; i++)
        if (bcr_teamsync(bcr_BLOCK) != 0)
            return fail("bcr_teamsync");
    const double begun = now_us();
    for (int i = 0; i < rounds; i++)
        if (bcr_teamsync(bcr_BLOCK) != 0)
            return fail("bcr_teamsync");
    if (bcr_teamrank() == 0)
        printf("%.2f\n", (now_us() - begun) / rounds);
    return 0;
}

static int call_rounds(int rounds)
{
    const double begun = now_us();
    for (int i = 0; i < rounds; i++)
        if (bcr_find("nobody", NULL, NULL, 0) == 0 || bcr_errno != bcrE_TIMEOUT)
            return fail("bcr_find");
    printf("%.2f\n", (now_us() - begun) / rounds);
    return 0;
}

static int compare(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static void print_median(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, compare);
    printf("%.1f\n", times[count / 2]);
}

/* Lives until it is killed; its enlistor knows its process ID before. */
static int be_killed(void)
{
    bcr_region region = bcr_rgalloc(sizeof(pid_t), 0);
    if (region == NULL)
        return fail("bcr_rgalloc");
    *(pid_t *)*region = getpid();
    if (bcr_enq(region, bcr_enlistor, CRIES, bcr_FREE) != 0)
        return fail("bcr_enq");
    return bcr_rgfree(bcr_deq(bcr_cce, CRIES, bcr_BLOCK));
}

static double handled_us;

static void note_end(int cell)
{
    handled_us = now_us();
    if (bcr_rgfree(bcr_deq(bcr_cce, cell, 0)) != 0 || bcr_wake(CRIES) != 0)
        exit(fail("handler"));
}

/* The caller sleeps in a get when its handler is requested. */
static int kill_cces(const char *program, int rounds, double *times)
{
    const char *const killed[] = {"killed", NULL};
    const struct bcr_startspec spec = {
        .size = sizeof spec, .core = -1, .count = 1, .ordinal = 1, .program = program, .arguments = killed};
    if (bcr_handler(ENDS, note_end, 1, 0, 0) != 0 || bcr_watch(bcr_STARTED, ENDS) != 0)
        return fail("bcr_watch");
    for (int i = 0; i < rounds; i++) {
        if (bcr_start(&spec, NULL) != 1)
            return fail("bcr_start");
        bcr_region region = bcr_deq(bcr_cce, CRIES, bcr_BLOCK);
        const pid_t pid = *(pid_t *)*region;
        (void)bcr_rgfree(region);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* until it sleeps, too */
        const double begun = now_us();
        kill(pid, SIGKILL);
        if (bcr_deq(bcr_cce, CRIES, bcr_BLOCK) != NULL || bcr_errno != bcrE_WOKEN)
            return fail("bcr_deq");
        times[i] = handled_us - begun;
    }
    return 0;
}

static int kill_children(int rounds, double *times)
{
    for (int i = 0; i < rounds; i++) {
        const pid_t pid = fork();
        if (pid == 0)
            for (;;)
                pause();
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        const double begun = now_us();
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        times[i] = now_us() - begun;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int number = argc > 2 ? atoi(argv[2]) : 1000;
    if (bcr_init(strcmp(what, "killed") == 0 ? bcr_isolate : 0, NULL) != 0)
        return fail("bcr_init");
    if (strcmp(what, "gate") == 0) {
        if (bcr_teamrank() == 0)
            printf("%.1f\n", now_us() - begin_us());
        return 0;
    }
    if (bcr_cagrow(CRIES, 0, 1, 0, 0, 2000, 100000) != CRIES)
        return fail("bcr_cagrow");
    if (bcr_enlistor != -1)
        return strcmp(what, "killed") == 0 ? be_killed() : cry();
    if (strcmp(what, "killed") == 0 || strcmp(what, "buried") == 0) {
        if (bcr_cagrow(ENDS, 0, 1, 0, 0, 100, 0) != ENDS)
            return fail("bcr_cagrow");
        double *const times = calloc((size_t)number + 1, sizeof *times);
        const int result = what[0] == 'k' ? kill_cces(argv[0], number, times) : kill_children(number, times);
        if (result == 0)
            print_median(times, number);
        free(times);
        return result;
    }
    if (strcmp(what, "cries") == 0)
        return hear_cries(argv[0], number);
    if (strcmp(what, "sync") == 0)
        return sync_rounds(number);
    if (strcmp(what, "calls") == 0)
        return call_rounds(number);
    fprintf(stderr, "bench_team: gate, cries N, sync, calls, killed or buried ROUNDS\n");
    return 2;
}
