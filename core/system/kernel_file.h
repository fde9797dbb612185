/* SPDX-License-Identifier: MIT */
/* Small files of the kernel (/proc, /sys), which one read reads whole. */
#ifndef BCR_KERNEL_FILE_H
#define BCR_KERNEL_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads at most size - 1 bytes into `text`, and ends them with a zero. False: there is nothing to
 * read. */
bool bcri_kernel_file(const char *path, char *text, size_t size);

#endif
