/* SPDX-License-Identifier: MIT */
/* See deadlock.h. */
#include "inspect/deadlock/deadlock.h"

enum { PATIENCE = 5 };

static enum enl_host_detector_wants tell_stillness(struct enl_host_detector *host_detector, uint32_t round,
                                                   const struct enl_stillness *seen)
{
    const bool is_news =
        seen->still ? !enl_stillness_same(seen, &host_detector->last) : host_detector->last.still;
    host_detector->pending = false;
    host_detector->round = round;
    host_detector->last = *seen;
    return round != 0 || is_news ? ENL_HOST_DETECTOR_TELL : ENL_HOST_DETECTOR_NOTHING;
}

enum enl_host_detector_wants enl_host_detector_second(struct enl_host_detector *host_detector,
                                                      const struct enl_stillness *seen)
{
    if (host_detector->pending && host_detector->patience-- != 0)
        return ENL_HOST_DETECTOR_NOTHING;
    host_detector->pending = false;
    if (!seen->still)
        return tell_stillness(host_detector, 0, seen);
    if (host_detector->last.still && seen->who == host_detector->last.who &&
        seen->moves == host_detector->last_sleeps)
        return ENL_HOST_DETECTOR_NOTHING;
    return ENL_HOST_DETECTOR_LOOK;
}

enum enl_host_detector_wants enl_host_detector_look(struct enl_host_detector *host_detector, uint32_t round,
                                                    const struct enl_stillness *seen, bool has_agent)
{
    host_detector->last_sleeps = seen->moves;
    host_detector->pending = seen->still && has_agent;
    if (!host_detector->pending)
        return tell_stillness(host_detector, round, seen);
    host_detector->patience = PATIENCE;
    host_detector->question = host_detector->question % UINT32_MAX + 1;
    host_detector->round = round;
    host_detector->seen = *seen;
    return ENL_HOST_DETECTOR_ASK;
}

enum enl_host_detector_wants enl_host_detector_answer(struct enl_host_detector *host_detector,
                                                      uint32_t question, bool quiet, uint64_t messages)
{
    if (!host_detector->pending || question != host_detector->question)
        return ENL_HOST_DETECTOR_NOTHING;
    struct enl_stillness seen = host_detector->seen;
    seen.still = quiet;
    seen.moves += messages;
    return tell_stillness(host_detector, host_detector->round, &seen);
}
