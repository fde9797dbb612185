/* SPDX-License-Identifier: MIT */
/* CCEs: they put, get, compute, look in vain, start others and end, at random; waiting is that of cells/wait.c, store by store. */
#include "deadlock_model.h"

#include <string.h>

bool has_nothing_to_find(const struct cce *cce)
{
    return model.cell[cce->cell].regions == 0 && !cce->got;
}

static void begin_to_look(struct cce *cce)
{
    struct bcri_idle_shm *const idle = &cce->record->idle;
    cce->cell = (int)(cce - model.cce);
    cce->pends = draw(2) == 0;
    cce->got = cce->flagged = cce->timed = false;
    if (cce->pends && model.cell[cce->cell].regions == 0)
        model.cell[cce->cell].waiter[model.cell[cce->cell].waiter_count++] =
            (struct waiter){.cce = cce->cell};
    cce->deeds_then = cce->deeds;
    bcri_store(&idle->period, bcri_load(&idle->period) + 1 + bcri_load(&idle->period) % 2);
    cce->pc = POLL;
}

static void think(struct cce *cce)
{
    cce->deeds++; /* something that others may notice comes next */
    if (cce->left == 0 && draw(2) == 0) {
        cce->left = draw(2); /* it looks until it is stuck, or has done a bit */
        begin_to_look(cce);
        return;
    }
    if (cce->left == 0) {
        if (cce->ends) {
            bcri_store(&cce->record->id.state, BCRI_CCE_DEAD);
            cce->pc = FREE;
            return;
        }
        cce->left = 1 + draw(3); /* it gets until it is stuck */
        cce->cell = (int)(cce - model.cce);
        cce->pc = GET;
        return;
    }
    cce->left--;
    do
        cce->cell = (int)draw(CCES_MAX);
    while (model.cce[cce->cell].host >= model.hosts);
    switch (draw(8)) {
    case 0: cce->pc = COMPUTE; break;
    case 1:
    case 2:
    case 3: cce->pc = PUT; break;
    default: cce->pc = GET; break;
    }
    if (draw(20) == 0) /* it starts another */
        for (int i = 0; i < CCES_MAX; i++)
            if (model.cce[i].pc == FREE && bcri_load(&model.cce[i].record->id.state) == BCRI_CCE_FREE) {
                bcri_store(&model.cce[i].record->id.state, BCRI_CCE_STARTING);
                model.cce[i].pc = STARTING;
                break;
            }
}

static void order(struct cce *cce, enum kind kind, enum pc then)
{
    push(&model.agent[cce->host].outbox, (struct message){.kind = kind,
                                                          .cell = cce->cell,
                                                          .requester = (int)(cce - model.cce),
                                                          .from = cce->host,
                                                          .to = model.cce[cce->cell].host});
    cce->pc = RING_AGENT;
    cce->then = then;
}

static void get(struct cce *cce)
{
    struct cell *cell = &model.cell[cce->cell];
    cce->got = cce->flagged = cce->slept = false;
    cce->timed = draw(6) == 0;
    cce->pc = SEE;
    if (cce->far) { /* only the cell decides about time */
        order(cce, cce->timed ? M_TIMED_GET : M_GET, SEE);
        cce->timed = false;
    } else if (cell->regions != 0) {
        cell->regions--;
        cce->pc = THINK;
    } else {
        cell->waiter[cell->waiter_count++] = (struct waiter){.cce = (int)(cce - model.cce)};
    }
}

/* It looks; in a later step it answers, if it was asked, for that step. */
static void poll_once(struct cce *cce)
{
    struct cell *cell = &model.cell[cce->cell];
    if (has_nothing_to_find(cce)) {
        cce->pc = VAIN;
        return;
    }
    cell->regions -= !cce->got;
    cce->deeds++; /* the period goes on until it looks again */
    cce->pc = draw(3) == 0 ? COMPUTE : THINK;
}

