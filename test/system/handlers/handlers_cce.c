/* SPDX-License-Identifier: MIT */
/* Handlers in a real program, one case a run: `handlers_cce CASE [N]`.
 *
 *   arguments   each wrong argument of the four routines, its code, and that nothing has changed
 *   depth N     bcr_allow in a handler of a handler, N deep
 *   many N      N invocations that wait at the same time, in a get, and all go on
 *   overflow N  the handler of cell N needs more stack than there is; overflow 0: the main program is left alone
 *   frame N     a handler has a local array of N KiB, and stores at its lower end
 *   beside      a handler has one whose lower end lies on a stack that nobody uses, and calls BCR from there
 *   fault       a handler writes where there is no memory: that is not called an overflow
 *   longjmp     out of a handler; prints the code of the next call
 *   exit N      in a handler, beneath another one
 *   block       bcr_block without a handler; tells when it begins
 *   enlist N    N invocations wait in bcr_enlist at the same time; what they have started calls handlers of theirs
 *   dying N R   R CCEs, one after the other, are killed while N of their invocations wait for all that one can wait
 *               for; prints what the daemon holds after a few, and after all
 *
 * Prints "done" if all is as it should be. */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr.h>

#include "../scale/held.h"

enum { CELL = 1, NEVER = 2, OTHER = 3, PRIVATE = 4, NO_SUCH = 40 };

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "handlers: CCE %d: %s: %s\n", bcr_cceord, what, bcr_strerror(bcr_errno));
    exit(1);
}

static bcr_region number(int value)
{
    bcr_region region = bcr_rgalloc(sizeof value, 0);
    must(region != NULL, "rgalloc");
    **(int **)region = value;
    return region;
}

static void put(bcr_cce_id cce, int cell)
{
    must(bcr_enq(number(0), cce, cell, bcr_FREE) == 0, "put");
}

static void take(bcr_cce_id cce, int cell, int msec)
{
    bcr_region region = bcr_deq(cce, cell, msec);
    must(region != NULL, "take");
    must(bcr_rgfree(region) == 0, "rgfree");
}

/* Three in/out cells and a private one, with room for `regions`. */
static void grow(int regions)
{
    must(bcr_cagrow(CELL, 0, 0, 0, 3, regions, 0) == CELL, "cagrow");
    must(bcr_cagrow(PRIVATE, 1, 0, 0, 0, regions, 0) == PRIVATE, "cagrow");
    must(bcr_cagrow(0, 0, 0, 0, 0, 0, 2 * 64 * (regions + 64)) >= 0, "cagrow of the heap");
}

/* ---- arguments */

static int runs;

static void count(int cell)
{
    (void)cell;
    runs++;
}

static void fails(int returned, int code, const char *call)
{
    if (returned == -1 && bcr_errno == code) {
        bcr_errno = 0;
        return;
    }
    fprintf(stderr, "handlers: %s: returned %d, code %d (%s), wanted code %d (%s)\n", call, returned,
            bcr_errno, bcr_strerror(bcr_errno), code, bcr_strerror(code));
    exit(1);
}

#define FAILS(call, code) fails((call), (code), #call)

static void arguments_before(void)
{
    FAILS(bcr_handler(0, count, 1, 0, 0), bcrE_NOINIT);
    FAILS(bcr_priority(0, 0), bcrE_NOINIT);
    FAILS(bcr_allow(0), bcrE_NOINIT);
    FAILS(bcr_block(), bcrE_NOINIT);
}

static void arguments_of_a_fork(void)
{
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        FAILS(bcr_handler(CELL, count, 1, 0, 0), bcrE_FORK);
        FAILS(bcr_priority(0, 0), bcrE_FORK);
        FAILS(bcr_allow(0), bcrE_FORK);
        FAILS(bcr_block(), bcrE_FORK);
        _exit(0);
    }
    int status = -1;
    must(waitpid(child, &status, 0) == child && status == 0, "what a fork's calls return");
}

