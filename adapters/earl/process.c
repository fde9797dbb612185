/* SPDX-License-Identifier: MIT */
/* process.c -- a process from its begin to its end, and its sentences. */
#include "engine.h"

enum { COPIED_LIMIT = 64 << 20 };

int earl_process_begin(struct earl *earl, const struct earl_target *target, void *self, const char *name)
{
    struct earl_tools *tools = earl->tools; /* which were loaded before */
    *earl = (struct earl){.target = target,
                          .self = self,
                          .name = name,
                          .copied_limit = COPIED_LIMIT,
                          .tools = tools,
                          .tag_word = "tag",
                          .process_word = "process"};
    earl->last_due = &earl->first_due;
    const int code = target->begin(self, &earl->process, &earl->count);
    if (code != EARL_OK)
        return code;
    earl_match_begin(&earl->match);
    earl_pool_begin(&earl->pieces, sizeof(struct earl_piece));
    earl_pool_begin(&earl->opens, sizeof(struct earl_open));
    earl_pool_begin(&earl->outgoing, sizeof(struct earl_outgoing));
    earl_pool_begin(&earl->demands, sizeof(struct earl_demand));
    earl->limit = earl->count != 0 ? earl->count : EARL_PROCESSES;
    return earl_is_process(earl, earl->process) ? EARL_OK : EARL_E_MEMORY;
}

void earl_process_end(struct earl *earl)
{
    earl_interrupts_end(earl);
    earl->masked = 1; /* no routine is called any more */
    earl_outgoing_end(earl);
    earl->target->end(earl->self);
    earl_requests_end(earl);
    earl_incoming_end(earl);
    earl_match_end(&earl->match);
    for (int i = 0; i < EARL_POOLS; i++)
        earl_pool_end(&earl->incoming[i]);
    earl_pool_end(&earl->pieces);
    earl_pool_end(&earl->opens);
    earl_pool_end(&earl->outgoing);
    earl_pool_end(&earl->buffers);
    if (earl->demand_count == 0) /* else work waits still, for memory that does not come */
        earl_pool_end(&earl->demands);
    earl_peers_end(earl);
}
