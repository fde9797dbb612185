/* SPDX-License-Identifier: MIT */
/* See life.h: who is below whom, and what has happened to whom. */
#include "tree/life.h"

_Static_assert(ENL_LIFE_EVENTS <= 32, "events are bits");

const struct enl_life *enl_lives_highest(const struct enl_lives *lives, const struct enl_life *life,
                                         uint32_t top)
{
    while (life != NULL && life->starter != 0 && life->starter != top)
        life = enl_lives_find(lives, life->starter);
    return life;
}

void enl_lives_tell(struct enl_lives *lives, struct enl_life *life, enum enl_life_event event)
{
    if (life->pending == 0)
        TAILQ_INSERT_TAIL(&lives->pending, life, entry);
    life->pending |= 1u << event;
}

static enum enl_life_event take_first(struct enl_lives *lives, struct enl_life *life)
{
    enum enl_life_event event = 0;
    while ((life->pending & 1u << event) == 0)
        event++;
    life->pending &= ~(1u << event);
    if (life->pending == 0)
        TAILQ_REMOVE(&lives->pending, life, entry);
    return event;
}

void enl_lives_run(struct enl_lives *lives, enl_lives_happens *happens, void *owner)
{
    struct enl_life *life;
    if (lives->runs)
        return;
    lives->runs = true;
    while ((life = TAILQ_FIRST(&lives->pending)) != NULL)
        happens(owner, life, take_first(lives, life));
    lives->runs = false;
}

void enl_lives_gone(struct enl_lives *lives, struct enl_life *life)
{
    if (life->pending != 0)
        TAILQ_REMOVE(&lives->pending, life, entry);
    life->pending = 0;
    lives->by_number[life->number] = NULL;
}

void enl_lives_closed(struct enl_lives *lives, uint32_t number)
{
    for (uint32_t i = 1; i < lives->room; i++) {
        struct enl_life *other = lives->by_number[i];
        const struct enl_life *top = other != NULL ? enl_lives_highest(lives, other, number) : NULL;
        if (top == NULL || top->starter != number)
            continue;
        const enum enl_life_event event = top == other ? ENL_LIFE_STARTER_LOST : ENL_LIFE_WAY_LOST;
        if (enl_life_takes(other, event))
            enl_lives_tell(lives, other, event);
    }
}
