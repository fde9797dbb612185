/* SPDX-License-Identifier: MIT */
/* The file of which a part is mapped in another process: what is mapped, not what its path holds by now. A file that
 * was replaced or removed since the program started still has the names of what runs. */
#ifndef ENL_MAPPED_H
#define ENL_MAPPED_H

#include <stdint.h>
#include <sys/types.h>

/* Opens the file that is mapped at `base`, where the first part of it lies. `thread` is any thread of the process that
 * has not ended. Returns the descriptor, or -1: it cannot be reached any more. */
int enl_mapped_open(pid_t thread, uint64_t base);

#endif
