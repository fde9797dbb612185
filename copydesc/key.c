/* SPDX-License-Identifier: MIT */
/*
 * key.c -- reading and comparing what can be reached from a descriptor (key.h).
 */
#include "key.h"

#include <string.h>

#include <bcr/error.h>

#include "bcri/private.h"

/* ---- reading ---- */

struct reader {
    const int *copydesc;
    struct key key;
    bool *seen; /* by triple, for `room` triples */
    int room;   /* triples */
    int span_room;
    int *targets; /* lists that are still to be read */
    int target_count, target_room;
};

/* Makes the array large enough for `count` elements; returns the new array or NULL. */
static void *grow(void *array, int *room, int count, size_t size)
{
    int wanted = *room ? *room : 8;
    while (wanted < count)
        wanted *= 2;
    void *grown = bcri_private_resize(array, (size_t)wanted * size);
    if (grown)
        *room = wanted;
    return grown;
}

static int make_room(struct reader *reader, int idx)
{
    if (idx < reader->room)
        return 0;
    int old = reader->room, room = old;
    int *triples = grow(reader->key.triples, &room, idx + 1, 3 * sizeof(int));
    if (!triples)
        return bcrE_NOMEM;
    reader->key.triples = triples;
    bool *seen = bcri_private_resize(reader->seen, (size_t)room * sizeof(bool));
    if (!seen)
        return bcrE_NOMEM;
    reader->seen = seen;
    bool *starts = bcri_private_resize(reader->key.starts, (size_t)room * sizeof(bool));
    if (!starts)
        return bcrE_NOMEM;
    reader->key.starts = starts;
    memset(starts + old, 0, (size_t)(room - old) * sizeof(bool));
    memset(triples + 3 * old, 0, (size_t)(room - old) * 3 * sizeof(int));
    memset(seen + old, 0, (size_t)(room - old) * sizeof(bool));
    reader->room = room;
    return 0;
}

static int add_target(struct reader *reader, int target)
{
    int error = make_room(reader, target);
    if (error)
        return error;
    if (reader->key.starts[target])
        return 0;
    reader->key.starts[target] = true;
    if (reader->target_count == reader->target_room) {
        int *targets = grow(reader->targets, &reader->target_room, reader->target_count + 1, sizeof *targets);
        if (!targets)
            return bcrE_NOMEM;
        reader->targets = targets;
    }
    reader->targets[reader->target_count++] = target;
    return 0;
}

static int add_span(struct reader *reader, int first, int count)
{
    if (count == 0)
        return 0;
    if (reader->key.span_count == reader->span_room) {
        struct span *spans =
            grow(reader->key.spans, &reader->span_room, reader->key.span_count + 1, sizeof *spans);
        if (!spans)
            return bcrE_NOMEM;
        reader->key.spans = spans;
    }
    reader->key.spans[reader->key.span_count++] = (struct span){first, count};
    return 0;
}

/* Reads a list up to its END, or to where it joins one that was read before. */
static int read_list(struct reader *reader, int first)
{
    struct triple triple = {.end = false};
    int idx = first;
    for (; !triple.end; idx++) {
        if (idx >= TRIPLE_COUNT_MAX)
            return bcrE_DESC;
        int error = make_room(reader, idx);
        if (error)
            return error;
        if (reader->seen[idx])
            break;
        int *words = reader->key.triples + 3 * idx;
        memcpy(words, reader->copydesc + 3 * idx, 3 * sizeof(int));
        if (!triple_good(words, idx))
            return bcrE_DESC;
        reader->seen[idx] = true;
        triple = triple_known(reader->key.triples, idx);
        if (reader->key.triple_count <= idx)
            reader->key.triple_count = idx + 1;
        if (triple.nest && (error = add_target(reader, triple.target)) != 0)
            return error;
    }
    return add_span(reader, first, idx - first);
}

int key_read(struct key *key_out, const int *copydesc)
{
    struct reader reader = {.copydesc = copydesc};
    int error = read_list(&reader, 0);
    while (!error && reader.target_count > 0)
        error = read_list(&reader, reader.targets[--reader.target_count]);
    bcri_private_free(reader.seen);
    bcri_private_free(reader.targets);
    if (error)
        key_free(&reader.key);
    else
        *key_out = reader.key;
    return error;
}

void key_free(struct key *key)
{
    bcri_private_free(key->triples);
    bcri_private_free(key->starts);
    bcri_private_free(key->spans);
}

/* ---- comparing ---- */

bool key_rest_equals(const struct key *key, const int *copydesc, int first_span)
{
    for (int i = first_span; i < key->span_count; i++) {
        const struct span *span = &key->spans[i];
        const int *want = key->triples + 3 * span->first, *got = copydesc + 3 * span->first;
        for (int k = 0; k < span->count; k++, want += 3, got += 3)
            if (((want[0] ^ got[0]) | (want[1] ^ got[1]) | (want[2] ^ got[2])) != 0)
                return false;
    }
    return true;
}
