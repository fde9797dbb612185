/* SPDX-License-Identifier: MIT */
/* sys_watch.c -- bcr_watch: a root that watches, CCEs that end as they are told, and some that watch each other.
 *
 *     sys_watch SCENARIO [MACHINE [MACHINE]]
 *
 * The CCEs run on the machines, or here. A scenario that goes wrong ends the root with status 1 and a sentence. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/program.h>

enum { MANY = 3000, CELLS = 1000 };
enum {
    EXIT,
    RAISE,
    WATCH
}; /* what a CCE is told: to exit with a status, to raise a signal, to watch another */

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "sys_watch: line %d: not %s (bcr_errno %d)\n", __LINE__, #condition, bcr_errno); \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)
#define FAILS(call, code) MUST((call) == -1 && bcr_errno == (code))

static const int order_desc[] = {0, bcrT_INT, 3, 0, bcrT_CCE | bcrT_END, 1}; /* what, number, puts; whom */
static const int cry_desc[] = {0, bcrT_CCE, 1, 0, bcrT_INT | bcrT_END, 3}; /* who; cell, pid, parent's pid */

struct child {
    int cce, cell, pid, daemon;
};

static const char *machines[2];
static int cries, numbers, watched; /* the root's cells */

static bcr_region made(const int *descriptor, int count, const int *values, int bytes)
{
    bcr_region rgid = bcr_rgalloc(0, 0);
    MUST(rgid != NULL);
    const int length = bcr_copytosz(descriptor, 1, 0, 0, values, bytes);
    MUST(length > 0 && bcr_rgrealloc(rgid, length) == 0);
    MUST(bcr_copyto(descriptor, 1, rgid, 0, values, bytes) >= 0);
    (void)count;
    return rgid;
}

/* ---- the CCEs ---- */

static void tell_of_end(bcr_region end)
{
    int told[4];
    MUST(bcr_rgkind(end) == bcr_END);
    MUST(bcr_copyfm(bcrT_1END, 1, end, 0, told, sizeof told) >= 0);
    bcr_region rgid = bcr_rgalloc(3 * (int)sizeof(int), 0);
    MUST(rgid != NULL);
    memcpy(*rgid, told + 1, 3 * sizeof(int));
    MUST(bcr_enq(rgid, bcr_enlistor, 3, bcr_FREE) == 0); /* the root's `numbers` is 2, ... */
}

static _Noreturn void be_told(void)
{
    const int cell = bcr_cagrow(1, 0, 1, 0, 0, 16, 1 << 20);
    MUST(cell == 1);
    const int cry[4] = {bcr_cce, cell, (int)getpid(), (int)getppid()};
    MUST(bcr_enq(made(cry_desc, 4, cry, sizeof cry), bcr_enlistor, 1, bcr_FREE) == 0);
    for (;;) {
        int order[4];
        bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_BLOCK);
        MUST(rgid != NULL);
        if (bcr_rgkind(rgid) == bcr_END) {
            tell_of_end(rgid);
            bcr_rgfree(rgid);
            continue;
        }
        MUST(bcr_copyfm(order_desc, 1, rgid, 0, order, sizeof order) >= 0);
        bcr_rgfree(rgid);
        for (int i = 0; i < order[2]; i++) {
            int *data;
            while ((rgid = bcr_rgalloc(sizeof i, 0)) == NULL)
                MUST(bcr_errno == bcrE_NBYTES); /* others hold what was put */
            data = *rgid;
            *data = i;
            MUST(bcr_enq(rgid, bcr_enlistor, 2, bcr_FREE) == 0);
        }
        switch (order[0]) {
        case EXIT: exit(order[1]);
        case RAISE: raise(order[1]); break;
        default: MUST(bcr_watch(order[3], cell) == 0);
        }
    }
}

/* ---- the root ---- */

static struct child start(int machine, const char *program)
{
    int cry[4];
    static int ordinal;
    MUST(bcr_enlist(machines[machine], -1, ++ordinal, program, NULL, 0) == 0);
    bcr_region rgid = bcr_deq(bcr_cce, cries, bcr_BLOCK);
    MUST(rgid != NULL && bcr_copyfm(cry_desc, 1, rgid, 0, cry, sizeof cry) >= 0);
    bcr_rgfree(rgid);
    return (struct child){cry[0], cry[1], cry[2], cry[3]};
}

