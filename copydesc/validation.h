/* SPDX-License-Identifier: MIT */
/*
 * validation.h -- checks every list that can be reached from a descriptor, before anything is
 * copied.
 *
 * A validation decides whether the descriptor is well formed. For each list, under each set of
 * inherited skip flags, it makes a note: whether anything in the list is copied, and what the list
 * does to the position on each side (extent.h). It looks at each list once, however many NESTs lead
 * there, so its time is bounded by the descriptor's size, not by what it expands to. */
#ifndef COPYDESC_VALIDATION_H
#define COPYDESC_VALIDATION_H

#include <stdbool.h>
#include <stddef.h>

#include "extent.h"
#include "key.h"
#include "layout.h"

enum { VALIDATION_DEPTH_MAX = 64 };

struct oplist; /* plan.h */

/* What a list does on one side. */
struct extent_table {
    int phases;          /* the largest alignment in the list: 1, 2, 4 or 8 */
    struct extent *once; /* what the list does once, for each of these phases */
};

/* A part of a list in which something is copied. It is either triples that a copy does one by one,
 * or a stretch of at least VALIDATION_IDLE_MIN triples in which nothing is copied and which a copy
 * passes at once (parts.c). */
enum { VALIDATION_IDLE_MIN = 8 };
struct part {
    int first, end;                          /* `end` is the first behind it */
    struct extent_table source, destination; /* a stretch: all that it does; else empty */
};

/* What is known about the list that begins at triple `first`, under the flags `skip` of the NESTs
 * that lead there. When a list runs into the beginning of another one, that other one becomes its
 * tail, so each triple is looked at once. */
struct note {
    int first;
    int own_count; /* triples up to its END, or to the first that belongs to `tail` */
    struct note *tail;
    struct note *before; /* while notes are being made: the note whose tail this is */
    int skip;
    int height;  /* levels of nesting below */
    bool copies; /* something in it is copied; then each repeat uses up at least a byte on each side */
    struct extent_table source, destination;

    /* If something is copied: the parts in which a copy goes through it. */
    int lead; /* number of triples before the first that copies something; they are the first part */
    struct part *parts; /* of its own triples, and perhaps of some of the tail; owned */
    int part_count;
    const struct note *rest; /* where the list continues; NULL: nowhere */
    int rest_from;           /* and the part with which it continues there */

    struct oplist *compiled; /* by phases, source * 8 + destination; only while a plan is made (plan.c) */
    struct note *compiled_next;
};

struct validation {
    const int *triples; /* borrowed, like starts */
    const bool *starts; /* by triple: does a nested list begin there? */
    struct layout source, destination;
    struct note root;
    struct note **nested; /* hash table, open addressing, at most half full; owned */
    size_t nested_count;
    size_t nested_capacity; /* 0 or a power of two */
    size_t size_bytes;      /* memory that it takes */
    struct note *compiled;  /* the notes for which a list is compiled, while a plan is made */
};

/* Returns 0; bcrE_DESC; bcrE_NOMEM. Each triple that can be reached must have been read and be well
 * formed by itself (key.h). Borrows the key until validation_fini, which the caller must call only
 * after a success. */
int validation_init(struct validation *validation, const struct key *key, const struct layout *source,
                    const struct layout *destination);
void validation_fini(struct validation *validation);

/* The note of a list nested in a well-formed descriptor. */
struct note *validate_nested(const struct validation *validation, int first, int skip);

static inline bool part_is_stretch(const struct part *part)
{
    return part->source.once != NULL;
}

/* What `repl` repeats of a list do to a position, from `pos`. */
struct extent extent_of_repeats(const struct extent_table *table, int64_t pos, int repl);

/* How many of `repl` repeats of a list, from these positions, stay within both sides' lengths. */
int validation_that_fit(const struct note *note, int repl, int64_t source_pos, int64_t source_length,
                        int64_t destination_pos, int64_t destination_length);

#endif
