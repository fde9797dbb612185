/* SPDX-License-Identifier: MIT */
/* See life.h: who is below whom. */
#include "tree/life.h"

const struct enl_life *enl_lives_highest(const struct enl_lives *lives, const struct enl_life *life,
                                         uint32_t top)
{
    while (life != NULL && life->starter != 0 && life->starter != top)
        life = enl_lives_find(lives, life->starter);
    return life;
}

void enl_lives_closed(const struct enl_lives *lives, uint32_t number, enl_lives_happens *happens, void *owner)
{
    for (uint32_t i = 1; i < lives->room; i++) {
        struct enl_life *other = lives->by_number[i];
        const struct enl_life *top = other != NULL ? enl_lives_highest(lives, other, number) : NULL;
        if (top == NULL || top->starter != number)
            continue;
        const enum enl_life_event event = top == other ? ENL_LIFE_STARTER_LOST : ENL_LIFE_WAY_LOST;
        if (enl_life_takes(other, event))
            happens(owner, other, event);
    }
}
