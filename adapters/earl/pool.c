/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <sys/mman.h>

#include "pool.h"

enum { CHUNK = 1 << 16, HEAD = 16 }; /* HEAD: the chunk before, at the chunk's start */

void *earl_pages(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages != MAP_FAILED ? pages : NULL;
}

void earl_pages_free(void *pages, size_t bytes)
{
    if (pages != NULL)
        munmap(pages, bytes);
}

void earl_pool_begin(struct earl_pool *pool, size_t size)
{
    *pool = (struct earl_pool){.size = (size + 15) & ~(size_t)15};
}

void earl_pool_end(struct earl_pool *pool)
{
    while (pool->chunks != NULL) {
        void **chunk = pool->chunks;
        pool->chunks = *chunk;
        earl_pages_free(chunk, CHUNK);
    }
    earl_pool_begin(pool, pool->size);
}

void *earl_pool_more(struct earl_pool *pool)
{
    if (pool->chunk_left < pool->size) {
        void **chunk = earl_pages(CHUNK);
        if (chunk == NULL)
            return NULL;
        *chunk = pool->chunks;
        pool->chunks = chunk;
        pool->chunk = (char *)chunk + HEAD;
        pool->chunk_left = CHUNK - HEAD;
    }
    void *block = pool->chunk;
    pool->chunk += pool->size;
    pool->chunk_left -= pool->size;
    return block;
}
