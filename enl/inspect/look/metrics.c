/* SPDX-License-Identifier: MIT */
/* metrics.c -- a view in Prometheus's text format: for each metric two lines that tell what it is, then its samples. Names end in
 * a unit, those of counters in _total.
 *
 * Of a CCE's labels there must not be more over time than there are CCEs at one time, or a program that starts them again and
 * again fills the server that gathers this. Neither the process nor the ordinal is such: a program may number its jobs by
 * ordinals, and give one to several CCEs. So series are named by the host and the index of the CCE's record there (slot), which
 * is given again; ordinal and name stand in bcr_cce_info, to be joined, and the process is the value of bcr_cce_pid. A counter that begins again at 0 under
 * another CCE is what Prometheus expects of a process that was started anew. */
#include <inttypes.h>
#include <string.h>

#include "bcri/escape.h"
#include "bcri/record.h"
#include "inspect/look/look.h"
#include "inspect/look/look_private.h"

/* field of a CCE's row, name, type, and what it is */
#define CCE_METRICS(X)                                                                                 \
    X(puts, "bcr_puts_total", "counter", "Regions put.")                                               \
    X(gets, "bcr_gets_total", "counter", "Regions got, and write locks.")                              \
    X(reads, "bcr_reads_total", "counter", "Regions read.")                                            \
    X(zaps, "bcr_zaps_total", "counter", "Cells zapped.")                                              \
    X(allocs, "bcr_region_allocations_total", "counter", "Regions allocated.")                         \
    X(frees, "bcr_region_frees_total", "counter", "Regions freed.")                                    \
    X(copies, "bcr_region_copies_total", "counter", "Regions copied because they were shared.")        \
    X(timeouts, "bcr_get_timeouts_total", "counter", "Gets whose time ran out.")                       \
    X(fulls, "bcr_put_timeouts_total", "counter", "Puts that found no room in time.")                  \
    X(waits, "bcr_waits_total", "counter", "Operations that had to wait.")                             \
    X(sleeps, "bcr_sleeps_total", "counter", "Times asleep.")                                          \
    X(failed, "bcr_failures_total", "counter", "Operations that failed for another reason than time.") \
    X(untold, "bcr_untold_errors_total", "counter", "Errors for which cell 0 had no room.")            \
    X(used, "bcr_heap_used_bytes", "gauge", "Bytes of the regions in the CCE's heap.")                 \
    X(limit, "bcr_heap_limit_bytes", "gauge", "Bytes that the regions in the CCE's heap may have.")

/* The same of a cell's row. */
#define CELL_METRICS(X)                                                                  \
    X(length, "bcr_cell_regions", "gauge", "Regions in the cell.")                       \
    X(bytes, "bcr_cell_bytes", "gauge", "Bytes of the regions in the cell.")             \
    X(puts, "bcr_cell_puts_total", "counter", "Regions put into the cell, modulo 2^32.") \
    X(requests, "bcr_cell_handler_requests_total", "counter", "Requests of the cell's handler.")

static void begin_metric(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static bool is_there(const struct look_cce *cce)
{
    return cce != NULL && cce->state != BCRI_CCE_DEAD;
}

/* What names it, without the closing brace. */
static void name_cce(FILE *out, const char *metric, const struct look_cce *cce)
{
    fprintf(out, "%s{host=\"%" PRIu64 "\",slot=\"%" PRIu64 "\"", metric, cce->host, cce->index);
}

/* A label's value: UTF-8, with \ and " and newline escaped. */
static void print_label(FILE *out, const char *name, const char *value)
{
    char text[4 * LOOK_TEXT_MAX + 1];
    bcri_escape(value, strlen(value), text, sizeof text, NULL);
    fprintf(out, ",%s=\"", name);
    for (const char *c = text; *c != '\0'; c++)
        fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fputc('"', out);
}

static void tell_hosts(FILE *out, const struct look_view *view)
{
    begin_metric(out, "bcr_hosts", "gauge", "Hosts of the program that have answered.");
    fprintf(out, "bcr_hosts %zu\n", view->host.count);
    begin_metric(out, "bcr_complete", "gauge", "1 if all hosts of the program have answered.");
    fprintf(out, "bcr_complete %d\n", !view->partial);
    begin_metric(out, "bcr_host_info", "gauge", "1; the name of the host is a label.");
    for (size_t i = 0; i < view->host.count; i++) {
        fprintf(out, "bcr_host_info{host=\"%" PRIu64 "\"", view->host.at[i].host);
        print_label(out, "hostname", view->host.at[i].hostname);
        fputs("} 1\n", out);
    }
    begin_metric(out, "bcr_start_time_seconds", "gauge",
                 "When enl began on the host, in seconds since 1970.");
    for (size_t i = 0; i < view->host.count; i++)
        fprintf(out, "bcr_start_time_seconds{host=\"%" PRIu64 "\"} %.3f\n", view->host.at[i].host,
                (double)view->host.at[i].start_ns / 1e9);
    begin_metric(
        out, "bcr_cce_ends_total", "counter",
        "CCEs that have ended: normally, with a status but 0 or by a signal (failed), or by SIGSEGV or the "
        "like (crashed).");
    for (size_t i = 0; i < view->host.count; i++) {
        const struct look_host *host = &view->host.at[i]; /* the counts were read one after the other */
        const uint64_t crashed = host->crashed, failed = host->failed > crashed ? host->failed - crashed : 0;
        const struct {
            const char *how;
            uint64_t count;
        } ends[] = {{"normal", host->ended > host->failed ? host->ended - host->failed : 0},
                    {"failed", failed},
                    {"crashed", crashed}};
        for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++)
            fprintf(out, "bcr_cce_ends_total{host=\"%" PRIu64 "\",how=\"%s\"} %" PRIu64 "\n", host->host,
                    ends[k].how, ends[k].count);
    }
}

