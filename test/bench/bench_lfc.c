/* SPDX-License-Identifier: MIT */
/* bench_lfc -- what LFC adds to the cells below it, in one run, by turns:
 *
 *   enl -n 2 bench_lfc [ROUNDS]       a packet of 8 bytes, one way, by polling, beside a region of 8 bytes handed over; the same by
 *                                     interrupt, without a delay, beside the wake-up of a thread that sleeps on bcr_fd in a
 *                                     process that computes, and a pthread_kill that has come
 *   enl -n 16 bench_lfc [ROUNDS]      the same, and a broadcast to 15, beside one bcr_putm to 15
 *
 * And without another process: a fetch-and-add, beside a write lock taken and released. Medians, in ns, and their ratio. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <bcr/program.h>
#include <lfc.h>

enum { CELL = 10, TURNS = 11 };
static volatile unsigned received;
static unsigned rounds = 20000;

int lfc_upcall(unsigned src, void *packet, unsigned size, lfc_upcall_flags_t flags)
{
    (void)src, (void)packet, (void)size, (void)flags;
    received++;
    return 0;
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "bench_lfc: %s: %s\n", what, bcr_strerror(bcr_errno));
    exit(1);
}

static void give(int rank)
{
    bcr_region rgid = bcr_rgalloc(8, 0);
    if (rgid == NULL || bcr_enq(rgid, bcr_teamcce(rank), CELL, bcr_FREE) != 0)
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

static void launch(unsigned dest)
{
    static const char data[8];
    void *packet = lfc_send_alloc(1);
    lfc_memcpy(packet, data, sizeof data);
    lfc_ucast_launch(dest, packet, sizeof data, 1);
}

static void await(unsigned count)
{
    while (received < count)
        lfc_poll();
    received -= count;
}

/* Processes 0 and 1 hand one back and forth; the others wait at the barrier behind. */
static double bare_pong(void)
{
    const double begun = now_ns();
    for (unsigned i = 0; i < rounds && lfc_my_proc() == 0; i++) {
        give(1);
        take();
    }
    for (unsigned i = 0; i < rounds && lfc_my_proc() == 1; i++) {
        take();
        give(0);
    }
    return (now_ns() - begun) / rounds / 2;
}

static double lfc_pong(void)
{
    const double begun = now_ns();
    for (unsigned i = 0; i < rounds && lfc_my_proc() == 0; i++) {
        launch(1);
        await(1);
    }
    for (unsigned i = 0; i < rounds && lfc_my_proc() == 1; i++) {
        await(1);
        launch(0);
    }
    return (now_ns() - begun) / rounds / 2;
}

/* The same, where both compute until the upcall has been made: each packet is an interrupt. */
enum { SLOWER = 20 };

static double interrupt_pong(void)
{
    lfc_intr_enable();
    const double begun = now_ns();
    for (unsigned i = 0; i < rounds / SLOWER && lfc_my_proc() < 2; i++) {
        if (lfc_my_proc() == 0)
            launch(1);
        while (received == 0)
            ;
        received = 0;
        if (lfc_my_proc() == 1)
            launch(0);
    }
    const double spent = now_ns() - begun;
    lfc_intr_disable();
    return spent / (rounds / SLOWER) / 2;
}

/* The descriptor of a cell wakes a thread, while the program's own computes, as in interrupt_pong:
 * so both wake up on cores that others use. */
static atomic_uint woken;

static void *sleep_on_cell(void *data)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    const int set = *(const int *)data;
    bcr_threadcores();
    for (;;)
        if (epoll_wait(set, &event, 1, -1) == 1)
            atomic_fetch_add(&woken, 1);
    return NULL;
}

static void take_computing(void)
{
    bcr_region rgid;
    for (;;) {
        const unsigned seen = atomic_load(&woken);
        if ((rgid = bcr_deq(bcr_cce, CELL, 0)) != NULL)
            break;
        if (bcr_errno != bcrE_TIMEOUT || bcr_fd(CELL) < 0)
            fail("bcr_deq");
        while (atomic_load(&woken) == seen)
            ;
    }
    bcr_rgfree(rgid);
}

static double wake_pong(void)
{
    pthread_t thread;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    const int set = epoll_create1(EPOLL_CLOEXEC);
    const bool takes_part = lfc_my_proc() < 2;
    if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, bcr_fd(CELL), &event) != 0 ||
        (takes_part && pthread_create(&thread, NULL, sleep_on_cell, (void *)&set) != 0))
        fail("a thread that sleeps");
    const double begun = now_ns();
    for (unsigned i = 0; i < rounds / SLOWER && takes_part; i++) {
        if (lfc_my_proc() == 0)
            give(1);
        take_computing();
        if (lfc_my_proc() == 1)
            give(0);
    }
    const double spent = now_ns() - begun;
    if (takes_part) {
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    close(set);
    return spent / (rounds / SLOWER) / 2;
}

static atomic_uint asked, signalled;
static pthread_t target;

static void note_signal(int number)
{
    (void)number;
    atomic_fetch_add(&signalled, 1);
}

static void *kill_when_asked(void *unused)
{
    bcr_threadcores();
    for (unsigned i = 1; i <= rounds / SLOWER; i++) {
        while (atomic_load(&asked) < i)
            ;
        pthread_kill(target, SIGUSR1);
    }
    return unused;
}

