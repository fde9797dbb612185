/* SPDX-License-Identifier: MIT */
/* bench_team -- how long it takes until all CCEs of a program are there, and how long a barrier takes: team.sh.
 *
 *   enl -n N bench_team gate          a team: until bcr_init of member 0 returns
 *   enl bench_team cries N            the root and N - 1 CCEs that it enlists: until it has all their birthcries
 *   enl -n N bench_team sync ROUNDS   a round of bcr_teamsync
 *   enl bench_team calls ROUNDS       a call that enl answers at once
 *
 * The first two count from BENCH_BEGIN_NS, of CLOCK_REALTIME, at which enl was started. Each prints one number, in microseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bcr/program.h>

enum { CRIES = 1 };

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

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int number = argc > 2 ? atoi(argv[2]) : 1000;
    if (bcr_init(0, NULL) != 0)
        return fail("bcr_init");
    if (strcmp(what, "gate") == 0) {
        if (bcr_teamrank() == 0)
            printf("%.1f\n", now_us() - begin_us());
        return 0;
    }
    if (bcr_cagrow(CRIES, 0, 1, 0, 0, 2000, 100000) != CRIES)
        return fail("bcr_cagrow");
    if (bcr_enlistor != -1)
        return cry();
    if (strcmp(what, "cries") == 0)
        return hear_cries(argv[0], number);
    if (strcmp(what, "sync") == 0)
        return sync_rounds(number);
    if (strcmp(what, "calls") == 0)
        return call_rounds(number);
    fprintf(stderr, "bench_team: gate, cries N, sync ROUNDS or calls ROUNDS\n");
    return 2;
}