/* By the same rules as enl why. At the first answer it is not known which CCEs have slept since another. */
static void tell_stuck(FILE *out, const struct look_view *view)
{
    struct look_why why = {0};
    if (view->before != NULL && !look_why(view, &why))
        return;
    begin_metric(out, "bcr_deadlock", "gauge", "1 if no CCE of the program can ever go on.");
    fprintf(out, "bcr_deadlock %d\n", why.all_stuck);
    begin_metric(out, "bcr_stuck_cces", "gauge", "CCEs that wait for what no CCE will ever do.");
    fprintf(out, "bcr_stuck_cces %zu\n", why.stuck);
    look_why_fini(&why);
}

static void tell_states(FILE *out, const struct look_view *view)
{
    begin_metric(out, "bcr_cce_info", "gauge",
                 "1; what the CCE is stands in the labels, cce is its ordinal.");
    for (size_t i = 0; i < view->cce.count; i++)
        if (is_there(&view->cce.at[i])) {
            name_cce(out, "bcr_cce_info", &view->cce.at[i]);
            fprintf(out, ",cce=\"%" PRIu64 "\"", view->cce.at[i].ordinal);
            print_label(out, "name", view->cce.at[i].name);
            fputs("} 1\n", out);
        }
    begin_metric(out, "bcr_cce_pid", "gauge", "The process of the CCE.");
    for (size_t i = 0; i < view->cce.count; i++)
        if (is_there(&view->cce.at[i])) {
            name_cce(out, "bcr_cce_pid", &view->cce.at[i]);
            fprintf(out, "} %" PRIu64 "\n", view->cce.at[i].pid);
        }
    begin_metric(out, "bcr_cce_state", "gauge", "1 for the state that the CCE is in.");
    for (size_t i = 0; i < view->cce.count; i++)
        if (is_there(&view->cce.at[i])) {
            name_cce(out, "bcr_cce_state", &view->cce.at[i]);
            print_label(out, "state", look_say_state(&view->cce.at[i]));
            fputs("} 1\n", out);
        }
    begin_metric(out, "bcr_cce_asleep_seconds", "gauge",
                 "For how long the CCE has slept in a call; 0 if it is awake.");
    for (size_t i = 0; i < view->cce.count; i++) {
        const struct look_cce *cce = &view->cce.at[i];
        const uint64_t now_ns = look_view_now(view, cce->host);
        if (!is_there(cce))
            continue;
        name_cce(out, "bcr_cce_asleep_seconds", cce);
        fprintf(out, "} %.3f\n",
                look_is_asleep(cce) && cce->since_ns != 0 && now_ns > cce->since_ns
                    ? (double)(now_ns - cce->since_ns) / 1e9
                    : 0.0);
    }
}

static void tell_cells(FILE *out, const struct look_view *view)
{
#define CELL_METRIC(field, name, type, help)                                           \
    begin_metric(out, name, type, help);                                               \
    for (size_t i = 0; i < view->cell.count; i++) {                                    \
        const struct look_cell *cell = &view->cell.at[i];                              \
        const struct look_cce *owner = look_view_cce(view, cell->host, cell->owner);   \
        if (!is_there(owner))                                                          \
            continue;                                                                  \
        name_cce(out, name, owner);                                                    \
        fprintf(out, ",cell=\"%" PRIu64 "\"} %" PRIu64 "\n", cell->cell, cell->field); \
    }
    CELL_METRICS(CELL_METRIC)
#undef CELL_METRIC
    begin_metric(out, "bcr_area_regions_limit", "gauge",
                 "Regions that the cells of one bcr_cagrow, from this one on, may have in all.");
    for (size_t i = 0; i < view->area.count; i++) {
        const struct look_area *area = &view->area.at[i];
        const struct look_cce *owner = look_view_cce(view, area->host, area->owner);
        if (!is_there(owner))
            continue;
        name_cce(out, "bcr_area_regions_limit", owner);
        fprintf(out, ",cell=\"%" PRIu64 "\"} %" PRIu64 "\n", area->base, area->regions);
    }
}

void look_metrics(FILE *out, const struct look_view *view)
{
    tell_hosts(out, view);
    tell_stuck(out, view);
    tell_states(out, view);
#define CCE_METRIC(field, name, type, help)                         \
    begin_metric(out, name, type, help);                            \
    for (size_t i = 0; i < view->cce.count; i++)                    \
        if (is_there(&view->cce.at[i])) {                           \
            name_cce(out, name, &view->cce.at[i]);                  \
            fprintf(out, "} %" PRIu64 "\n", view->cce.at[i].field); \
        }
    CCE_METRICS(CCE_METRIC)
#undef CCE_METRIC
    tell_cells(out, view);
}
