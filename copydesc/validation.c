/* SPDX-License-Identifier: MIT */
/*
 * validation.c -- the descent through a descriptor, and the table of notes.
 *
 * A list gets its note after all lists below it have theirs. So a list that contains itself has no
 * note when the descent meets it again, one level deeper each time, until the depth limit ends the
 * descent. */
#include "validation.h"

#include <stdint.h>

#include "bcri/private.h"
#include "parts.h"
#include "triple.h"

/* ---- the table ---- */

/* The slot where a note for this list is or belongs. */
static struct note **slot_of(struct note **table, size_t capacity, int first, int skip)
{
    uint32_t key =
        (uint32_t)first * 4 + (uint32_t)(skip / bcrT_SKIP_FM); /* the flags are two adjacent bits */
    size_t idx = (key * UINT32_C(2654435769)) >> 12;
    for (;; idx++) {
        struct note **slot = &table[idx & (capacity - 1)];
        if (!*slot || ((*slot)->first == first && (*slot)->skip == skip))
            return slot;
    }
}

struct note *validate_nested(const struct validation *validation, int first, int skip)
{
    if (validation->nested_capacity == 0)
        return NULL;
    return *slot_of(validation->nested, validation->nested_capacity, first, skip);
}

static int table_grow(struct validation *validation)
{
    size_t capacity = validation->nested_capacity ? validation->nested_capacity * 2 : 16;
    struct note **table = bcri_private_zeroed(capacity, sizeof(struct note *));
    if (!table)
        return bcrE_NOMEM;
    for (size_t i = 0; i < validation->nested_capacity; i++) {
        struct note *note = validation->nested[i];
        if (note)
            *slot_of(table, capacity, note->first, note->skip) = note;
    }
    bcri_private_free(validation->nested);
    validation->size_bytes += (capacity - validation->nested_capacity) * sizeof(struct note *);
    validation->nested = table;
    validation->nested_capacity = capacity;
    return 0;
}

/* Adds a note to the table, which takes it. */
static int table_add(struct validation *validation, struct note *note)
{
    if (2 * (validation->nested_count + 1) > validation->nested_capacity && table_grow(validation) != 0)
        return bcrE_NOMEM;
    *slot_of(validation->nested, validation->nested_capacity, note->first, note->skip) = note;
    validation->nested_count++;
    return 0;
}

static struct note *new_note(struct validation *validation, int first, int skip)
{
    struct note *note = bcri_private_zeroed(1, sizeof *note);
    if (note) {
        validation->size_bytes += sizeof *note;
        note->first = first;
        note->skip = skip;
    }
    return note;
}

static void contents_free(struct note *note)
{
    parts_free(note);
    bcri_private_free(note->source.once);
    bcri_private_free(note->destination.once);
}

static void note_free(struct note *note)
{
    if (note)
        contents_free(note);
    bcri_private_free(note);
}

/* ---- the descent ---- */

static int look_at_list(struct validation *validation, struct note *note, int level);

