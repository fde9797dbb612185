/* SPDX-License-Identifier: MIT */
/* A host program and its node program in one: nx_host host SCENARIO, as a node without arguments, or with one word. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cube.h>

#define MUST(condition)                                                                              \
    do {                                                                                             \
        if (!(condition)) {                                                                          \
            fprintf(stderr, "nx_host: line %d, node %ld: not %s\n", __LINE__, mynode(), #condition); \
            exit(3);                                                                                 \
        }                                                                                            \
    } while (0)

enum { WORK = 1, RESULT = 2, RING = 3, STAY = 4 };

/* ---- a node: sums what the host sends it with the other nodes ---- */

static void called(long type, long count, long node, long pid)
{
    MUST(type == STAY && count == 0 && node == myhost() && pid == 9);
    csend(RESULT, &type, sizeof type, myhost(), 9);
}

static int work(void)
{
    const long next = (mynode() + 1) % numnodes();
    long number, got, sum;
    crecv(WORK, &number, sizeof number);
    MUST(infonode() == myhost() && infopid() == 9 && myhost() == numnodes());
    MUST(infocount() == (long)sizeof number);
    isend(RING, &number, sizeof number, next, mypid());
    crecvx(RING, &got, sizeof got, (mynode() + numnodes() - 1) % numnodes(), -1, msginfo);
    MUST(msginfo[2] == (mynode() + numnodes() - 1) % numnodes() && msginfo[3] == mypid());
    sum = got;
    gisum(&sum, 1, &got);
    gsync();
    csend(RESULT, &sum, sizeof sum, myhost(), 9);
    if (number == 0) { /* it stays, until it is killed */
        hrecv(STAY, NULL, 0, called);
        for (;;)
            pause();
    }
    return (int)mynode();
}

/* One that needs no host; what an orphan sends to the one that has ended is nobody's. */
static int alone(const char *word)
{
    long sum = mynode() + 1, aside;
    if (strcmp(word, "orphan") == 0)
        csend(RESULT, &sum, sizeof sum, myhost(), 9);
    gisum(&sum, 1, &aside);
    if (mynode() == 0)
        printf("%s: %ld nodes, sum %ld\n", word, numnodes(), sum);
    return mynode() == 1 ? 5 : 0;
}

/* ---- the host ---- */

static const char *own;

static void give(long nodes, long pid, long first)
{
    for (long node = 0; node < nodes; node++) {
        const long number = first == 0 ? 0 : first + node;
        csend(WORK, &number, sizeof number, node, pid);
    }
    for (long node = 0; node < nodes; node++) {
        long sum, info[8];
        crecvx(RESULT, &sum, sizeof sum, -1, pid, info);
        MUST(sum == (first == 0 ? 0 : nodes * first + nodes * (nodes - 1) / 2) && info[3] == pid);
    }
}

static void loads(void)
{
    struct cubetable table[2];
    long node, pid, code;
    setpid(9);
    getcube("", "3", "", 0);
    MUST(numnodes() == 3 && mynode() == 3 && myhost() == 3 && mypid() == 9);
    load(own, -1, 0);
    give(3, 0, 10);
    waitone(2, 0, &node, &pid, &code);
    MUST(node == 2 && pid == 0 && code == 2);
    waitall(-1, -1);
    MUST(_waitone(-1, -1, &node, &pid, &code) == -1 && errno == EQPID);
    /* Two processes on each node; one that stays, and sends to the host out of a handler. */
    load(own, -1, 5);
    load(own, 0, 6);
    load(own, 1, 6);
    load(own, 2, 6);
    give(3, 5, 20);
    give(3, 6, 0);
    csend(STAY, NULL, 0, -1, 6);
    for (int i = 0; i < 3; i++)
        crecv(RESULT, &code, sizeof code);
    MUST(_load(own, 1, 6) == -1 && errno == EQPID);
    waitall(-1, 5);
    killproc(0, 6);
    waitone(-1, 6, &node, &pid, &code);
    MUST(node == 0 && pid == 6 && code == -SIGKILL);
    killcube(-1, -1);
    waitall(-1, -1);
    MUST(cubeinfo(table, 2, 1) == 1 && table[0].numnodes == 3 && table[0].hostpid == 9 && table[0].keep == 0);
    MUST(strcmp(table[0].name, "defaultname") == 0 && cubeinfo(table, 2, 0) == 1);
    newserver("defaultname");
    setsyslog(1);
    killsyslog();
    relcube("");
    MUST(cubeinfo(table, 2, 1) == 0);
    getcube("square", "d2m4rx", "", 0);
    MUST(numnodes() == 4);
}

