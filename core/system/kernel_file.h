/* SPDX-License-Identifier: MIT */
/* Small files of the kernel (/proc, /sys), which one read reads whole, and larger ones line by line; without
 * streams, which need malloc. */
#ifndef BCR_KERNEL_FILE_H
#define BCR_KERNEL_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads at most size - 1 bytes into `text`, and ends them with a zero. False: there is nothing to
 * read. */
bool bcri_kernel_file(const char *path, char *text, size_t size);

struct bcri_kernel_lines {
    int fd;
    size_t at, end; /* what is read and not given yet */
    char text[1024];
};

/* False: the file cannot be opened. */
bool bcri_kernel_lines_open(struct bcri_kernel_lines *lines, const char *path);
/* The next line, without its end; what does not fit into `size` bytes is left out. False: there is none. */
bool bcri_kernel_line(struct bcri_kernel_lines *lines, char *line, size_t size);
void bcri_kernel_lines_close(const struct bcri_kernel_lines *lines);

#endif
