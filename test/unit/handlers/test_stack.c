/* SPDX-License-Identifier: MIT */
/* Pools of stacks, and the ends of those that use too much of one. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/coroutine.h"
#include "bcri/stack.h"
#include "check.h"

enum { KIB = 1024 };

struct element {
    struct bcri_stack stack;
    struct bcri_coroutine co;
    size_t appetite_bytes;
};

static struct bcri_stacks pool;
static struct bcri_coroutine thread;

static struct element *take(void)
{
    return (struct element *)(void *)bcri_stacks_take(&pool);
}

TEST(stacks_are_as_large_as_asked_for_and_apart)
{
    enum { COUNT = 3000 };
    static struct element *taken[COUNT];
    bcri_stacks_init(&pool, sizeof(struct element), 33 * KIB, UINT64_MAX);
    for (int i = 0; i < COUNT; i++) {
        taken[i] = take();
        CHECK(taken[i] != NULL);
        CHECK(taken[i]->stack.bytes + KIB >= 33 * KIB);
        CHECK_INT(taken[i]->appetite_bytes, 0); /* what lies beside it begins as zeroes */
        taken[i]->appetite_bytes = (size_t)i;
        /* Both ends can be written to. */
        taken[i]->stack.low[taken[i]->stack.bytes - 1] = (unsigned char)i;
        if (taken[i]->stack.guard != BCRI_STACK_CANARY)
            taken[i]->stack.low[0] = (unsigned char)(i + 1);
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK_UINT(taken[i]->appetite_bytes, i);
        CHECK_INT(taken[i]->stack.low[taken[i]->stack.bytes - 1], (unsigned char)i);
    }
    bcri_stacks_fini(&pool, NULL);
}

TEST(the_stack_given_back_last_is_taken_first)
{
    bcri_stacks_init(&pool, sizeof(struct element), 16 * KIB, UINT64_MAX);
    struct element *a = take();
    struct element *b = take();
    bcri_stacks_give(&pool, &a->stack);
    bcri_stacks_give(&pool, &b->stack);
    CHECK_PTR(take(), b);
    CHECK_PTR(take(), a);
    bcri_stacks_fini(&pool, NULL);
}

TEST(a_pool_has_as_many_stacks_as_it_may)
{
    enum { MOST = 1000 };
    bcri_stacks_init(&pool, sizeof(struct element), 16 * KIB, MOST);
    struct element *last = NULL;
    for (int i = 0; i < MOST; i++)
        CHECK((last = take()) != NULL);
    CHECK_PTR(take(), NULL);
    CHECK_PTR(take(), NULL);
    bcri_stacks_give(&pool, &last->stack);
    CHECK_PTR(take(), last);
    CHECK_PTR(take(), NULL);
    bcri_stacks_fini(&pool, NULL);
}

TEST(a_pool_without_memory_gives_none_and_goes_on_later)
{
    if (test_is_instrumented())
        SKIP("a limit on address space does not go with what watches this test");
    bcri_stacks_init(&pool, sizeof(struct element), 64 * KIB, UINT64_MAX);
    CHECK(take() != NULL);
    struct rlimit old, tight;
    CHECK_INT(getrlimit(RLIMIT_AS, &old), 0);
    tight = old;
    tight.rlim_cur = 1;
    CHECK_INT(setrlimit(RLIMIT_AS, &tight), 0);
    int taken = 0;
    while (take() != NULL)
        taken++;
    CHECK(taken > 0 && taken < 1000);
    CHECK_INT(setrlimit(RLIMIT_AS, &old), 0);
    CHECK(take() != NULL);
    bcri_stacks_fini(&pool, NULL);
}

/* ---- memory that goes back ---- */

enum { PEAK = 256, USED = 8 * KIB };

