/* SPDX-License-Identifier: MIT */
/* See look.h. */
#include "inspect/look/look.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "bcri/record.h"
#include "bcri/slot.h"

bool look_view_keep(struct look_view *view, const struct look_row *row)
{
    switch (row->kind) {
#define KEEP(KIND, name)                                                                              \
    case LOOK_KIND_##KIND:                                                                            \
        if (!enl_grow(&view->name.at, &view->name.room, view->name.count + 1, sizeof *view->name.at)) \
            return false;                                                                             \
        view->name.at[view->name.count++] = row->name;                                                \
        return true;
        LOOK_KINDS(KEEP)
#undef KEEP
    default: return true;
    }
}

const char *look_view_add(struct look_view *view, const uint8_t *bytes, size_t length)
{
    struct bcri_cursor cursor = {bytes, length};
    struct look_row row;
    int got = look_read(&cursor, &row);
    if (got != 1)
        return got == 0 ? "its snapshot is empty" : "its snapshot makes no sense";
    if (row.kind != LOOK_KIND_HOST || row.host.version != LOOK_VERSION)
        return "its snapshot is of another version of enl";
    bool ended = false;
    for (; got == 1 && !ended; got = look_read(&cursor, &row)) {
        ended = row.kind == LOOK_KIND_END;
        if (!look_view_keep(view, &row))
            return "there is no memory for its snapshot";
    }
    return ended ? NULL : "its snapshot is cut off";
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int by_host(const void *left, const void *right)
{
    const struct look_host *a = left, *b = right;
    return ORDER(a->host, b->host);
}
static int by_cce(const void *left, const void *right)
{
    const struct look_cce *a = left, *b = right;
    return a->host != b->host ? ORDER(a->host, b->host) : ORDER(a->index, b->index);
}
static int by_cell(const void *left, const void *right)
{
    const struct look_cell *a = left, *b = right;
    if (a->host != b->host)
        return ORDER(a->host, b->host);
    return a->owner != b->owner ? ORDER(a->owner, b->owner) : ORDER(a->cell, b->cell);
}

static int by_cce_of_note(const void *left, const void *right)
{
    const struct look_note *a = left, *b = right;
    return a->host != b->host ? ORDER(a->host, b->host) : ORDER(a->index, b->index);
}

#define SORT(list, order)  \
    if ((list).count != 0) \
    qsort((list).at, (list).count, sizeof *(list).at, (order))
#define FIND(list, key, order) \
    ((list).count != 0 ? bsearch((key), (list).at, (list).count, sizeof *(list).at, (order)) : NULL)

void look_view_sort(struct look_view *view)
{
    SORT(view->host, by_host);
    SORT(view->cce, by_cce);
    SORT(view->cell, by_cell);
    SORT(view->note, by_cce_of_note);
}

const struct look_host *look_view_host(const struct look_view *view, uint64_t host)
{
    const struct look_host key = {.host = host};
    return FIND(view->host, &key, by_host);
}
const struct look_cce *look_view_cce(const struct look_view *view, uint64_t host, uint64_t index)
{
    const struct look_cce key = {.host = host, .index = index};
    return FIND(view->cce, &key, by_cce);
}
const struct look_cce *look_view_same(const struct look_view *before, const struct look_cce *cce)
{
    const struct look_cce *was = before != NULL ? look_view_cce(before, cce->host, cce->index) : NULL;
    return was != NULL && was->identity0 == cce->identity0 && was->identity1 == cce->identity1 ? was : NULL;
}
const struct look_cell *look_view_cell(const struct look_view *view, uint64_t host, uint64_t owner,
                                       uint64_t cell)
{
    const struct look_cell key = {.host = host, .owner = owner, .cell = cell};
    return FIND(view->cell, &key, by_cell);
}

const struct look_note *look_view_note(const struct look_view *view, const struct look_cce *cce)
{
    const struct look_note key = {.host = cce->host, .index = cce->index};
    return FIND(view->note, &key, by_cce_of_note);
}

void look_view_fini(struct look_view *view)
{
#define FREE(KIND, kind) free(view->kind.at);
    LOOK_KINDS(FREE)
#undef FREE
    *view = (struct look_view){0};
}

bool look_is_asleep(const struct look_cce *cce)
{
    return cce->state == BCRI_CCE_ALIVE && cce->asleep != BCRI_AWAKE;
}

const char *look_sleeps_for(const struct look_cce *cce)
{
    if (look_is_asleep(cce) && cce->waiting_for == BCRI_SLEEPS_FOR_ROOM)
        return "room in its nbytes";
    if (look_is_asleep(cce) && cce->waiting_for == BCRI_SLEEPS_FOR_TEAM)
        return "the rest of its team";
    return NULL;
}

uint64_t look_view_now(const struct look_view *view, uint64_t host)
{
    const struct look_host *at = look_view_host(view, host);
    return at != NULL ? at->now_ns : 0;
}

const struct look_wait *look_view_slept_for(const struct look_view *view, const struct look_cce *cce)
{
    if (!look_is_asleep(cce))
        return NULL;
    for (size_t i = 0; i < view->wait.count; i++) {
        const struct look_wait *wait = &view->wait.at[i];
        if (wait->slept != 0 && wait->host == cce->host && wait->index == cce->index)
            return wait;
    }
    return NULL;
}

unsigned look_view_waiting(const struct look_view *view, const struct look_cell *cell, uint64_t *age_ns_out)
{
    unsigned count = 0;
    *age_ns_out = 0;
    for (size_t i = 0; i < view->wait.count; i++) {
        const struct look_wait *wait = &view->wait.at[i];
        if (wait->owner_host != cell->host || wait->owner != cell->owner || wait->cell != cell->cell)
            continue;
        count++;
        const struct look_cce *cce = wait->slept != 0 ? look_view_cce(view, wait->host, wait->index) : NULL;
        const uint64_t now_ns = look_view_now(view, wait->host);
        if (cce != NULL && look_is_asleep(cce) && now_ns > cce->since_ns &&
            now_ns - cce->since_ns > *age_ns_out)
            *age_ns_out = now_ns - cce->since_ns;
    }
    return count;
}

/* ---- what several looks tell ---- */

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

/* ---- JSON ---- */

/* The letter of a process's state. */
static void json_process(FILE *out, uint64_t letter)
{
    if ((letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z'))
        fprintf(out, "\"%c\"", (char)letter);
    else
        fputs("null", out);
}

/* Names of a state: of a CCE, and of a request that is not served. */
static const char *state_name(enum look_kind kind, uint64_t state)
{
    static const char *const states[] = {"free", "starting", "alive", "dying", "dead"};
    if (kind != LOOK_KIND_WAIT)
        return state < sizeof states / sizeof states[0] ? states[state] : NULL;
    return state == BCRI_SLOT_TICKET    ? "ticket"
           : state == BCRI_SLOT_LISTED  ? "listed"
           : state == BCRI_SLOT_PUTWAIT ? "room"
           : state == BCRI_SLOT_ORDERED ? "ordered"
                                        : NULL;
}

static void json_number(FILE *out, enum look_kind kind, const char *name, uint64_t number)
{
    if (strcmp(name, "process") == 0)
        json_process(out, number);
    else if (strncmp(name, "identity", 8) == 0) /* more than a JSON number can hold */
        fprintf(out, "\"%016llx\"", (unsigned long long)number);
    else if (number == UINT64_MAX) /* for ever */
        fputs("null", out);
    else
        fprintf(out, "%llu", (unsigned long long)number);
    if (strcmp(name, "state") == 0 && state_name(kind, number) != NULL)
        fprintf(out, ",\"state_name\":\"%s\"", state_name(kind, number));
}

#define JSON_NUMBER(name)                               \
    fprintf(out, "%s\"%s\":", first ? "" : ",", #name); \
    json_number(out, of, #name, row->name);             \
    first = false;
#define JSON_TEXT(name)                                 \
    fprintf(out, "%s\"%s\":", first ? "" : ",", #name); \
    enl_json_text(out, row->name);                      \
    first = false;
#define JSON_ROW(KIND, kind)                                          \
    static void json_##kind(FILE *out, const struct look_##kind *row) \
    {                                                                 \
        const enum look_kind of = LOOK_KIND_##KIND;                   \
        bool first = true;                                            \
        fputc('{', out);                                              \
        LOOK_##KIND(JSON_NUMBER, JSON_TEXT) fputc('}', out);          \
    }
LOOK_KINDS(JSON_ROW)

void look_json(FILE *out, const struct look_view *view, unsigned kinds)
{
    const char *between = "{";
#define JSON_LIST(KIND, kind)                           \
    if ((kinds & 1u << LOOK_KIND_##KIND) != 0) {        \
        fprintf(out, "%s\"%s\":[", between, #kind);     \
        for (size_t i = 0; i < view->kind.count; i++) { \
            fputs(i != 0 ? "," : "", out);              \
            json_##kind(out, &view->kind.at[i]);        \
        }                                               \
        fputc(']', out);                                \
        between = ",";                                  \
    }
    LOOK_KINDS(JSON_LIST)
#undef JSON_LIST
    fputs("}\n", out);
}