static void tell(const struct child *child, int what, int number, int puts, int whom)
{
    const int order[4] = {what, number, puts, whom};
    MUST(bcr_enq(made(order_desc, 4, order, sizeof order), child->cce, child->cell, bcr_FREE) == 0);
}

static void is_end(bcr_region rgid, const struct child *child, int how, int number)
{
    int told[4];
    MUST(rgid != NULL && bcr_rgkind(rgid) == bcr_END && bcr_rgerror(rgid) == 0);
    MUST(bcr_copyfm(bcrT_1END, 1, rgid, 0, told, sizeof told) >= 0);
    MUST(told[0] == child->cce);
    MUST(told[2] == how && told[3] == number);
    MUST(how == bcr_HOSTLOST || told[1] > 0);
    MUST(bcr_rgfree(rgid) == 0);
}

/* What was told before has come, since a watch that begins now ends behind it. */
static void settle(const char *program)
{
    struct child child = start(0, program);
    MUST(bcr_watch(child.cce, cries) == 0);
    tell(&child, EXIT, 0, 0, bcr_cce);
    is_end(bcr_deq(bcr_cce, cries, bcr_BLOCK), &child, bcr_EXITED, 0);
}

static void ends(const char *program)
{
    static const struct {
        int what, number, how, told;
    } ways[] = {{EXIT, 0, bcr_EXITED, 0},
                {EXIT, 7, bcr_EXITED, 7},
                {EXIT, 255, bcr_EXITED, 255},
                {RAISE, SIGKILL, bcr_KILLED, SIGKILL},
                {RAISE, SIGTERM, bcr_KILLED, SIGTERM}};
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct child child = start(0, program);
        for (int again = 0; again < 3; again++)
            MUST(bcr_watch(child.cce, watched) == 0);
        MUST(bcr_celllen(bcr_cce, watched) == 0);
        tell(&child, ways[i].what, ways[i].number, 0, bcr_cce);
        is_end(bcr_deq(bcr_cce, watched, bcr_BLOCK), &child, ways[i].how, ways[i].told);
        MUST(bcr_watch(child.cce, watched) == 0); /* it has ended already */
        bcr_region rgid = bcr_deq(bcr_cce, watched, bcr_BLOCK);
        MUST(rgid != NULL && bcr_rgkind(rgid) == bcr_END);
        bcr_rgfree(rgid);
        settle(program);
        MUST(bcr_celllen(bcr_cce, watched) == 0);
    }
}

/* All that a CCE has put is there before its end, whichever way it ends. */
static void order(const char *program)
{
    for (int way = 0; way < 4; way++) {
        struct child child = start(0, program);
        MUST(bcr_watch(child.cce, numbers) == 0);
        tell(&child, way % 2 == 0 ? EXIT : RAISE, way % 2 == 0 ? 3 : SIGKILL, MANY, bcr_cce);
        for (int i = 0; i < MANY; i++) {
            bcr_region rgid = bcr_deq(bcr_cce, numbers, bcr_BLOCK);
            MUST(rgid != NULL && bcr_rgkind(rgid) == bcr_DATA);
            MUST(**(int **)rgid == i);
            bcr_rgfree(rgid);
        }
        is_end(bcr_deq(bcr_cce, numbers, bcr_BLOCK), &child, way % 2 == 0 ? bcr_EXITED : bcr_KILLED,
               way % 2 == 0 ? 3 : SIGKILL);
    }
}

/* It comes though there is no room, and counts while it lies there. */
static void full(const char *program)
{
    const int cell = bcr_cagrow(0, 0, 1, 0, 0, 2, 100);
    struct child child = start(0, program);
    MUST(cell > 0);
    for (int i = 0; i < 2; i++)
        MUST(bcr_enq(bcr_rgalloc(1, 0), bcr_cce, cell, bcr_FREE) == 0);
    MUST(bcr_watch(child.cce, cell) == 0);
    MUST(bcr_watch(child.cce, watched) == 0);
    tell(&child, EXIT, 0, 0, bcr_cce);
    is_end(bcr_deq(bcr_cce, watched, bcr_BLOCK), &child, bcr_EXITED, 0);
    settle(program);
    MUST(bcr_celllen(bcr_cce, cell) == 3);
    bcr_region extra = bcr_rgalloc(1, 0);
    FAILS(bcr_enq(extra, bcr_cce, cell, bcr_FREE), bcrE_FULL);
    for (int i = 0; i < 2; i++)
        MUST(bcr_rgfree(bcr_deq(bcr_cce, cell, 0)) == 0);
    MUST(bcr_enq(extra, bcr_cce, cell, bcr_FREE) == 0);
    is_end(bcr_deq(bcr_cce, cell, 0), &child, bcr_EXITED, 0);
    MUST(bcr_rgfree(bcr_deq(bcr_cce, cell, 0)) == 0);
    for (int i = 0; i < 2; i++)
        MUST(bcr_enq(bcr_rgalloc(1, 0), bcr_cce, cell, bcr_FREE) == 0);
    FAILS(bcr_enq(extra = bcr_rgalloc(1, 0), bcr_cce, cell, bcr_FREE), bcrE_FULL);
}

