/* SPDX-License-Identifier: MIT */
/* What the root's daemon knows of the machines that its program may use: tree.c, starting.c and places.c. */
#ifndef ENL_PLACES_H
#define ENL_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "program.h"
#include "tree/child.h"
#include "tree/plan.h"

/* What is known of an entry of the list of hosts. */
struct enl_place {
    bool here;               /* it is the root's machine, under a name of its own */
    struct enl_place *same;  /* it is one machine with that */
    char *failed;            /* why it could not be started, which is not tried again; NULL: it may be */
    struct enl_child *child; /* NULL: none has been started, or it is gone */
    uint32_t sshd;           /* by which it is reached: places with the same number share one */
};

/* The hosts that were wanted since none was waited for, for whoever watches a terminal. */
struct enl_batch {
    uint32_t hosts, pending; /* all, and those that are not up yet */
    bool told;               /* a line tells how many are up */
    uv_timer_t timer;        /* nothing is told for a second */
};

struct enl_tree {
    struct enl_place *places; /* one for each of program->hosts */
    LIST_HEAD(, enl_child) children;
    struct enl_child **by_number; /* NULL: that host is gone */
    size_t numbers;               /* in by_number */
    uint32_t last_number;
    uint32_t *archtypes; /* by the hosts' numbers, below arch_room; 0: it has not presented itself yet */
    size_t arch_room;
    struct enl_plan plan;
    struct enl_batch batch;
    uv_timer_t begins; /* something that the plan allows may be begun */
    char machine_id[200];
    void (*stopped)(struct enl_program *program);
    uv_timer_t patience; /* for `stopped` */
    uv_timer_t killed;   /* all have been; it runs until they are given up */
};

/* Makes it if need be. NULL: no memory. */
struct enl_tree *enl_tree_of(struct enl_program *program);
/* Makes the plan. False: no memory. */
bool enl_tree_plan(struct enl_program *program, struct enl_tree *tree);
/* NULL: it is gone, or there has been none. */
static inline struct enl_child *enl_tree_child(const struct enl_program *program, uint32_t number)
{
    const struct enl_tree *tree = program->tree;
    return tree != NULL && number < tree->numbers ? tree->by_number[number] : NULL;
}
/* A child for the host of that place, to be begun when the plan allows it; `direct`: by this daemon. NULL: a
 * sentence says why not. */
struct enl_child *enl_tree_want(struct enl_program *program, struct enl_place *place, const char *address,
                                bool direct, const struct enl_child_ops *ops, char *error, size_t error_size);
/* It has spoken; it is up; it is gone. */
void enl_tree_met(struct enl_child *child);
void enl_tree_up(struct enl_child *child);
void enl_tree_gone(struct enl_child *child);
/* See child.h. */
void enl_tree_cut_child(struct enl_child *child);
void enl_tree_pipe_ended(struct enl_child *child);
void enl_tree_attached(struct enl_child *child);
const char *enl_tree_passes(struct enl_child *child, const struct bcri_control *message);
const char *enl_tree_tells(struct enl_child *child, const struct bcri_control *message);
/* How many hosts below it are up. */
uint32_t enl_tree_below(const struct enl_child *child);
/* A child has stopped, or will not any more. */
void enl_tree_stopped(struct enl_child *child);

#endif