static void arguments(void)
{
    static const int no_cells[] = {NO_SUCH, -1, INT_MIN, INT_MAX};
    grow(16);
    for (size_t i = 0; i < sizeof no_cells / sizeof no_cells[0]; i++) {
        FAILS(bcr_handler(no_cells[i], count, 1, 0, 0), bcrE_NOCELL);
        FAILS(bcr_handler(no_cells[i], NULL, 0, 0, 0), bcrE_NOCELL);
    }
    FAILS(bcr_handler(CELL, count, 1, -1, 0), bcrE_ARG);
    FAILS(bcr_handler(CELL, count, 1, 0, -1), bcrE_ARG);
    FAILS(bcr_handler(CELL, count, 1, INT_MIN, INT_MIN), bcrE_ARG);
    FAILS(bcr_priority(-1, 0), bcrE_ARG);
    FAILS(bcr_priority(0, -1), bcrE_ARG);
    FAILS(bcr_priority(INT_MIN, 0), bcrE_ARG);
    put(bcr_cce, CELL);
    must(bcr_allow(INT_MIN) == 0 && bcr_allow(-1) == 0 && bcr_allow(0) == 0, "allow");
    must(runs == 0, "what was refused is not installed");

    /* what is refused takes nothing away */
    must(bcr_handler(CELL, count, 1, INT_MAX, INT_MAX) == 0, "install with the highest priority");
    FAILS(bcr_handler(CELL, count, 1, 0, -1), bcrE_ARG);
    put(bcr_cce, CELL);
    must(bcr_allow(INT_MAX) == 0 && runs == 1, "the first handler is still there");
    must(bcr_handler(CELL, count, INT_MAX, 0, 0) == 0, "the highest mark");
    put(bcr_cce, CELL);
    must(bcr_allow(0) == 0 && runs == 1, "the cell has not that many regions");
    must(bcr_handler(CELL, count, INT_MIN, 0, 0) == 0, "the lowest mark");
    take(bcr_cce, CELL, 0);
    must(bcr_allow(0) == 0 && runs == 2, "it has never so many");
    must(bcr_handler(CELL, NULL, 0, 0, 0) == 0, "remove");
    must(bcr_handler(CELL, NULL, 0, 0, 0) == 0, "remove what is not there");
    put(bcr_cce, CELL);
    must(bcr_allow(0) == 0 && runs == 2, "it is gone");
    arguments_of_a_fork();
}

/* ---- depth */

static int depth, deepest, wanted_depth;

static void deeper(int cell)
{
    take(bcr_cce, cell, 0);
    if (++depth > deepest)
        deepest = depth;
    if (depth < wanted_depth) {
        put(bcr_cce, cell);
        must(bcr_allow(0) == 0, "allow");
    }
    if (--depth == 0)
        put(bcr_cce, NEVER);
}

static void go_deep(int wanted)
{
    wanted_depth = wanted;
    grow(4);
    must(bcr_handler(CELL, deeper, 1, 0, 0) == 0, "handler");
    put(bcr_cce, CELL);
    take(bcr_cce, NEVER, bcr_BLOCK);
    must(deepest == wanted && depth == 0, "all have returned");
}

/* ---- many */

static int waiting, went_on;

static void wait_at_never(int cell)
{
    int own[16]; /* a local variable is still there afterwards */
    take(bcr_cce, cell, 0);
    for (int i = 0; i < 16; i++)
        own[i] = waiting + i;
    waiting++;
    take(bcr_cce, NEVER, bcr_BLOCK);
    for (int i = 1; i < 16; i++)
        must(own[i] == own[0] + i, "an invocation's own variables");
    went_on++;
}

static void wait_many(int count_wanted)
{
    grow(count_wanted);
    must(bcr_handler(CELL, wait_at_never, 1, 0, 0) == 0, "handler");
    for (int i = 0; i < count_wanted; i++)
        put(bcr_cce, CELL);
    must(bcr_allow(0) == 0, "allow");
    must(waiting == count_wanted && went_on == 0, "all wait");
    for (int i = 0; i < count_wanted; i++)
        put(bcr_cce, NEVER); /* handed to the one that has waited longest */
    must(bcr_allow(0) == 0, "allow");
    must(went_on == count_wanted, "all have gone on");
}

/* ---- overflow, fault, longjmp, exit */

static volatile int sink;

__attribute__((noinline)) static int recurse(int level)
{
    volatile char room[256];
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = (char)level;
    int below = level > 0 ? recurse(level - 1) : 0;
    return below + room[(size_t)level % sizeof room];
}

