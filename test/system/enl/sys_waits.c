/* SPDX-License-Identifier: MIT */
/* Programs that wait in known ways, for test_why.c. The environment has SYS_MODE, SYS_CCES and perhaps SYS_MACH, the machine
 * of all but the root: the root enlists the others,
 * all learn of each other, and then
 *
 *   circle   each gets from cell 1 of the next one, where nobody puts
 *   missing  each gets from its own cell 1
 *   locks    CCEs 0 and 1 have the write locks of their own cells 1 and want the other's; others, if
 *            there are any, run on
 *   full     CCE 1 puts into cell 1 of CCE 0, which is full; CCE 0 runs
 *   crowded  each puts for an hour into cell 1 of the next one, which is full
 *   crammed  each has used up its nbytes, and waits for room
 *   slow     as circle, but CCE 0 runs
 *   spin     as circle, but CCE 0 computes
 *   input    as circle, but CCE 0 reads from a pipe into which nobody writes
 *   alarm    as circle, but CCE 0 computes in a signal handler once SIGALRM comes, and CCE 1 waits for that first
 *   noted    each gets from its own cell 1, and says that it waits for the next one (bcr_note)
 *   paired   CCEs 0 and 1 say so of each other; others, if there are any, run on
 *   later    as circle, but CCE 0 waits before that until the test lets it go on
 *   timed    as circle, but CCE 0 waits for an hour
 *   again    CCE 0 gets from cell 1 of CCE 1 for 50 ms, again and again; CCE 1 waits in poll(2)
 *   idle     each only looks for regions (bcr_idle) in its own cell 1: by the time 0, for 20 ms, by a pending get, or it
 *            waits there for ever
 *   token    as idle, but a region goes round
 *   found    as idle, but CCE 0 has found a region, and computes
 *   left     CCE 1 puts into cell 1 of CCE 0, which takes that and waits for more
 *   threads each has 100 threads more than the one that calls BCR, and "runs"
 *   busy     all put and get without end
 *   regions  CCE 0 holds three regions of its own and one is in its cell 2; all wait as in circle, for an hour
 *
 * SYS_SERVERS, if it is there, is how many of them, from CCE 0 on, say that they are servers (bcr_idle).
 * SYS_FLAGS are those of bcr_init. "Runs" is a pause outside BCR. Each tells just before it does what it does. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/program.h>

#define MUST(expr)                                                                          \
    do {                                                                                    \
        if (!(expr)) {                                                                      \
            fprintf(stderr, "line %d: not %s, bcr_errno %d\n", __LINE__, #expr, bcr_errno); \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

enum { WAIT = 1, NEWS = 2, FIRST_ID = 10, HOUR = 3600000, CCES_MAX = 1024, ROOM = 2 };

static int cces, ids[CCES_MAX];

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    MUST(value != NULL);
    return value != NULL ? value : "";
}

static void tell(void)
{
    const int fd = open(setting("SYS_TELL"), O_WRONLY | O_CLOEXEC);
    char line[32];
    const int length = snprintf(line, sizeof line, "%d\n", bcr_cceord);
    MUST(fd >= 0 && write(fd, line, (size_t)length) == length);
    close(fd);
}

static void run_on(void)
{
    for (;;)
        pause();
}

static void *run_on_too(void *data)
{
    run_on();
    return data;
}

static void put_one(int cce, int cell)
{
    bcr_region region = bcr_rgalloc(100, 0);
    MUST(region != NULL && bcr_put(1, region, cce, cell, bcr_FREE) == 0);
}

/* Waits for what comes, outside BCR. */
static void read_one(int fd)
{
    char byte;
    MUST(fd >= 0 && read(fd, &byte, 1) == 1);
    close(fd);
}

static void go_slowly(const char *mode)
{
    int pair[2];
    if (strcmp(mode, "later") == 0) {
        read_one(open(setting("SYS_GO"), O_RDONLY | O_CLOEXEC));
        return;
    }
    if (strcmp(mode, "input") == 0) {
        MUST(pipe(pair) == 0);
        read_one(pair[0]);
    }
    for (volatile unsigned turns = 0;; turns++)
        ;
}

static void on_alarm(int number)
{
    (void)number;
    const int fd = open(setting("SYS_GO"), O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "", 1) == 1)
        for (volatile unsigned turns = 0;; turns++)
            ;
}