static void given_up(const char *program)
{
    struct child child = start(0, program);
    const int cell = bcr_cagrow(100, 0, 1, 0, 0, 2, 100);
    MUST(bcr_unwatch(child.cce, watched) == 0);
    MUST(bcr_watch(child.cce, watched) == 0);
    MUST(bcr_unwatch(child.cce, watched) == 0);
    MUST(bcr_watch(child.cce, cell) == 0);
    MUST(bcr_cafree(cell) == 0);
    MUST(bcr_cagrow(100, 0, 1, 0, 0, 2, 100) == cell); /* another cell with that number */
    MUST(bcr_watch(child.cce, numbers) == 0);
    tell(&child, EXIT, 0, 0, bcr_cce);
    is_end(bcr_deq(bcr_cce, numbers, bcr_BLOCK), &child, bcr_EXITED, 0);
    settle(program);
    MUST(bcr_celllen(bcr_cce, watched) == 0 && bcr_celllen(bcr_cce, cell) == 0);
}

/* KiB that the daemon has. Sanitizers keep what is freed: then it is not looked at. */
static long kept_by_daemon(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
    return 0;
#else
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/statm", (int)getppid());
    FILE *file = fopen(path, "r");
    MUST(file != NULL && fgets(line, sizeof line, file) != NULL && strchr(line, ' ') != NULL);
    fclose(file);
    return strtol(strchr(line, ' '), NULL, 10) * sysconf(_SC_PAGESIZE) / 1024;
#endif
}

/* Cells that come and go leave nothing at the daemon, and the last watch is told. */
static void again(const char *program)
{
    enum { TIMES = 20000, MOST_KB = 1024 };
    struct child child = start(0, program);
    int cell = 0;
    long before = 0;
    for (int i = 0; i < TIMES; i++) {
        MUST(i == 0 || bcr_cafree(cell) == 0);
        MUST((cell = bcr_cagrow(100, 0, 1, 0, 0, 2, 100)) == 100);
        MUST(bcr_watch(child.cce, cell) == 0);
        if (i == TIMES / 10)
            before = kept_by_daemon();
    }
    MUST(kept_by_daemon() - before < MOST_KB);
    tell(&child, EXIT, 0, 0, bcr_cce);
    is_end(bcr_deq(bcr_cce, cell, bcr_BLOCK), &child, bcr_EXITED, 0);
    settle(program);
    MUST(bcr_celllen(bcr_cce, cell) == 0);
}

/* IDs made of bytes that no CCE has put: nobody has them, so they have ended. */
static void nobody(const char *program)
{
    static const struct {
        unsigned char host, index;
        int how;
    } made_up[] = {{0, 200, bcr_UNKNOWN}, {77, 3, bcr_HOSTLOST}};
    settle(program);
    for (unsigned i = 0; i < sizeof made_up / sizeof made_up[0]; i++) {
        struct child none = {0};
        bcr_region rgid = bcr_rgalloc(16, 0);
        MUST(rgid != NULL);
        memset(*rgid, 0, 16);
        ((unsigned char *)*rgid)[1] = made_up[i].host;
        ((unsigned char *)*rgid)[3] = made_up[i].index;
        ((unsigned char *)*rgid)[8] = 1;
        MUST(bcr_copyfm(bcrT_1CCE, 1, rgid, 0, &none.cce, sizeof none.cce) >= 0 && bcr_rgfree(rgid) == 0);
        MUST(bcr_watch(none.cce, watched) == 0);
        int told[4];
        rgid = bcr_deq(bcr_cce, watched, bcr_BLOCK);
        MUST(rgid != NULL && bcr_copyfm(bcrT_1END, 1, rgid, 0, told, sizeof told) >= 0 &&
             bcr_rgfree(rgid) == 0);
        MUST(told[0] == none.cce && told[1] == -1 && told[2] == made_up[i].how && told[3] == 0);
    }
}

