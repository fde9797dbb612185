/* SPDX-License-Identifier: MIT */
/* See tree.h. */
#include "conductor/child.h"

#include <string.h>

#include "host/host.h"
#include "job/job.h"

/* A machine ID's first word is the boot ID. */
static bool same_machine(const char *one, const char *other)
{
    const size_t length = strcspn(one, " ");
    return length != 0 && length == strcspn(other, " ") && memcmp(one, other, length) == 0;
}

static bool is_here(const struct enl_child *child)
{
    return child->host->local || same_machine(child->machine_id, child->program->tree->machine_id);
}

static const struct enl_child *first_child(const struct enl_program *program)
{
    return program->tree != NULL ? LIST_FIRST(&program->tree->children) : NULL;
}

bool enl_round_robin_is_shared(const struct enl_program *program)
{
    for (const struct enl_child *child = first_child(program); child != NULL; child = LIST_NEXT(child, entry))
        if (is_here(child))
            return true;
    return false;
}

uint32_t enl_round_robin_next(struct enl_program *program, const struct enl_child *child)
{
    const bool here = child == NULL || is_here(child);
    int64_t turn = 0;
    if (here) { /* the root is one of its CCEs, and comes before all others */
        enl_cce_begin_cores(&program->here);
        turn = enl_cores_first(&program->here.cores) + (int64_t)program->here.alive +
               enl_enlist_left(&program->jobs);
    }
    for (const struct enl_child *other = first_child(program); other != NULL; other = LIST_NEXT(other, entry))
        if (here ? is_here(other) : same_machine(other->machine_id, child->machine_id))
            turn += (int64_t)other->alive + enl_forwards_start(&other->forwards);
    return (uint32_t)turn;
}
