/* SPDX-License-Identifier: MIT */
/* The end of a process whose handler has used more stack than it has (bcri/stack.h).
 *
 * A fault in a guard is a SIGSEGV, and its action needs a stack of its own. Our action looks
 * whether the address lies in the guard of a listed chunk. It also looks whether the stack pointer
 * has left the stack of the executing handler and the address lies between the two: then a frame
 * was larger than the guard. In both cases the action says whose stack it was and lets the fault
 * happen again with the default action, so that the process ends by SIGSEGV with a core of that
 * very moment; a CCE's crash report does that (bcri_stacks_end_by). All other faults are passed on to the action that was installed before.
 *
 * The action may only read. It finds chunks in a list of entries that are never freed; an entry's
 * chunk is complete before it is stored there. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "bcri/private.h"
#include "bcri/self.h"
#include "chunk.h"

struct entry {
    struct entry *next;
    _Atomic(const struct bcri_stack_chunk *) chunk; /* NULL: the entry is free */
};
static _Atomic(struct entry *) entries;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

/* If there is no memory for an entry, a fault in this chunk ends the process without a message. */
void bcri_chunk_list(const struct bcri_stack_chunk *chunk)
{
    pthread_mutex_lock(&entries_lock);
    struct entry *entry = atomic_load(&entries);
    while (entry != NULL && atomic_load(&entry->chunk) != NULL)
        entry = entry->next;
    if (entry == NULL && (entry = bcri_private_zeroed(1, sizeof *entry)) != NULL) {
        entry->next = atomic_load(&entries);
        atomic_store(&entries, entry);
    }
    if (entry != NULL)
        atomic_store(&entry->chunk, chunk);
    pthread_mutex_unlock(&entries_lock);
}

void bcri_chunk_unlist(const struct bcri_stack_chunk *chunk)
{
    pthread_mutex_lock(&entries_lock);
    for (struct entry *entry = atomic_load(&entries); entry != NULL; entry = entry->next)
        if (atomic_load(&entry->chunk) == chunk)
            atomic_store(&entry->chunk, NULL);
    pthread_mutex_unlock(&entries_lock);
}

/* ---- the message, by means that a signal action may use ---- */

struct line {
    char text[240];
    size_t used;
};

static void say(struct line *line, const char *text)
{
    while (*text != '\0' && line->used < sizeof line->text)
        line->text[line->used++] = *text++;
}

static void say_number(struct line *line, uint64_t number)
{
    char digits[21];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    say(line, digits + at);
}

static void tell(const struct bcri_stack *stack)
{
    struct line line = {.used = 0};
    say(&line, "bcr: ");
    say(&line, program_invocation_short_name);
    say(&line, ": the handler of cell ");
    say_number(&line, (uint64_t)atomic_load_explicit(&stack->cell, memory_order_relaxed));
    say(&line, " has used up its stack of ");
    say_number(&line, (stack->bytes + 1023) / 1024);
    say(&line, " KiB; give handlers more by handlerstack in bcrrc(5)\n");
    for (size_t done = 0; done < line.used;) {
        ssize_t written = write(STDERR_FILENO, line.text + done, line.used - done);
        if (written <= 0)
            return;
        done += (size_t)written;
    }
}

/* ---- canaries ---- */

enum { CANARY_WORDS = 64 };
static const uint64_t canary = UINT64_C(0x9e3779b97f4a7c15);

void bcri_stack_set_canary(const struct bcri_stack *stack)
{
    uint64_t *words = (uint64_t *)(void *)stack->low;
    for (unsigned i = 0; i < CANARY_WORDS; i++)
        words[i] = canary + i;
}

_Noreturn void bcri_stack_end(const struct bcri_stack *stack)
{
    tell(stack);
    abort();
}

void bcri_stack_check_canary(const struct bcri_stack *stack)
{
    const uint64_t *words = (const uint64_t *)(const void *)stack->low;
    for (unsigned i = 0; i < CANARY_WORDS; i++)
        if (words[i] != canary + i)
            bcri_stack_end(stack);
}

