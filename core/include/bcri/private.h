/* SPDX-License-Identifier: MIT */
/* Private memory of this process for the library itself: what malloc does, without malloc.
 *
 * After bcr_init no public routine may reach malloc, free or what calls them (stdio streams, dlopen, strdup, qsort,
 * opendir): a signal handler may call BCR while the main program is inside malloc, and a program may have a malloc
 * that itself calls BCR. What only bcr_init or the daemon executes may use malloc. Memory from here goes back by
 * bcri_private_free and by nothing else.
 *
 * One allocator serves the process, under one lock. A signal handler cannot find that lock held by the code that it
 * has interrupted: the lock is held within calls of BCR only, and a signal handler may not call BCR while its CCE is
 * in one. (Where CCEs are threads of one test, another CCE's thread may hold it, and runs on.) So no CCE needs a state
 * of its own, and code without a context, such as copydesc/, can allocate. A fork may copy the lock while another
 * thread holds it; but a fork of a CCE may not call BCR, and so never takes it.
 *
 * Blocks of up to 16 KiB come from slabs of 64 KiB, each of one size class, and stay with their class. Larger ones are
 * mappings, of which a few are kept for the next use. Under AddressSanitizer all of it is malloc, which it watches. */
#ifndef BCRI_PRIVATE_H
#define BCRI_PRIVATE_H

#include <stddef.h>

/* Each returns NULL if there is no memory, and else what may hold any type. Of 0 bytes there is a block, too. */
void *bcri_private_alloc(size_t bytes);
void *bcri_private_zeroed(size_t count, size_t bytes);
void *bcri_private_aligned(size_t bytes); /* begins with a cache line */
/* The block grown or shrunk, perhaps elsewhere; `at` may be NULL. On failure `at` stays as it is. */
void *bcri_private_resize(void *at, size_t bytes);
/* Nothing for NULL. It leaves errno alone. */
void bcri_private_free(void *at);

#endif
