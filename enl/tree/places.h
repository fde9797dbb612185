/* SPDX-License-Identifier: MIT */
/* What the root's daemon knows of the machines that its program may use: tree.c and places.c. */
#ifndef ENL_PLACES_H
#define ENL_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "program.h"

/* What is known of an entry of the list of hosts. */
struct enl_place {
    bool here;               /* it is the root's machine, under a name of its own */
    struct enl_place *same;  /* it is one machine with that */
    struct enl_child *child; /* NULL: none has been started, or it is gone */
};

struct enl_tree {
    struct enl_place *places; /* one for each of program->hosts */
    struct enl_child *children;
    uint32_t last_number;
    uint32_t *archtypes; /* by the hosts' numbers, below arch_room; 0: it has not presented itself yet */
    uint32_t arch_room;
    char station[200];
    void (*stopped)(struct enl_program *program);
    uv_timer_t patience; /* for `stopped` */
};

/* Makes it if need be. NULL: no memory. */
struct enl_tree *enl_tree_of(struct enl_program *program);
/* A child has stopped, or will not any more. */
void enl_tree_stopped(struct enl_child *child);

#endif
