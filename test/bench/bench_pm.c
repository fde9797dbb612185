/* SPDX-License-Identifier: MIT */
/* bench_pm -- what PM adds to the cells and the system calls below it, in one run, by turns:
 *
 *   enl -n 2 bench_pm [ROUNDS]          a message of 8 bytes, one way, beside a region of 8 bytes handed over; 64 KiB in pieces of
 *                                       the MTU, each byte written and read, beside a ring of 16 such pieces in shared memory;
 *                                       pmWrite of 1 MiB and of 8 bytes, beside memcpy into a region that the other reads, and
 *                                       beside the system call
 *   enl --local 1 --per-host 1 -n 2 bench_pm [ROUNDS]
 *                                       the message of 8 bytes between two hosts, likewise
 *   enl -n 4 bench_pm [ROUNDS] chain    20 MB from the first process through all to the last, each spinning
 *
 * Medians of so many turns, and the best, in ns, with the ratio. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <bcr/program.h>

#include "pm_private.h"

enum { CELL = 10, TURNS = 12, PIECE = 16384, BULK = 65536, RING = 16, BLOCK = 1 << 20 };
static unsigned rounds = 20000;
static int rank, count;
static pmContext *net;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "bench_pm: %s: %s\n", what, bcr_strerror(bcr_errno));
    exit(1);
}

static void must(int code, const char *what)
{
    if (code == PM_SUCCESS)
        return;
    fprintf(stderr, "bench_pm: %s: %s\n", what, pmErrorString(code));
    exit(1);
}

/* ---- 8 bytes ---- */

static void give(int to)
{
    bcr_region rgid = bcr_rgalloc(8, 0);
    if (rgid == NULL || bcr_enq(rgid, bcr_teamcce(to), CELL, bcr_FREE) != 0)
        fail("bcr_enq");
}

static void take(void)
{
    bcr_region rgid;
    while ((rgid = bcr_deq(bcr_cce, CELL, 0)) == NULL)
        if (bcr_errno != bcrE_TIMEOUT)
            fail("bcr_deq");
    bcr_rgfree(rgid);
}

static void send_one(int to)
{
    caddr_t buffer;
    int code;
    while ((code = pmGetSendBuffer(net, to, &buffer, 8)) == ENOBUFS)
        continue;
    must(code, "pmGetSendBuffer");
    memset(buffer, 1, 8);
    must(pmSend(net), "pmSend");
}

static void receive_one(void)
{
    caddr_t buffer;
    size_t length;
    int code;
    while ((code = pmReceive(net, &buffer, &length)) == ENOBUFS)
        continue;
    must(code, "pmReceive");
    must(pmReleaseReceiveBuffer(net), "pmReleaseReceiveBuffer");
}

static double pong(void (*out)(int), void (*in)(void))
{
    const double begun = now_ns();
    for (unsigned i = 0; i < rounds && rank == 0; i++) {
        out(1);
        in();
    }
    for (unsigned i = 0; i < rounds && rank == 1; i++) {
        in();
        out(0);
    }
    return (now_ns() - begun) / rounds / 2;
}

static double bare_pong(void)
{
    return pong(give, take);
}

static double pm_pong(void)
{
    return pong(send_one, receive_one);
}

/* ---- 64 KiB in pieces; each byte is written by the sender and read by the receiver ---- */

static struct ring {
    _Alignas(128) atomic_uint head;
    _Alignas(128) atomic_uint tail;
    _Alignas(128) unsigned char piece[RING][PIECE];
} * ring;
static unsigned long sum;

static void touch(const unsigned char *bytes)
{
    unsigned long part = 0, word;
    for (int i = 0; i < PIECE; i += (int)sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        part += word;
    }
    sum += part;
}

