/* SPDX-License-Identifier: MIT */
/* Programs on disk: which file a name means, and whether this machine can run it. */
#ifndef ENL_OBJECT_H
#define ENL_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* The file that `name` means: from the working directory (absolute names as they are), then on
 * PATH; of a link to .wrapper the program with its name in the folder beside it that is called like this enl's architecture (abi= in a
 * hosts file), if there is one. Checks that it is a file, executable, and not for another architecture than enl's own.
 * Returns 0 and an absolute path in `path_out` (PATH_MAX bytes); else the exit status that shells
 * use, 127 (not found) or 126 (found, cannot be run), and a sentence in `error`. */
int enl_object_find(const char *name, char *path_out, char *error, size_t error_size);
/* The same, but an executable file with the last component of `name` in one of `folders` comes first. These
 * have : between; ~/ is in `home`, NULL: there is none. `folders` NULL: there are none. */
int enl_object_find_in(const char *folders, const char *home, const char *name, char *path_out, char *error,
                       size_t error_size);
/* Whether that file is a program of enl's own architecture that is linked with a shared library whose name begins so. */
bool enl_object_needs(const char *path, const char *library);
/* Reads the section of that name of such a program, the first `size` bytes of it. Returns how many that were; 0: there is none. */
size_t enl_object_section(const char *path, const char *name, void *bytes_out, size_t size);
/* Whether that file is a program for another architecture than enl's own. */
bool enl_object_is_foreign(const char *path);

#endif