static int requested;

static void on_end(int cell)
{
    bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_BLOCK);
    MUST(rgid != NULL && bcr_rgkind(rgid) == bcr_END && bcr_rgfree(rgid) == 0);
    requested++;
}

static void handler(const char *program)
{
    struct child child = start(0, program);
    MUST(bcr_handler(watched, on_end, 1, 0, 0) == 0);
    MUST(bcr_watch(child.cce, watched) == 0);
    tell(&child, RAISE, SIGKILL, 0, bcr_cce);
    while (requested == 0)
        MUST(bcr_deq(bcr_cce, numbers, 20) == NULL && bcr_errno == bcrE_TIMEOUT);
    settle(program);
    MUST(requested == 1 && bcr_handler(watched, NULL, 0, 0, 0) == 0);
}

/* One end, told in a thousand cells. */
static void thousand(const char *program)
{
    struct child child = start(0, program);
    const int first = bcr_cagrow(0, 0, CELLS, 0, 0, 1, 100);
    MUST(first > 0);
    for (int i = 0; i < CELLS; i++)
        MUST(bcr_watch(child.cce, first + i) == 0);
    tell(&child, EXIT, 1, 0, bcr_cce);
    for (int i = 0; i < CELLS; i++)
        is_end(bcr_deq(bcr_cce, first + i, bcr_BLOCK), &child, bcr_EXITED, 1);
}

/* Many CCEs, some of which are watched before they end, some about then, some later. */
static void crowd(const char *program)
{
    enum { CROWD = 60 };
    struct child children[CROWD];
    int ended[CROWD] = {0}, puts = 0;
    for (int i = 0; i < CROWD; i++)
        children[i] = start(i % 2, program);
    for (int i = 0; i < CROWD; i++) {
        const int what = i % 3 == 0 ? RAISE : EXIT;
        if (i % 2 == 0)
            MUST(bcr_watch(children[i].cce, watched) == 0);
        tell(&children[i], what, what == RAISE ? SIGKILL : 0, i, bcr_cce);
        puts += i;
    }
    for (int i = 1; i < CROWD; i += 2)
        MUST(bcr_watch(children[i].cce, watched) == 0);
    for (int i = 0; i < CROWD; i++) {
        int told[4], which = 0;
        bcr_region rgid = bcr_deq(bcr_cce, watched, bcr_BLOCK);
        MUST(rgid != NULL && bcr_rgkind(rgid) == bcr_END);
        MUST(bcr_copyfm(bcrT_1END, 1, rgid, 0, told, sizeof told) >= 0 && bcr_rgfree(rgid) == 0);
        while (which < CROWD && children[which].cce != told[0])
            which++;
        MUST(which < CROWD && ended[which]++ == 0);
    }
    MUST(bcr_celllen(bcr_cce, numbers) == puts); /* all came before the ends */
    settle(program);
    MUST(bcr_celllen(bcr_cce, watched) == 0);
}

/* One that is no CCE, and ends; and one that is killed as soon as it can be. */
static void never_up(const char *program)
{
    struct child child = {0};
    const struct bcr_startspec spec = {.size = sizeof spec,
                                       .machine = machines[0],
                                       .core = -1,
                                       .count = 1,
                                       .ordinal = 5,
                                       .program = "/bin/true"};
    MUST(bcr_start(&spec, &child.cce) == 1);
    MUST(bcr_watch(child.cce, watched) == 0);
    bcr_region rgid = bcr_deq(bcr_cce, watched, bcr_BLOCK);
    int told[4];
    MUST(rgid != NULL && bcr_copyfm(bcrT_1END, 1, rgid, 0, told, sizeof told) >= 0 && bcr_rgfree(rgid) == 0);
    MUST(told[0] == child.cce && told[1] == 5 && (told[2] == bcr_NEVERUP || told[2] == bcr_UNKNOWN));
    settle(program);
    MUST(bcr_celllen(bcr_cce, watched) == 0);
}

static void lost(const char *program)
{
    struct child one = start(0, program), other = start(0, program);
    MUST(bcr_watch(one.cce, watched) == 0);
    kill(one.daemon, SIGKILL);
    is_end(bcr_deq(bcr_cce, watched, bcr_BLOCK), &one, bcr_HOSTLOST, 0);
    MUST(bcr_watch(other.cce, watched) == 0); /* the host is lost already */
    is_end(bcr_deq(bcr_cce, watched, bcr_BLOCK), &other, bcr_HOSTLOST, 0);
}

