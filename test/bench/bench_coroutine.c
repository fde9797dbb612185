/* SPDX-License-Identifier: MIT */
/*
 * bench_coroutine.c -- what handlers run on, beside a bare switch of stacks:  bench_coroutine [options]
 *
 * One process, no CCE. coroutine.switch goes back and forth between two stacks; coroutine.life
 * takes a stack out of the pool, runs something of no length on it, and puts it back. Their floor
 * is the same number of bare jumps, with Boost.Context's routines where the library has been built
 * with them. */
#include <stdlib.h>

#include "bcri/coroutine.h"
#include "bcri/stack.h"
#include "bench.h"

enum { STACK_BYTES = 256 * 1024, FLOOR_STACK_BYTES = 64 * 1024 };

struct element {
    struct bcri_stack stack;
    struct bcri_coroutine co;
};

static struct bcri_stacks pool;
static struct bcri_coroutine thread;

static struct element *of(struct bcri_coroutine *co)
{
    return (struct element *)(void *)((char *)co - offsetof(struct element, co));
}

static struct element *take(void (*body)(struct bcri_coroutine *))
{
    struct element *element = (struct element *)(void *)bcri_stacks_take(&pool);
    if (element == NULL ||
        (element->co.context == NULL &&
         bcri_coroutine_make(&element->co, element->stack.low, element->stack.bytes, body) != 0))
        bench_fail("no stack");
    return element;
}

static void back_at_once(struct bcri_coroutine *self)
{
    for (;;)
        bcri_coroutine_switch(self, &thread);
}

static void end_at_once(struct bcri_coroutine *self)
{
    for (;;) {
        bcri_stacks_give(&pool, &of(self)->stack);
        bcri_coroutine_switch(self, &thread);
    }
}

/* n times there and back. */
static void switches(long n)
{
    struct element *element = take(back_at_once);
    for (long i = 0; i < n; i++)
        bcri_coroutine_switch(&thread, &element->co);
    bcri_coroutine_drop(&element->co);
    bcri_stacks_give(&pool, &element->stack);
}

static void lives(long n)
{
    for (long i = 0; i < n; i++) {
        struct element *element = take(end_at_once);
        bcri_coroutine_switch(&thread, &element->co);
    }
    struct element *element = take(end_at_once);
    bcri_coroutine_drop(&element->co);
    bcri_stacks_give(&pool, &element->stack);
}

#if BCRI_FCONTEXT

void *make_fcontext(void *top, size_t bytes, void (*entry)(struct bcri_transfer));

static void back_bare(struct bcri_transfer came)
{
    for (;;)
        came = jump_fcontext(came.context, NULL);
}

static void bare_jumps(long n)
{
    char *stack = malloc(FLOOR_STACK_BYTES);
    if (stack == NULL)
        bench_fail("no memory");
    void *context = make_fcontext(stack + FLOOR_STACK_BYTES, FLOOR_STACK_BYTES, back_bare);
    for (long i = 0; i < n; i++)
        context = jump_fcontext(context, NULL).context;
    free(stack);
}

static const char floor_name[] = "bare jumps";

#else

#include <ucontext.h>

static ucontext_t there, here;

static void back_bare(void)
{
    for (;;)
        swapcontext(&there, &here);
}

static void bare_jumps(long n)
{
    char *stack = malloc(FLOOR_STACK_BYTES);
    if (stack == NULL || getcontext(&there) != 0)
        bench_fail("no memory");
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = FLOOR_STACK_BYTES;
    makecontext(&there, back_bare, 0);
    for (long i = 0; i < n; i++)
        swapcontext(&here, &there);
    free(stack);
}

static const char floor_name[] = "bare swapcontext";

#endif

static const struct figure {
    const char *name;
    void (*run)(long n);
    double count; /* of what is shown, in one turn of the loop */
    enum bench_limit limit_kind;
    double limit;
} figures[] = {
    {"coroutine.switch", switches, 2, BENCH_RATIO_AT_MOST, 1.5},
    {"coroutine.life", lives, 1, BENCH_NO_LIMIT, 0},
};

static double time_of(void (*run)(long n), long n)
{
    int64_t begin_ns = bench_now_ns();
    run(n);
    return (double)(bench_now_ns() - begin_ns) / (double)n;
}

static long calibrate(void (*run)(long n), double turn_ns)
{
    long n = 1;
    for (double each_ns = 0; n < 1 << 30; n *= 2) {
        each_ns = time_of(run, n);
        if (each_ns * (double)n >= turn_ns / 4)
            return turn_ns > each_ns ? (long)(turn_ns / each_ns) : 1;
    }
    return n;
}

static void measure(const struct figure *figure, const struct bench_options *options,
                    struct bench_report *report)
{
    long count = calibrate(figure->run, options->turn_ns);
    long floor_count = calibrate(bare_jumps, options->turn_ns);
    size_t rounds = (size_t)options->round_count;
    double *values = calloc(3 * rounds, sizeof *values);
    if (values == NULL)
        bench_fail("no memory");
    double *floors = values + rounds, *ratios = floors + rounds;
    for (size_t i = 0; i < rounds; i++) {
        floors[i] = time_of(bare_jumps, floor_count) / figure->count;
        values[i] = time_of(figure->run, count) / figure->count;
        ratios[i] = values[i] / floors[i];
    }
    const struct bench_figure shown = {.name = figure->name,
                                       .unit = BENCH_NS,
                                       .floor_name = floor_name,
                                       .value = bench_spread_of(values, options->round_count),
                                       .floor = bench_spread_of(floors, options->round_count),
                                       .ratio = bench_spread_of(ratios, options->round_count),
                                       .limit_kind = figure->limit_kind,
                                       .limit = figure->limit};
    bench_report_add(report, &shown);
    free(values);
}

int main(int argc, char **argv)
{
    struct bench_options options;
    struct bench_report report;
    bench_options_parse(&options, argc, argv);
    bcri_stacks_init(&pool, sizeof(struct element), STACK_BYTES, UINT64_MAX);
    if (options.tiny)
        options.turn_ns = 1;
    if (!options.list) {
        bench_pin(options.core[0], options.core[0]);
        bench_report_begin(&report, &options, "Coroutines, beside bare switches of stacks");
    }
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (!bench_wanted(&options, figures[i].name))
            continue;
        if (options.list)
            printf("%s\n", figures[i].name);
        else
            measure(&figures[i], &options, &report);
    }
    if (!options.list)
        bench_report_end(&report);
    bcri_stacks_fini(&pool, NULL);
    return 0;
}
