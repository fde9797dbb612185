/* SPDX-License-Identifier: MIT */
/* Letters for the name of a directory which is made where others make theirs, too: nobody can guess them, so nothing has that name. */
#ifndef ENL_UNGUESSABLE_H
#define ENL_UNGUESSABLE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/random.h>

enum { ENL_UNGUESSABLE = 33 }; /* with the 0 behind them */

/* False: the kernel has given none. */
static inline bool enl_unguessable(char letters_out[ENL_UNGUESSABLE])
{
    uint64_t chance[2];
    if (getrandom(chance, sizeof chance, 0) != (ssize_t)sizeof chance)
        return false;
    snprintf(letters_out, ENL_UNGUESSABLE, "%016" PRIx64 "%016" PRIx64, chance[0], chance[1]);
    return true;
}

#endif
