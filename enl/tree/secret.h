/* SPDX-License-Identifier: MIT */
/* Memory for keys and for what brings them: its pages are in no core file and are not written to
 * swap, and it is wiped when it is freed. The second holds as far as the limit of locked memory
 * (ulimit -l) lets it. */
#ifndef ENL_SECRET_H
#define ENL_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* `bytes` bytes, zeroed, aligned as what has that size may be. NULL: no memory. */
void *enl_secret_new(size_t bytes);
/* Wipes and frees; NULL is allowed. */
void enl_secret_free(void *secret);
/* Whether all of it so far is locked. */
bool enl_secret_is_locked(void);

#endif
