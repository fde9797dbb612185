/* SPDX-License-Identifier: MIT */
/* Programs on disk: which file a name means, and whether this machine can run it. */
#ifndef ENL_OBJECT_H
#define ENL_OBJECT_H

#include <stddef.h>

/* The file that `name` means: from the working directory (absolute names as they are), then on
 * PATH. Checks that it is a file, executable, and not for another architecture than enl's own.
 * Returns 0 and an absolute path in `path_out` (PATH_MAX bytes); else the exit status that shells
 * use, 127 (not found) or 126 (found, cannot be run), and a sentence in `error`. */
int enl_object_find(const char *name, char *path_out, char *error, size_t error_size);

#endif