static bool has_memory(const struct element *one)
{
    unsigned char resident = 0;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t at = ((uintptr_t)one->stack.low + one->stack.bytes - 1) / page * page;
    CHECK_INT(mincore((void *)at, page, &resident), 0);
    return (resident & 1) != 0;
}

static void use(struct element *one)
{
    memset(one->stack.low + one->stack.bytes - USED, 1, USED);
}

static int clean_all(void)
{
    int cleaned = 0;
    while (bcri_stacks_clean_one(&pool) != NULL)
        cleaned++;
    return cleaned;
}

static void go_back_after_a_peak(enum bcri_stack_guard guard)
{
    static struct element *peak[PEAK];
    bcri_stacks_init(&pool, sizeof(struct element), 64 * KIB, UINT64_MAX);
    pool.guard = guard;
    for (int i = 0; i < PEAK; i++)
        use(peak[i] = take());
    CHECK(!bcri_stacks_may_shrink(&pool));
    bcri_stacks_look_back(&pool);
    for (int i = 0; i < PEAK; i++)
        bcri_stacks_give(&pool, &peak[i]->stack);
    CHECK(bcri_stacks_may_shrink(&pool));
    bcri_stacks_look_back(&pool); /* all were needed since the last one */
    CHECK_INT(clean_all(), 0);
    for (int left = PEAK; left > (int)BCRI_STACKS_KEPT;) {
        use(take()); /* one is in use all the time */
        bcri_stacks_look_back(&pool);
        const int keep = left / 2 > (int)BCRI_STACKS_KEPT + 1 ? left / 2 : (int)BCRI_STACKS_KEPT + 1;
        CHECK_INT(clean_all(), left - keep);
        bcri_stacks_give(&pool, &peak[PEAK - 1]->stack);
        for (int i = 0; i < PEAK; i++) /* those that were given back last keep their memory */
            CHECK_INT(has_memory(peak[i]), i >= PEAK - keep);
        if (left == keep)
            break;
        left = keep;
    }
    for (int i = 0; i < PEAK; i++) {
        struct element *one = take();
        bcri_stack_check(&one->stack);
        use(one);
    }
    CHECK_UINT(pool.touched, PEAK);
    bcri_stacks_fini(&pool, NULL);
}

TEST(memory_that_was_needed_once_goes_back_half_at_a_time)
{
    go_back_after_a_peak(BCRI_STACK_GUARD);
}

TEST(where_there_are_canaries_they_stay)
{
    go_back_after_a_peak(BCRI_STACK_CANARY);
}

TEST(what_is_needed_again_and_again_keeps_its_memory)
{
    static struct element *some[PEAK];
    bcri_stacks_init(&pool, sizeof(struct element), 64 * KIB, UINT64_MAX);
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < PEAK; i++) {
            some[i] = take();
            CHECK(turn == 0 || has_memory(some[i]));
            use(some[i]);
        }
        for (int i = PEAK; i-- > 0;)
            bcri_stacks_give(&pool, &some[i]->stack);
        bcri_stacks_look_back(&pool);
        CHECK_INT(clean_all(), 0);
    }
    bcri_stacks_fini(&pool, NULL);
}

/* ---- too much of a stack ---- */

static int eat(volatile char *above, size_t bytes)
{
    volatile char here[2000];
    memset((char *)here, above != NULL ? above[0] : 1, sizeof here);
    return bytes > sizeof here ? here[0] + eat(here, bytes - sizeof here) : here[0];
}

static void body(struct bcri_coroutine *self)
{
    struct element *element = (struct element *)(void *)((char *)self - offsetof(struct element, co));
    for (;;) {
        eat(NULL, element->appetite_bytes);
        bcri_stack_check(&element->stack);
        bcri_coroutine_switch(self, &thread);
    }
}

