/* SPDX-License-Identifier: MIT */
/* groups.c -- what all processes of a group do together, by messages in a context of Earl's own.
 *
 * Members have places 0, 1, …. Up to FLAT members the one of place 0 receives from all and sends to all, which takes fewest turns
 * where processes share cores; more form a binomial tree, whose parts are runs of places, so results are combined in the order of
 * places either way. Nothing overtakes between two members, so calls in the same order need no numbers. */
#include <stddef.h>

#include "engine.h"

enum { FLAT = 16, FEW = 1024 };
enum { TAG_UP, TAG_DOWN, TAG_COLLECT };

struct members {
    const int *processes; /* NULL: 0, 1, … */
    unsigned context;
    int count, place;
};

static int process_at(const struct members *members, int place)
{
    return members->processes == NULL ? place : members->processes[place];
}

static int find_members(struct earl *earl, const struct earl_group *group, struct members *members)
{
    *members = (struct members){NULL, EARL_CONTEXTS, earl->count, earl->process};
    if (group == NULL)
        return earl->count != 0 ? EARL_OK : EARL_E_ARG;
    if (group->count < 1 || group->processes == NULL || group->context >= EARL_CONTEXTS)
        return EARL_E_ARG;
    *members = (struct members){group->processes, EARL_CONTEXTS + 1 + group->context, group->count, -1};
    for (int i = 0; i < group->count; i++) {
        if (!earl_is_process(earl, group->processes[i]))
            return EARL_E_PROCESS;
        if (group->processes[i] == earl->process)
            members->place = i;
    }
    return members->place < 0 ? EARL_E_ARG : EARL_OK;
}

static int send_to(struct earl *earl, const struct members *members, int place, int tag, const void *data,
                   size_t length)
{
    return earl_do_send(earl, process_at(members, place), members->context, tag, data, length, false);
}

static int receive_from(struct earl *earl, const struct members *members, int place, int tag, void *data,
                        size_t length)
{
    const struct earl_wanted wanted = {members->context, process_at(members, place), tag, NULL, NULL};
    struct earl_envelope envelope;
    const int code = earl_do_receive(earl, &wanted, data, length, &envelope);
    return code == EARL_OK && (size_t)envelope.length != length ? EARL_E_CUT : code;
}

/* Bytes, or, if there has been a failure, a message of another length, which is a failure for the one who receives it. So
 * all members learn of it, and none waits for ever. */
static int pass_to(struct earl *earl, const struct members *members, int place, int tag, const void *data,
                   size_t length, int code)
{
    if (code == EARL_OK)
        return send_to(earl, members, place, tag, data, length);
    send_to(earl, members, place, tag, "", length == 0);
    return code;
}

typedef void combine(void *into, const void *from, void *argument);

/* Combines what the members have at place 0, or at each place of the tree on the way there. */
static int combine_up(struct earl *earl, const struct members *members, void *data, size_t length,
                      combine *routine, void *argument)
{
    const bool is_flat = members->count <= FLAT;
    /* Few bytes lie here: pages come from the kernel. */
    _Alignas(max_align_t) unsigned char few[FEW];
    void *other = length == 0 ? NULL : length <= FEW ? few : earl_pages(length);
    int code = length != 0 && other == NULL ? EARL_E_MEMORY : EARL_OK;
    if (is_flat && members->place != 0)
        code = pass_to(earl, members, 0, TAG_UP, data, length, code);
    for (int step = 1; step < members->count && !(is_flat && members->place != 0);
         step = is_flat ? step + 1 : 2 * step) {
        if (!is_flat && (members->place & step) != 0) {
            code = pass_to(earl, members, members->place - step, TAG_UP, data, length, code);
            break;
        }
        if (members->place + step >= members->count)
            continue;
        const int received =
            receive_from(earl, members, members->place + step, TAG_UP, other, other == NULL ? 0 : length);
        code = code != EARL_OK ? code : received;
        if (code == EARL_OK && routine != NULL)
            routine(data, other, argument);
    }
    if (other != few)
        earl_pages_free(other, length);
    return code;
}

