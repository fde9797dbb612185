/* SPDX-License-Identifier: MIT */
/* Files in the folder of a test. */
#ifndef BCR_TEST_SCRATCH_H
#define BCR_TEST_SCRATCH_H

#include <stddef.h>
#include <sys/types.h>

/* test_folder. */
const char *scratch(void);

/* The path of `name` in it. Strings that these routines return last until the process ends. */
const char *scratch_path(const char *name);

/* The whole file, with a NUL behind it. */
char *scratch_read(const char *name);

/* How many newlines it holds. */
size_t scratch_lines(const char *name);

/* Writes `text` into a new file of exactly this mode. */
void scratch_write(const char *name, const char *text, mode_t mode);
void scratch_write_bytes(const char *name, const void *bytes, size_t length, mode_t mode);

/* A descriptor of a new empty file, for appending. */
int scratch_create(const char *name);

#endif
