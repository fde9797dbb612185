/* SPDX-License-Identifier: MIT */
/* See drain.h. What was read lies with the streams until its turn comes (mux.c), at the root then with the writers. Each of
 * these marks what it has, and tells when the last of it has gone; what comes later does not hold up the marks. */
#include "host/drain.h"

#include "base/writer.h"
#include "host/host.h"

void enl_drain_read(struct enl_here *here)
{
    for (struct enl_cce *cce = TAILQ_FIRST(&here->all), *next; cce != NULL; cce = next) {
        next = TAILQ_NEXT(cce, entry);
        if (cce->lines_cell != 0) /* it goes into a cell */
            continue;
        enl_output_drain(cce);
        if (enl_output_ended(cce))
            enl_cce_release(cce);
    }
}

static bool have_passed(const struct enl_here *here)
{
    for (int i = 0; i < 2; i++)
        if (here->lines.outlets[i].mux != NULL && !enl_mux_has_passed(here->lines.outlets[i].mux))
            return false;
    return true;
}

static void on_look(uv_timer_t *timer)
{
    struct enl_here *here = timer->data;
    struct enl_drain *drain = &here->drain;
    struct enl_writer *const writers[] = {here->self->report.out, here->self->report.err};
    if (drain->waits_for == ENL_DRAIN_TURNS && have_passed(here)) {
        drain->waits_for = ENL_DRAIN_WRITERS;
        for (int i = 0; i < 2; i++)
            if (writers[i] != NULL)
                enl_writer_mark(writers[i]);
    }
    if (drain->waits_for != ENL_DRAIN_WRITERS)
        return;
    for (int i = 0; i < 2 && !here->self->is_child; i++)
        if (writers[i] != NULL && !enl_writer_has_written(writers[i]))
            return;
    drain->waits_for = ENL_DRAIN_NOT;
    drain->done(here);
}

void enl_drain_look(struct enl_here *here)
{
    if (here->drain.waits_for != ENL_DRAIN_NOT)
        uv_timer_start(&here->drain.timer, on_look, 0, 0);
}

void enl_drain_mark(struct enl_here *here, void (*done)(struct enl_here *here))
{
    here->drain.done = done;
    here->drain.waits_for = ENL_DRAIN_TURNS;
    for (int i = 0; i < 2; i++)
        if (here->lines.outlets[i].mux != NULL)
            enl_mux_mark(here->lines.outlets[i].mux);
    enl_drain_look(here);
}

void enl_drain_start(struct enl_here *here)
{
    uv_timer_init(&here->self->loop, &here->drain.timer);
    here->drain.timer.data = here;
    here->lines.marked = enl_drain_look;
}

void enl_drain_stop(struct enl_here *here)
{
    here->drain.waits_for = ENL_DRAIN_NOT;
    uv_close((uv_handle_t *)&here->drain.timer, NULL);
}