/* From one thread to another one that computes. */
static double bare_kill(void)
{
    pthread_t thread;
    target = pthread_self();
    signal(SIGUSR1, note_signal);
    asked = signalled = 0;
    if (pthread_create(&thread, NULL, kill_when_asked, NULL) != 0)
        fail("pthread_create");
    const double begun = now_ns();
    for (unsigned i = 1; i <= rounds / SLOWER; i++) {
        atomic_store(&asked, i);
        while (atomic_load(&signalled) < i)
            ;
    }
    const double spent = now_ns() - begun;
    pthread_join(thread, NULL);
    return spent / (rounds / SLOWER);
}

static double bare_interrupt(void)
{
    const double wake = wake_pong();
    bcr_teamsync(bcr_BLOCK);
    return lfc_my_proc() == 0 ? wake + bare_kill() : 0;
}

/* Process 0 sends; all wait for each other every few, so that there is room. */
enum { BURST = 100 };

static double bare_putm(void)
{
    int cells[128];
    const int count = (int)lfc_nr_procs() - 1;
    double spent = 0;
    for (int i = 0; i < count && i < 64; i++) {
        cells[2 * i] = bcr_teamcce(i + 1);
        cells[2 * i + 1] = CELL;
    }
    for (unsigned done = 0; done < rounds / 10; done += BURST) {
        const double begun = now_ns();
        for (int i = 0; i < BURST && lfc_my_proc() == 0; i++) {
            bcr_region rgid = bcr_rgalloc(1032, 0);
            if (rgid == NULL || bcr_enqm(rgid, count, cells, bcr_FREE) != 0)
                fail("bcr_enqm");
        }
        spent += now_ns() - begun;
        for (int i = 0; i < BURST && lfc_my_proc() != 0; i++)
            take();
        bcr_teamsync(bcr_BLOCK);
    }
    return spent / (rounds / 10);
}

static double lfc_bcast(void)
{
    double spent = 0;
    for (unsigned done = 0; done < rounds / 10; done += BURST) {
        const double begun = now_ns();
        for (int i = 0; i < BURST && lfc_my_proc() == 0; i++)
            lfc_bcast_launch(lfc_send_alloc(0), 1024, 0);
        spent += now_ns() - begun;
        if (lfc_my_proc() != 0)
            await(BURST);
        bcr_teamsync(bcr_BLOCK);
    }
    return spent / (rounds / 10);
}

static double bare_lock(void)
{
    const double begun = now_ns();
    for (unsigned i = 0; i < rounds; i++) {
        bcr_region rgid = bcr_acqwl(bcr_cce, CELL, bcr_BLOCK);
        int value = 0;
        if (rgid == NULL || bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value) < 0)
            fail("bcr_acqwl");
        value++;
        if (bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value) < 0 ||
            bcr_rlswl(rgid, bcr_cce, CELL) != 0)
            fail("bcr_rlswl");
    }
    return (now_ns() - begun) / rounds;
}

static double lfc_add(void)
{
    const double begun = now_ns();
    for (unsigned i = 0; i < rounds; i++)
        lfc_fetch_and_add(0, 0);
    return (now_ns() - begun) / rounds;
}

static int compare(const void *a, const void *b)
{
    const double one = *(const double *)a, two = *(const double *)b;
    return one < two ? -1 : one > two;
}

/* Both by turns; `alone`: process 0 does it, and the others wait. */
static void measure(const char *what, double (*ours)(void), double (*bare)(void), int alone)
{
    double one[TURNS], two[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        one[turn] = alone && lfc_my_proc() != 0 ? 0 : ours();
        bcr_teamsync(bcr_BLOCK);
        two[turn] = alone && lfc_my_proc() != 0 ? 0 : bare();
        bcr_teamsync(bcr_BLOCK);
    }
    qsort(one, TURNS, sizeof one[0], compare);
    qsort(two, TURNS, sizeof two[0], compare);
    if (lfc_my_proc() == 0)
        printf("%-12s %9.0f ns (%.0f to %.0f)   bare %9.0f (%.0f to %.0f): %.2f\n", what, one[TURNS / 2],
               one[0], one[TURNS - 1], two[TURNS / 2], two[0], two[TURNS - 1],
               one[TURNS / 2] / two[TURNS / 2]);
}

int main(int argc, char **argv)
{
    setenv("LFC_INTERVAL", "0", 0);
    lfc_init(&argc, argv);
    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    if (rounds < 10 * BURST)
        rounds = 10 * BURST;
    if (bcr_cagrow(CELL, 0, 0, 0, 1, 2 * BURST, 1 << 20) != CELL)
        fail("bcr_cagrow");
    lfc_start();
    if (lfc_nr_procs() > 1)
        measure("packet", lfc_pong, bare_pong, 0);
    if (lfc_nr_procs() > 2)
        measure("broadcast", lfc_bcast, bare_putm, 0);
    if (lfc_nr_procs() == 2)
        measure("interrupt", interrupt_pong, bare_interrupt, 0);
    if (lfc_my_proc() == 0)
        give((int)lfc_my_proc());
    measure("add", lfc_add, bare_lock, 1);
    lfc_exit();
    return 0;
}