static void answer_daemon(struct cce *cce)
{
    struct bcri_idle_shm *const idle = &cce->record->idle;
    const uint32_t asked = bcri_load(&idle->asked);
    const bool only_looked = cce->deeds == cce->deeds_then;
    if (bcri_load(&idle->period) % 2 == 0 || asked == cce->answered)
        return;
    cce->answered = asked;
    tell_daemon(cce->host, (struct news){.kind = N_IDLE,
                                         .number = asked,
                                         .from = (int)(cce - model.cce),
                                         .quiet = only_looked && has_nothing_to_find(cce),
                                         .messages = bcri_load(&idle->period)});
    bcri_store(&idle->period, bcri_load(&idle->period) + !only_looked);
}

static void give_up(struct cce *cce)
{
    struct cell *cell = &model.cell[cce->cell];
    for (unsigned i = 0; i < cell->waiter_count; i++)
        if (!cell->waiter[i].far && cell->waiter[i].cce == (int)(cce - model.cce))
            memmove(&cell->waiter[i], &cell->waiter[i + 1],
                    (--cell->waiter_count - i) * sizeof cell->waiter[0]);
    cce->pc = THINK;
}

void step_cce(struct cce *cce)
{
    struct bcri_record_shm *record = cce->record;
    cce->turns++;
    switch (cce->pc) {
    case FREE: return;
    case STARTING:
        bcri_store(&record->id.state, BCRI_CCE_ALIVE);
        cce->pc = THINK;
        return;
    case THINK:
        think(cce);
        cce->far = model.cce[cce->cell].host != cce->host;
        return;
    case COMPUTE: /* it may look in vain meanwhile, though it has something to do */
        if (draw(4) == 0)
            answer_daemon(cce);
        cce->pc = draw(10) == 0 ? THINK : COMPUTE;
        return;
    case PUT:
        if (cce->far) {
            order(cce, M_PUT, THINK);
            return;
        }
        cce->ring = put_here(cce->cell);
        cce->pc = cce->ring != NOBODY ? RING : THINK;
        cce->then = THINK;
        return;
    case RING:
        ring(cce->ring, cce->host);
        cce->pc = cce->then;
        return;
    case RING_AGENT:
        ring(CCES_MAX, cce->host);
        cce->pc = cce->then;
        return;
    case GET: get(cce); return;
    case POLL: poll_once(cce); return;
    case VAIN:
        answer_daemon(cce);
        cce->pc = draw(3) == 0 ? POLL : VAIN; /* it has several cells, and finds nothing in another one */
        return;
    case SEE:
        cce->seen = bcri_load(&record->bell.bell);
        cce->pc = NOTE;
        return;
    case NOTE:
        if (!cce->slept) /* what wakes it for nothing does not begin another wait */
            bcri_store(&record->sleep.since_ns, cce->turns);
        cce->slept = true;
        bcri_store(&record->sleep.deadline_ns, cce->timed ? 1 : UINT64_MAX);
        cce->pc = NOTED;
        return;
    case NOTED:
        bcri_store(&record->sleep.sleeps, bcri_load(&record->sleep.sleeps) + 1);
        cce->pc = SLEEPING;
        return;
    case SLEEPING:
        bcri_store(&record->bell.sleeping, BCRI_SLEEPS_ON_FUTEX);
        cce->pc = FLAG;
        return;
    case FLAG:
        cce->flagged = true;
        cce->pc = LOOK;
        return;
    case LOOK: cce->pc = cce->got ? AWAKE : REST; return;
    case REST:
        bcri_store(&record->bell.rests, (uint64_t)bcri_load(&record->sleep.sleeps) << 32 | cce->seen);
        cce->pc = BLOCK;
        return;
    case BLOCK: /* signals end it early, until the end */
        if (bcri_load(&record->bell.bell) != cce->seen || cce->timed || (!model.fair && draw(40) == 0))
            cce->pc = AWAKE;
        return;
    case AWAKE:
        bcri_store(&record->bell.sleeping, BCRI_AWAKE);
        cce->pc = cce->got ? THINK : SEE;
        if (cce->timed && !cce->got && draw(3) == 0)
            give_up(cce);
        return;
    }
}
