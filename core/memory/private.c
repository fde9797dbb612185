/* SPDX-License-Identifier: MIT */
/* See bcri/private.h.
 *
 *   slab, begins at a multiple of 64 KiB:          | head | block | block | ... | never handed out |
 *   large block, begins at a multiple of 64 KiB:   | head | the block                              |
 *
 * The head of a block is found by clearing the low bits of its address. It does not change once it is
 * written, so it is read without the lock. */
#include "bcri/private.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bcri/atomics.h"
#include "bcri/bell.h"
#include "bcri/clock.h"

#if defined(__SANITIZE_ADDRESS__)
#define IS_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_MALLOC 1
#endif
#endif

#ifdef IS_MALLOC

void *bcri_private_alloc(size_t bytes)
{
    return malloc(bytes);
}

void *bcri_private_zeroed(size_t count, size_t bytes)
{
    return calloc(count, bytes);
}

void *bcri_private_aligned(size_t bytes)
{
    void *at;
    return posix_memalign(&at, BCRI_CACHELINE, bytes) == 0 ? at : NULL;
}

void *bcri_private_resize(void *at, size_t bytes)
{
    return realloc(at, bytes != 0 ? bytes : 1);
}

void bcri_private_free(void *at)
{
    free(at);
}

#else

#define SLAB_BYTES     65536u
#define HEAD_BYTES     64u
#define SMALL_BYTES    16384u /* the largest block of a slab */
/* So many slabs are mapped at once; what is not used of them is never touched. */
#define SLABS_AT_ONCE  4u

struct head {
    size_t bytes; /* of each block here, or of the only one */
    unsigned class;
};
static_assert(sizeof(struct head) <= HEAD_BYTES && HEAD_BYTES % BCRI_CACHELINE == 0,
              "blocks begin with a cache line");

/* 16, 32, 48, 64, 128, and from there on each power of two and one and a half times it. So each class
 * from 64 bytes up is a multiple of a cache line. */
enum { FIRST_CLASSES = 5, CLASSES = FIRST_CLASSES + 14, LARGE = CLASSES };

/* Large blocks that were freed and are kept: most are the scratch memory of one call, and the next call
 * wants the same. */
enum { KEPT = 4 };
#define KEPT_BYTES_MAX ((size_t)1 << 20)

struct free_block {
    struct free_block *next;
};

static struct {
    _Atomic uint32_t lock; /* 0: free, 1: held, 2: held and waited for */
    struct {
        struct free_block *free;
        unsigned char *fresh; /* the first block that was never handed out */
        size_t fresh_count;
    } class[CLASSES];
    unsigned char *slabs; /* mapped, not used yet */
    size_t slab_count;
    struct head *kept[KEPT];
    unsigned kept_next; /* the one that gives way next */
} pool;

/* A user's program may be built with LeakSanitizer, which is to find what this memory points to.
 * NOLINTBEGIN(bugprone-reserved-identifier): the sanitizer's names */
void __lsan_register_root_region(const void *low, size_t bytes) __attribute__((weak));
void __lsan_unregister_root_region(const void *low, size_t bytes) __attribute__((weak));
/* NOLINTEND(bugprone-reserved-identifier) */

/* Source: Drepper, Futexes are tricky, 2011: mutex2. */
static void lock_pool(void)
{
    uint32_t was = 0;
    if (bcri_likely(atomic_compare_exchange_strong_explicit(&pool.lock, &was, 1, memory_order_acquire,
                                                            memory_order_relaxed)))
        return;
    while (atomic_exchange_explicit(&pool.lock, 2, memory_order_acquire) != 0)
        bcri_futex_wait(&pool.lock, 2, BCRI_DEADLINE_NEVER);
}

static void unlock_pool(void)
{
    if (bcri_unlikely(atomic_exchange_explicit(&pool.lock, 0, memory_order_release) == 2))
        bcri_futex_wake(&pool.lock, 1);
}

/* ---- mappings ---- */

