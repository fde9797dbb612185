/* SPDX-License-Identifier: MIT */
/*
 * onefd -- one loop, and one descriptor for all that BCR has to tell.
 *
 *     epoll ----> bcr_wakefd: numbers that other CCEs put into a cell (bcr_wakeon),
 *           |                 the ends of these CCEs (bcr_watch),
 *           |                 a thread of this CCE that is done (bcr_wake, which runs a handler)
 *           `---> a timer, as any other descriptor of the program's own
 *
 * The loop arms the descriptor first, then looks at everything, then waits: what comes after the arming makes the
 * descriptor readable, and what came before it is seen by the look.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include <bcr/program.h>
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const char USAGE[] = "usage: onefd [numbers]     (1000 numbers)\n"
                            "Adds up numbers that come as regions, until their senders have ended.\n";

enum {
    NUMBERS = 1,
    ENDS = 2,
    COMPUTED = 3,
    CELLS = 3,
    ROOM = 16,
    SENDERS = 2,
    REGION_BYTES = 64,
    TICK_MSEC = 5
};

/* --- a CCE that sends --- */

static void send_numbers(int numbers)
{
    must(bcr_cagrow(1, 0, 0, 0, 0, 0, 4 * (ROOM + 2) * REGION_BYTES), "grow its comm heap");
    for (int i = 1; i <= numbers; i++) {
        bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a number");
        **(int **)region = i;
        must(bcr_enq(region, bcr_enlistor, NUMBERS, bcr_FREE), "send a number");
    }
}

/* --- the thread, which computes what the numbers must come to, and never calls BCR but for bcr_wake --- */

static long wanted;

static void *compute(void *numbers)
{
    for (long i = 1; i <= *(int *)numbers; i++)
        wanted += SENDERS * i;
    bcr_wake(COMPUTED);
    return NULL;
}

/* --- the CCE with the loop --- */

static struct {
    long numbers, sum, ends, ticks, looks;
    bool computed;
} seen;

static void on_computed(int cell)
{
    (void)cell;
    seen.computed = true;
}

static void look_at_everything(void)
{
    bcr_region region;
    for (; (region = bcr_deq(bcr_cce, NUMBERS, 0)) != NULL; seen.numbers++) {
        seen.sum += **(int **)region;
        must(bcr_rgfree(region), "free a number");
    }
    for (; (region = bcr_deq(bcr_cce, ENDS, 0)) != NULL; seen.ends++)
        must(bcr_rgfree(region), "free the region of an end");
    must(bcr_allow(0), "run handlers");
    seen.looks++;
}

static void watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        must_end("watch a descriptor", "epoll_ctl failed");
}

static void loop(int timer)
{
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    const int bcr = must(bcr_wakefd(), "get its descriptor"); /* always the same one */
    watch(epoll, bcr);
    watch(epoll, timer);
    for (;;) {
        must(bcr_wakefd(), "arm its descriptor"); /* each time, before the look */
        look_at_everything();
        if (seen.ends == SENDERS && seen.computed)
            break;
        struct epoll_event event[2];
        const int count = epoll_wait(epoll, event, 2, -1);
        if (count < 0 && errno != EINTR)
            must_end("wait", "epoll_wait failed");
        for (int i = 0; i < count; i++) {
            uint64_t times;
            if (event[i].data.fd == timer && read(timer, &times, sizeof times) > 0)
                seen.ticks += (long)times;
        }
    }
    close(epoll);
}

static void lead(const char *program, int numbers)
{
    must(bcr_cagrow(NUMBERS, 0, CELLS, 0, 0, ROOM, 4096), "grow its cells");
    must(bcr_wakeon(NUMBERS, 1), "be told of numbers");
    must(bcr_handler(COMPUTED, on_computed, 1, 0, 0), "install a handler");
    bcr_cce_id senders[SENDERS];
    char argument[16];
    snprintf(argument, sizeof argument, "%d", numbers);
    const struct bcr_startspec spec = {.size = sizeof spec,
                                       .core = -1,
                                       .count = SENDERS,
                                       .ordinal = 1,
                                       .program = program,
                                       .arguments = (const char *const[]){argument, NULL}};
    must(bcr_start(&spec, senders), "start the senders");
    for (int i = 0; i < SENDERS; i++)
        must(bcr_watch(senders[i], ENDS), "watch a sender");

    const struct itimerspec tick = {.it_interval.tv_nsec = TICK_MSEC * 1000000L,
                                    .it_value.tv_nsec = TICK_MSEC * 1000000L};
    const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    pthread_t thread;
    if (timerfd_settime(timer, 0, &tick, NULL) != 0 || pthread_create(&thread, NULL, compute, &numbers) != 0)
        must_end("begin", "no timer or thread");
    loop(timer);
    pthread_join(thread, NULL);

    printf("onefd: %ld numbers, %ld ends\n", seen.numbers, seen.ends);
    /* The end of a sender comes behind all that it has put. */
    must_hold(seen.numbers == (long)SENDERS * numbers && seen.sum == wanted, "every number came, and once");
    must_hold(seen.looks <= 4 * (seen.numbers + seen.ends + seen.ticks + 2),
              "the loop sleeps while nothing changes");
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 1, USAGE);
    const int numbers = args_number(argc, argv, 1, "numbers", 1000, 1, 10000);
    must_init(0, argv[0]);
    if (bcr_enlistor < 0)
        lead(argv[0], numbers);
    else
        send_numbers(numbers);
    return EXIT_SUCCESS;
}
