/* SPDX-License-Identifier: MIT */
/* See joint.h. */
#include "joint.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "random_run.h"

struct sched sched;
struct reference ref;
struct call call[SCHED_INVOCATIONS];
struct handler handler[OWN];
int next_id, performed;
bool is_own;

void joint_begin(void)
{
    memset(&ref, 0, sizeof ref);
    memset(handler, 0, sizeof handler);
    sched_begin(&sched);
    next_id = 0;
    ref.area[0].nrgns = PLENTY;
    ref.area[1].nrgns = ROOM;
    for (int cell = 0; cell < CELLS; cell++)
        ref.cell[cell].area = cell >= OWN;
}

int alive(void)
{
    int count = 0;
    for (int i = 0; i < sched.invocation_count; i++)
        count += sched.invocation[i].state != SCHED_OVER;
    return count;
}

/* ---- cells and watermarks ---- */

static void request(int cell)
{
    int id = sched_request(&sched, cell, handler[cell].activep, handler[cell].blockp, is_own);
    TRACE("  request %d of cell %d, %d/%d\n", id, cell, handler[cell].activep, handler[cell].blockp);
}

/* Whose wait is over now? */
static void notice(void)
{
    for (int i = 0; i < sched.invocation_count; i++)
        if (sched.invocation[i].state == SCHED_WAITS && !sched.invocation[i].over && call[i].id != NONE &&
            ref.request[call[i].id].done) {
            TRACE("  the wait of %d is over\n", i);
            sched_over(&sched, i);
        }
}

bool put_requests(int cell, int before, int after, bool write, enum ref_answer answer)
{
    return cell < OWN && handler[cell].installed && handler[cell].mark > 0 && answer == REF_DONE &&
           (write ? after >= 1 : after > before) && after >= handler[cell].mark;
}
bool get_requests(int cell, int before, bool take)
{
    return cell < OWN && handler[cell].installed && handler[cell].mark <= 0 &&
           (handler[cell].mark == 0 ? before == 0 : take && before <= -handler[cell].mark);
}

enum ref_answer put_by_reference(int id, int cell, int value, bool write, bool may_wait)
{
    const int before = ref.cell[cell].length;
    const enum ref_answer answer = ref_put(&ref, id, cell, value, write, may_wait);
    if (put_requests(cell, before, ref.cell[cell].length, write, answer))
        request(cell);
    notice();
    return answer;
}

enum ref_answer get_by_reference(int id, int cell, bool take, bool may_wait)
{
    if (get_requests(cell, ref.cell[cell].length, take))
        request(cell);
    const enum ref_answer answer = ref_get(&ref, id, cell, !take, may_wait);
    notice();
    return answer;
}

static void install_by_reference(const struct call *c)
{
    struct handler *h = &handler[c->cell];
    if (c->removes) {
        sched_drop(&sched, c->cell);
        h->installed = false;
        return;
    }
    if (h->installed)
        sched_replace(&sched, c->cell, c->activep, c->blockp);
    *h = (struct handler){true, c->mark, c->activep, c->blockp};
}

/* ---- what happens inside of a call ---- */

/* The running invocation does what it called for. False: it waits now, or lets others run. */
static bool perform(int self)
{
    struct call *c = &call[self];
    c->performed = true;
    performed++;
    is_own = true;
    switch (c->what) {
    case PUT: c->answer = put_by_reference(c->id, c->cell, c->value, c->write, c->may_wait); break;
    case PUTM:
        for (int cell = 0; cell < OWN; cell++)
            if (c->goes_to[cell])
                put_by_reference(next_id++, cell, c->value, false, false);
        c->answer = REF_DONE;
        break;
    case GET: c->answer = get_by_reference(c->id, c->cell, c->take, c->may_wait); break;
    case RGWAIT: c->answer = ref.request[c->id].done ? REF_DONE : REF_WAITING; break;
    case PRIORITY: sched_priority(&sched, c->activep, c->blockp); return !sched_interrupts(&sched);
    case ALLOW:
        sched_allow(&sched, c->activep < 0 ? sched.invocation[self].activep : c->activep);
        return false;
    case INSTALL: install_by_reference(c); break;
    }
    if (c->answer == REF_WAITING && !c->pending) {
        sched_wait(&sched);
        return false;
    }
    return true;
}

bool advance(void)
{
    for (;;) {
        int self = sched.runs;
        if (self == SCHED_NOBODY) {
            if (!sched_look(&sched))
                return false;
            for (int i = 0; i < sched.invocation_count && self == SCHED_NOBODY; i++)
                if (sched.invocation[i].state == SCHED_INTERRUPTED && !call[i].performed &&
                    sched_may_go_on(&sched, i))
                    self = i;
            if (self == SCHED_NOBODY)
                return true;
            sched_go_on(&sched, self);
        }
        if (call[self].performed || perform(self))
            return true;
    }
}

_Noreturn void disagree(const char *happened, int id)
{
    printf("level %d, runs %d\n", sched_level(&sched), sched.runs);
    for (int i = 0; i < sched.invocation_count; i++)
        if (sched.invocation[i].state != SCHED_OVER)
            printf("  invocation %d: state %d, %d/%d, stopped %d, came %d..%d%s\n", i,
                   (int)sched.invocation[i].state, sched.invocation[i].activep, sched.invocation[i].blockp,
                   sched.invocation[i].stopped, sched.invocation[i].came.earliest,
                   sched.invocation[i].came.latest, sched_may_go_on(&sched, i) ? ": may go on" : "");
    for (int i = 0; i < sched.request_count; i++)
        if (sched.request[i].queued && !sched.request[i].dropped)
            printf("  request %d: cell %d, %d/%d, came %d..%d%s\n", i, sched.request[i].cell,
                   sched.request[i].activep, sched.request[i].blockp, sched.request[i].came.earliest,
                   sched.request[i].came.latest, sched_may_start(&sched, i) ? ": may start" : "");
    FAIL("%s %d, which the reference does not allow here", happened, id);
}
