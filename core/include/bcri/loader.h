/* SPDX-License-Identifier: MIT */
/* dlopen, found at run time: a program that is linked statically has no use for it, and naming it brings a warning at each
 * such link. */
#ifndef BCRI_LOADER_H
#define BCRI_LOADER_H

#include <dlfcn.h>
#include <stddef.h>

/* As dlopen; NULL where there is none. */
static inline void *bcri_dlopen(const char *path, int flags)
{
    void *(*open_object)(const char *, int);
    *(void **)(void *)&open_object = dlsym(RTLD_DEFAULT, "dlopen");
    return open_object != NULL ? open_object(path, flags) : NULL;
}

#endif
