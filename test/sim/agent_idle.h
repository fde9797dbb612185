/* SPDX-License-Identifier: MIT */
/* Whether an agent has nothing under way: no order is unanswered, and no region on its way. */
#ifndef BCR_TEST_AGENT_IDLE_H
#define BCR_TEST_AGENT_IDLE_H

#include "links/agent/ask.h"
#include "links/agent/serve.h"

static inline bool agent_is_idle(const struct bcri_agent *agent)
{
    const struct stream_in *stream;
    const struct peer *peer;
    for (uint32_t i = 0; i < agent->place_count; i++)
        if (agent->places[i].order != NULL)
            return false;
    LIST_FOREACH (peer, &agent->peers, of_agent)
        EACH_OF (stream, &peer->streams, struct stream_in, of_peer)
            if (!list_is_empty(&stream->served))
                return false;
    return list_is_empty(&agent->untold) && list_is_empty(&agent->ready) && list_is_empty(&agent->ending) &&
           list_is_empty(&agent->shares_over) && agent->retry_at == AGENT_NEVER &&
           agent->ask_at == AGENT_NEVER;
}

#endif
