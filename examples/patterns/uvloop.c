/* SPDX-License-Identifier: MIT */
/*
 * uvloop -- a libuv loop in which BCR has one handle.
 *
 *     uv_run ----> uv_poll_t of bcr_wakefd: numbers that other CCEs put into a cell (bcr_wakeon),
 *            |                              the ends of these CCEs (bcr_watch),
 *            |                              a job of libuv's thread pool that is done (bcr_wake, which runs a handler)
 *            `---> uv_timer_t, as any other handle
 *
 * The callback arms the descriptor first, then looks at everything, then returns to the loop: what comes after the
 * arming makes the descriptor readable, and what came before it is seen by the look.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include <bcr/program.h>
#include <uv.h>

static const char USAGE[] = "usage: uvloop [numbers]     (1000 numbers)\n"
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

/* --- a job for a thread, which computes what the numbers must come to, and never calls BCR but for bcr_wake --- */

static long wanted;
static int each;

static void compute(uv_work_t *job)
{
    (void)job;
    for (long i = 1; i <= each; i++)
        wanted += SENDERS * i;
    bcr_wake(COMPUTED);
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

static uv_poll_t bcr;
static uv_timer_t timer;

static void on_change(uv_poll_t *handle, int status, int events)
{
    (void)handle;
    (void)events;
    must_hold(status == 0, "libuv can poll the descriptor");
    must(bcr_wakefd(), "arm its descriptor"); /* each time, before the look */
    look_at_everything();
    if (seen.ends == SENDERS && seen.computed) {
        uv_close((uv_handle_t *)&bcr, NULL);
        uv_close((uv_handle_t *)&timer, NULL);
    }
}

static void on_tick(uv_timer_t *handle)
{
    (void)handle;
    seen.ticks++;
}

static void loop(void)
{
    uv_loop_t *const loop = uv_default_loop();
    uv_work_t job;
    if (uv_poll_init(loop, &bcr, must(bcr_wakefd(), "get its descriptor")) != 0 ||
        uv_poll_start(&bcr, UV_READABLE, on_change) != 0 || uv_timer_init(loop, &timer) != 0 ||
        uv_timer_start(&timer, on_tick, TICK_MSEC, TICK_MSEC) != 0 ||
        uv_queue_work(loop, &job, compute, NULL) != 0)
        must_end("begin", "libuv refuses");
    on_change(&bcr, 0, 0); /* for what came before the descriptor was there */
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
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

    each = numbers;
    loop();

    printf("uvloop: %ld numbers, %ld ends\n", seen.numbers, seen.ends);
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
