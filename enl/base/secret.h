/* SPDX-License-Identifier: MIT */
/* Memory for keys and for what brings them: its pages are in no core file and are not written to
 * swap, and it is wiped when it is freed. The second holds as far as the limit of locked memory
 * (ulimit -l) lets it. */
#ifndef ENL_SECRET_H
#define ENL_SECRET_H

#include <stddef.h>

/* `bytes` bytes, zeroed, aligned as what has that size may be. NULL: no memory. */
void *enl_secret_new(size_t bytes);
/* Wipes and frees; NULL is allowed. */
void enl_secret_free(void *secret);
/* Wipes bytes of any memory, and the registers through which a copy of as many has gone: what a later call puts
 * on the stack of registers that it does not know, as the loader does, would be in a core file. */
void enl_secret_wipe(void *bytes, size_t length);
/* The errno of the first of it that could not be locked; 0: all of it so far is. */
int enl_secret_lock_error(void);

#endif
