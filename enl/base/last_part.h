/* SPDX-License-Identifier: MIT */
/* What a path ends with, behind its last slash. */
#ifndef ENL_LAST_PART_H
#define ENL_LAST_PART_H

#include <string.h>

static inline const char *enl_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

#endif
