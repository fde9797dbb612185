/* SPDX-License-Identifier: MIT */
/* Writing all of some bytes into a file. */
#ifndef ENL_WRITE_ALL_H
#define ENL_WRITE_ALL_H

#include <stddef.h>

/* Returns 0 or an errno; a file that takes nothing any more is full. */
int enl_write_all(int file, const char *bytes, size_t length);

#endif
