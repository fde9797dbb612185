/* SPDX-License-Identifier: MIT */
/* A CCE that crashes as it is told: $CRASH_OTHERS for those that the root enlists, arguments for the root.
 *
 *   enlist N     N CCEs of this program
 *   on M         they start on machine M
 *   out T        prints a line
 *   say          prints its ordinal
 *   tell         tells the test that it is there
 *   wait         until the test lets it go on
 *   segv, bus, fpe, ill, abort, sys
 *                by that signal, in a function crash_SIGNAL
 *   locals       by SIGSEGV, in a function with variables
 *   null         calls a function pointer that is NULL
 *   handler      in the handler of a cell, while another cell's handler waits in a call
 *   thread       in a thread of its own, while the first one waits in main_waits
 *   orphan       in a thread of its own, when the first one has ended
 *   aside        in a thread of its own, while the first one goes on
 *   leave        ends by exit(0)
 *   vanish       ends by _exit(0)
 *   threads N    starts N threads, each deep in calls of one_of_many
 *   narrow       sets an alternate stack with 4 KiB more than the kernel needs
 *   deep         in a thread whose stack is used up
 *   closed       closes all descriptors but the standard ones
 *   overflow     the main stack, in function `deeper`
 *   coroutine    the stack of a handler, the same
 *   own          with a handler of its own for SIGSEGV, which exits with status 7
 *   undumpable   not dumpable, so that nobody may look into it; then segv
 *   vfork        starts a thread that ptrace cannot stop
 *   put          puts a region into its own cell 1, then takes it
 *   give         puts a region into a cell of its enlistor's
 *   stay         waits for ever in a get
 *   need         the same, at a cell of its enlistor's
 *
 * $CRASH_LINE is a file that tells the line of the crash. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <bcr.h>

static const char *machine;
static int cells; /* the first of its own */

static void line(int number)
{
    const int fd = open(getenv("CRASH_LINE"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char text[32];
    const int length = snprintf(text, sizeof text, "sys_crash.c:%d)", number);
    if (fd < 0 || write(fd, text, (size_t)length) != length)
        _exit(99);
    close(fd);
}

static int *volatile nowhere;
static void (*volatile no_function)(void);
static volatile int zero;

__attribute__((noinline)) static void crash_segv(void)
{
    line(__LINE__ + 1);
    *nowhere = 1;
}

__attribute__((noinline)) static void crash_ill(void)
{
    line(__LINE__ + 1);
    __builtin_trap();
}

__attribute__((noinline)) static void crash_fpe(void)
{
    line(__LINE__ + 1);
    zero = 700 / zero;
}

__attribute__((noinline)) static void crash_abort(void)
{
    line(__LINE__ + 1);
    abort();
}

__attribute__((noinline)) static void crash_sys(void)
{
    line(__LINE__ + 1);
    raise(SIGSYS);
}

__attribute__((noinline)) static void crash_null(void)
{
    line(__LINE__ + 1);
    no_function();
    zero = 2;
}

__attribute__((noinline)) static void crash_bus(void)
{
    char name[] = "/tmp/crash.XXXXXX";
    const int fd = mkstemp(name);
    unlink(name);
    volatile char *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    line(__LINE__ + 1);
    zero = *at;
}

__attribute__((noinline)) static void crash_locals(void)
{
    volatile int apples = 4711, pears[2] = {23, 42};
    line(__LINE__ + 1);
    *nowhere = apples + pears[1];
}

static const struct {
    const char *word;
    void (*crash)(void);
} crashes[] = {{"segv", crash_segv},   {"bus", crash_bus}, {"fpe", crash_fpe},   {"ill", crash_ill},
               {"abort", crash_abort}, {"sys", crash_sys}, {"null", crash_null}, {"locals", crash_locals}};

__attribute__((noinline)) static int deeper(int depth)
{
    volatile char frame[512];
    frame[0] = (char)depth;
    return depth >= 0 ? deeper(depth + 1) + frame[0] : 0;
}

static void handler_deeper(int cell)
{
    zero = deeper(cell);
}

static void handler_waits(int cell)
{
    (void)!bcr_get(1, bcr_cce, cells + 3, bcr_BLOCK);
    zero = cell;
}

static void handler_crashes(int cell)
{
    crash_segv();
    zero = cell;
}

static void must(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, bcr_strerror(bcr_errno));
        _exit(98);
    }
}

static void put(int cell)
{
    bcr_region region = bcr_rgalloc(8, 0);
    must(region != NULL ? bcr_enq(region, bcr_cce, cell, bcr_FREE) : -1, "put");
}

static void in_handler(void (*crashes_in)(int))
{
    must(bcr_handler(cells, handler_waits, 1, 1, 0), "handler");
    must(bcr_handler(cells + 1, crashes_in, 1, 1, 0), "handler");
    put(cells);
    must(bcr_allow(0), "allow");
    put(cells + 1);
    must(bcr_allow(0), "allow");
}

static void *thread_crashes(void *arg)
{
    crash_segv();
    return arg;
}

__attribute__((noinline)) static void main_waits(void)
{
    for (;;)
        pause();
}

static void start(void *(*does)(void *))
{
    pthread_t thread;
    must(-pthread_create(&thread, NULL, does, NULL), "thread");
}

static void in_thread(void)
{
    start(thread_crashes);
    main_waits();
}

/* The kernel tells nothing of a process by a first thread that has ended. */
static void *orphan_crashes(void *arg)
{
    char text[512] = "";
    while (strstr(text, ") Z ") == NULL) {
        const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
        const ssize_t length = read(fd, text, sizeof text - 1);
        text[length > 0 ? length : 0] = '\0';
        close(fd);
    }
    crash_segv();
    return arg;
}

