/* SPDX-License-Identifier: MIT */
/* See look.h. Names that CCEs have chosen are escaped. */
#include "inspect/look/look.h"

#include <inttypes.h>

#include "bcri/cell.h"
#include "bcri/record.h"
#include "inspect/look/look_private.h"

/* Of a program of several hosts: how they are called, and those that have no CCE. */
static void show_hosts(FILE *out, const struct look_view *view)
{
    if (view->daemon.count < 2)
        return;
    fprintf(out, "\n%4s %7s  %-8s  %s\n", "HOST", "CCES", "STATE", "NAME");
    for (size_t i = 0; i < view->daemon.count; i++) {
        const struct look_daemon *host = &view->daemon.at[i];
        const bool why = host->why[0] != '\0';
        fprintf(out, "%4" PRIu64 " %7" PRIu64 "  %-8s  %s%s%s%s\n", host->host, host->cces, host->standing,
                host->name, why ? "  (" : "", host->why, why ? ")" : "");
    }
}

void look_show_ps(FILE *out, const struct look_view *view)
{
    fprintf(out, "%4s %7s %9s  %-8s %12s %12s %10s  %s\n", "HOST", "CCE", "PID", "STATE", "PUTS", "GETS",
            "HEAP", "NAME");
    for (size_t i = 0; i < view->cce.count; i++) {
        const struct look_cce *cce = &view->cce.at[i];
        if (cce->state == BCRI_CCE_DEAD)
            continue;
        fprintf(out,
                "%4" PRIu64 " %7" PRIu64 " %9" PRIu64 "  %-8s %12" PRIu64 " %12" PRIu64 " %10" PRIu64 "  %s",
                cce->host, cce->ordinal, cce->pid, look_say_state(cce), cce->puts, cce->gets + cce->reads,
                cce->used, look_say_name(cce->name));
        const struct look_wait *wait = look_view_slept_for(view, cce);
        const struct look_note *note = look_is_asleep(cce) ? look_view_note(view, cce) : NULL;
        if (note != NULL || wait != NULL)
            fprintf(out, "  (%s, %s)", note != NULL ? look_say_note(view, note) : look_say_wait(view, wait),
                    look_say_age(look_view_now(view, cce->host), cce->since_ns));
        fputc('\n', out);
    }
    show_hosts(out, view);
}

static const struct look_area *area_of(const struct look_view *view, const struct look_cell *cell)
{
    for (size_t i = 0; i < view->area.count; i++) {
        const struct look_area *area = &view->area.at[i];
        if (area->host == cell->host && area->owner == cell->owner && cell->cell - area->base < area->cells)
            return area;
    }
    return NULL;
}

static void show_flags(FILE *out, const struct look_view *view, const struct look_cell *cell)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {{BCRI_CELL_OWNERDEAD, "owner of its lock has ended"},
                 {BCRI_CELL_CLOSED, "closed"},
                 {BCRI_CELL_ARMED, "bcr_fd armed"},
                 {BCRI_CELL_WAKES, "bcr_wakeon"},
                 {BCRI_CELL_CORRUPT, "corrupt"}};
    const char *between = "  ";
    if (cell->locker != 0) {
        fprintf(out, "%swrite lock: %s", between, look_say_cce(view, cell->host, cell->locker - 1));
        between = ", ";
    }
    if ((cell->flags & (BCRI_CELL_HIGH | BCRI_CELL_LOW)) != 0) {
        fprintf(out, "%shandler at %d, %" PRIu64 " requests", between, (int)(uint32_t)cell->watermark,
                cell->requests);
        between = ", ";
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((cell->flags & names[i].flag) != 0) {
            fprintf(out, "%s%s", between, names[i].name);
            between = ", ";
        }
}

