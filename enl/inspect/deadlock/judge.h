/* SPDX-License-Identifier: MIT */
/* What the root's daemon makes of the stillness of all hosts: whether the program is in a deadlock. Pure.
 *
 *      hosts tell by themselves        all are still                all answer the same again
 *   WATCHING --------------------> WATCHING --------> ASKING ------------------------------> told, WATCHING
 *                                      ^                  |
 *                                      +------------------+  one answers something else, comes or goes
 *
 * The second look of each host begins when it is asked, which is after the first look of every host
 * has ended. docs/states/deadlock.md tells why two equal looks in this order are a proof. */
#ifndef ENL_DEADLOCK_JUDGE_H
#define ENL_DEADLOCK_JUDGE_H

#include <stddef.h>

#include "inspect/deadlock/stillness.h"

struct enl_judged_host {
    uint32_t number;
    bool told, answered, present;
    struct enl_stillness stillness; /* as it has told last */
};

struct enl_judge {
    struct enl_judged_host *hosts;
    size_t count, room;
    uint32_t round; /* the number of the last question */
    bool asking;
    unsigned asked_for;            /* ticks */
    bool news;                     /* something was told since the last question */
    uint64_t told_who, told_since; /* of the standstill that was told last */
};

enum enl_verdict { ENL_MOVES, ENL_ASK, ENL_DEADLOCK };

/* These are the program's hosts now. What is known of others is forgotten, and a round ends if any has come
 * or gone. False: no memory. */
bool enl_judge_hosts(struct enl_judge *judge, const uint32_t *numbers, size_t count);
/* Host `number` tells of itself: by itself (`round` 0), or as the answer to that round's question.
 * ENL_DEADLOCK: this was the last answer, and nothing can ever move again. It is returned once for a
 * standstill. */
enum enl_verdict enl_judge_hear(struct enl_judge *judge, uint32_t number, uint32_t round,
                                const struct enl_stillness *stillness);
/* Once in a while. ENL_ASK: all hosts are to be asked, with judge->round. */
enum enl_verdict enl_judge_tick(struct enl_judge *judge);
/* How many CCEs are in it. */
uint32_t enl_judge_count(const struct enl_judge *judge);
void enl_judge_fini(struct enl_judge *judge);

#endif
