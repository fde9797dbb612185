/* SPDX-License-Identifier: MIT */
/* Arrays on the heap that grow by doubling. */
#ifndef ENL_GROW_H
#define ENL_GROW_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* `array` leads to the pointer to the elements, of `size` bytes each, for which there is `*room`. Makes room for `wanted`;
 * the new ones are zero. False: no memory, and nothing has changed. */
static inline bool enl_grow(void *array, size_t *room, size_t wanted, size_t size)
{
    void *elements;
    size_t more = *room != 0 ? *room : 16;
    if (wanted <= *room)
        return true;
    while (more < wanted)
        more *= 2;
    memcpy(&elements, array, sizeof elements);
    void *grown = reallocarray(elements, more, size);
    if (grown == NULL)
        return false;
    memset((char *)grown + *room * size, 0, (more - *room) * size);
    memcpy(array, &grown, sizeof grown);
    *room = more;
    return true;
}

#endif