static void use_much(int cell)
{
    (void)cell;
    sink = recurse(1 << 20); /* 256 MiB */
}

static void use_more_than_there_is(int cell)
{
    int base = bcr_cagrow(cell, 0, 0, 0, 1, 4, 4096);
    must(base == cell, "cagrow");
    must(bcr_handler(cell, use_much, 1, 0, 0) == 0, "handler");
    put(bcr_cce, cell);
    bcr_allow(0);
}

/* A frame of so much, of which only the lower end is touched: by `below`, and by the call
 * itself. */
static size_t frame_bytes;
__attribute__((noinline, no_stack_protector)) static void step(void (*below)(void))
{
    volatile char room[frame_bytes];
    below();
    sink = room[frame_bytes - 1];
}

static void store(void)
{
    volatile char room[64];
    room[0] = 1;
    sink = room[0];
}

static void step_and_store(int cell)
{
    (void)cell;
    step(store);
}

static void need_frame(int kib)
{
    grow(8);
    frame_bytes = (size_t)kib * 1024;
    must(bcr_handler(CELL, step_and_store, 1, 0, 0) == 0, "handler");
    put(bcr_cce, CELL);
    bcr_allow(0);
}

static void call_bcr(void)
{
    bcr_allow(0);
}

static void step_and_call(int cell)
{
    (void)cell;
    step(call_bcr);
}

static uintptr_t stack_at[3];
static void wait_for_release(int cell)
{
    static int begun;
    volatile char here = 0;
    take(bcr_cce, cell, 0);
    stack_at[begun++] = (uintptr_t)&here;
    take(bcr_cce, PRIVATE, bcr_BLOCK);
}

/* Three stacks are used and given back, the uppermost last: that one is used next, above one that
 * nobody uses. */
static void need_frame_beside(void)
{
    grow(8);
    must(bcr_handler(CELL, wait_for_release, 1, 0, 0) == 0, "handler");
    for (int i = 0; i < 3; i++)
        put(bcr_cce, CELL);
    bcr_allow(0);
    for (int i = 0; i < 3; i++)
        put(bcr_cce, PRIVATE);
    bcr_allow(0);
    must(bcr_handler(NEVER, step_and_call, 1, 0, 0) == 0, "handler");
    frame_bytes = stack_at[1] - stack_at[0] + 8192;
    put(bcr_cce, NEVER);
    bcr_allow(0);
}

static volatile uintptr_t nowhere = 16;

static void write_nowhere(int cell)
{
    *(volatile int *)nowhere = cell;
}

static void fault(void)
{
    grow(4);
    must(bcr_handler(CELL, write_nowhere, 1, 0, 0) == 0, "handler");
    put(bcr_cce, CELL);
    bcr_allow(0);
}

static jmp_buf back;

static void jump(int cell)
{
    (void)cell;
    longjmp(back, 1);
}

static void jump_out(void)
{
    grow(4);
    must(bcr_handler(CELL, jump, 1, 0, 0) == 0, "handler");
    put(bcr_cce, CELL);
    if (setjmp(back) == 0) {
        bcr_allow(0);
        must(false, "come back from allow");
    }
    bcr_errno = 0;
    printf("%d", bcr_allow(0));
    printf(" %d %s\n", bcr_errno, bcr_strerror(bcr_errno));
}

static int exit_status;

static void leave(int cell)
{
    (void)cell;
    exit(exit_status);
}

static void allow_all(int cell)
{
    (void)cell;
    put(bcr_cce, OTHER);
    bcr_allow(0);
}

static void say_so(void)
{
    puts("atexit");
}

static void exit_beneath(int status)
{
    exit_status = status;
    atexit(say_so);
    grow(4);
    must(bcr_handler(CELL, allow_all, 1, 0, 0) == 0, "handler");
    must(bcr_handler(OTHER, leave, 1, 0, 0) == 0, "handler");
    put(bcr_cce, CELL);
    bcr_block();
}

/* ---- block */

static void block(void)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%d %d\n", bcr_cceord, (int)getpid());
    int fd = open(getenv("SYS_TELL"), O_WRONLY | O_CLOEXEC);
    must(fd >= 0 && write(fd, line, (size_t)length) == length, "tell");
    close(fd);
    bcr_block();
}

/* ---- enlist */

enum { CRIES = OTHER };