/* Finds the note of a nested list, or makes one. */
static int look_at_nested(struct validation *validation, int first, int skip, int level,
                          const struct note **note_out)
{
    const struct note *known = validate_nested(validation, first, skip);
    if (known) {
        *note_out = known;
        return 0;
    }
    struct note *note = new_note(validation, first, skip);
    if (!note)
        return bcrE_NOMEM;
    int error = look_at_list(validation, note, level);
    if (!error)
        error = table_add(validation, note);
    if (error) {
        note_free(note);
        return error;
    }
    *note_out = note;
    return 0;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void note_items(const struct validation *validation, struct note *note, int type, int skip)
{
    if (skip_moves_source(skip))
        note->source.phases = larger(note->source.phases, validation->source.align_bytes[type]);
    if (skip_moves_destination(skip))
        note->destination.phases =
            larger(note->destination.phases, validation->destination.align_bytes[type]);
    note->copies = note->copies || skip == 0;
}

/* What a nested list, or the tail, adds to a note. */
static void note_other(struct note *note, const struct note *other)
{
    note->copies = note->copies || other->copies;
    note->source.phases = larger(note->source.phases, other->source.phases);
    note->destination.phases = larger(note->destination.phases, other->destination.phases);
}

/* Completes a note whose tail is complete, `level` NESTs below the descriptor itself. */
static int complete(struct validation *validation, struct note *note, int level)
{
    note->height = note->tail ? note->tail->height : 0;
    note->copies = false;
    note->source.phases = note->destination.phases = 1;
    if (level + note->height > VALIDATION_DEPTH_MAX)
        return bcrE_DESC;
    if (note->tail)
        note_other(note, note->tail);
    for (int idx = note->first; idx < note->first + note->own_count; idx++) {
        const struct triple triple = triple_known(validation->triples, idx);
        int skip = note->skip | triple.skip;
        if (!triple.nest) {
            if (triple.repl > 0)
                note_items(validation, note, triple.type, skip);
            continue;
        }
        const struct note *below;
        int error = look_at_nested(validation, triple.target, skip, level + 1, &below);
        if (error)
            return error;
        if (level + 1 + below->height > VALIDATION_DEPTH_MAX)
            return bcrE_DESC;
        note->height = larger(note->height, below->height + 1);
        if (triple.repl > 0)
            note_other(note, below);
    }
    struct stretch all = {.first = note->first, .end = note->first + note->own_count, .skip = note->skip};
    if (note->tail)
        all.source = &note->tail->source, all.destination = &note->tail->destination;
    int error = stretch_extents(validation, &all, &note->source, &note->destination);
    return error || !note->copies ? error : parts_make(validation, note);
}

/* Finds out where a list ends or runs into another one. If it runs into another one that has no
 * note yet, makes that note and gives it as `*made_out`; else that is NULL. */
static int find_tail(struct validation *validation, struct note *note, struct note **made_out)
{
    *made_out = NULL;
    for (int idx = note->first;; idx++) {
        if (idx > note->first && validation->starts[idx]) {
            note->own_count = idx - note->first;
            note->tail = validate_nested(validation, idx, note->skip);
            if (note->tail)
                return 0;
            *made_out = note->tail = new_note(validation, idx, note->skip);
            return note->tail ? 0 : bcrE_NOMEM;
        }
        if (triple_known(validation->triples, idx).end) {
            note->own_count = idx + 1 - note->first;
            return 0;
        }
    }
}

/* Looks at the list `note->first` under `note->skip` and at the lists that it runs into, and
 * completes their notes, the last one first. */
static int look_at_list(struct validation *validation, struct note *note, int level)
{
    struct note *last = note, *made;
    if (level > VALIDATION_DEPTH_MAX)
        return bcrE_DESC;
    int error = find_tail(validation, last, &made);
    while (!error && made) {
        made->before = last;
        last = made;
        error = find_tail(validation, last, &made);
    }
    while (last) {
        struct note *before = last->before;
        if (!error)
            error = complete(validation, last, level);
        if (last != note) {
            if (!error)
                error = table_add(validation, last);
            if (error)
                note_free(last);
        }
        last = last == note ? NULL : before;
    }
    return error;
}

int validation_init(struct validation *validation, const struct key *key, const struct layout *source,
                    const struct layout *destination)
{
    *validation = (struct validation){
        .triples = key->triples, .starts = key->starts, .source = *source, .destination = *destination};
    int error = look_at_list(validation, &validation->root, 0);
    if (error)
        validation_fini(validation);
    return error;
}

void validation_fini(struct validation *validation)
{
    for (size_t i = 0; i < validation->nested_capacity; i++)
        note_free(validation->nested[i]);
    bcri_private_free(validation->nested);
    contents_free(&validation->root);
    validation->nested = NULL;
    validation->nested_capacity = 0;
    validation->root = (struct note){.first = 0};
}

/* ---- what it is good for ---- */

struct extent extent_of_repeats(const struct extent_table *table, int64_t pos, int repl)
{
    struct extent extent = extent_nothing(pos & (table->phases - 1));
    extent_append_repeats(&extent, table->once, table->phases, repl);
    return extent;
}

int validation_that_fit(const struct note *note, int repl, int64_t source_pos, int64_t source_length,
                        int64_t destination_pos, int64_t destination_length)
{
    int sure = 0, excess = repl, attempt = repl; /* the answer lies from sure to excess */
    while (sure < excess) {
        struct extent source = extent_of_repeats(&note->source, source_pos, attempt);
        struct extent destination = extent_of_repeats(&note->destination, destination_pos, attempt);
        if (extent_fits(&source, source_pos, source_length) &&
            extent_fits(&destination, destination_pos, destination_length))
            sure = attempt;
        else
            excess = attempt - 1;
        attempt = sure + (excess - sure + 1) / 2;
    }
    return sure;
}
