/* SPDX-License-Identifier: MIT */
/* Buffers within buffers, and messages that are passed on as they came. */
#include "earl_members.h"

enum { CONTEXT = 6, MANY = 50000 };

static long items[MANY];

static earl_buffer *made(int is_raw, int first, int many)
{
    earl_buffer *buffer = earl_buffer_make(is_raw);
    MUST(buffer != NULL);
    for (int i = 0; i < many; i++)
        items[i] = first + i;
    MUST(earl_pack(buffer, EARL_LONG, items, (size_t)many, 1) == EARL_OK);
    return buffer;
}

static void must_have(earl_buffer *buffer, int first, int many)
{
    memset(items, 0, sizeof items);
    MUST(earl_unpack(buffer, EARL_LONG, items, (size_t)many, 1) == EARL_OK);
    for (int i = 0; i < many; i++)
        MUST(items[i] == first + i);
}

static earl_buffer *received(int source, int tag)
{
    earl_buffer *buffer = NULL;
    const struct earl_wanted wanted = wants(CONTEXT, source, tag);
    MUST(earl_buffer_receive(&wanted, 1, &buffer, NULL) == 1);
    return buffer;
}

/* A message goes round: each passes on what has come, with what was nested in it. */
static void round_trip(int many)
{
    const int next = (self + 1) % count, before = (self + count - 1) % count;
    earl_buffer *nested;
    if (self == 0) {
        earl_buffer *outer = earl_buffer_make(0), *inner = made(0, 7, many), *raw = made(1, 3, 10);
        MUST(outer != NULL && earl_pack(outer, EARL_INT, &many, 1, 1) == EARL_OK);
        MUST(earl_nest(outer, inner) == EARL_OK && earl_nest(outer, raw) == EARL_OK);
        must_have(inner, 7, many); /* its own unpacking is as it was */
        MUST(earl_pack(outer, EARL_INT, &many, 1, 1) == EARL_OK);
        MUST(earl_buffer_send(outer, 1, &next, CONTEXT, 1) == EARL_OK);
        earl_buffer_free(inner);
        earl_buffer_free(raw);
        earl_buffer_free(outer);
    }
    earl_buffer *came = received(before, 1);
    int told = -1;
    if (self != 0) {
        MUST(earl_unpack(came, EARL_INT, &told, 1, 1) == EARL_OK); /* which changes nothing */
        earl_buffer *copy = earl_buffer_make(1);
        MUST(copy != NULL && earl_buffer_append(copy, came) == EARL_OK);
        MUST(earl_buffer_length(copy) == earl_buffer_length(came));
        MUST(earl_buffer_send(copy, 1, &next, CONTEXT, 1) == EARL_OK);
        earl_buffer_free(copy);
        MUST(earl_rewind(came) == EARL_OK);
    }
    MUST(earl_unpack(came, EARL_INT, &told, 1, 1) == EARL_OK && told == many);
    MUST(earl_unnest(came, &nested) == EARL_OK);
    must_have(nested, 7, many);
    MUST(earl_unpack(nested, EARL_BYTE, &told, 1, 1) == EARL_E_END);
    earl_buffer_free(nested);
    MUST(earl_unnest(came, &nested) == EARL_OK && earl_buffer_length(nested) % 10 == 0);
    MUST(earl_buffer_is_raw(nested) == 1);
    earl_buffer_free(nested);
    MUST(earl_unpack(came, EARL_INT, &told, 1, 1) == EARL_OK && told == many);
    earl_buffer_free(came);
}

