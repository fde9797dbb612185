/* SPDX-License-Identifier: MIT */
/* See secret.h. sodium_malloc excludes its pages from core files, tries to lock them, and keeps to
 * itself whether that went well. */
#include "base/secret.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <sodium.h>

static int lock_error; /* the loop's: the errno of the first that failed */

void *enl_secret_new(size_t bytes)
{
    /* What sodium_malloc gives ends where a page ends. */
    const size_t align = _Alignof(max_align_t), size = (bytes + align - 1) / align * align;
    void *secret = sodium_init() >= 0 ? sodium_malloc(size) : NULL;
    if (secret == NULL)
        return NULL;
    if (mlock(secret, size) != 0 && lock_error == 0)
        lock_error = errno;
    return memset(secret, 0, size);
}

/* What was copied by memcpy is overwritten by it, which takes the same way for the same length. */
void enl_secret_wipe(void *bytes, size_t length)
{
    static void *(*const volatile copy)(void *, const void *, size_t) = memcpy;
    static const uint8_t zeros[8192];
    for (size_t done = 0; done < length;) {
        const size_t part = length - done < sizeof zeros ? length - done : sizeof zeros;
        copy((uint8_t *)bytes + done, zeros, part);
        done += part;
    }
}

void enl_secret_free(void *secret)
{
    sodium_free(secret);
}

int enl_secret_lock_error(void)
{
    return lock_error;
}
