/* SPDX-License-Identifier: MIT */
/* See bcri/exceptions.h. */
#include "bcri/exceptions.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/loader.h"

/* NOLINTNEXTLINE(bugprone-reserved-identifier): the ABI's name */
struct bcri_exceptions *__cxa_get_globals(void) __attribute__((weak));

struct bcri_exceptions *(*bcri_exceptions_of)(void);

/* Of a library that was loaded after this one, for itself alone (RTLD_LOCAL), or of what that has with it. */
static void *find_in(const char *library)
{
    void *there = bcri_dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *found = there != NULL ? dlsym(there, "__cxa_get_globals") : NULL;
    if (found == NULL && there != NULL)
        dlclose(there); /* else it stays */
    return found;
}

/* Of the library in which the handler is: it may have a runtime of its own (-static-libstdc++). */
static void *find_beside(uintptr_t handler)
{
    Dl_info where;
    const bool known = dladdr((const void *)handler, &where) != 0 && where.dli_fname != NULL;
    return known ? find_in(where.dli_fname) : NULL;
}

static int read_loads(struct dl_phdr_info *object, size_t size, void *loads_out)
{
    (void)size;
    *(unsigned long long *)loads_out = object->dlpi_adds;
    return 1; /* each object says the same */
}

/* Whether something was loaded since the last look, or that was for a handler in another object. */
static bool is_news(uintptr_t handler)
{
    static _Atomic unsigned long long loads_seen; /* CCEs of tests are threads of one process */
    static _Atomic(const void *) object_seen;
    unsigned long long loads = 0;
    Dl_info where;
    const void *object = dladdr((const void *)handler, &where) != 0 ? where.dli_fbase : NULL;
    dl_iterate_phdr(read_loads, &loads);
    if (loads == loads_seen && object == object_seen)
        return false;
    loads_seen = loads;
    object_seen = object;
    return true;
}

void bcri_exceptions_look(uintptr_t handler)
{
    if (bcri_exceptions_of != NULL || (__cxa_get_globals == NULL && !is_news(handler)))
        return;
    void *found = NULL;
    if (__cxa_get_globals != NULL)
        bcri_exceptions_of = __cxa_get_globals;
    else if ((found = find_beside(handler)) != NULL || (found = find_in("libstdc++.so.6")) != NULL ||
             (found = find_in("libc++abi.so.1")) != NULL)
        *(void **)(void *)&bcri_exceptions_of = found;
}
