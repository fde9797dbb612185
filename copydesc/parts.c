/* SPDX-License-Identifier: MIT */
/*
 * parts.c -- what stretches of triples do, and the parts of a list (parts.h).
 *
 * A list and its tail lie one behind the other in one array. So a part of the list may extend into
 * the tail, and the list then continues behind that part. The lead of a list, which is what copies
 * nothing at its beginning, is always one part. A list that runs into another takes over that
 * list's lead as the end of its own last stretch and then skips the lead. So a stretch is never
 * divided, whatever lists begin in its middle, and between one triple that copies and the next
 * there are never more than a few parts. */
#include "parts.h"

#include <bcr/error.h>

#include "bcri/private.h"
#include "triple.h"

/* ---- stretches ---- */

static struct extent extent_of_stretch(const struct validation *validation, const struct stretch *stretch,
                                       bool is_source, int phase)
{
    const struct layout *layout = is_source ? &validation->source : &validation->destination;
    const struct extent_table *next = is_source ? stretch->source : stretch->destination;
    struct extent extent = extent_nothing(phase);
    for (int idx = stretch->first; idx < stretch->end; idx++) {
        const struct triple triple = triple_known(validation->triples, idx);
        int skip = stretch->skip | triple.skip;
        if (layout->user)
            extent_adjust(&extent, triple.adjust);
        if (triple.repl == 0)
            continue;
        if (triple.nest) {
            const struct note *below = validate_nested(validation, triple.target, skip);
            const struct extent_table *table = is_source ? &below->source : &below->destination;
            extent_append_repeats(&extent, table->once, table->phases, triple.repl);
        } else if (is_source ? skip_moves_source(skip) : skip_moves_destination(skip)) {
            extent_items(&extent, layout->size_bytes[triple.type], layout->align_bytes[triple.type],
                         triple.repl);
        }
    }
    if (next)
        extent_append_repeats(&extent, next->once, next->phases, 1);
    return extent;
}

static int make_extent_table(struct validation *validation, const struct stretch *stretch, bool is_source,
                             struct extent_table *table)
{
    table->once = bcri_private_alloc((size_t)table->phases * sizeof(struct extent));
    if (!table->once)
        return bcrE_NOMEM;
    validation->size_bytes += (size_t)table->phases * sizeof(struct extent);
    for (int phase = 0; phase < table->phases; phase++)
        table->once[phase] = extent_of_stretch(validation, stretch, is_source, phase);
    return 0;
}

int stretch_extents(struct validation *validation, const struct stretch *stretch, struct extent_table *source,
                    struct extent_table *destination)
{
    int error = make_extent_table(validation, stretch, true, source);
    return error ? error : make_extent_table(validation, stretch, false, destination);
}

/* ---- parts ---- */

/* Whether this triple of a note copies something. */
static bool triple_copies(const struct validation *validation, const struct note *note, int idx)
{
    const struct triple triple = triple_known(validation->triples, idx);
    int skip = note->skip | triple.skip;
    return triple.repl > 0 &&
           (triple.nest ? validate_nested(validation, triple.target, skip)->copies : skip == 0);
}

/* Adds triples that are done one by one. They extend the last part if that is of the same kind and
 * not the lead. */
static void add_single(struct note *note, int first, int end)
{
    struct part *last = note->part_count > 0 ? &note->parts[note->part_count - 1] : NULL;
    if (last && !part_is_stretch(last) && last->first >= note->first + note->lead)
        last->end = end;
    else
        note->parts[note->part_count++] = (struct part){.first = first, .end = end};
}

static int add_stretch(struct validation *validation, struct note *note, const struct stretch *stretch)
{
    struct part *part = &note->parts[note->part_count++];
    *part = (struct part){.first = stretch->first,
                          .end = stretch->end,
                          .source = {.phases = note->source.phases},
                          .destination = {.phases = note->destination.phases}};
    return stretch_extents(validation, stretch, &part->source, &part->destination);
}

/* Adds triples that copy nothing; there may be none. */
static int add_idle(struct validation *validation, struct note *note, const struct stretch *stretch)
{
    if (stretch->source || stretch->end - stretch->first >= VALIDATION_IDLE_MIN)
        return add_stretch(validation, note, stretch);
    if (stretch->first < stretch->end)
        add_single(note, stretch->first, stretch->end);
    return 0;
}

/* Adds the triples at the end of the note that copy nothing, together with the tail's lead. */
static int add_last_idle(struct validation *validation, struct note *note, int first)
{
    const struct note *tail = note->tail;
    struct stretch last = {.first = first, .end = note->first + note->own_count, .skip = note->skip};
    note->rest = tail;
    if (tail && !tail->copies) {
        last.source = &tail->source;
        last.destination = &tail->destination;
        note->rest = NULL;
    } else if (tail && tail->lead > 0 && first < last.end) {
        const struct part *lead = &tail->parts[0];
        last.source = part_is_stretch(lead) ? &lead->source : NULL;
        last.destination = part_is_stretch(lead) ? &lead->destination : NULL;
        last.end += part_is_stretch(lead) ? 0 : tail->lead;
        note->rest = tail->part_count > 1 ? tail : tail->rest;
        note->rest_from = tail->part_count > 1 ? 1 : tail->rest_from;
    }
    return add_idle(validation, note, &last);
}

/* An upper bound for the number of parts of a note. */
static size_t parts_at_most(const struct note *note)
{
    return 2 * ((size_t)note->own_count / VALIDATION_IDLE_MIN) + 4;
}

int parts_make(struct validation *validation, struct note *note)
{
    const int end = note->first + note->own_count;
    int first = note->first; /* the first triple that copies nothing */
    while (first < end && !triple_copies(validation, note, first))
        first++;
    note->lead = first - note->first + (first == end ? note->tail->lead : 0);
    note->parts = bcri_private_zeroed(parts_at_most(note), sizeof *note->parts);
    if (!note->parts)
        return bcrE_NOMEM;
    validation->size_bytes += parts_at_most(note) * sizeof *note->parts;
    first = note->first;
    for (int idx = note->first; idx < end; idx++) {
        if (!triple_copies(validation, note, idx))
            continue;
        const struct stretch before = {.first = first, .end = idx, .skip = note->skip};
        int error = add_idle(validation, note, &before);
        if (error)
            return error;
        add_single(note, idx, idx + 1);
        first = idx + 1;
    }
    return add_last_idle(validation, note, first);
}

void parts_free(struct note *note)
{
    for (int i = 0; i < note->part_count; i++) {
        bcri_private_free(note->parts[i].source.once);
        bcri_private_free(note->parts[i].destination.once);
    }
    bcri_private_free(note->parts);
}
