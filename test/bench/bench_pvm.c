/* SPDX-License-Identifier: MIT */
/* bench_pvm -- figures of a PVM 3, for pvm.sh: on pvm3.h alone, so that it is also compiled with another system's PVM.
 *
 *   bench_pvm FILE [ROUNDS [TASKS]]      FILE: this program, by its whole path
 *
 * Lines "NAME VALUE": the median of TURNS turns. 8 bytes packed, sent and unpacked, one way, in ns; 1 MiB one way in MB/s, packed raw, by default, and
 * in place; a group joined and left, in us; TASKS tasks spawned until all have answered, in ms; a task's SIGKILL until the notice, in ms.
 * Whatever route there is directly from task to task is asked for. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pvm3.h>

enum { TURNS = 9, LARGE = 1 << 20, DATA = 1, HELLO = 2, GONE = 3, MOST_TASKS = 1024 };

static char large[LARGE];
static int peer; /* the task that answers */

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void must(int result, const char *what)
{
    if (result >= 0)
        return;
    pvm_perror((char *)(size_t)what);
    exit(1);
}

static int ascending(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static void tell(const char *name, double *values)
{
    qsort(values, TURNS, sizeof *values, ascending);
    printf("%s %.4g\n", name, values[TURNS / 2]);
    fflush(stdout);
}

/* ---- messages: the encoding tells how many bytes, since both sides get the same list ---- */

static void give(int to, int encoding, int length)
{
    must(pvm_initsend(encoding), "pvm_initsend");
    if (length == 8)
        must(pvm_pkint((int *)(void *)large, 2, 1), "pvm_pkint");
    else
        must(pvm_pkbyte(large, length, 1), "pvm_pkbyte");
    must(pvm_send(to, DATA), "pvm_send");
}

static void take(int from, int length)
{
    must(pvm_recv(from, DATA), "pvm_recv");
    if (length == 8)
        must(pvm_upkint((int *)(void *)large, 2, 1), "pvm_upkint");
    else
        must(pvm_upkbyte(large, length, 1), "pvm_upkbyte");
}

static const struct {
    const char *name;
    int encoding, length, share; /* of the rounds: one in so many */
} kinds[] = {{"small", PvmDataDefault, 8, 1},
             {"raw", PvmDataRaw, LARGE, 500},
             {"default", PvmDataDefault, LARGE, 500},
             {"inplace", PvmDataInPlace, LARGE, 500}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void messages(int first, int other, int rounds)
{
    for (int kind = 0; kind < KINDS; kind++) {
        double values[TURNS];
        const int many = rounds / kinds[kind].share + 1, encoding = kinds[kind].encoding;
        const int length = kinds[kind].length;
        for (int turn = 0; turn < TURNS; turn++) {
            const double begun = now_ns();
            for (int i = 0; i < many; i++) {
                if (!first)
                    take(other, length);
                give(other, encoding, length);
                if (first)
                    take(other, length);
            }
            const double one_way_ns = (now_ns() - begun) / many / 2;
            values[turn] = length == 8 ? one_way_ns : length / one_way_ns * 1e3;
        }
        if (first)
            tell(kinds[kind].name, values);
    }
}

/* ---- tasks ---- */

static void groups(int rounds)
{
    double values[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        const double begun = now_ns();
        for (int i = 0; i < rounds; i++) {
            must(pvm_joingroup((char *)(size_t) "bench"), "pvm_joingroup");
            must(pvm_lvgroup((char *)(size_t) "bench"), "pvm_lvgroup");
        }
        values[turn] = (now_ns() - begun) / rounds / 1e3;
    }
    tell("group", values);
}

static void start(char *file, const char *what, int count, int *tids)
{
    char text[16], *arguments[] = {text, NULL};
    strcpy(text, what);
    if (pvm_spawn(file, arguments, PvmTaskDefault, (char *)(size_t) "", count, tids) == count)
        return;
    fprintf(stderr, "bench_pvm: %d tasks of %s could not be spawned: %d\n", count, file, tids[0]);
    exit(1);
}

static void spawns(char *file, int count)
{
    static int tids[MOST_TASKS];
    double values[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        const double begun = now_ns();
        start(file, "hello", count, tids);
        for (int i = 0; i < count; i++)
            must(pvm_recv(-1, HELLO), "pvm_recv");
        values[turn] = (now_ns() - begun) / 1e6;
        must(pvm_notify(PvmTaskExit, GONE, count, tids), "pvm_notify");
        for (int i = 0; i < count; i++)
            must(pvm_recv(-1, GONE), "pvm_recv");
    }
    tell("spawn", values);
}

static void notices(char *file)
{
    double values[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        int tid, pid;
        start(file, "wait", 1, &tid);
        must(pvm_recv(tid, HELLO), "pvm_recv");
        must(pvm_upkint(&pid, 1, 1), "pvm_upkint");
        must(pvm_notify(PvmTaskExit, GONE, 1, &tid), "pvm_notify");
        usleep(20000);
        const double begun = now_ns();
        kill(pid, SIGKILL);
        must(pvm_recv(-1, GONE), "pvm_recv");
        values[turn] = (now_ns() - begun) / 1e6;
    }
    tell("notice", values);
}

static void say_hello(void)
{
    int pid = getpid();
    must(pvm_initsend(PvmDataDefault), "pvm_initsend");
    must(pvm_pkint(&pid, 1, 1), "pvm_pkint");
    must(pvm_send(pvm_parent(), HELLO), "pvm_send");
}

static int number(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    must(pvm_mytid(), "pvm_mytid");
    (void)pvm_setopt(PvmAutoErr, 0); /* who has no parent is the first */
    (void)pvm_setopt(PvmRoute, PvmRouteDirect);
    if (pvm_parent() >= 0) {
        if (strcmp(what, "hello") == 0 || strcmp(what, "wait") == 0)
            say_hello();
        else
            messages(0, pvm_parent(), number(what));
        if (strcmp(what, "wait") == 0)
            (void)pvm_recv(-1, DATA);
    } else if (*what == '/') {
        const int rounds = argc > 2 ? number(argv[2]) : 5000, tasks = argc > 3 ? number(argv[3]) : 128;
        char text[16];
        snprintf(text, sizeof text, "%d", rounds);
        start(argv[1], text, 1, &peer);
        messages(1, peer, rounds);
        /* Some 20 ms: so long those that shared a core while the peer ran may stay on it. */
        groups(rounds / 5 + 1);
        spawns(argv[1], tasks < MOST_TASKS ? tasks : MOST_TASKS);
        notices(argv[1]);
    } else {
        fprintf(stderr, "usage: bench_pvm FILE [ROUNDS [TASKS]]\n");
        return 2;
    }
    (void)pvm_exit();
    return 0;
}