/* Runs on a stack of 64 KiB something that needs so much, for cell 4711. */
static void run_on_stack(enum bcri_stack_guard guard, size_t appetite_bytes)
{
    bcri_stacks_init(&pool, sizeof(struct element), 64 * KIB, UINT64_MAX);
    pool.guard = guard;
    bcri_stacks_watch();
    struct element *element = take();
    CHECK(element != NULL);
    atomic_store(&element->stack.cell, 4711);
    element->appetite_bytes = appetite_bytes;
    CHECK_INT(bcri_coroutine_make(&element->co, element->stack.low, element->stack.bytes, body), 0);
    bcri_coroutine_switch(&thread, &element->co);
    bcri_coroutine_drop(&element->co);
    bcri_stacks_fini(&pool, NULL);
}

struct end {
    int status;
    char text[4000];
};

/* How a process ends that runs this, and what it says. */
static struct end end_of(void (*run)(void *), void *arg)
{
    struct end end = {.status = 0};
    int pipe_fds[2];
    CHECK_INT(pipe(pipe_fds), 0);
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        const struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        dup2(pipe_fds[1], STDERR_FILENO);
        run(arg);
        _exit(0);
    }
    close(pipe_fds[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(pipe_fds[0], end.text + length, sizeof end.text - 1 - length)) > 0;)
        length += (size_t)got;
    close(pipe_fds[0]);
    CHECK_INT(waitpid(pid, &end.status, 0), pid);
    return end;
}

static void run_as(void *arg)
{
    const int *what = arg;
    run_on_stack((enum bcri_stack_guard)what[0], (size_t)what[1] * KIB);
}

static struct end end_with(enum bcri_stack_guard guard, int appetite_kib)
{
    int what[2] = {(int)guard, appetite_kib};
    return end_of(run_as, what);
}

static void check_overflow(enum bcri_stack_guard guard)
{
    if (test_is_instrumented())
        SKIP("frames are larger here, and faults are another's to report");
    struct end good = end_with(guard, 40);
    CHECK_INT(good.status, 0);
    CHECK_STR(good.text, "");
    struct end bad = end_with(guard, 66);
    CHECK(WIFSIGNALED(bad.status));
    CHECK_INT(WTERMSIG(bad.status), guard == BCRI_STACK_CANARY ? SIGABRT : SIGSEGV);
    CHECK(strstr(bad.text, ": the handler of cell 4711 has used up its stack of 64 KiB; ") != NULL);
    CHECK(strstr(bad.text, "handlerstack") != NULL);
}

TEST(who_runs_into_a_guard_ends_with_a_message)
{
    check_overflow(BCRI_STACK_GUARD);
}

TEST(who_runs_into_a_protected_page_ends_with_a_message)
{
    check_overflow(BCRI_STACK_PROTECT);
}

TEST(who_spoils_a_canary_ends_with_a_message)
{
    check_overflow(BCRI_STACK_CANARY);
}

static void spoil(void *arg)
{
    const size_t word = *(const size_t *)arg;
    bcri_stacks_init(&pool, sizeof(struct element), 16 * KIB, UINT64_MAX);
    pool.guard = BCRI_STACK_CANARY;
    struct element *element = take();
    CHECK(element != NULL);
    ((uint64_t *)(void *)element->stack.low)[word]++;
    bcri_stack_check(&element->stack);
    _exit(0);
}

TEST(a_canary_is_spoilt_by_each_of_its_words)
{
    for (size_t word = 0; word < 64; word++) {
        int status;
        const pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            close(STDERR_FILENO);
            spoil(&word);
        }
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK(WIFSIGNALED(status));
        CHECK_INT(WTERMSIG(status), SIGABRT);
    }
}

TEST(stacks_beyond_the_mappings_a_process_may_have_get_canaries)
{
    bcri_stacks_init(&pool, sizeof(struct element), 16 * KIB, UINT64_MAX);
    pool.guard = BCRI_STACK_PROTECT;
    pool.protect_most = 100;
    int protected = 0, canaries = 0;
    for (int i = 0; i < 300; i++) {
        struct element *element = take();
        CHECK(element != NULL);
        protected += element->stack.guard == BCRI_STACK_PROTECT;
        canaries += element->stack.guard == BCRI_STACK_CANARY;
        bcri_stack_check(&element->stack);
    }
    CHECK(protected > 0 && protected <= 100);
    CHECK_INT(protected + canaries, 300);
    bcri_stacks_fini(&pool, NULL);
}

