/* SPDX-License-Identifier: MIT */
/* memory.c -- lfc_malloc and its kin: a heap for upcalls, also those of a signal handler, which may have interrupted malloc.
 *
 * It may have interrupted lfc_malloc as well: then LFC's handler makes no upcalls (lfc_enter). Blocks up to LARGEST bytes come in
 * sizes of powers of two, from pages that stay; larger ones have pages of their own. */
#include <stdatomic.h>
#include <sys/mman.h>

#include "lfc_private.h"

enum { SIZES = 12, SMALLEST = 32, LARGEST = SMALLEST << (SIZES - 1), CHUNK = 1 << 18 };
#define IN_USE UINT64_C(0x4c4643626c6f636b)

/* Before each block, which so is aligned to 16 bytes. */
struct head {
    uint64_t state; /* IN_USE, else the next free one of its size */
    uint64_t bytes; /* of the block with this */
#ifdef LFC_DEBUG
    uint64_t asked; /* of them, for the user; the next eight are a mark */
    uint64_t unused;
#endif
};

#ifdef LFC_DEBUG
enum { MARK_BYTES = 8 };
static const char mark[MARK_BYTES + 1] = "LFC end.";
#else
enum { MARK_BYTES = 0 };
#endif

static struct head *free_heads[SIZES];
static char *chunk;
static size_t chunk_left;

void *lfc_pages(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages != MAP_FAILED ? pages : NULL;
}

void lfc_pages_free(void *pages, size_t bytes)
{
    if (pages != NULL)
        munmap(pages, bytes);
}

static int size_of(size_t bytes)
{
    int size = 0;
    while ((size_t)SMALLEST << size < bytes)
        size++;
    return size;
}

static struct head *take(size_t bytes)
{
    if (bytes > LARGEST) {
        struct head *head = lfc_pages(bytes);
        if (head != NULL)
            *head = (struct head){.state = IN_USE, .bytes = bytes};
        return head;
    }
    const int size = size_of(bytes);
    const size_t whole = (size_t)SMALLEST << size;
    struct head *head = free_heads[size];
    if (head != NULL) {
        free_heads[size] = (struct head *)(uintptr_t)head->state;
    } else {
        if (chunk_left < whole) {
            char *more = lfc_pages(CHUNK);
            if (more == NULL)
                return NULL;
            chunk = more;
            chunk_left = CHUNK;
        }
        head = (struct head *)(void *)chunk;
        chunk += whole;
        chunk_left -= whole;
    }
    *head = (struct head){.state = IN_USE, .bytes = whole};
    return head;
}

static struct head *head_of(const char *routine, void *block)
{
    struct head *head = (struct head *)block - 1;
    if (((uintptr_t)block & 15) != 0 || head->state != IN_USE)
        lfc_fail(routine, "%p is no block of lfc_malloc, or was freed before", block);
#ifdef LFC_DEBUG
    if (memcmp((char *)block + head->asked, mark, MARK_BYTES) != 0)
        lfc_fail(routine, "the block of %zu bytes at %p was written beyond its end", (size_t)head->asked,
                 block);
#endif
    return head;
}

static void give(struct head *head)
{
    if (head->bytes > LARGEST) {
        lfc_pages_free(head, (size_t)head->bytes);
        return;
    }
    const int size = size_of((size_t)head->bytes);
    head->state = (uint64_t)(uintptr_t)free_heads[size];
    free_heads[size] = head;
}

/* A SIGIO in between makes no upcalls, which could allocate. The compiler moves nothing of the heap across. */
static void enter_heap(void)
{
    lfc_self.inside++;
    atomic_signal_fence(memory_order_seq_cst);
}

static void leave_heap(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    lfc_self.inside--;
}

void *lfc_malloc(size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    enter_heap();
    struct head *head = take(size + sizeof *head + MARK_BYTES);
#ifdef LFC_DEBUG
    if (head != NULL) {
        head->asked = size;
        memcpy((char *)(head + 1) + size, mark, MARK_BYTES);
    }
#endif
    leave_heap();
    return head != NULL ? head + 1 : NULL;
}

void *lfc_calloc(size_t nmemb, size_t size)
{
    if (size != 0 && nmemb > SIZE_MAX / size)
        return NULL;
    void *block = lfc_malloc(nmemb * size);
    if (block != NULL)
        memset(block, 0, nmemb * size);
    return block;
}

void lfc_free(void *ptr)
{
    if (ptr == NULL)
        return;
    enter_heap();
    give(head_of("lfc_free", ptr));
    leave_heap();
}

void *lfc_realloc(void *ptr, size_t size)
{
    if (ptr == NULL)
        return lfc_malloc(size);
    const size_t room = (size_t)head_of("lfc_realloc", ptr)->bytes - sizeof(struct head) - MARK_BYTES;
    if (size <= room && size >= room / 2 && MARK_BYTES == 0)
        return ptr;
    void *block = lfc_malloc(size);
    if (block == NULL)
        return NULL;
    memcpy(block, ptr, size < room ? size : room);
    lfc_free(ptr);
    return block;
}

void lfc_memcpy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
