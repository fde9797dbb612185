/* SPDX-License-Identifier: MIT */
/* gathered.c -- reports between the CCE's end and their showing: they are gathered for a moment, so that those
 * of CCEs that crashed alike are one, and then shown, or sent up to the parent's daemon. */
#include <stdio.h>

#include "inspect/crash/crash_private.h"

enum { GATHER_MSEC = 400 };

static void on_gather(uv_timer_t *timer);

void enl_crash_gather(struct enl_crashes *crashes, struct enl_crash_report *report)
{
    enl_crash_reports_add(&crashes->reports, report);
    if (!uv_is_active((uv_handle_t *)&crashes->gather))
        uv_timer_start(&crashes->gather, on_gather, GATHER_MSEC, 0);
}

/* Returns whether there is who takes it. */
static bool send_report_up(const struct enl_crashes *crashes, const struct enl_crash_report *report)
{
    char ordinals[ENL_ORDINALS_TEXT_MAX];
    size_t at = 0;
    enl_ordinals_text(&report->ordinals, ordinals);
    do {
        const size_t left = report->length - at, part = left < 2048 ? left : 2048;
        const struct bcri_control message = {.type = BCRI_MSG_died,
                                             .present = BCRI_HAS(ordinal) | BCRI_HAS(kind) | BCRI_HAS(count) |
                                                        BCRI_HAS(object) | BCRI_HAS(text) | BCRI_HAS(bytes) |
                                                        BCRI_HAS(size),
                                             .ordinal = report->ordinal,
                                             .kind = (uint32_t)report->signal,
                                             .count = report->count,
                                             .object = bcri_view_of(report->who),
                                             .text = bcri_view_of(ordinals),
                                             .bytes = {report->text + at, (uint32_t)part},
                                             .size = left - part};
        if (!crashes->ops->send_up(crashes->owner, &message))
            return false;
        at += part;
    } while (at < report->length);
    return true;
}

void enl_crash_flush(struct enl_crashes *crashes)
{
    struct enl_crash_report *report;
    uv_timer_stop(&crashes->gather);
    while ((report = enl_crash_reports_take(&crashes->reports)) != NULL) {
        if (!send_report_up(crashes, report))
            enl_crash_report_show(crashes->self, report);
        enl_crash_report_free(report);
    }
    if (crashes->reports.left_out != 0)
        enl_report(crashes->self, BCRI_LOG_ERROR, "%u more CCEs crashed at that time, in other ways, on %s",
                   crashes->reports.left_out, crashes->self->hostname);
    crashes->reports.left_out = 0;
}

static void on_gather(uv_timer_t *timer)
{
    enl_crash_flush(timer->data);
}
