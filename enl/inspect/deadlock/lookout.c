/* SPDX-License-Identifier: MIT */
/* See deadlock.h. */
#include "inspect/deadlock/deadlock.h"

enum { PATIENCE = 5 };

static enum enl_lookout_wants tell_stillness(struct enl_lookout *lookout, uint32_t round,
                                             const struct enl_stillness *seen)
{
    const bool is_news = seen->still ? !enl_stillness_same(seen, &lookout->last) : lookout->last.still;
    lookout->pending = false;
    lookout->round = round;
    lookout->last = *seen;
    return round != 0 || is_news ? ENL_LOOKOUT_TELL : ENL_LOOKOUT_NOTHING;
}

enum enl_lookout_wants enl_lookout_second(struct enl_lookout *lookout, const struct enl_stillness *seen)
{
    if (lookout->pending && lookout->patience-- != 0)
        return ENL_LOOKOUT_NOTHING;
    lookout->pending = false;
    if (!seen->still)
        return tell_stillness(lookout, 0, seen);
    if (lookout->last.still && seen->who == lookout->last.who && seen->moves == lookout->last_sleeps)
        return ENL_LOOKOUT_NOTHING;
    return ENL_LOOKOUT_LOOK;
}

enum enl_lookout_wants enl_lookout_look(struct enl_lookout *lookout, uint32_t round,
                                        const struct enl_stillness *seen, bool has_agent)
{
    lookout->last_sleeps = seen->moves;
    lookout->pending = seen->still && has_agent;
    if (!lookout->pending)
        return tell_stillness(lookout, round, seen);
    lookout->patience = PATIENCE;
    lookout->question = lookout->question % UINT32_MAX + 1;
    lookout->round = round;
    lookout->seen = *seen;
    return ENL_LOOKOUT_ASK;
}

enum enl_lookout_wants enl_lookout_answer(struct enl_lookout *lookout, uint32_t question, bool quiet,
                                          uint64_t messages)
{
    if (!lookout->pending || question != lookout->question)
        return ENL_LOOKOUT_NOTHING;
    struct enl_stillness seen = lookout->seen;
    seen.still = quiet;
    seen.moves += messages;
    return tell_stillness(lookout, lookout->round, &seen);
}