static double bare_bulk(void)
{
    static unsigned first; /* piece of this turn, the same in both processes */
    const unsigned pieces = rounds / 10 * (BULK / PIECE);
    const double begun = now_ns();
    for (unsigned i = 0; i < pieces; i++) {
        if (rank == 0) {
            while (first + i - atomic_load_explicit(&ring->head, memory_order_acquire) == RING)
                continue;
            memset(ring->piece[(first + i) % RING], (int)i, PIECE);
            atomic_store_explicit(&ring->tail, first + i + 1, memory_order_release);
        } else {
            while (atomic_load_explicit(&ring->tail, memory_order_acquire) == first + i)
                continue;
            touch(ring->piece[(first + i) % RING]);
            atomic_store_explicit(&ring->head, first + i + 1, memory_order_release);
        }
    }
    if (rank == 0)
        while (atomic_load(&ring->head) != first + pieces)
            continue;
    first += pieces;
    return (now_ns() - begun) / pieces * (BULK / PIECE);
}

static double pm_bulk(void)
{
    const unsigned pieces = rounds / 10 * (BULK / PIECE);
    const double begun = now_ns();
    for (unsigned i = 0; i < pieces; i++) {
        caddr_t buffer;
        size_t length;
        int code;
        if (rank == 0) {
            while ((code = pmGetSendBuffer(net, 1, &buffer, PIECE)) == ENOBUFS)
                continue;
            must(code, "pmGetSendBuffer");
            memset(buffer, (int)i, PIECE);
            must(pmSend(net), "pmSend");
        } else {
            while ((code = pmReceive(net, &buffer, &length)) == ENOBUFS)
                continue;
            must(code, "pmReceive");
            touch((unsigned char *)buffer);
            must(pmReleaseReceiveBuffer(net), "pmReleaseReceiveBuffer");
        }
    }
    if (rank == 0)
        receive_one();
    else
        send_one(0);
    return (now_ns() - begun) / pieces * (BULK / PIECE);
}

/* ---- one-sided; process 0 alone ---- */

static struct there {
    pmAddrHandle handle;
    uint64_t address;
    int64_t pid;
} there;
static pmAddrHandle here;
static char *memory;
static char *shared; /* a region of the other process */
static unsigned writes;

static double pm_write(size_t length)
{
    const double begun = now_ns();
    for (unsigned i = 0; i < writes; i++)
        must(pmWrite(net, 1, there.handle, here, length), "pmWrite");
    must(pmIsWriteDone(net), "pmIsWriteDone");
    return (now_ns() - begun) / writes;
}

static double pm_write_block(void)
{
    writes = rounds / 100 + 1;
    return pm_write(BLOCK);
}

static double bare_memcpy(void)
{
    const double begun = now_ns();
    for (unsigned i = 0; i < writes; i++) {
        memcpy(shared, memory, BLOCK);
        __asm__ volatile("" ::: "memory");
    }
    return (now_ns() - begun) / writes;
}

static double pm_write_word(void)
{
    writes = rounds;
    return pm_write(8);
}

static double bare_call(void)
{
    const struct iovec from = {memory, 8}, to = {(void *)(uintptr_t)there.address, 8};
    const double begun = now_ns();
    for (unsigned i = 0; i < writes; i++)
        if (process_vm_writev((pid_t)there.pid, &from, 1, &to, 1, 0) != 8)
            fail("process_vm_writev");
    return (now_ns() - begun) / writes;
}

static void exchange_handles(void)
{
    const struct there own = {.address = (uintptr_t)memory, .pid = getpid()};
    caddr_t buffer;
    size_t length;
    must(pmMLock(net, PM_NODE_ANY, memory, BLOCK, &here), "pmMLock");
    must(pmGetSendBuffer(net, 1 - rank, &buffer, sizeof own), "pmGetSendBuffer");
    memcpy(buffer, &own, sizeof own);
    memcpy(buffer, &here, sizeof here);
    must(pmSend(net), "pmSend");
    while (pmReceive(net, &buffer, &length) != PM_SUCCESS)
        continue;
    memcpy(&there, buffer, sizeof there);
    must(pmReleaseReceiveBuffer(net), "pmReleaseReceiveBuffer");
}

/* ---- a chain of processes that spin ---- */