/* A CCE on the first machine watches one on the second, and tells what it is told. A watcher that ends is told nothing. */
static void between(const char *program)
{
    struct child watcher = start(0, program), brief = start(0, program), child = start(1, program);
    int *told;
    tell(&brief, WATCH, 0, 0, child.cce);
    tell(&brief, EXIT, 0, 0, bcr_cce);
    MUST(bcr_watch(brief.cce, watched) == 0);
    is_end(bcr_deq(bcr_cce, watched, bcr_BLOCK), &brief, bcr_EXITED, 0);
    tell(&watcher, WATCH, 0, 1, child.cce);
    MUST(bcr_rgfree(bcr_deq(bcr_cce, numbers, bcr_BLOCK)) == 0);
    tell(&child, EXIT, 9, 0, bcr_cce);
    bcr_region rgid = bcr_deq(bcr_cce, watched, bcr_BLOCK);
    MUST(rgid != NULL && bcr_rglen(rgid, NULL) == 3 * (int)sizeof *told);
    told = *rgid;
    MUST(told[1] == bcr_EXITED && told[2] == 9);
    tell(&watcher, EXIT, 0, 0, bcr_cce);
}

/* ---- those that a CCE starts ---- */

static void start_of(const char *program, const char *argument, int ordinal, int count)
{
    const char *const arguments[] = {argument, NULL};
    const struct bcr_startspec spec = {.size = sizeof spec,
                                       .machine = machines[0],
                                       .core = -1,
                                       .count = count,
                                       .ordinal = ordinal,
                                       .program = program,
                                       .arguments = arguments};
    MUST(bcr_start(&spec, NULL) == count);
}

/* Takes `count` ends; each has an ordinal from `first` on, once, and has ended so. */
static void are_ends(int cell, int count, int first, int how, int number)
{
    int seen[100] = {0};
    for (int i = 0; i < count; i++) {
        int told[4];
        bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_BLOCK);
        MUST(rgid != NULL && bcr_rgkind(rgid) == bcr_END);
        MUST(bcr_copyfm(bcrT_1END, 1, rgid, 0, told, sizeof told) >= 0 && bcr_rgfree(rgid) == 0);
        MUST(told[0] > 1 && told[1] >= first && told[1] < first + count && seen[told[1] - first]++ == 0);
        MUST(told[2] == how && told[3] == number);
    }
}

/* Also those of which this one has never heard: the second and third kind. */
static void started(const char *program)
{
    struct child before = start(0, program), first, second;
    for (int again = 0; again < 2; again++)
        MUST(bcr_watch(bcr_STARTED, watched) == 0);
    first = start(0, program);
    second = start(1, program);
    MUST(bcr_watch(second.cce, watched) == 0); /* told once all the same */
    MUST(bcr_watch(second.cce, cries) == 0);
    tell(&before, EXIT, 1, 0, bcr_cce);
    tell(&first, EXIT, 3, 0, bcr_cce);
    is_end(bcr_deq(bcr_cce, watched, bcr_BLOCK), &first, bcr_EXITED, 3);
    tell(&second, RAISE, SIGKILL, 0, bcr_cce);
    is_end(bcr_deq(bcr_cce, watched, bcr_BLOCK), &second, bcr_KILLED, SIGKILL);
    is_end(bcr_deq(bcr_cce, cries, bcr_BLOCK), &second, bcr_KILLED, SIGKILL);
    start_of("/bin/true", "", 500, 40);
    are_ends(watched, 40, 500, bcr_NEVERUP, 0);
    start_of(program, "dies", 600, 40);
    are_ends(watched, 40, 600, bcr_KILLED, SIGKILL);
    MUST(bcr_unwatch(bcr_STARTED, watched) == 0);
    settle(program);
    MUST(bcr_celllen(bcr_cce, watched) == 0);
}

