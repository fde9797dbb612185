/* SPDX-License-Identifier: MIT */
/* Reading a file that names programs to be run, or machines to run them on. It must be a plain file
 * that nobody but its owner can write. */
#ifndef BCRI_TRUSTED_FILE_H
#define BCRI_TRUSTED_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define BCRI_TRUSTED_FILE_MAX 1048576 /* bytes; far beyond any real one */

/* bcri_trusted_read -- read the file at `path` whole. With `personal` it must belong to the user or
 * to root.
 * Owns    : gives *bytes_out, to be freed.
 * Returns : 0; else negative, and `error` holds a sentence: -ENOENT there is no such file; -EPERM
 *           others could have written it; -EINVAL it is no plain file; -EFBIG; -ENOMEM; the negative
 *           errno of a file that cannot be read. */
int bcri_trusted_read(const char *path, bool personal, char **bytes_out, size_t *length_out, char *error,
                      size_t error_size);

#endif
