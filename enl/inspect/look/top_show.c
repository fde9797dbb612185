/* SPDX-License-Identifier: MIT */
/* top_show.c -- what enl top shows, as a function of two looks. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/last_part.h"
#include "bcri/record.h"
#include "inspect/look/look.h"
#include "inspect/look/look_private.h"

/* Of a CCE; of all of them together. */
struct row {
    const struct look_cce *cce;
    double puts, gets, bytes; /* per second */
    uint64_t regions;         /* in its cells */
    uint64_t used, limit;     /* of its heap */
    uint64_t asleep_ns;       /* 0: it does not sleep */
    double key;               /* those with a larger one come first */
};

enum { LINE_MAX_BYTES = 1024 };

/* One line of ASCII, cut to the screen's width; names may have anything in them. */
static void show_line(FILE *out, const struct look_top *top, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void show_line(FILE *out, const struct look_top *top, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (unsigned i = 0; text[i] != '\0' && i < top->columns; i++)
        fputc(text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?', out);
    fputc('\n', out);
}

static void show_heading(FILE *out, const struct look_top *top, const char *text)
{
    fprintf(out, "\033[7m%.*s\033[0m\n", (int)top->columns, text);
}

/* At most five characters: 9999, 12.3k, 456M. */
static const char *amount(double number)
{
    static const char units[] = "kMGTPE";
    unsigned unit = 0;
    if (number < 9999.5)
        return look_text("%.0f", number);
    for (number /= 1000; number >= 999.5 && units[unit + 1] != '\0'; number /= 1000)
        unit++;
    return look_text(number < 99.95 ? "%.1f%c" : "%.0f%c", number, units[unit]);
}

/* There are none before the second look. */
static const char *rate(const struct look_view *view, double number)
{
    return view->before != NULL ? amount(number) : "-";
}

static void count_rates(struct row *row, const struct look_view *view)
{
    const struct look_cce *cce = row->cce;
    const struct look_cce *was = look_view_same(view->before, cce);
    const uint64_t now_ns = look_view_now(view, cce->host);
    const uint64_t ns = was != NULL ? now_ns - look_view_now(view->before, cce->host) : 0;
    if (look_is_asleep(cce) && cce->since_ns != 0 && now_ns > cce->since_ns)
        row->asleep_ns = now_ns - cce->since_ns;
    if (ns == 0)
        return;
    row->puts = (double)(cce->puts - was->puts) * 1e9 / (double)ns;
    row->gets = (double)(cce->gets - was->gets + cce->reads - was->reads) * 1e9 / (double)ns;
    if (cce->moves != 0)
        row->bytes = (row->puts + row->gets) * (double)cce->moved / (double)cce->moves;
}

static double key_of(const struct row *row, enum look_top_order order)
{
    switch (order) {
    case LOOK_TOP_BY_RATE: return row->puts + row->gets;
    case LOOK_TOP_BY_HEAP: return (double)row->used;
    case LOOK_TOP_BY_WAIT: return (double)row->asleep_ns;
    default: return 0;
    }
}

#define MORE(a, b) (((a) < (b)) - ((a) > (b)))

static int by_key(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    return a->key != b->key ? MORE(a->key, b->key) : MORE(b->cce, a->cce);
}

/* The CCEs that have not ended, in that order, or in that of the view. NULL: no memory. */
static struct row *rows_of(const struct look_view *view, enum look_top_order order, size_t *count_out)
{
    struct row *rows = calloc(view->cce.count + 1, sizeof *rows);
    size_t count = 0, cell = 0;
    if (rows == NULL)
        return NULL;
    for (size_t i = 0; i < view->cce.count; i++) {
        const struct look_cce *cce = &view->cce.at[i];
        if (cce->state == BCRI_CCE_DEAD)
            continue;
        struct row *row = &rows[count++];
        *row = (struct row){.cce = cce, .used = cce->used, .limit = cce->limit};
        count_rates(row, view);
        for (; cell < view->cell.count; cell++) { /* sorted alike */
            const struct look_cell *at = &view->cell.at[cell];
            if (at->host > cce->host || (at->host == cce->host && at->owner > cce->index))
                break;
            row->regions += at->host == cce->host && at->owner == cce->index ? at->length : 0;
        }
        row->key = key_of(row, order);
    }
    qsort(rows, count, sizeof *rows, by_key);
    *count_out = count;
    return rows;
}

/* Those with most regions first, of those with equally many the one most put into. */
static int by_depth(const void *left, const void *right)
{
    const struct look_cell *a = *(const struct look_cell *const *)left,
                           *b = *(const struct look_cell *const *)right;
    if (a->length != b->length)
        return MORE(a->length, b->length);
    return a->puts != b->puts ? MORE(a->puts, b->puts) : MORE(b, a);
}

static void show_sums(FILE *out, const struct look_top *top, const struct look_view *view,
                      const struct row *rows, size_t count)
{
    struct row all = {.cce = NULL};
    for (size_t i = 0; i < count; i++) {
        all.puts += rows[i].puts;
        all.gets += rows[i].gets;
        all.bytes += rows[i].bytes;
        all.regions += rows[i].regions;
        all.used += rows[i].used;
        all.limit += rows[i].limit;
    }
    show_line(out, top, "enl top: program %s, %zu host%s, %zu CCE%s", top->program, view->host.count,
              view->host.count == 1 ? "" : "s", count, count == 1 ? "" : "s");
    show_line(out, top, "%s puts/s, %s gets/s, about %s bytes/s; %s regions in cells, heaps %s of %s bytes",
              rate(view, all.puts), rate(view, all.gets), rate(view, all.bytes), amount((double)all.regions),
              amount((double)all.used), amount((double)all.limit));
}

static void show_verdict(FILE *out, const struct look_top *top, const struct look_view *view)
{
    struct look_why why;
    if (view->before == NULL || !look_why(view, &why)) {
        fputc('\n', out);
        return;
    }
    if (why.all_stuck)
        show_line(out, top, "deadlock: all CCEs wait for each other; enl why %s tells how", top->program);
    else if (why.stuck != 0)
        show_line(out, top, "%zu wait for CCEs that wait themselves (enl why %s), %zu run or can go on",
                  why.stuck, top->program, why.running + why.blocked);
    else
        show_line(out, top, "%zu wait without a time limit, %zu run, or wait for a time", why.blocked,
                  why.running);
    look_why_fini(&why);
}

/* What it waits for, or, if it does not, what it is. */
static const char *say_what(const struct look_view *view, const struct row *row)
{
    const struct look_cce *cce = row->cce;
    if (cce->holder != 0)
        return look_text("inside a call for a lock of %s", look_say_cce(view, cce->host, cce->holder - 1));
    if (row->asleep_ns == 0)
        return look_text("- %s", enl_last_part(cce->name));
    const struct look_wait *wait = look_view_slept_for(view, cce);
    const char *other = look_sleeps_for(cce);
    const struct look_note *note = look_view_note(view, cce);
    const char *what = note != NULL    ? look_say_note(view, note)
                       : wait != NULL  ? look_say_wait(view, wait)
                       : other != NULL ? look_text("for %s", other)
                                       : "";
    return look_text("%s %s", look_say_time(row->asleep_ns),
                     strncmp(what, "waits ", 6) == 0 ? what + 6 : what);
}

static void show_top_row(FILE *out, const struct look_top *top, const struct look_view *view,
                         const struct row *row)
{
    const struct look_cce *cce = row->cce;
    show_line(out, top, "%4" PRIu64 " %5" PRIu64 " %8" PRIu64 " %-8s %5s %5s %5s %5s %3.0f%% %5s %s",
              cce->host, cce->ordinal, cce->pid, look_say_state(cce), rate(view, row->puts),
              rate(view, row->gets), rate(view, row->bytes), amount((double)cce->used),
              cce->limit != 0 ? 100.0 * (double)cce->used / (double)cce->limit : 0.0,
              amount((double)row->regions), say_what(view, row));
}

static void show_cells(FILE *out, const struct look_top *top, const struct look_view *view, unsigned count)
{
    const struct look_cell **cells = calloc(view->cell.count + 1, sizeof(void *));
    if (cells == NULL)
        return;
    for (size_t i = 0; i < view->cell.count; i++)
        cells[i] = &view->cell.at[i];
    qsort(cells, view->cell.count, sizeof(void *), by_depth);
    show_heading(out, top, "HOST   CCE    CELL KIND    REGNS  HIGH    OLDEST BYTES WAIT LOCK");
    for (unsigned i = 0; i < count; i++) {
        const struct look_cell *cell = cells[i];
        const struct look_cce *owner = look_view_cce(view, cell->host, cell->owner);
        uint64_t age_ns;
        show_line(out, top, "%4" PRIu64 " %5" PRIu64 " %7" PRIu64 " %-7s %5s %5s %9s %5s %4u %s", cell->host,
                  owner != NULL ? owner->ordinal : 0, cell->cell, look_say_kind(cell->kind),
                  amount((double)cell->length), amount((double)cell->high), look_say_oldest(view, cell),
                  amount((double)cell->bytes), look_view_waiting(view, cell, &age_ns),
                  cell->locker != 0 ? look_say_cce(view, cell->host, cell->locker - 1) : "");
    }
    free(cells);
}

static void show_keys(FILE *out, const struct look_top *top, size_t count, unsigned shown)
{
    static const char *const orders[] = {"CCE", "rate", "heap", "wait"};
    if (top->complaint != NULL)
        show_line(out, top, "%.*s", (int)strcspn(top->complaint, "\n"), top->complaint);
    else if (count > shown)
        show_line(out, top, "q quit, s sort (by %s), space and b: CCEs %zu to %zu of %zu", orders[top->order],
                  top->first + 1, top->first + shown, count);
    else
        show_line(out, top, "q quit, s sort (by %s)", orders[top->order]);
}

unsigned look_top_show(FILE *out, struct look_top *top, const struct look_view *view)
{
    enum { ABOVE = 4, BELOW = 1, CELLS_HEADING = 2 };
    size_t count;
    struct row *rows = rows_of(view, top->order, &count);
    if (rows == NULL || top->rows < LOOK_TOP_ROWS || top->columns < LOOK_TOP_COLUMNS) {
        show_line(out, top, rows == NULL ? "no memory" : "too small; q quits");
        free(rows);
        return 1;
    }
    show_sums(out, top, view, rows, count);
    show_verdict(out, top, view);
    unsigned cells = top->rows >= 2 * LOOK_TOP_ROWS ? top->rows / 4 : 0, room = top->rows - ABOVE - BELOW;
    if (cells > view->cell.count)
        cells = (unsigned)view->cell.count;
    if (cells != 0)
        room -= cells + CELLS_HEADING;
    if (top->first >= count)
        top->first = count != 0 ? (count - 1) / room * room : 0;
    const unsigned shown = count - top->first < room ? (unsigned)(count - top->first) : room;
    show_heading(out, top, "HOST   CCE      PID STATE    PUT/S GET/S BYT/S  HEAP USED REGNS WAITS");
    for (unsigned i = 0; i < room; i++)
        if (i < shown)
            show_top_row(out, top, view, &rows[top->first + i]);
        else
            fputc('\n', out);
    if (cells != 0) {
        fputc('\n', out);
        show_cells(out, top, view, cells);
    }
    show_keys(out, top, count, shown);
    free(rows);
    return room;
}