static const char *own_program;
static int enlisting, enlisted, cries, wanted_cries;

/* A CCE may cry before the handler that enlists it goes on. */
static void end_if_over(void)
{
    if (cries == wanted_cries && enlisted == wanted_cries && enlisting == 0)
        put(bcr_cce, NEVER);
}

static void enlist_one(int cell)
{
    enlisting++;
    take(bcr_cce, cell, 0);
    must(bcr_enlist(NULL, -1, ++enlisted, own_program, number(-1), bcr_FREE) == 0, "enlist in a handler");
    enlisting--;
    end_if_over();
}

/* Each was started once: its ordinal says by whom. */
static void hear_cry(int cell)
{
    static bool heard[64];
    bcr_region cry = bcr_deq(bcr_cce, cell, 0);
    must(cry != NULL, "deq");
    const int ordinal = **(int **)cry;
    must(ordinal >= 1 && ordinal <= wanted_cries && !heard[ordinal], "a cry");
    heard[ordinal] = true;
    must(bcr_rgfree(cry) == 0, "rgfree");
    cries++;
    end_if_over();
}

static void enlist_many(const char *program, int wanted)
{
    own_program = program;
    wanted_cries = wanted;
    grow(wanted + 1);
    must(bcr_handler(CELL, enlist_one, 1, 0, 0) == 0 && bcr_handler(CRIES, hear_cry, 1, 1, 1) == 0,
         "handler");
    must(bcr_priority(1, 0) == 0, "priority");
    for (int i = 0; i < wanted - 1; i++)
        put(bcr_cce, CELL);
    ++enlisted; /* the main program's own; while it waits the others begin, unless the daemon answers at once */
    must(bcr_enlist(NULL, -1, enlisted, program, number(-1), bcr_FREE) == 0, "enlist");
    take(bcr_cce, NEVER, bcr_BLOCK);
    must(cries == wanted && enlisting == 0, "all have been started");
}

static void cry(void)
{
    must(bcr_cagrow(0, 0, 0, 0, 0, 0, 4096) >= 0, "cagrow of the heap");
    must(bcr_enq(number(bcr_cceord), bcr_enlistor, CRIES, bcr_FREE) == 0, "birthcry");
}

/* ---- dying */

enum { WARM_UP = 8, ROOT_CRY = 1, ROOT_FULL = 2, ROOT_WAIT = 3, ROOT_LOCK = 4, CHILD_END = 2 };

static int to_suspend, suspended;

/* One of four ways to wait. */
static void wait_somehow(int cell)
{
    bcr_region region;
    take(bcr_cce, cell, 0);
    suspended++;
    switch (suspended % 4) {
    case 0: region = bcr_deq(bcr_enlistor, ROOT_WAIT, bcr_BLOCK); break;
    case 1: region = bcr_acqwl(bcr_enlistor, ROOT_LOCK, bcr_BLOCK); break;
    case 2: region = bcr_enq(number(1), bcr_enlistor, ROOT_FULL, bcr_FREE) == 0 ? NULL : NULL; break;
    default: region = bcr_deq(bcr_cce, NEVER, bcr_BLOCK); break;
    }
    (void)region;
    must(false, "wait for ever");
}

static void die(void)
{
    bcr_region birth = bcr_deq(bcr_cce, 0, bcr_BLOCK);
    must(birth != NULL, "birth region");
    to_suspend = **(int **)birth;
    must(bcr_rgfree(birth) == 0, "rgfree");
    if (to_suspend < 0) {
        cry();
        return;
    }
    grow(to_suspend + 200);
    must(bcr_handler(CELL, wait_somehow, 1, 0, 0) == 0, "handler");
    for (int i = 0; i < to_suspend; i++)
        put(bcr_cce, CELL);
    must(bcr_allow(0) == 0 && suspended == to_suspend, "all wait");
    for (int i = 0; i < 100; i++) /* and these are requests, no more: nobody lets them in */
        must(bcr_priority(5, 5) == 0 && bcr_enq(number(2), bcr_cce, CELL, bcr_FREE) == 0, "put");
    bcr_region region = bcr_rgalloc(64, 0);
    must(region != NULL && bcr_copyto(bcrT_1CCE, 1, region, 0, &bcr_cce, sizeof bcr_cce) >= 2, "birthcry");
    must(bcr_enq(region, bcr_enlistor, ROOT_CRY, bcr_FREE) == 0, "birthcry");
    take(bcr_cce, OTHER, bcr_BLOCK);
    raise(SIGKILL);
}

