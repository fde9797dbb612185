/* SPDX-License-Identifier: MIT */
/* Pools of guarded stacks (bcri/stack.h). */
#include "bcri/stack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bcri/coroutine.h"
#include "bcri/private.h"
#include "chunk.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum { FIRST_CHUNK = 16, LARGEST_CHUNK = 1024 };

/* Wider than a page where there is room for it, since a function with large arrays steps over a
 * narrow guard. As wide as a stack is by default: then a function that steps over the guard could
 * never have run on the stack. */
#if UINTPTR_MAX > UINT32_MAX
#define GUARD_BYTES 262144u
#else
#define GUARD_BYTES 4096u
#endif

/* The stacks of a pool begin at different distances from a page's end. Else the lines that all of
 * them use would compete for the same few sets of a cache. */
enum { COLOURS = 16, COLOUR_BYTES = 64 };

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static uint64_t read_number(const char *path, uint64_t fallback)
{
    char text[32] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fallback;
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    return length > 0 ? strtoull(text, NULL, 10) : fallback;
}

void bcri_stacks_init(struct bcri_stacks *stacks, size_t element_bytes, size_t stack_bytes, uint64_t most)
{
    *stacks = (struct bcri_stacks){
        .element_bytes = round_up(element_bytes, 64),
        .stack_bytes = round_up(stack_bytes, page_bytes()),
        .most = most,
        /* A guard makes two mappings out of each stack. */
        .protect_most = read_number("/proc/sys/vm/max_map_count", 65530) / 4,
    };
    if (bcri_sanitizer_reads_guards()) {
        stacks->guard = BCRI_STACK_PROTECT;
        stacks->protect_most = 4000; /* valgrind knows of 30,000 mappings at most */
    }
}

/* Whether an access to `at` faults. Emulators accept advice that they do not know, and then do
 * nothing about it. */
static bool is_out_of_reach(const unsigned char *at)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool out_of_reach = write(ends[1], at, 1) != 1;
    close(ends[0]);
    close(ends[1]);
    return out_of_reach;
}

/* Guards one stack. The way that works is the first that is tried for the next stack. */
static enum bcri_stack_guard guard(struct bcri_stacks *stacks, unsigned char *at, size_t bytes)
{
    if (stacks->guard == BCRI_STACK_GUARD &&
        (madvise(at, bytes, MADV_GUARD_INSTALL) != 0 || (stacks->count == 0 && !is_out_of_reach(at))))
        stacks->guard = BCRI_STACK_PROTECT;
    if (stacks->guard == BCRI_STACK_PROTECT &&
        (stacks->count >= stacks->protect_most || mprotect(at, bytes, PROT_NONE) != 0))
        stacks->guard = BCRI_STACK_CANARY;
    return stacks->guard;
}

static uint32_t chunk_count(const struct bcri_stacks *stacks)
{
    uint64_t count = stacks->count < FIRST_CHUNK ? FIRST_CHUNK : stacks->count;
    uint64_t left = stacks->most - stacks->count;
    count = count < LARGEST_CHUNK ? count : LARGEST_CHUNK;
    return (uint32_t)(count < left ? count : left);
}