static void get_one(int cce, int cell, int msec)
{
    bcr_region region = bcr_get(1, cce, cell, msec);
    MUST(region != NULL && bcr_rgfree(region) == 0);
}

/* All send their IDs to the root, which sends all of them to everybody. */
static void meet(const char *self)
{
    MUST(bcr_cagrow(WAIT, 0, 0, 0, 1, ROOM, 4096) == WAIT);
    MUST(bcr_cagrow(NEWS, 0, 1, 0, 0, 1, 65536) == NEWS);
    if (bcr_cceord != 0) {
        MUST(bcr_send(&bcr_cce, sizeof bcr_cce, bcrT_1CCE, 1, bcr_enlistor, FIRST_ID + bcr_cceord, 1, 0) > 0);
        MUST(bcr_recv(ids, (int)sizeof ids, bcrT_1CCE, cces, bcr_cce, NEWS, 1, bcr_BLOCK) > 0);
        return;
    }
    MUST(bcr_cagrow(FIRST_ID, 0, cces, 0, 0, cces, 20 * cces * cces) == FIRST_ID); /* all that it sends */
    MUST(cces == 1 || bcr_enlist(getenv("SYS_MACH"), -(cces - 1), 1, self, NULL, bcr_FREE) == 0);
    ids[0] = bcr_cce;
    for (int i = 1; i < cces; i++)
        MUST(bcr_recv(&ids[i], sizeof ids[i], bcrT_1CCE, 1, bcr_cce, FIRST_ID + i, 1, bcr_BLOCK) > 0);
    for (int i = 1; i < cces; i++)
        MUST(bcr_send(ids, (int)sizeof ids[0] * cces, bcrT_1CCE, cces, ids[i], NEWS, 1, 0) > 0);
}

static void locks(void)
{
    const int other = ids[1 - bcr_cceord];
    put_one(bcr_cce, WAIT);
    MUST(bcr_acqwl(bcr_cce, WAIT, bcr_BLOCK) != NULL);
    put_one(other, NEWS); /* both have theirs */
    get_one(bcr_cce, NEWS, bcr_BLOCK);
    tell();
    MUST(bcr_acqwl(other, WAIT, bcr_BLOCK) != NULL);
}

/* Returns the region that it has found, which it looks for in its own way. */
static bcr_region look_for_one(void)
{
    const int way = bcr_cceord % 4;
    bcr_region region = way == 2 ? bcr_deq(bcr_cce, WAIT, bcr_PENDING) : NULL;
    MUST(bcr_idle(bcr_IDLE_WAITING) == 0);
    if (way == 2) {
        MUST(region != NULL);
        while (bcr_rgwait(region, 0, 0) == 0)
            continue;
        return region;
    }
    while ((region = bcr_deq(bcr_cce, WAIT, way == 0 ? 0 : way == 1 ? 20 : bcr_BLOCK)) == NULL)
        MUST(bcr_errno == bcrE_TIMEOUT);
    return region;
}

static void look(const char *mode, int next)
{
    const bool found = strcmp(mode, "found") == 0 && bcr_cceord == 0;
    if (found || (strcmp(mode, "token") == 0 && bcr_cceord == 0))
        put_one(found ? bcr_cce : next, WAIT);
    tell();
    for (;;) {
        bcr_region region = look_for_one();
        if (found)
            go_slowly(mode);
        MUST(bcr_enq(region, next, WAIT, bcr_FREE) == 0);
    }
}

/* As an interface for message passing waits: in a cell of its own, whatever it waits for. */
static void wait_for(int other)
{
    char text[64];
    snprintf(text, sizeof text, "crecv type 5 from node %d\033[2J", other);
    MUST(bcr_note(text, ids[other]) == 0);
    tell();
    get_one(bcr_cce, WAIT, bcr_BLOCK);
}