static void errors(void)
{
    MUST(_getcube("a", "x", "", 0) == -1 && errno == EQPARAM && _getcube("a", "0", "", 0) == -1);
    MUST(_getcube("a", "d99", "", 0) == -1 && errno == EQPARAM);
    MUST(_attachcube("no") == -1 && errno == EQCUBE && _relcube("no") == -1 && errno == EQCUBE);
    MUST(_setpid(-1) == -1 && errno == EQPID);
    getcube("a", "2", "", 0);
    MUST(_getcube("a", "2", "", 0) == -1 && errno == EQCUBE);
    MUST(_load("/no/such/program", -1, 0) == -1 && errno == EQFILE);
    MUST(_load(own, 2, 0) == -1 && errno == EQNODE && _load(own, 0, -2) == -1 && errno == EQPID);
    MUST(_load("", 0, 0) == -1 && errno == EQPARAM);
    MUST(_csend(1, NULL, 0, 3, 0) == -1 && errno == EQNODE && _csend(1, NULL, 0, 0, -1) == -1 &&
         errno == EQPID);
    MUST(_gsync() == -1 && errno == EQNODE && _killproc(5, 0) == -1 && errno == EQNODE);
    MUST(_newserver("no") == -1 && errno == EQCUBE && _setsyslog(99) == -1 && errno == EQPARAM);
    MUST(_relcube("a") == 0 && _relcube("a") == -1 && errno == EQCUBE);
}

static void turns(void)
{
    double d = 1.5, e = d;
    float f = 2.5F, g = f;
    long l[2] = {1, 2};
    short s = 0x0102;
    ctohd(&d, 1), ctohf(&f, 1), ctohl(l, 2), ctohs(&s, 1);
    MUST(d == e && f == g && l[1] == 2 && s == 0x0102);
    setenv("NX_CUBE_ORDER", __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "little" : "big", 1);
    ctohd(&d, 1), ctohf(&f, 1), ctohl(l, 2), ctohs(&s, 1);
    MUST(memcmp(&d, &e, sizeof d) != 0 && l[0] == (long)(1UL << (8 * sizeof l[0] - 8)) && s == 0x0201);
    htocd(&d, 1), htocf(&f, 1), htocl(l, 2), htocs(&s, 1);
    MUST(d == e && f == g && l[0] == 1 && l[1] == 2 && s == 0x0102);
}

/* NX_LOAD says what it would load. */
static void without_cube(void)
{
    setpid(9);
    give(2, 0, 30);
    waitall(-1, -1);
}

/* What the commands have got and loaded. */
static void attaches(void)
{
    setpid(9);
    attachcube("shell");
    load(own, -1, 1);
    give(numnodes(), 1, 40);
    waitall(-1, 1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {{"loads", loads},
                     {"errors", errors},
                     {"turns", turns},
                     {"without_cube", without_cube},
                     {"attaches", attaches}};
    own = argv[0];
    if (argc == 1)
        return work();
    if (argc == 2)
        return alone(argv[1]);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenarios[i].name, argv[2]) == 0) {
            scenarios[i].run();
            return 0;
        }
    return 2;
}
