/* SPDX-License-Identifier: MIT */
/* When a host looks at itself, and what of it is worth telling the root. Pure.
 *
 * A look has two parts: the records of the CCEs, and, if these all rest and there is a link thread, its
 * answer whether anything is under way there. */
#ifndef ENL_DEADLOCK_LOOKOUT_H
#define ENL_DEADLOCK_LOOKOUT_H

#include "inspect/deadlock/stillness.h"

struct enl_lookout {
    struct enl_stillness last; /* that is told, or is to be told now */
    uint64_t last_sleeps;      /* `moves` of the last look without the agent's messages */
    uint32_t round;            /* of the root's question that it answers; 0: none */
    uint32_t question;         /* to the link thread, the last */
    bool pending;              /* and its answer is waited for */
    unsigned patience;         /* seconds until it is given up */
    struct enl_stillness seen; /* the first part of that look */
};

enum enl_lookout_wants {
    ENL_LOOKOUT_NOTHING,
    ENL_LOOKOUT_LOOK, /* a whole look, of round 0 */
    ENL_LOOKOUT_ASK,  /* the link thread, with `question` */
    ENL_LOOKOUT_TELL, /* `last`, with `round` */
};

/* Once a second, with what the records say. */
enum enl_lookout_wants enl_lookout_second(struct enl_lookout *lookout, const struct enl_stillness *seen);
/* A whole look begins: with what the records say now. It takes the place of one that is pending. */
enum enl_lookout_wants enl_lookout_look(struct enl_lookout *lookout, uint32_t round,
                                        const struct enl_stillness *seen, bool has_agent);
/* The link thread has answered. */
enum enl_lookout_wants enl_lookout_answer(struct enl_lookout *lookout, uint32_t question, bool quiet,
                                          uint64_t messages);

#endif
