/* SPDX-License-Identifier: MIT */
/* Coroutines on pooled stacks, with either way of switching. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/coroutine.h"
#include "bcri/stack.h"
#include "check.h"

enum { STACK_BYTES = 64 * 1024 };

struct element {
    struct bcri_stack stack;
    struct bcri_coroutine co;
    int number;
    long sum;
};

static struct bcri_stacks pool;
static struct bcri_coroutine thread;
static struct element *runs;

static struct element *of(struct bcri_coroutine *co)
{
    return (struct element *)(void *)((char *)co - offsetof(struct element, co));
}

static struct element *new (int number, void (*body)(struct bcri_coroutine *))
{
    struct element *element = (struct element *)(void *)bcri_stacks_take(&pool);
    CHECK(element != NULL);
    element->number = number;
    if (element->co.context == NULL)
        CHECK_INT(bcri_coroutine_make(&element->co, element->stack.low, element->stack.bytes, body), 0);
    return element;
}

static void drop(struct bcri_stack *stack)
{
    struct element *element = (struct element *)(void *)stack;
    if (element->co.context != NULL)
        bcri_coroutine_drop(&element->co);
}

static void begin(void)
{
    bcri_stacks_init(&pool, sizeof(struct element), STACK_BYTES, UINT64_MAX);
}

static void end(void)
{
    bcri_stacks_fini(&pool, drop);
}

static void count_up(struct bcri_coroutine *self)
{
    struct element *element = of(self);
    for (;;) {
        volatile char used[1000];
        memset((char *)used, element->number & 0x7f, sizeof used);
        element->sum += used[500] + 1;
        bcri_coroutine_switch(self, &thread);
        CHECK_INT(used[999], element->number & 0x7f); /* its stack is its own */
    }
}

TEST(a_coroutine_goes_on_where_it_stopped)
{
    begin();
    struct element *a = new (1, count_up);
    struct element *b = new (2, count_up);
    for (int i = 1; i <= 1000; i++) {
        bcri_coroutine_switch(&thread, &a->co);
        bcri_coroutine_switch(&thread, &b->co);
        CHECK_INT(a->sum, 2 * i);
        CHECK_INT(b->sum, 3 * i);
    }
    end();
}

static void pass_on(struct bcri_coroutine *self)
{
    for (;;) {
        struct element *element = of(self);
        struct element *next = (struct element *)(void *)element->stack.next_free;
        element->sum++;
        bcri_coroutine_switch(self, next != NULL ? &next->co : &thread);
    }
}

TEST(coroutines_switch_to_each_other_in_a_long_chain)
{
    enum { LENGTH = 500 };
    struct element *chain[LENGTH];
    begin();
    for (int i = 0; i < LENGTH; i++)
        chain[i] = new (i, pass_on);
    for (int i = 0; i < LENGTH; i++)
        chain[i]->stack.next_free = i + 1 < LENGTH ? &chain[i + 1]->stack : NULL;
    for (int round = 1; round <= 10; round++) {
        bcri_coroutine_switch(&thread, &chain[0]->co);
        for (int i = 0; i < LENGTH; i++)
            CHECK_INT(chain[i]->sum, round);
    }
    end();
}

static double share(double x)
{
    return x / 3;
}

static void floats(struct bcri_coroutine *self)
{
    double kept = 1;
    for (;;) {
        char text[64];
        kept = share(kept) * 3;
        snprintf(text, sizeof text, "%.3f %d", kept, of(self)->number);
        CHECK_STR(text, "1.000 7");
        bcri_coroutine_switch(self, &thread);
    }
}

TEST(registers_and_the_c_library_work_on_a_coroutine)
{
    begin();
    struct element *a = new (7, floats);
    for (double x = 1; x < 100; x += share(x)) {
        double before = x;
        bcri_coroutine_switch(&thread, &a->co);
        CHECK(x == before);
    }
    end();
}

static void allocate(struct bcri_coroutine *self)
{
    for (;;) {
        char *text = strdup("known to nobody but this stack");
        CHECK(text != NULL);
        bcri_coroutine_switch(self, &thread);
        CHECK_STR(text, "known to nobody but this stack");
        free(text);
    }
}

TEST(a_stopped_coroutine_keeps_what_only_its_stack_knows)
{
    begin();
    struct element *a = new (1, allocate);
    for (int i = 0; i < 100; i++)
        bcri_coroutine_switch(&thread, &a->co);
    /* Left stopped: what it holds is no leak as long as it can go on. */
}

static void run_and_end(struct bcri_coroutine *self)
{
    for (;;) {
        runs = of(self);
        of(self)->sum++;
        bcri_stacks_give(&pool, &of(self)->stack);
        bcri_coroutine_switch(self, &thread);
    }
}

TEST(a_finished_coroutine_is_begun_again_on_the_same_stack)
{
    begin();
    for (int i = 1; i <= 10000; i++) {
        struct element *a = new (i, run_and_end);
        bcri_coroutine_switch(&thread, &a->co);
        CHECK_PTR(runs, a);
        CHECK_INT(a->sum, i);
    }
    end();
}

static void *from_another_thread(void *arg)
{
    struct bcri_coroutine *co = arg;
    bcri_coroutine_switch(&thread, co);
    return NULL;
}

TEST(another_thread_may_go_on_with_a_coroutine)
{
    begin();
    struct element *a = new (1, count_up);
    bcri_coroutine_switch(&thread, &a->co);
    for (int i = 2; i <= 20; i++) {
        pthread_t other;
        CHECK_INT(pthread_create(&other, NULL, from_another_thread, &a->co), 0);
        CHECK_INT(pthread_join(other, NULL), 0);
        CHECK_INT(a->sum, 2 * i);
    }
    end();
}

TEST(the_two_kinds_name_themselves)
{
    const char *kind = bcri_coroutine_kind();
    CHECK(strcmp(kind, "fcontext") == 0 || strcmp(kind, "ucontext") == 0);
}