/* `bytes` is a multiple of a slab's. NULL: there is no memory. */
static void *map(size_t bytes)
{
    unsigned char *low =
        mmap(NULL, bytes + SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (low == MAP_FAILED)
        return NULL;
    const size_t before = -(uintptr_t)low % SLAB_BYTES;
    if (before != 0)
        munmap(low, before);
    munmap(low + before + bytes, SLAB_BYTES - before);
    if (__lsan_register_root_region != NULL)
        __lsan_register_root_region(low + before, bytes);
    return low + before;
}

static void unmap(struct head *head)
{
    const size_t bytes = head->bytes + HEAD_BYTES;
    if (__lsan_unregister_root_region != NULL)
        __lsan_unregister_root_region(head, bytes);
    munmap(head, bytes);
}

static struct head *head_of(void *at)
{
    return (struct head *)(void *)((unsigned char *)at - (uintptr_t)at % SLAB_BYTES);
}

static void *block_of(struct head *head)
{
    return (unsigned char *)(void *)head + HEAD_BYTES;
}

/* ---- large blocks ---- */

/* A kept block that is large enough, and not far too large; NULL: there is none. */
static struct head *take_kept(size_t bytes)
{
    struct head *found = NULL;
    lock_pool();
    for (unsigned i = 0; i < KEPT && found == NULL; i++)
        if (pool.kept[i] != NULL && pool.kept[i]->bytes >= bytes && pool.kept[i]->bytes / 2 <= bytes) {
            found = pool.kept[i];
            pool.kept[i] = NULL;
        }
    unlock_pool();
    return found;
}

static void *alloc_large(size_t bytes)
{
    if (bytes > PTRDIFF_MAX - 2 * SLAB_BYTES)
        return NULL;
    struct head *head = take_kept(bytes);
    const size_t mapped = (bytes + HEAD_BYTES + SLAB_BYTES - 1) / SLAB_BYTES * SLAB_BYTES;
    if (head == NULL && (head = map(mapped)) != NULL)
        *head = (struct head){.bytes = mapped - HEAD_BYTES, .class = LARGE};
    return head != NULL ? block_of(head) : NULL;
}

static void free_large(struct head *head)
{
    struct head *goes = head;
    if (head->bytes <= KEPT_BYTES_MAX) {
        lock_pool();
        unsigned at = pool.kept_next;
        for (unsigned i = 0; i < KEPT; i++)
            if (pool.kept[i] == NULL)
                at = i;
        goes = pool.kept[at];
        pool.kept[at] = head;
        if (goes != NULL)
            pool.kept_next = (at + 1) % KEPT;
        unlock_pool();
    }
    if (goes != NULL)
        unmap(goes);
}

/* ---- small blocks ---- */

static unsigned class_of(size_t bytes, size_t *block_bytes_out)
{
    if (bytes <= 64) {
        const unsigned class = bytes == 0 ? 0 : (unsigned)((bytes - 1) / 16);
        *block_bytes_out = ((size_t) class + 1) * 16;
        return class;
    }
    if (bytes <= 128) {
        *block_bytes_out = 128;
        return FIRST_CLASSES - 1;
    }
    const unsigned log2 = 63 - (unsigned)__builtin_clzll(bytes - 1); /* 2^log2 < bytes <= 2^(log2 + 1) */
    const size_t middle = (size_t)3 << (log2 - 1);
    const bool is_upper = bytes > middle;
    *block_bytes_out = is_upper ? (size_t)2 << log2 : middle;
    return FIRST_CLASSES + (log2 - 7) * 2 + is_upper;
}

static bool add_slab(unsigned class, size_t block_bytes)
{
    if (pool.slab_count == 0) {
        if ((pool.slabs = map((size_t)SLABS_AT_ONCE * SLAB_BYTES)) == NULL)
            return false;
        pool.slab_count = SLABS_AT_ONCE;
    }
    struct head *head = (struct head *)(void *)pool.slabs;
    pool.slabs += SLAB_BYTES;
    pool.slab_count--;
    *head = (struct head){.bytes = block_bytes, .class = class};
    pool.class[class].fresh = block_of(head);
    pool.class[class].fresh_count = (SLAB_BYTES - HEAD_BYTES) / block_bytes;
    return true;
}

static void *alloc_small(size_t bytes)
{
    size_t block_bytes;
    const unsigned class = class_of(bytes, &block_bytes);
    void *at = NULL;
    lock_pool();
    struct free_block *first = pool.class[class].free;
    if (first != NULL) {
        pool.class[class].free = first->next;
        at = first;
    } else if (pool.class[class].fresh_count != 0 || add_slab(class, block_bytes)) {
        at = pool.class[class].fresh;
        pool.class[class].fresh += block_bytes;
        pool.class[class].fresh_count--;
    }
    unlock_pool();
    return at;
}

static void free_small(unsigned class, struct free_block *block)
{
    lock_pool();
    block->next = pool.class[class].free;
    pool.class[class].free = block;
    unlock_pool();
}

/* ---- what others call ---- */

void *bcri_private_alloc(size_t bytes)
{
    return bytes <= SMALL_BYTES ? alloc_small(bytes) : alloc_large(bytes);
}

void *bcri_private_zeroed(size_t count, size_t bytes)
{
    size_t all;
    void *at = __builtin_mul_overflow(count, bytes, &all) ? NULL : bcri_private_alloc(all);
    return at != NULL ? memset(at, 0, all) : NULL;
}

void *bcri_private_aligned(size_t bytes)
{
    return bcri_private_alloc(bytes > BCRI_CACHELINE ? bytes : BCRI_CACHELINE);
}

void *bcri_private_resize(void *at, size_t bytes)
{
    if (at == NULL)
        return bcri_private_alloc(bytes);
    const size_t had = head_of(at)->bytes;
    if (bytes <= had && had / 4 <= bytes)
        return at;
    void *other = bcri_private_alloc(bytes);
    if (other == NULL)
        return bytes <= had ? at : NULL;
    memcpy(other, at, bytes < had ? bytes : had);
    bcri_private_free(at);
    return other;
}

void bcri_private_free(void *at)
{
    if (at == NULL)
        return;
    const int kept = errno;
    struct head *head = head_of(at);
    if (head->class == LARGE)
        free_large(head);
    else
        free_small(head->class, at);
    errno = kept;
}

#endif
