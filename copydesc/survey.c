/* SPDX-License-Identifier: MIT */
/*
 * survey.c -- the descent through a descriptor, and the table of what was found.
 *
 * A list is noted when all below it is. A list that contains itself is therefore met again and again without a
 * note, one level deeper each time, until the depth limit ends the descent with the first such path.
 */
#include "survey.h"

#include <stdint.h>
#include <stdlib.h>

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

const struct note *survey_nested(const struct survey *survey, int first, int skip)
{
    if (survey->nested_capacity == 0)
        return NULL;
    return *slot_of(survey->nested, survey->nested_capacity, first, skip);
}

static int table_grow(struct survey *survey)
{
    size_t capacity = survey->nested_capacity ? survey->nested_capacity * 2 : 16;
    struct note **table = calloc(capacity, sizeof(struct note *));
    if (!table)
        return bcrE_NOMEM;
    for (size_t i = 0; i < survey->nested_capacity; i++) {
        struct note *note = survey->nested[i];
        if (note)
            *slot_of(table, capacity, note->first, note->skip) = note;
    }
    free(survey->nested);
    survey->nested = table;
    survey->nested_capacity = capacity;
    return 0;
}

/* Takes the note. */
static int table_add(struct survey *survey, struct note *note)
{
    if (2 * (survey->nested_count + 1) > survey->nested_capacity && table_grow(survey) != 0)
        return bcrE_NOMEM;
    *slot_of(survey->nested, survey->nested_capacity, note->first, note->skip) = note;
    survey->nested_count++;
    return 0;
}

static void note_free(struct note *note)
{
    if (note)
        free(note->idle);
    free(note);
}

/* ---- the descent ---- */

/* What the idle list `note`, all of whose nested ones are noted, does once from `phase`. */
static struct glide glide_of_list(const struct survey *survey, const struct note *note, int phase)
{
    struct glide glide = glide_nothing(phase);
    struct triple triple = {.end = false};
    for (int idx = note->first; !triple.end; idx++) {
        if (triple_read(survey->copydesc, idx, &triple) != 0)
            break; /* was well formed when it was looked at */
        glide_adjust(&glide, triple.adjust);
        if (!triple.nest)
            glide_items(&glide, survey->user->size_bytes[triple.type], survey->user->align_bytes[triple.type],
                        triple.repl);
        else if (triple.repl > 0)
            glide_append_repeats(&glide, survey_nested(survey, triple.target, note->skip | triple.skip)->idle,
                                 triple.repl);
    }
    return glide;
}

static int note_glides(const struct survey *survey, struct note *note)
{
    note->idle = malloc(LAYOUT_PHASES * sizeof(struct glide));
    if (!note->idle)
        return bcrE_NOMEM;
    for (int phase = 0; phase < LAYOUT_PHASES; phase++)
        note->idle[phase] = glide_of_list(survey, note, phase);
    return 0;
}

static int look_at_list(struct survey *survey, struct note *note, int level);

/* Finds the note of a nested list, or makes one. */
static int look_at_nested(struct survey *survey, int first, int skip, int level, const struct note **note_out)
{
    const struct note *known = survey_nested(survey, first, skip);
    if (known) {
        *note_out = known;
        return 0;
    }
    struct note *note = calloc(1, sizeof *note);
    if (!note)
        return bcrE_NOMEM;
    note->first = first;
    note->skip = skip;
    int error = look_at_list(survey, note, level);
    if (!error)
        error = table_add(survey, note);
    if (error) {
        note_free(note);
        return error;
    }
    *note_out = note;
    return 0;
}

static bool moves_region(const struct survey *survey, int skip)
{
    return survey->to_region ? skip_moves_destination(skip) : skip_moves_source(skip);
}

/* Looks at the list `note->first` under `note->skip`, `level` NESTs below the descriptor itself, and completes
 * the note. */
static int look_at_list(struct survey *survey, struct note *note, int level)
{
    if (level > SURVEY_DEPTH_MAX)
        return bcrE_DESC;
    note->height = 0;
    bool idle = true;

    struct triple triple = {.end = false};
    for (int idx = note->first; !triple.end; idx++) {
        if (idx >= TRIPLE_COUNT_MAX || triple_read(survey->copydesc, idx, &triple) != 0)
            return bcrE_DESC;
        if (survey->triple_count <= idx)
            survey->triple_count = idx + 1;
        int skip = note->skip | triple.skip;
        if (!triple.nest) {
            idle = idle && (triple.repl == 0 || !moves_region(survey, skip));
            continue;
        }
        const struct note *below;
        int error = look_at_nested(survey, triple.target, skip, level + 1, &below);
        if (error)
            return error;
        if (level + 1 + below->height > SURVEY_DEPTH_MAX)
            return bcrE_DESC;
        if (note->height < below->height + 1)
            note->height = below->height + 1;
        idle = idle && (triple.repl == 0 || below->idle);
    }
    return idle ? note_glides(survey, note) : 0;
}

int survey_init(struct survey *survey, const int *copydesc, bool to_region, const struct layout *user)
{
    survey->copydesc = copydesc;
    survey->user = user;
    survey->to_region = to_region;
    survey->triple_count = 0;
    survey->nested = NULL;
    survey->nested_count = 0;
    survey->nested_capacity = 0;
    survey->root = (struct note){.first = 0, .skip = 0};
    int error = look_at_list(survey, &survey->root, 0);
    if (error)
        survey_fini(survey);
    return error;
}

void survey_fini(struct survey *survey)
{
    for (size_t i = 0; i < survey->nested_capacity; i++)
        note_free(survey->nested[i]);
    free(survey->nested);
    free(survey->root.idle);
    survey->nested = NULL;
    survey->nested_capacity = 0;
}