/* One that is cleared is as new, whatever it was used for: packed, sent to one or several, long, of another kind. */
static void clear(void)
{
    const int all = earl_processes(), own = earl_process(), many = all < 2 ? 1 : 2;
    const int to[] = {own, (own + 1) % all}, before = (own + all - 1) % all;
    earl_buffer *buffer = made(0, 3, 4), *raw = made(1, 9, 1);
    for (int length = 1; length < MANY; length *= 7) {
        MUST(earl_buffer_clear(buffer) == EARL_OK && earl_buffer_length(buffer) == 0);
        for (int i = 0; i < length; i++)
            items[i] = length + i;
        MUST(earl_pack(buffer, EARL_LONG, items, (size_t)length, 1) == EARL_OK);
        MUST(earl_buffer_send(buffer, many, to, CONTEXT, 9) == EARL_OK);
        MUST(earl_buffer_clear(buffer) == EARL_OK && earl_pack(buffer, EARL_LONG, items, 1, 1) == EARL_OK);
        MUST(earl_buffer_send(buffer, 1, &to[many - 1], CONTEXT, 9) == EARL_OK);
        for (int i = 0; i < many + 1; i++) {
            earl_buffer *came = received(i == 0 ? earl_process() : before, 9);
            const int has = i < many ? length : 1;
            MUST(earl_buffer_length(came) == (long long)has * (long long)sizeof(long));
            must_have(came, length, has);
            MUST(earl_buffer_clear(came) == EARL_E_ARG);
            earl_buffer_free(came);
        }
        must_have(buffer, length, 1);
    }
    MUST(earl_buffer_clear(buffer) == EARL_OK && earl_buffer_append(buffer, raw) == EARL_OK &&
         earl_buffer_is_raw(buffer) == 1);
    MUST(earl_buffer_clear(buffer) == EARL_OK && earl_buffer_is_raw(buffer) == 0);
    MUST(earl_buffer_clear(NULL) == EARL_E_ARG);
    earl_buffer_free(buffer);
    earl_buffer_free(raw);
    MUST(earl_barrier(NULL) == EARL_OK);
}

void splices(void)
{
    static const int lengths[] = {0, 1, 50, 51, 900, 8000, MANY};
    earl_buffer *one = made(0, 5, 3), *raw = made(1, 8, 2), *empty = earl_buffer_make(0), *nested = NULL;
    MUST(empty != NULL);
    MUST(earl_buffer_append(one, raw) == EARL_E_ARG && earl_buffer_append(raw, one) == EARL_E_ARG &&
         earl_buffer_append(one, one) == EARL_E_ARG && earl_buffer_append(NULL, one) == EARL_E_ARG &&
         earl_buffer_append(one, NULL) == EARL_E_ARG);
    MUST(earl_nest(one, one) == EARL_E_ARG && earl_nest(NULL, one) == EARL_E_ARG &&
         earl_nest(one, NULL) == EARL_E_ARG && earl_unnest(NULL, &nested) == EARL_E_ARG &&
         earl_unnest(one, NULL) == EARL_E_ARG);
    /* What is no buffer is none: nothing is taken. */
    MUST(earl_unnest(empty, &nested) == EARL_E_END && earl_unnest(one, &nested) == EARL_E_END);
    must_have(one, 5, 3);
    MUST(earl_unnest(one, &nested) == EARL_E_END && nested == NULL);
    /* An empty buffer becomes of the kind of what is added to it. */
    MUST(earl_buffer_append(empty, raw) == EARL_OK && earl_buffer_append(empty, raw) == EARL_OK &&
         earl_buffer_append(empty, one) == EARL_E_ARG);
    must_have(empty, 8, 2);
    must_have(empty, 8, 2);
    earl_buffer *twice = earl_buffer_make(0);
    MUST(twice != NULL && earl_buffer_append(twice, one) == EARL_OK &&
         earl_pack(twice, EARL_LONG, items, 2, 1) == EARL_OK && earl_buffer_append(twice, one) == EARL_OK);
    must_have(twice, 5, 3);
    must_have(twice, 8, 2);
    must_have(twice, 5, 3);
    for (int i = 0; i < 7; i++)
        round_trip(lengths[i]);
    clear();
    MUST(earl_buffer_is_raw(one) == 0 && earl_buffer_is_raw(raw) == 1 && earl_buffer_is_raw(empty) == 1 &&
         earl_buffer_is_raw(NULL) == EARL_E_ARG);
    earl_buffer_free(one);
    earl_buffer_free(raw);
    earl_buffer_free(empty);
    earl_buffer_free(twice);
    MUST(earl_barrier(NULL) == EARL_OK);
}