void look_show_cells(FILE *out, const struct look_view *view)
{
    fprintf(out, "%4s %7s %7s  %-8s %8s %8s %8s %9s %12s %8s %9s %12s\n", "HOST", "CCE", "CELL", "KIND",
            "REGIONS", "OF", "HIGH", "OLDEST", "BYTES", "WAITING", "FOR", "PUTS");
    for (size_t i = 0; i < view->cell.count; i++) {
        const struct look_cell *cell = &view->cell.at[i];
        const struct look_cce *owner = look_view_cce(view, cell->host, cell->owner);
        const struct look_area *area = area_of(view, cell);
        uint64_t age_ns;
        const unsigned waiting = look_view_waiting(view, cell, &age_ns);
        fprintf(out,
                "%4" PRIu64 " %7" PRIu64 " %7" PRIu64 "  %-8s %8" PRIu64 " %8" PRIu64 " %8" PRIu64
                " %9s %12" PRIu64 " %8u %9s %12" PRIu64,
                cell->host, owner != NULL ? owner->ordinal : 0, cell->cell, look_say_kind(cell->kind),
                cell->length, area != NULL ? area->regions : 0, cell->high, look_say_oldest(view, cell),
                cell->bytes, waiting, age_ns != 0 ? look_say_time(age_ns) : "-", cell->puts);
        show_flags(out, view, cell);
        fputc('\n', out);
    }
}

void look_show_waits(FILE *out, const struct look_view *view)
{
    for (size_t i = 0; i < view->wait.count; i++) {
        const struct look_wait *wait = &view->wait.at[i];
        const struct look_cce *cce = look_view_cce(view, wait->host, wait->index);
        const uint64_t now_ns = look_view_now(view, wait->host);
        if (cce == NULL)
            continue;
        fprintf(out, "%s %s", look_say_cce(view, wait->host, wait->index), look_say_wait(view, wait));
        if (wait->slept != 0 && look_is_asleep(cce)) {
            fprintf(out, ", asleep for %s", look_say_age(now_ns, cce->since_ns));
            if (cce->deadline_ns != UINT64_MAX)
                fprintf(out, ", for %s more", look_say_age(cce->deadline_ns, now_ns));
            const struct look_note *note = look_view_note(view, cce);
            if (note != NULL)
                fprintf(out, "; it %s", look_say_note(view, note));
        }
        fputc('\n', out);
    }
    if (view->wait.count == 0)
        fputs("nothing waits\n", out);
}

void look_show_regions(FILE *out, const struct look_view *view)
{
    for (size_t i = 0; i < view->cce.count; i++) {
        const struct look_cce *cce = &view->cce.at[i];
        bool any = false;
        for (size_t k = 0; k < view->hold.count; k++) {
            const struct look_hold *hold = &view->hold.at[k];
            if (hold->host != cce->host || hold->home != cce->index)
                continue;
            if (!any)
                fprintf(out, "heap of %s: %" PRIu64 " of %" PRIu64 " bytes in use\n",
                        look_say_cce(view, cce->host, cce->index), cce->used, cce->limit);
            any = true;
            fprintf(out, "  %s%s: %" PRIu64 " region%s, %" PRIu64 " bytes\n",
                    hold->in_cells != 0 ? "in cells of " : "held by ",
                    look_say_cce(view, hold->host, hold->holder), hold->regions,
                    hold->regions == 1 ? "" : "s", hold->bytes);
        }
        if (!any && cce->state != BCRI_CCE_DEAD)
            fprintf(out, "heap of %s: 0 of %" PRIu64 " bytes in use\n",
                    look_say_cce(view, cce->host, cce->index), cce->limit);
    }
}

void look_show_stats(FILE *out, const struct look_view *view)
{
    fprintf(out, "%4s %7s %12s %12s %12s %12s %12s %10s   per second\n", "HOST", "CCE", "PUTS", "GETS",
            "READS", "ALLOCS", "FREES", "WAITS");
    for (size_t i = 0; i < view->cce.count; i++) {
        const struct look_cce *cce = &view->cce.at[i];
        const struct look_cce *was = look_view_same(view->before, cce);
        const uint64_t ns =
            was != NULL ? look_view_now(view, cce->host) - look_view_now(view->before, cce->host) : 0;
        if (ns == 0 || cce->state == BCRI_CCE_DEAD)
            continue;
#define RATE(name) ((double)(cce->name - was->name) * 1e9 / (double)ns)
        fprintf(out, "%4" PRIu64 " %7" PRIu64 " %12.0f %12.0f %12.0f %12.0f %12.0f %10.0f\n", cce->host,
                cce->ordinal, RATE(puts), RATE(gets), RATE(reads), RATE(allocs), RATE(frees), RATE(waits));
#undef RATE
    }
}