/* Brings the bytes of place `root`, or the failure `code`, to all. */
static int spread(struct earl *earl, const struct members *members, int root, void *data, size_t length,
                  int code)
{
    const int count = members->count, place = (members->place - root + count) % count;
    if (count > 1 && count <= FLAT) {
        int others[FLAT], many = 0;
        if (place != 0) {
            const int received = receive_from(earl, members, root, TAG_DOWN, data, length);
            return code != EARL_OK ? code : received;
        }
        for (int i = 0; i < count; i++)
            if (i != root)
                others[many++] = process_at(members, i);
        const int sent = code == EARL_OK
                             ? earl_do_sendm(earl, many, others, members->context, TAG_DOWN, data, length)
                             : earl_do_sendm(earl, many, others, members->context, TAG_DOWN, "", length == 0);
        return code != EARL_OK ? code : sent;
    }
    int step = 1;
    while (step < count && (place & step) == 0)
        step *= 2;
    if (place != 0) {
        const int received =
            receive_from(earl, members, (place - step + root) % count, TAG_DOWN, data, length);
        code = code != EARL_OK ? code : received;
    }
    while ((step /= 2) >= 1)
        if (place + step < count)
            code = pass_to(earl, members, (place + step + root) % count, TAG_DOWN, data, length, code);
    return code;
}

/* What they do is over. */
static int together(struct earl *earl, int code)
{
    earl->together = NULL;
    return code;
}

static int reduce(struct earl *earl, const struct earl_group *group, void *data, size_t length,
                  combine *routine, void *argument)
{
    struct members members;
    int code = find_members(earl, group, &members);
    if (code == EARL_OK && length != 0 && (data == NULL || routine == NULL))
        code = EARL_E_ARG;
    if (code != EARL_OK)
        return together(earl, code);
    code = combine_up(earl, &members, data, length, routine, argument);
    return together(earl, spread(earl, &members, 0, data, length, code));
}

int earl_do_reduce(struct earl *earl, const struct earl_group *group, void *data, size_t length,
                   combine *routine, void *argument)
{
    earl->together = "reduce";
    return reduce(earl, group, data, length, routine, argument);
}

int earl_do_barrier(struct earl *earl, const struct earl_group *group)
{
    earl->together = "barrier";
    return reduce(earl, group, NULL, 0, NULL, NULL);
}

int earl_do_broadcast(struct earl *earl, const struct earl_group *group, int root, void *data, size_t length)
{
    struct members members;
    const int code = find_members(earl, group, &members);
    if (code != EARL_OK)
        return code;
    if (root < 0 || root >= members.count || (data == NULL && length != 0))
        return EARL_E_ARG;
    earl->together = "broadcast";
    return together(earl, spread(earl, &members, root, data, length, EARL_OK));
}

int earl_do_collect(struct earl *earl, const struct earl_group *group, const void *data,
                    const size_t *lengths, void *into)
{
    struct members members;
    int code = find_members(earl, group, &members);
    size_t total = 0;
    if (code != EARL_OK)
        return code;
    if (lengths == NULL)
        return EARL_E_ARG;
    for (int i = 0; i < members.count; i++)
        if (lengths[i] > INT64_MAX - total)
            return EARL_E_ARG;
        else
            total += lengths[i];
    if (total != 0 && (into == NULL || (data == NULL && lengths[members.place] != 0)))
        return EARL_E_ARG;
    earl->together = "collect";
    if (members.place != 0)
        code = send_to(earl, &members, 0, TAG_COLLECT, data, lengths[members.place]);
    unsigned char *at = into;
    for (int i = 0; i < members.count && members.place == 0; i++) {
        if (i != 0) {
            const int received = receive_from(earl, &members, i, TAG_COLLECT, at, lengths[i]);
            code = code != EARL_OK ? code : received;
        } else if (at != NULL && data != NULL) {
            memmove(at, data, lengths[0]);
        }
        at += lengths[i];
    }
    return together(earl, spread(earl, &members, 0, into, total, code));
}