/* Behind all that it has put, into each cell that wants to know. */
static void started_order(const char *program)
{
    const int other = bcr_cagrow(0, 0, 1, 0, 0, 1, 100);
    MUST(bcr_watch(bcr_STARTED, numbers) == 0 && bcr_watch(bcr_STARTED, other) == 0);
    for (int way = 0; way < 2; way++) {
        struct child child = start(0, program);
        tell(&child, way == 0 ? EXIT : RAISE, way == 0 ? 3 : SIGKILL, MANY, bcr_cce);
        for (int i = 0; i < MANY; i++) {
            bcr_region rgid = bcr_deq(bcr_cce, numbers, bcr_BLOCK);
            MUST(rgid != NULL && bcr_rgkind(rgid) == bcr_DATA && **(int **)rgid == i);
            bcr_rgfree(rgid);
        }
        for (int i = 0; i < 2; i++)
            is_end(bcr_deq(bcr_cce, i == 0 ? numbers : other, bcr_BLOCK), &child,
                   way == 0 ? bcr_EXITED : bcr_KILLED, way == 0 ? 3 : SIGKILL);
    }
    MUST(bcr_cafree(other) == 0); /* which ends that watch */
    struct child child = start(0, program);
    tell(&child, EXIT, 0, 0, bcr_cce);
    is_end(bcr_deq(bcr_cce, numbers, bcr_BLOCK), &child, bcr_EXITED, 0);
}

/* CCEs that were up, and processes that were started and had not become any. */
static void started_lost(const char *program)
{
    MUST(bcr_watch(bcr_STARTED, watched) == 0);
    struct child gone = start(0, program), child = start(0, program);
    tell(&gone, EXIT, 2, 0, bcr_cce);
    is_end(bcr_deq(bcr_cce, watched, bcr_BLOCK), &gone, bcr_EXITED, 2);
    start_of("/bin/sleep", "1000", 3, 70);
    kill(child.daemon, SIGKILL);
    are_ends(watched, 71, 2, bcr_HOSTLOST, 0);
    MUST(bcr_celllen(bcr_cce, watched) == 0);
}

static void refused(const char *program)
{
    struct child child = start(0, program);
    FAILS(bcr_watch(bcr_cce, watched), bcrE_ARG);
    FAILS(bcr_watch(0, watched), bcrE_NOCCE);
    FAILS(bcr_watch(-1, watched), bcrE_NOCCE);
    FAILS(bcr_watch(12345, watched), bcrE_NOCCE);
    FAILS(bcr_watch(child.cce, 0), bcrE_RESERVED);
    FAILS(bcr_watch(child.cce, 77), bcrE_NOCELL);
    FAILS(bcr_watch(child.cce, -1), bcrE_NOCELL);
    FAILS(bcr_unwatch(12345, watched), bcrE_NOCCE);
    FAILS(bcr_unwatch(child.cce, 77), bcrE_NOCELL);
    FAILS(bcr_watch(bcr_STARTED, 0), bcrE_RESERVED);
    FAILS(bcr_watch(bcr_STARTED, 77), bcrE_NOCELL);
    FAILS(bcr_watch(bcr_ALL, watched), bcrE_NOCCE);
    MUST(bcr_unwatch(bcr_STARTED, watched) == 0); /* there is none */
    tell(&child, EXIT, 0, 0, bcr_cce);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const char *program);
    } scenarios[] = {{"ends", ends},
                     {"order", order},
                     {"full", full},
                     {"given_up", given_up},
                     {"handler", handler},
                     {"thousand", thousand},
                     {"crowd", crowd},
                     {"never_up", never_up},
                     {"lost", lost},
                     {"between", between},
                     {"refused", refused},
                     {"again", again},
                     {"nobody", nobody},
                     {"started", started},
                     {"started_order", started_order},
                     {"started_lost", started_lost}};
    if (bcr_init(bcr_handlers, NULL) != 0)
        return 2;
    if (bcr_enlistor != -1 && argc > 1)
        raise(SIGKILL);
    if (bcr_enlistor != -1)
        be_told();
    cries = bcr_cagrow(1, 0, 1, 0, 0, 16, 1 << 16);
    numbers = bcr_cagrow(2, 0, 1, 0, 0, MANY, 1 << 20);
    watched = bcr_cagrow(3, 0, 1, 0, 0, 16, 1 << 16);
    MUST(cries == 1 && numbers == 2 && watched == 3);
    machines[0] = argc > 2 ? argv[2] : NULL;
    machines[1] = argc > 3 ? argv[3] : machines[0];
    for (unsigned i = 0; argc > 1 && i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (strcmp(argv[1], scenarios[i].name) == 0) {
            scenarios[i].run(argv[0]);
            printf("%s is as it should be\n", argv[1]);
            return 0;
        }
    fprintf(stderr, "sys_watch: no scenario\n");
    return 2;
}
