/* SPDX-License-Identifier: MIT */
/* placement.c -- which host each member of a team runs on. */
#include <stdlib.h>
#include <string.h>

#include "base/roster.h"
#include "bcri/refuse.h"
#include "job/job.h"

void enl_placement(const uint32_t *slots, size_t hosts, uint32_t members, bool is_cyclic, uint32_t *host_out)
{
    uint32_t placed = 0;
    for (size_t i = 0; i < hosts && !is_cyclic; i++)
        for (uint32_t n = 0; n < slots[i] && placed < members; n++)
            host_out[placed++] = (uint32_t)i;
    for (uint32_t round = 0; placed < members; round++)
        for (size_t i = 0; i < hosts && placed < members; i++)
            if (round < slots[i])
                host_out[placed++] = (uint32_t)i;
}

static int compare_nodes(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
    return one < two ? -1 : one > two;
}

/* All nodes that lines name, sorted, and how many. NULL: no memory, or a node is named twice, as a sentence says. */
static uint32_t *named_nodes(const struct enl_roster *roster, size_t *count_out, char *error,
                             size_t error_size)
{
    size_t count = 0;
    uint32_t *named = malloc((roster->members + 1ul) * sizeof *named);
    for (size_t i = 0; i < roster->count && named != NULL; i++)
        if (roster->lines[i].nodes != NULL) {
            memcpy(named + count, roster->lines[i].nodes, roster->lines[i].members * sizeof *named);
            count += roster->lines[i].members;
        }
    if (named == NULL) {
        bcri_refuse(error, error_size, 0, "no memory");
        return NULL;
    }
    qsort(named, count, sizeof *named, compare_nodes);
    for (size_t i = 1; i < count; i++)
        if (named[i] == named[i - 1]) {
            bcri_refuse(error, error_size, 0, "node %u is named for two processes: each node has one",
                        named[i]);
            free(named);
            return NULL;
        }
    *count_out = count;
    return named;
}

/* The host of a node, which there is. `first_of` has the first node of each host, and how many nodes there are behind that. */
static uint32_t host_of_node(const uint64_t *first_of, size_t hosts, uint64_t node)
{
    size_t low = 0, high = hosts;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (first_of[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

int enl_placement_on_nodes(const struct enl_roster *roster, const uint32_t *slots, size_t hosts,
                           const char *source, uint32_t *host_out, char *error, size_t error_size)
{
    size_t count = 0, passed = 0;
    uint64_t next = 0;
    uint32_t rank = 0;
    uint64_t *first_of = malloc((hosts + 1) * sizeof *first_of);
    if (first_of == NULL)
        return bcri_refuse(error, error_size, -1, "no memory");
    first_of[0] = 0;
    for (size_t i = 0; i < hosts; i++)
        first_of[i + 1] = first_of[i] + slots[i];
    uint32_t *named = named_nodes(roster, &count, error, error_size);
    int failed = named != NULL ? 0 : -1;
    if (failed == 0 && roster->members > first_of[hosts])
        failed = bcri_refuse(error, error_size, -1, "%u nodes are asked for, and there are %llu (%s)",
                             roster->members, (unsigned long long)first_of[hosts], source);
    if (failed == 0 && count != 0 && named[count - 1] >= first_of[hosts])
        failed = bcri_refuse(error, error_size, -1,
                             "node %u is asked for, and there are %llu, counted from 0 (%s)",
                             named[count - 1], (unsigned long long)first_of[hosts], source);
    for (size_t i = 0; i < roster->count && failed == 0; i++) {
        const struct enl_roster_line *line = &roster->lines[i];
        for (uint32_t k = 0; k < line->members; k++) {
            while (line->nodes == NULL && passed < count && named[passed] == next) {
                passed++;
                next++;
            }
            host_out[rank++] = host_of_node(first_of, hosts, line->nodes != NULL ? line->nodes[k] : next++);
        }
    }
    free(first_of);
    free(named);
    return failed;
}

struct enl_run *enl_placement_runs(const uint32_t *host_of, size_t hosts, uint32_t from, uint32_t to,
                                   size_t *count_out)
{
    struct enl_run *runs = calloc(to - from, sizeof *runs);
    size_t *last = calloc(hosts, sizeof *last), count = 0; /* each host's latest run, counted from 1 */
    for (uint32_t member = from; runs != NULL && last != NULL && member < to; member++) {
        const uint32_t host = host_of[member];
        struct enl_run *run = last[host] != 0 ? &runs[last[host] - 1] : NULL;
        if (run != NULL && run->count == 1)
            run->stride = member - run->first;
        if (run != NULL && member == run->first + run->count * run->stride) {
            run->count++;
            continue;
        }
        runs[count] = (struct enl_run){.host = host, .first = member, .count = 1, .stride = 1};
        last[host] = ++count;
    }
    if (last == NULL) {
        free(runs);
        runs = NULL;
    }
    free(last);
    *count_out = count;
    return runs;
}
