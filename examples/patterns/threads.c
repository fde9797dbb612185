/* SPDX-License-Identifier: MIT */
/*
 * threads -- several threads of one CCE take regions from its cell.
 *
 * A CCE may call BCR from any of its threads, but from one at a time.  So there is one mutex for all calls.  Nobody
 * waits while holding it: a get has a time of 0, and who finds the cell empty arms the cell's descriptor and waits in
 * poll, which is no call of BCR, without the mutex.
 *
 * What is in a region that a thread holds needs no mutex: that thread has the region to itself.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include <poll.h>
#include <pthread.h>

static const char USAGE[] =
    "usage: threads [threads [items]]     (4 threads, 1000 items from each of 2 senders)\n"
    "Several threads of one CCE take items from its cell and add them up.\n";

enum { ITEMS = 1 /* the cell */, ROOM = 16, SENDERS = 2, MAX_THREADS = 100, REGION_BYTES = 64 };

/* --- a CCE that sends --- */

static void send_items(int items)
{
    must(bcr_cagrow(1, 0, 0, 0, 0, 0, 4 * (ROOM + MAX_THREADS) * REGION_BYTES), "grow its comm heap");
    for (int i = 1; i <= items; i++) {
        bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate an item");
        **(int **)region = i;
        must(bcr_enq(region, bcr_enlistor, ITEMS, bcr_FREE), "send an item");
    }
}

/* --- the CCE with threads --- */

static pthread_mutex_t calls = PTHREAD_MUTEX_INITIALIZER; /* around every call of BCR, bcr_errno included */
static long left; /* items that nobody has taken yet; under the mutex */

struct share {
    pthread_t thread;
    long items, sum;
};

/* The next item of the cell; NULL if all have been taken.  The descriptor stays readable until a thread calls bcr_fd
 * again.  So the last item wakes all threads that wait, whichever takes it. */
static bcr_region take_item(void)
{
    for (;;) {
        pthread_mutex_lock(&calls);
        bcr_region region = left > 0 ? bcr_deq(bcr_cce, ITEMS, 0) : NULL;
        if (region == NULL && left > 0 && bcr_errno != bcrE_TIMEOUT)
            must_end("take an item", bcr_strerror(bcr_errno));
        left -= region != NULL;
        const bool wait = region == NULL && left > 0;
        struct pollfd cell = {.fd = wait ? must(bcr_fd(ITEMS), "arm its cell") : -1, .events = POLLIN};
        pthread_mutex_unlock(&calls);
        if (!wait)
            return region;
        poll(&cell, 1, -1); /* others take, put and free meanwhile */
    }
}

static void let_go(bcr_region region)
{
    pthread_mutex_lock(&calls);
    must(bcr_rgfree(region), "free an item");
    pthread_mutex_unlock(&calls);
}

static void *take_share(void *arg)
{
    struct share *share = arg;
    for (bcr_region region; (region = take_item()) != NULL; let_go(region)) {
        share->items++;
        share->sum += **(int **)region; /* the work, which all threads do at the same time */
    }
    return NULL;
}

static void lead(const char *program, int threads, int items)
{
    static struct share share[MAX_THREADS];
    must(bcr_cagrow(ITEMS, 0, 1, 0, 0, ROOM, 4096), "grow its cell");
    bcr_region birth = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a birth region");
    **(int **)birth = items;
    must(bcr_enlist(NULL, -SENDERS, 1, program, birth, bcr_FREE), "enlist the senders");

    left = (long)SENDERS * items;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&share[i].thread, NULL, take_share, &share[i]) != 0)
            must_end("start a thread", "pthread_create failed");
    long taken = 0, sum = 0;
    int busy = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(share[i].thread, NULL);
        taken += share[i].items;
        sum += share[i].sum;
        busy += share[i].items > 0;
    }
    printf("threads: %ld items, taken by %d of %d threads\n", taken, busy, threads);
    must_hold(taken == (long)SENDERS * items && sum == SENDERS * ((long)items * (items + 1) / 2),
              "every item was taken, by one thread, as it was sent");
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 2, USAGE);
    const int threads = args_number(argc, argv, 1, "threads", 4, 1, MAX_THREADS);
    int items = args_number(argc, argv, 2, "items", 1000, 1, 10000);
    must_init(0, argv[0]); /* before there are threads: a process started from a shell forks here */
    if (bcr_enlistor < 0) {
        lead(argv[0], threads, items);
    } else {
        bcr_region birth = must_have(bcr_deq(bcr_cce, 0, bcr_BLOCK), "take its birth region");
        items = **(int **)birth;
        must(bcr_rgfree(birth), "free its birth region");
        send_items(items);
    }
    return EXIT_SUCCESS;
}
