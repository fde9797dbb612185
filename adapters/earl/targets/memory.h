/* SPDX-License-Identifier: MIT */
/* Memory for packets, of the target on BCR's cells. */
#ifndef EARL_MEMORY_H
#define EARL_MEMORY_H

#include "target.h"

/* `most` bytes may be taken beside what there is at first, which is returned: the area with the inbox is to have that. */
size_t earl_memory_begin(size_t most);
/* What is kept is given back. */
void earl_memory_end(void);
/* The target's allocate. */
earl_packet earl_memory_take(size_t length, enum earl_patience patience);

#endif
