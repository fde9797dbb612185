/* SPDX-License-Identifier: MIT */
/* What all of a group do together. */
#include "earl_members.h"

static void join(void *into, const void *from, void *argument)
{
    /* Not commutative: the places in their order. */
    char *text = into;
    const char *other = from;
    const size_t length = strlen(text);
    MUST(argument == &count);
    snprintf(text + length, 4096 - length, "%s", other);
}

static void add(void *into, const void *from, void *argument)
{
    (void)argument;
    for (int i = 0; i < 1000; i++)
        ((long *)into)[i] += ((const long *)from)[i];
}

static void with(const struct earl_group *group, int place, int members)
{
    static char text[4096], expected[4096];
    static long sums[1000];
    size_t at = 0;
    expected[0] = '\0';
    for (int i = 0; i < members; i++)
        at += (size_t)snprintf(expected + at, sizeof expected - at, "%d,", i);
    for (int turn = 0; turn < number; turn++) {
        memset(text, 0, sizeof text);
        snprintf(text, sizeof text, "%d,", place);
        MUST(earl_reduce(group, text, sizeof text, join, &count) == EARL_OK && strcmp(text, expected) == 0);
        for (int i = 0; i < 1000; i++)
            sums[i] = i + place;
        MUST(earl_reduce(group, sums, sizeof sums, add, NULL) == EARL_OK);
        for (int i = 0; i < 1000; i++)
            MUST(sums[i] == (long)i * members + (long)members * (members - 1) / 2);
        const int root = turn % members;
        int word = place == root ? turn * 5 : -1;
        MUST(earl_broadcast(group, root, &word, sizeof word) == EARL_OK && word == turn * 5);
        MUST(earl_barrier(group) == EARL_OK);
    }
    /* Parts of unlike lengths. */
    size_t *lengths = calloc((size_t)members, sizeof *lengths), total = 0;
    MUST(lengths != NULL);
    for (int i = 0; i < members; i++)
        total += lengths[i] = (size_t)(i * 1000);
    unsigned char *own = allocate(lengths[place]), *all = allocate(total);
    fill(own, lengths[place], (unsigned)place);
    MUST(earl_collect(group, own, lengths, all) == EARL_OK);
    const unsigned char *part = all;
    for (int i = 0; i < members; part += lengths[i++])
        MUST(is_filled(part, lengths[i], (unsigned)i));
    free(own);
    free(all);
    free(lengths);
}

/* One that differs is told of to all, and what comes then is as before. */
static void unlike_lengths(void)
{
    size_t *lengths = calloc((size_t)count, sizeof *lengths);
    char text[16] = "", all[16];
    MUST(lengths != NULL);
    if (count == 1) {
        free(lengths);
        return;
    }
    MUST(earl_reduce(NULL, text, self == count - 1 ? 5 : 6, join, &count) == EARL_E_CUT);
    MUST(earl_reduce(NULL, text, self == 0 ? 0 : 6, join, &count) == EARL_E_CUT);
    lengths[count - 1] = self == count - 1 ? 3 : 4;
    MUST(earl_collect(NULL, text, lengths, all) == EARL_E_CUT);
    MUST(earl_barrier(NULL) == EARL_OK);
    free(lengths);
}

void groups(void)
{
    unlike_lengths();
    with(NULL, self, count);
    /* Those of even numbers, the last one first. */
    int *members = calloc((size_t)count, sizeof *members), many = 0, place = -1;
    MUST(members != NULL);
    for (int i = count - 1; i >= 0; i--)
        if (i % 2 == 0) {
            place = i == self ? many : place;
            members[many++] = i;
        }
    const struct earl_group even = {many, members, 12};
    if (self % 2 == 0)
        with(&even, place, many);
    else
        MUST(earl_barrier(&even) == EARL_E_ARG);
    free(members);
}
