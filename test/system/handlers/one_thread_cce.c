/* SPDX-License-Identifier: MIT */
/* one_thread_cce WHAT -- a CCE whose threads, or signal handlers, call BCR as they may, or as they may not. Run by
 * test_one_thread.sh. */
#include <bcr.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { HANDLED = 1, WAITS };

static bcr_region region;

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "one_thread_cce: %s: %s\n", what, bcr_strerror(bcr_errno));
    exit(1);
}

static void put(int cell)
{
    must(bcr_enq(bcr_rgalloc(8, 0), bcr_cce, cell, bcr_FREE) == 0, "a put");
}

static void take(int cell)
{
    bcr_region taken = bcr_deq(bcr_cce, cell, bcr_BLOCK);
    must(taken != NULL && bcr_rgfree(taken) == 0, "a get");
}

static void *call_for_ever(void *none)
{
    for (;;)
        (void)bcr_rglen(region, none);
    return none;
}

/* Whichever of the two is second. */
static void two_at_once(void)
{
    pthread_t other;
    must(pthread_create(&other, NULL, call_for_ever, NULL) == 0, "a thread");
    take(WAITS);
}

static void call_on_signal(int number)
{
    (void)number;
    (void)bcr_rglen(region, NULL);
}

/* Again and again, since the first one may come before the call. */
static void signal_in_a_call(void)
{
    const struct itimerval often = {.it_interval.tv_usec = 1000, .it_value.tv_usec = 1000};
    must(signal(SIGALRM, call_on_signal) != SIG_ERR && setitimer(ITIMER_REAL, &often, NULL) == 0, "a timer");
    take(WAITS);
}

static int went_on;

static void wait_in_the_midst(int cell)
{
    take(cell);
    put(HANDLED + 2);
    take(HANDLED + 2);
    take(WAITS); /* goes on in another thread */
    put(HANDLED + 2);
    take(HANDLED + 2);
    went_on = 1;
}

static void *request(void *none)
{
    put(HANDLED);
    must(bcr_allow(0) == 0, "bcr_allow");
    return none;
}

static void *let_it_go_on(void *none)
{
    put(WAITS);
    must(bcr_allow(0) == 0 && went_on, "bcr_allow");
    return none;
}

static void in_a_thread(void *(*what)(void *))
{
    pthread_t thread;
    must(pthread_create(&thread, NULL, what, NULL) == 0 && pthread_join(thread, NULL) == 0, "a thread");
}

static void one_after_the_other(void)
{
    must(bcr_handler(HANDLED, wait_in_the_midst, 1, 0, 0) == 0, "bcr_handler");
    in_a_thread(request);
    must(bcr_rglen(region, NULL) == 8, "a call while the handler waits");
    in_a_thread(let_it_go_on);
    must(bcr_rglen(region, NULL) == 8, "a call afterwards");
}

int main(int argc, char **argv)
{
    must(argc == 2 && bcr_init(bcr_user_ca, argv[0]) == 0, "bcr_init");
    must(bcr_cagrow(1, 0, 3, 0, 0, 10, 1000) == 1, "bcr_cagrow");
    must((region = bcr_rgalloc(8, 0)) != NULL, "bcr_rgalloc");
    if (strcmp(argv[1], "two") == 0)
        two_at_once();
    else if (strcmp(argv[1], "signal") == 0)
        signal_in_a_call();
    else
        one_after_the_other();
    puts("fine");
    return 0;
}
