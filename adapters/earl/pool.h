/* SPDX-License-Identifier: MIT */
/* Memory for what Earl keeps: blocks of a few sizes, out of pages from the kernel. A signal handler that has interrupted malloc
 * may ask for them, which is why they are not malloc's. */
#ifndef EARL_POOL_H
#define EARL_POOL_H

#include <stddef.h>

/* Blocks of one size. Memory stays with the pool until it ends. */
struct earl_pool {
    size_t size; /* of a block, a multiple of 16 */
    void *free;  /* each holds the address of the next */
    char *chunk; /* what has not been cut into blocks yet */
    size_t chunk_left;
    void *chunks; /* all of them, for the end */
};

void earl_pool_begin(struct earl_pool *pool, size_t size);
void earl_pool_end(struct earl_pool *pool);
/* NULL: no memory. */
void *earl_pool_more(struct earl_pool *pool);

static inline void *earl_pool_take(struct earl_pool *pool)
{
    void **block = pool->free;
    if (block == NULL)
        return earl_pool_more(pool);
    pool->free = *block;
    return block;
}

static inline void earl_pool_give(struct earl_pool *pool, void *block)
{
    *(void **)block = pool->free;
    pool->free = block;
}

/* Whole pages, zeroed. NULL: no memory. */
void *earl_pages(size_t bytes);
void earl_pages_free(void *pages, size_t bytes);

#endif