/* ---- guards ---- */

static struct sigaction before;
static bcri_stack_end_action *end_action; /* NULL: the default action */

void bcri_stacks_end_by(bcri_stack_end_action *action)
{
    end_action = action;
}

const struct bcri_stack *bcri_stack_around(uintptr_t address)
{
    for (struct entry *entry = atomic_load(&entries); entry != NULL; entry = entry->next) {
        const struct bcri_stack_chunk *chunk = atomic_load(&entry->chunk);
        if (chunk == NULL)
            continue;
        size_t offset = address - (uintptr_t)chunk->base;
        if (offset < chunk->count * chunk->stride)
            return bcri_stack_at(chunk, (uint32_t)(offset / chunk->stride));
    }
    return NULL;
}

/* 0 on a machine where this code does not know how to find it. */
static uintptr_t stack_pointer(const void *context)
{
    const mcontext_t *at = &((const ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    return (uintptr_t)at->gregs[REG_RSP];
#elif defined(__i386__)
    return (uintptr_t)at->gregs[REG_ESP];
#elif defined(__aarch64__)
    return (uintptr_t)at->sp;
#elif defined(__s390x__)
    return (uintptr_t)at->gregs[15];
#else
    (void)at;
    return 0;
#endif
}

/* The stack that was too small for what has faulted at `address`; NULL: the fault has another
 * reason. */
static const struct bcri_stack *overrun(uintptr_t address, const void *context)
{
    const struct bcri_stack *stack = bcri_stack_around(address);
    if (stack != NULL && address < (uintptr_t)stack->low)
        return stack; /* in its guard */
    const struct bcri_ctx *ctx = bcri_self_thread;
    const uintptr_t low = ctx != NULL ? bcri_load(&ctx->handlers.stack_low) : 0,
                    pointer = stack_pointer(context);
    if (pointer == 0 || pointer >= low || low - pointer > BCRI_STACK_STEP_MOST || address >= low ||
        address + 4096 < pointer) /* a call stores a little below the pointer */
        return NULL;
    return bcri_stack_around(low);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    const struct bcri_stack *stack = info->si_code > 0 ? overrun((uintptr_t)info->si_addr, context) : NULL;
    if (stack != NULL)
        tell(stack);
    if (stack != NULL && end_action != NULL) {
        end_action(number, info, context);
    } else if (stack == NULL && (before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(number, info, context);
    } else if (stack == NULL && before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else {
        const struct sigaction end = {.sa_handler = SIG_DFL};
        sigaction(number, &end, NULL);
        if (info->si_code <= 0)
            raise(number); /* a process has sent it, so it would not happen again by itself */
    }
    errno = kept;
}

static void watch_process(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGSEGV, NULL, &before) == 0)
        sigaction(SIGSEGV, &action, NULL);
}

/* ---- an alternate stack for each thread ---- */

enum { ALTERNATE_BYTES = 65536 };
static pthread_key_t alternate_key;

static void give_back(void *at)
{
    stack_t current;
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (sigaltstack(NULL, &current) == 0 && current.ss_sp == at)
        sigaltstack(&none, NULL);
    munmap(at, ALTERNATE_BYTES);
}

static void make_key(void)
{
    (void)pthread_key_create(&alternate_key, give_back);
}

void bcri_stacks_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
}

static void begin_process(void)
{
    bcri_stacks_prepare();
    watch_process();
}

void bcri_stacks_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    stack_t current;
    pthread_once(&once, begin_process);
    if (sigaltstack(NULL, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0)
        return; /* the program has set one itself */
    void *at = mmap(NULL, ALTERNATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return;
    const stack_t ours = {.ss_sp = at, .ss_size = ALTERNATE_BYTES};
    if (sigaltstack(&ours, NULL) != 0 || pthread_setspecific(alternate_key, at) != 0)
        give_back(at);
}