/* What is below is not mapped. */
static void set_narrow_stack(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), least = getauxval(AT_MINSIGSTKSZ);
    const size_t needed = (least > 2048 ? least : 2048) + 4096, all = (needed / page + 2) * page;
    char *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at, page, PROT_NONE) != 0)
        _exit(95);
    const stack_t narrow = {.ss_sp = at + page, .ss_size = all - page};
    must(-sigaltstack(&narrow, NULL), "sigaltstack");
}

static void *goes_deeper(void *arg)
{
    zero = deeper(0);
    return arg;
}

static atomic_int waiting;

__attribute__((noinline)) static int one_of_many_threads_that_wait_deep_in_calls(int depth)
{
    volatile int here = depth;
    if (depth > 0)
        return one_of_many_threads_that_wait_deep_in_calls(depth - 1) + here;
    atomic_fetch_add(&waiting, 1);
    while (atomic_load(&waiting) > 0)
        pause();
    return here;
}

static void *waits_deep(void *arg)
{
    zero = one_of_many_threads_that_wait_deep_in_calls(40);
    return arg;
}

static void start_threads(int count)
{
    for (int i = 0; i < count; i++)
        start(waits_deep);
    while (atomic_load(&waiting) < count)
        sched_yield();
}

static atomic_bool forks;

static void *vforks(void *arg)
{
    atomic_store(&forks, true);
    /* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): it is the point */
    if (vfork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return arg;
}

static void start_vfork(void)
{
    start(vforks);
    while (!atomic_load(&forks))
        sched_yield();
}

static void on_segv(int number)
{
    (void)number;
    _exit(7);
}

static void tell(void)
{
    const int fd = open(getenv("SYS_TELL"), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "there\n", 6) != 6)
        _exit(96);
    close(fd);
}

static void wait_to_go(void)
{
    char byte;
    const int fd = open(getenv("SYS_GO"), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, &byte, 1) != 1)
        _exit(97);
    close(fd);
}

static void put_and_get(void)
{
    put(cells + 1);
    bcr_region region = bcr_deq(bcr_cce, cells + 1, bcr_BLOCK);
    must(region != NULL ? bcr_rgfree(region) : -1, "get");
}

static bool crash(const char *word)
{
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        if (strcmp(word, crashes[i].word) == 0) {
            crashes[i].crash();
            return true;
        }
    return false;
}

int main(int argc, char **argv)
{
    char *words[32], *others = getenv("CRASH_OTHERS");
    int count = 0;
    if (argc > 1 && strcmp(argv[1], "own") == 0)
        signal(SIGSEGV, on_segv);
    must(bcr_init(0, NULL), "init");
    cells = bcr_cagrow(1, 4, 0, 0, 1, 8, 65536);
    must(cells, "cells");
    for (int i = 1; i < argc && count < 31; i++)
        words[count++] = argv[i];
    if (argc == 1 && others != NULL)
        for (char *word = strtok(others, " "); word != NULL && count < 31; word = strtok(NULL, " "))
            words[count++] = word;
    words[count] = NULL;
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i], "enlist") == 0)
            must(bcr_enlist(machine, -atoi(words[++i]), 1, argv[0], NULL, bcr_FREE), "enlist");
        else if (strcmp(words[i], "on") == 0)
            machine = words[++i];
        else if (strcmp(words[i], "out") == 0) {
            printf("%s\n", words[++i]);
            fflush(stdout);
        } else if (strcmp(words[i], "say") == 0) {
            printf("ordinal %d\n", bcr_cceord);
            fflush(stdout);
        } else if (strcmp(words[i], "tell") == 0)
            tell();
        else if (strcmp(words[i], "wait") == 0)
            wait_to_go();
        else if (strcmp(words[i], "handler") == 0)
            in_handler(handler_crashes);
        else if (strcmp(words[i], "coroutine") == 0)
            in_handler(handler_deeper);
        else if (strcmp(words[i], "thread") == 0)
            in_thread();
        else if (strcmp(words[i], "orphan") == 0) {
            start(orphan_crashes);
            pthread_exit(NULL);
        } else if (strcmp(words[i], "aside") == 0)
            start(thread_crashes);
        else if (strcmp(words[i], "leave") == 0)
            exit(0);
        else if (strcmp(words[i], "vanish") == 0)
            _exit(0);
        else if (strcmp(words[i], "narrow") == 0)
            set_narrow_stack();
        else if (strcmp(words[i], "deep") == 0) {
            start(goes_deeper);
            main_waits();
        } else if (strcmp(words[i], "closed") == 0)
            for (int fd = 3; fd < 1024; fd++)
                close(fd);
        else if (strcmp(words[i], "threads") == 0)
            start_threads(atoi(words[++i]));
        else if (strcmp(words[i], "overflow") == 0)
            zero = deeper(0);
        else if (strcmp(words[i], "vfork") == 0)
            start_vfork();
        else if (strcmp(words[i], "undumpable") == 0)
            prctl(PR_SET_DUMPABLE, 0);
        else if (strcmp(words[i], "put") == 0)
            put_and_get();
        else if (strcmp(words[i], "give") == 0)
            must(bcr_enq(bcr_rgalloc(8, 0), bcr_enlistor, cells + 4, bcr_FREE), "give");
        else if (strcmp(words[i], "need") == 0)
            (void)!bcr_get(1, bcr_enlistor, cells + 4, bcr_BLOCK);
        else if (strcmp(words[i], "stay") == 0)
            (void)!bcr_get(1, bcr_cce, cells, bcr_BLOCK);
        else
            (void)crash(words[i]);
    }
    return 0;
}