static void chain(void)
{
    enum { BYTES = 20000000, PART = 1400 };
    bcr_teamsync(bcr_BLOCK);
    const double begun = now_ns();
    for (int done = 0; done < BYTES; done += PART) {
        caddr_t from = NULL, to;
        size_t length;
        if (rank > 0)
            while (pmReceive(net, &from, &length) != PM_SUCCESS)
                continue;
        if (rank < count - 1) {
            while (pmGetSendBuffer(net, rank + 1, &to, PART) != PM_SUCCESS)
                continue;
            if (rank > 0)
                memcpy(to, from, PART);
            else
                memset(to, done, PART);
            must(pmSend(net), "pmSend");
        }
        if (rank > 0)
            must(pmReleaseReceiveBuffer(net), "pmReleaseReceiveBuffer");
    }
    bcr_teamsync(bcr_BLOCK);
    if (rank == 0)
        printf("%-12s %9.2f s for 20 MB through %d processes\n", "chain", (now_ns() - begun) / 1e9, count);
}

/* ---- */

static int compare(const void *a, const void *b)
{
    const double one = *(const double *)a, two = *(const double *)b;
    return one < two ? -1 : one > two;
}

/* Both by turns; `alone`: process 0 does it, and the other waits. */
static void measure(const char *what, double (*ours)(void), double (*bare)(void), int alone)
{
    double one[TURNS], two[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        one[turn] = alone && rank != 0 ? 0 : ours();
        bcr_teamsync(bcr_BLOCK);
        two[turn] = alone && rank != 0 ? 0 : bare();
        bcr_teamsync(bcr_BLOCK);
    }
    qsort(one, TURNS, sizeof one[0], compare);
    qsort(two, TURNS, sizeof two[0], compare);
    if (rank == 0)
        printf("%-12s %9.0f ns (best %.0f)   bare %9.0f (best %.0f): %.2f (best %.2f)\n", what,
               one[TURNS / 2], one[0], two[TURNS / 2], two[0], one[TURNS / 2] / two[TURNS / 2],
               one[0] / two[0]);
}

static bcr_region share(int owner, int length)
{
    bcr_region rgid = rank == owner ? bcr_rgalloc(length, 0) : NULL;
    if (rank == owner && (rgid == NULL || (memset(*rgid, 0, (size_t)length), 0) ||
                          bcr_write(rgid, bcr_cce, CELL + 1, bcr_NOFREE) != 0))
        fail("bcr_write");
    bcr_teamsync(bcr_BLOCK);
    if (rank != owner && (rgid = bcr_read(bcr_teamcce(owner), CELL + 1, bcr_BLOCK)) == NULL)
        fail("bcr_read");
    bcr_teamsync(bcr_BLOCK);
    return rgid;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    if (rounds < 10)
        rounds = 10;
    if (bcr_init(0, argv[0]) < 0)
        fail("bcr_init");
    pmContext **nets = pm_open(1);
    if (nets == NULL || nets[0] == NULL)
        fail("a network set of at least two processes");
    net = nets[0];
    rank = bcr_teamrank();
    count = bcr_teamsize();
    if (argc > 2) {
        chain();
        return 0;
    }
    if (count != 2 || bcr_cagrow(CELL, 0, 0, 0, 2, 100, 4 * BLOCK) != CELL)
        fail("two processes, and their cells");
    memory = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("memory");
    memset(memory, 1, BLOCK);
    bcr_teamsync(bcr_BLOCK);
    if (bcr_teamhost(0) != bcr_teamhost(1)) { /* they share nothing */
        measure("8 bytes", pm_pong, bare_pong, 0);
        return 0;
    }
    ring = (struct ring *)(((uintptr_t)*share(0, (int)sizeof *ring + 128) + 127) / 128 * 128);
    shared = *share(1, BLOCK);
    measure("8 bytes", pm_pong, bare_pong, 0);
    measure("64 KiB", pm_bulk, bare_bulk, 0);
    exchange_handles();
    bcr_teamsync(bcr_BLOCK);
    measure("write 1 MiB", pm_write_block, bare_memcpy, 1);
    measure("write 8", pm_write_word, bare_call, 1);
    return sum == 1 ? 2 : 0;
}
