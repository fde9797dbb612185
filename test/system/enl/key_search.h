/* SPDX-License-Identifier: MIT */
/* Looking for a key in a process: in what a core file of it would have, and in what it would not. */
#ifndef SYS_KEY_SEARCH_H
#define SYS_KEY_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whether these bytes lie anywhere in the memory of that process that may be dumped, or (`excluded`)
 * in what the kernel is told to leave out of core files. Skips the test where that cannot be read. */
bool key_found(pid_t pid, const void *key, size_t length, bool excluded);

#endif
