/* SPDX-License-Identifier: MIT */
/* See life.h: by way of which host another is reached.
 *
 * A host that has begun others is the way to them until it, or its own way, is closed; one that is reached by its control link
 * needs nobody, and is the way to those below it. */
#include "tree/life.h"

const struct enl_life *enl_lives_carrier(const struct enl_lives *lives, const struct enl_life *life)
{
    while (life != NULL && enl_life_has_way(life) && !enl_life_is_linked(life) && life->starter != 0)
        life = enl_lives_find(lives, life->starter);
    return life != NULL && enl_life_has_way(life) ? life : NULL;
}

const struct enl_life *enl_lives_highest(const struct enl_lives *lives, const struct enl_life *life,
                                         uint32_t top)
{
    while (life != NULL && life->starter != 0 && life->starter != top)
        life = enl_lives_find(lives, life->starter);
    return life;
}

/* Whether it is reached by way of that host. */
static bool hangs_on(const struct enl_lives *lives, const struct enl_life *life, uint32_t number)
{
    while (life != NULL && enl_life_has_way(life) && !enl_life_is_linked(life) && life->starter != 0) {
        if (life->starter == number)
            return true;
        life = enl_lives_find(lives, life->starter);
    }
    return false;
}

void enl_lives_closed(const struct enl_lives *lives, uint32_t number, enl_lives_happens *happens, void *owner)
{
    for (uint32_t i = 1; i < lives->room; i++) {
        struct enl_life *other = lives->by_number[i];
        if (other != NULL && i != number && enl_life_takes(other, ENL_LIFE_WAY_LOST) &&
            (other->starter == number || hangs_on(lives, other, number)))
            happens(owner, other, ENL_LIFE_WAY_LOST);
    }
}

void enl_lives_linked(const struct enl_lives *lives, uint32_t number, enl_lives_happens *happens, void *owner)
{
    for (uint32_t i = 1; i < lives->room; i++) {
        struct enl_life *other = lives->by_number[i];
        if (other != NULL && i != number && hangs_on(lives, other, number))
            happens(owner, other, other->is_numbered ? ENL_LIFE_WAY_CHANGES : ENL_LIFE_WAY_LOST);
    }
}