static void own_action(int number)
{
    static const char said[] = "the program's own action\n";
    (void)number;
    if (write(STDERR_FILENO, said, sizeof said - 1) > 0)
        _exit(33);
}

static char *no_access; /* a page */

static void own_action_with_address(int number, siginfo_t *info, void *context)
{
    if (context != NULL && info->si_addr == (void *)no_access)
        own_action(number);
    _exit(34);
}

static void act_by_number(void)
{
    signal(SIGSEGV, own_action);
}

static void act_by_address(void)
{
    const struct sigaction action = {.sa_sigaction = own_action_with_address, .sa_flags = SA_SIGINFO};
    CHECK_INT(sigaction(SIGSEGV, &action, NULL), 0);
}

static void fault_elsewhere(void *arg)
{
    void (*const *const act)(void) = arg;
    if (act != NULL)
        (*act)();
    run_on_stack(BCRI_STACK_GUARD, 1);
    no_access = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *(volatile char *)no_access = 1;
}

TEST(faults_elsewhere_are_what_they_were_without_us)
{
    if (test_is_instrumented())
        SKIP("faults are another's to report here");
    struct end plain = end_of(fault_elsewhere, NULL);
    CHECK(WIFSIGNALED(plain.status));
    CHECK_INT(WTERMSIG(plain.status), SIGSEGV);
    CHECK_STR(plain.text, "");
    void (*acts[])(void) = {act_by_number, act_by_address};
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        struct end own = end_of(fault_elsewhere, &acts[i]);
        CHECK(WIFEXITED(own.status));
        CHECK_INT(WEXITSTATUS(own.status), 33);
        CHECK_STR(own.text, "the program's own action\n");
    }
}

static void sent(void *arg)
{
    (void)arg;
    run_on_stack(BCRI_STACK_GUARD, 1);
    kill(getpid(), SIGSEGV);
    for (;;)
        pause();
}

TEST(a_fault_signal_that_another_process_sends_ends_this_one_as_ever)
{
    if (test_is_instrumented())
        SKIP("faults are another's to report here");
    struct end end = end_of(sent, NULL);
    CHECK(WIFSIGNALED(end.status));
    CHECK_INT(WTERMSIG(end.status), SIGSEGV);
}

static void *overflow_in_thread(void *arg)
{
    (void)arg;
    run_on_stack(BCRI_STACK_GUARD, 66 * KIB);
    return NULL;
}

static void overflow_in_second_thread(void *arg)
{
    (void)arg;
    run_on_stack(BCRI_STACK_GUARD, 1);
    pthread_t other;
    CHECK_INT(pthread_create(&other, NULL, overflow_in_thread, NULL), 0);
    pthread_join(other, NULL);
}

TEST(every_thread_that_runs_on_such_stacks_ends_with_the_message)
{
    if (test_is_instrumented())
        SKIP("faults are another's to report here");
    struct end end = end_of(overflow_in_second_thread, NULL);
    CHECK(WIFSIGNALED(end.status));
    CHECK(strstr(end.text, "the handler of cell 4711 has used up its stack") != NULL);
}

static void *run_well(void *arg)
{
    (void)arg;
    run_on_stack(BCRI_STACK_GUARD, 1);
    return NULL;
}

TEST(threads_come_and_go)
{
    for (int i = 0; i < 50; i++) {
        pthread_t other;
        CHECK_INT(pthread_create(&other, NULL, run_well, NULL), 0);
        CHECK_INT(pthread_join(other, NULL), 0);
    }
}
