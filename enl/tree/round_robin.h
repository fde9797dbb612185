/* SPDX-License-Identifier: MIT */
/* Cores are dealt out over all hosts of one machine: each daemon has its CCEs on its cores in turn
 * (cores.c), and the root's, which all requests between hosts pass, says where the turn is. What a CCE
 * enlists on its own host the root sees only afterwards, as so many CCEs more. */
#ifndef ENL_ROUND_ROBIN_H
#define ENL_ROUND_ROBIN_H

#include "tree/child.h"

/* Whether the root's machine has other hosts. */
bool enl_round_robin_is_shared(const struct enl_program *program);
/* The number of the next core on the machine of `child`; NULL: on the root's own. */
uint32_t enl_round_robin_next(struct enl_program *program, const struct enl_child *child);

#endif