static void perform(const char *mode)
{
    const int next = ids[(bcr_cceord + 1) % cces];
    if (strcmp(mode, "locks") == 0 && bcr_cceord < 2) {
        locks();
    } else if (strcmp(mode, "full") == 0 && bcr_cceord == 1) {
        for (int i = 0; i < ROOM; i++)
            put_one(ids[0], WAIT);
        tell();
        put_one(ids[0], WAIT);
    } else if (strcmp(mode, "crowded") == 0) {
        for (int i = 0; i < ROOM; i++)
            put_one(next, WAIT);
        MUST(bcr_putdone(bcr_BLOCK) == 1 && bcr_putwait(HOUR) == 0);
        tell();
        put_one(next, WAIT);
    } else if (strcmp(mode, "noted") == 0) {
        wait_for((bcr_cceord + 1) % cces);
    } else if (strcmp(mode, "paired") == 0 && bcr_cceord < 2) {
        wait_for(1 - bcr_cceord);
    } else if (strcmp(mode, "crammed") == 0) {
        while (bcr_rgalloc(1024, 0) != NULL)
            continue;
        while (bcr_rgalloc(1, 0) != NULL)
            continue;
        tell();
        while (bcr_rgalloc_within(1, 0, bcr_BLOCK) !=
               NULL) /* another may have freed what it got of this one */
            continue;
    } else if (strcmp(mode, "spin") == 0 || strcmp(mode, "input") == 0 || strcmp(mode, "later") == 0) {
        tell();
        if (bcr_cceord == 0)
            go_slowly(mode);
        get_one(next, WAIT, bcr_BLOCK);
    } else if (strcmp(mode, "alarm") == 0) {
        tell();
        if (bcr_cceord == 1)
            go_slowly("later");
        get_one(next, WAIT, bcr_BLOCK);
    } else if (strcmp(mode, "circle") == 0 || (strcmp(mode, "slow") == 0 && bcr_cceord != 0) ||
               (strcmp(mode, "timed") == 0 && bcr_cceord != 0)) {
        tell();
        get_one(next, WAIT, bcr_BLOCK);
    } else if (strcmp(mode, "again") == 0) {
        tell();
        while (bcr_cceord == 0)
            MUST(bcr_get(1, next, WAIT, 50) == NULL && bcr_errno == bcrE_TIMEOUT);
        MUST(poll(NULL, 0, -1) == 0);
    } else if (strcmp(mode, "idle") == 0 || strcmp(mode, "token") == 0 || strcmp(mode, "found") == 0) {
        look(mode, next);
    } else if (strcmp(mode, "left") == 0) {
        if (bcr_cceord == 1)
            put_one(ids[0], WAIT);
        else if (bcr_cceord == 0)
            get_one(bcr_cce, WAIT, bcr_BLOCK);
        tell();
        if (bcr_cceord != 0)
            run_on();
        get_one(bcr_cce, WAIT, bcr_BLOCK);
    } else if (strcmp(mode, "threads") == 0) {
        pthread_t thread;
        for (int i = 0; i < 100; i++)
            MUST(pthread_create(&thread, NULL, run_on_too, NULL) == 0);
        tell();
        run_on();
    } else if (strcmp(mode, "busy") == 0) {
        tell();
        for (;;) {
            put_one(next, WAIT);
            get_one(bcr_cce, WAIT, bcr_BLOCK);
        }
    } else if (strcmp(mode, "missing") == 0) {
        tell();
        get_one(bcr_cce, WAIT, bcr_BLOCK);
    } else if (strcmp(mode, "timed") == 0 || strcmp(mode, "regions") == 0) {
        for (int i = 0; i < 3 && strcmp(mode, "regions") == 0 && bcr_cceord == 0; i++)
            MUST(bcr_rgalloc(200, 0) != NULL);
        if (strcmp(mode, "regions") == 0 && bcr_cceord == 0)
            put_one(bcr_cce, NEWS);
        tell();
        get_one(next, WAIT, HOUR);
    } else {
        tell();
        run_on();
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    const char *flags = getenv("SYS_FLAGS");
    MUST(bcr_init(flags != NULL ? (int)strtol(flags, NULL, 0) : 0, argv[0]) == 0);
    cces = (int)strtol(setting("SYS_CCES"), NULL, 10);
    signal(SIGALRM, on_alarm);
    MUST(cces > 0 && cces <= CCES_MAX);
    meet(argv[0]);
    const char *servers = getenv("SYS_SERVERS");
    if (servers != NULL && bcr_cceord < strtol(servers, NULL, 10))
        MUST(bcr_idle(bcr_IDLE_SERVER) == 0);
    perform(setting("SYS_MODE"));
    return 0;
}