static void print_held(void)
{
    struct held held = held_by_daemon();
    printf("%llu %d\n", held.bytes, held.descriptors);
}

static void watch_dying(const char *program, int each, int rounds)
{
    must(bcr_cagrow(ROOT_CRY, 0, 1, 0, 0, 1, 1 << 16) == ROOT_CRY, "cagrow");
    must(bcr_cagrow(ROOT_FULL, 0, 0, 0, 1, 1, 0) == ROOT_FULL, "cagrow");
    must(bcr_cagrow(ROOT_WAIT, 0, 0, 0, 1, 1, 0) == ROOT_WAIT, "cagrow");
    must(bcr_cagrow(ROOT_LOCK, 0, 0, 0, 1, 1, 0) == ROOT_LOCK, "cagrow");
    put(bcr_cce, ROOT_FULL);
    for (int round = 1; round <= rounds; round++) {
        bcr_cce_id cce;
        must(bcr_enlist(NULL, -1, round, program, number(each), bcr_FREE) == 0, "enlist");
        bcr_region cry = bcr_deq(bcr_cce, ROOT_CRY, bcr_BLOCK);
        must(cry != NULL, "deq");
        must(bcr_copyfm(bcrT_1CCE, 1, cry, 0, &cce, sizeof cce) >= 2, "birthcry");
        must(bcr_rgfree(cry) == 0, "rgfree");
        if (round == WARM_UP || round == rounds)
            print_held(); /* while this one lives; the one before may still be on its way out */
        put(cce, OTHER);
        must(bcr_deq(cce, CHILD_END, bcr_BLOCK) == NULL && bcr_errno == bcrE_DEAD, "hear of its end");

        /* Its end may be known before the repair is done: until then a get of its that waits may be handed what is put,
         * which comes back, and a put of its that waits may be done. Each turn leaves fewer of them. */
        bool gets_wait, puts_wait;
        do {
            put(bcr_cce, ROOT_WAIT);
            gets_wait = bcr_celllen(bcr_cce, ROOT_WAIT) != 1;
            take(bcr_cce, ROOT_WAIT, bcr_BLOCK);
        } while (gets_wait);
        must(bcr_celllen(bcr_cce, ROOT_FULL) == 1, "one region is in the full cell");
        do {
            take(bcr_cce, ROOT_FULL, 0);
            puts_wait = bcr_celllen(bcr_cce, ROOT_FULL) != 0;
        } while (puts_wait);
        put(bcr_cce, ROOT_FULL);
        put(bcr_cce, ROOT_LOCK);
        bcr_region lock = bcr_acqwl(bcr_cce, ROOT_LOCK, bcr_BLOCK);
        must(lock != NULL && bcr_rgfree(lock) == 0, "nobody has the lock");
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(what, "arguments") == 0)
        arguments_before();
    must(bcr_init(bcr_handlers, argv[0]) == 0, "init");
    if (bcr_enlistor >= 0) {
        die();
        return 0;
    }
    if (strcmp(what, "enlist") == 0)
        enlist_many(argv[0], n);
    else if (strcmp(what, "arguments") == 0)
        arguments();
    else if (strcmp(what, "depth") == 0)
        go_deep(n);
    else if (strcmp(what, "many") == 0)
        wait_many(n);
    else if (strcmp(what, "overflow") == 0 && n > 0)
        use_more_than_there_is(n);
    else if (strcmp(what, "overflow") == 0)
        use_much(0);
    else if (strcmp(what, "frame") == 0)
        need_frame(n);
    else if (strcmp(what, "beside") == 0)
        need_frame_beside();
    else if (strcmp(what, "fault") == 0)
        fault();
    else if (strcmp(what, "longjmp") == 0)
        jump_out();
    else if (strcmp(what, "exit") == 0)
        exit_beneath(n);
    else if (strcmp(what, "block") == 0)
        block();
    else if (strcmp(what, "dying") == 0)
        watch_dying(argv[0], n, argc > 3 ? atoi(argv[3]) : 0);
    else
        return 2;
    puts("done");
    return 0;
}
