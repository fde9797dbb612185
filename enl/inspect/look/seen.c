/* SPDX-License-Identifier: MIT */
/* See look.h. */
#include "inspect/look/look.h"

#include <stdlib.h>

struct look_seen_cell {
    uint64_t host, owner, cell;
    uint64_t high;
    uint32_t puts;    /* as it was when last looked at */
    uint32_t marked;  /* puts that there had been at `mark_ns` */
    uint64_t mark_ns; /* 0: it was empty */
};

static int compare_cells(const struct look_seen_cell *a, const struct look_cell *b)
{
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

/* `old`: of the look before; NULL: it is met for the first time. Counts of puts are modulo 2^32. */
static struct look_seen_cell see_cell(const struct look_seen_cell *old, const struct look_cell *cell,
                                      uint64_t now_ns)
{
    const uint32_t puts = (uint32_t)cell->puts, taken = puts - (uint32_t)cell->length;
    struct look_seen_cell new = {.host = cell->host,
                                 .owner = cell->owner,
                                 .cell = cell->cell,
                                 .high = cell->length,
                                 .puts = puts,
                                 .marked = puts,
                                 .mark_ns = cell->length != 0 ? now_ns : 0};
    if (old == NULL || (int32_t)(puts - old->puts) < 0) /* another CCE has that index now */
        return new;
    if (old->high > new.high)
        new.high = old->high;
    if (cell->length != 0 && old->mark_ns != 0 && (int32_t)(taken - old->marked) < 0) {
        new.marked = old->marked;
        new.mark_ns = old->mark_ns;
    }
    return new;
}

void look_seen_add(struct look_seen *seen, struct look_view *view)
{
    struct look_seen_cell *cells = calloc(view->cell.count + 1, sizeof *cells);
    if (cells == NULL) {
        look_seen_fini(seen);
        return;
    }
    for (size_t i = 0, at = 0; i < view->cell.count; i++) {
        struct look_cell *cell = &view->cell.at[i];
        while (at < seen->count && compare_cells(&seen->cells[at], cell) < 0)
            at++;
        const bool known = at < seen->count && compare_cells(&seen->cells[at], cell) == 0;
        cells[i] = see_cell(known ? &seen->cells[at] : NULL, cell, look_view_now(view, cell->host));
        cell->high = cells[i].high;
        cell->oldest_ns = cells[i].mark_ns;
    }
    free(seen->cells);
    *seen = (struct look_seen){cells, view->cell.count};
}

void look_seen_fini(struct look_seen *seen)
{
    free(seen->cells);
    *seen = (struct look_seen){0};
}