static struct bcri_stack_chunk *make_chunk(struct bcri_stacks *stacks, uint32_t count)
{
    size_t guard_bytes = round_up(GUARD_BYTES, page_bytes());
    size_t stride = guard_bytes + stacks->stack_bytes;
    struct bcri_stack_chunk *chunk = bcri_private_zeroed(1, sizeof *chunk);
    if (chunk == NULL)
        return NULL;
    chunk->elements = bcri_private_aligned(count * stacks->element_bytes);
    if (chunk->elements != NULL) {
        void *base = mmap(NULL, count * stride, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (base != MAP_FAILED) {
            /* A huge page would give each stack 2 MiB at its first touch. */
            (void)madvise(base, count * stride, MADV_NOHUGEPAGE);
            chunk->base = base;
            chunk->count = count;
            chunk->stride = stride;
            chunk->guard_bytes = guard_bytes;
            chunk->element_bytes = stacks->element_bytes;
            return chunk;
        }
    }
    bcri_private_free(chunk->elements);
    bcri_private_free(chunk);
    return NULL;
}

bool bcri_stacks_grow(struct bcri_stacks *stacks)
{
    uint32_t count = chunk_count(stacks);
    struct bcri_stack_chunk *chunk = count != 0 ? make_chunk(stacks, count) : NULL;
    if (chunk == NULL)
        return false;
    for (uint32_t i = count; i-- > 0;) {
        struct bcri_stack *stack = bcri_stack_at(chunk, i);
        unsigned char *at = chunk->base + i * chunk->stride;
        __builtin_memset(stack, 0, stacks->element_bytes);
        *stack = (struct bcri_stack){.low = at + chunk->guard_bytes,
                                     .bytes = stacks->stack_bytes - i % COLOURS * COLOUR_BYTES,
                                     .guard = guard(stacks, at, chunk->guard_bytes)};
        if (stack->guard == BCRI_STACK_CANARY)
            bcri_stack_set_canary(stack);
        stacks->count++;
        stack->next_free = stacks->clean;
        stacks->clean = stack;
    }
    chunk->next = stacks->chunks;
    stacks->chunks = chunk;
    bcri_chunk_list(chunk);
    return true;
}

struct bcri_stack *bcri_stacks_take_other(struct bcri_stacks *stacks)
{
    struct bcri_stack *stack = stacks->surplus;
    if (stack != NULL) {
        stacks->surplus = stack->next_free;
        return stack;
    }
    if (stacks->clean == NULL && !bcri_stacks_grow(stacks))
        return NULL;
    stack = stacks->clean;
    stacks->clean = stack->next_free;
    stacks->touched++;
    return stack;
}

/* ---- giving memory back ---- */

void bcri_stacks_look_back(struct bcri_stacks *stacks)
{
    uint64_t keep = stacks->peak > stacks->touched / 2 ? stacks->peak : stacks->touched / 2;
    stacks->peak = stacks->out;
    if (stacks->surplus != NULL || stacks->touched <= keep)
        return;
    if (keep < stacks->out + BCRI_STACKS_KEPT)
        keep = stacks->out + BCRI_STACKS_KEPT;
    /* The stacks that were given back long ago are behind the others. */
    struct bcri_stack **at = &stacks->free;
    for (uint64_t i = stacks->out; i < keep && *at != NULL; i++)
        at = &(*at)->next_free;
    stacks->surplus = *at;
    *at = NULL;
}

struct bcri_stack *bcri_stacks_clean_one(struct bcri_stacks *stacks)
{
    struct bcri_stack *stack = stacks->surplus;
    if (stack == NULL)
        return NULL;
    /* A canary stays where it is. */
    size_t kept = stack->guard == BCRI_STACK_CANARY ? page_bytes() : 0;
    if (kept < stacks->stack_bytes)
        (void)madvise(stack->low + kept, stacks->stack_bytes - kept, MADV_DONTNEED);
    stacks->surplus = stack->next_free;
    stack->next_free = stacks->clean;
    stacks->clean = stack;
    stacks->touched--;
    return stack;
}

void bcri_stacks_fini(struct bcri_stacks *stacks, void (*visit)(struct bcri_stack *stack))
{
    struct bcri_stack_chunk *next;
    for (struct bcri_stack_chunk *chunk = stacks->chunks; chunk != NULL; chunk = next) {
        next = chunk->next;
        bcri_chunk_unlist(chunk);
        for (uint32_t i = 0; i < chunk->count && visit != NULL; i++)
            visit(bcri_stack_at(chunk, i));
        munmap(chunk->base, chunk->count * chunk->stride);
        bcri_private_free(chunk->elements);
        bcri_private_free(chunk);
    }
    *stacks = (struct bcri_stacks){0};
}
