/* SPDX-License-Identifier: MIT */
/* node_list.c -- how many nodes, and lists of them, such as 4,7..12: numbers and ranges with commas between. */
#include <stdlib.h>
#include <string.h>

#include "bcri/record.h"
#include "bcri/refuse.h"
#include "fronts/fronts.h"

bool enl_take_number(const char **at_io, uint32_t most, uint32_t *number_out)
{
    uint64_t number = 0;
    const char *at = *at_io;
    for (; *at >= '0' && *at <= '9' && number <= most; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    if (at == *at_io || number > most)
        return false;
    *at_io = at;
    *number_out = (uint32_t)number;
    return true;
}

bool enl_take_count(const char **at_io, uint32_t *count_out)
{
    const char *at = *at_io;
    uint32_t count;
    if (!enl_take_number(&at, BCRI_CCE_MAX, &count) || count == 0)
        return false;
    *at_io = at;
    *count_out = count;
    return true;
}

static int compare_nodes(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
    return one < two ? -1 : one > two;
}

/* Returns 0, or -1 with a sentence: one is named twice. */
static int check_once(const char *option, const char *list, const struct enl_nodes *nodes, char *error,
                      size_t error_size)
{
    uint32_t *sorted = malloc(nodes->count * sizeof *sorted);
    int failed = 0;
    if (sorted == NULL)
        return bcri_refuse(error, error_size, -1, "no memory");
    memcpy(sorted, nodes->nodes, nodes->count * sizeof *sorted);
    qsort(sorted, nodes->count, sizeof *sorted, compare_nodes);
    for (uint32_t i = 1; i < nodes->count && failed == 0; i++)
        if (sorted[i] == sorted[i - 1])
            failed =
                bcri_refuse(error, error_size, -1, "%s %.60s names node %u twice", option, list, sorted[i]);
    free(sorted);
    return failed;
}

int enl_node_list(const char *option, const char *list, struct enl_nodes *nodes_out, char *error,
                  size_t error_size)
{
    struct enl_nodes nodes = {0};
    const char *at = list;
    int failed = 0;
    do {
        uint32_t from, to;
        if (at != list)
            at++;
        if (!enl_take_number(&at, ENL_NODE_MAX, &from)) {
            failed = -1;
            break;
        }
        to = from;
        if (strncmp(at, "..", 2) == 0) {
            at += 2;
            if (!enl_take_number(&at, ENL_NODE_MAX, &to) || to < from) {
                failed = -1;
                break;
            }
        }
        if (to - from >= BCRI_CCE_MAX - nodes.count) {
            free(nodes.nodes);
            return bcri_refuse(error, error_size, -1,
                               "%s %.60s names more nodes than the %u that there may be", option, list,
                               BCRI_CCE_MAX);
        }
        uint32_t *more = realloc(nodes.nodes, (nodes.count + (to - from) + 1ul) * sizeof *more);
        if (more == NULL) {
            free(nodes.nodes);
            return bcri_refuse(error, error_size, -1, "no memory");
        }
        nodes.nodes = more;
        for (uint32_t node = from;; node++) {
            nodes.nodes[nodes.count++] = node;
            if (node == to)
                break;
        }
    } while (*at == ',');
    if (failed != 0 || *at != '\0')
        failed = bcri_refuse(
            error, error_size, -1,
            "%s takes numbers of nodes and ranges of them, such as 4,7..12, counted from 0, not %.60s",
            option, list);
    else
        failed = check_once(option, list, &nodes, error, error_size);
    if (failed != 0)
        free(nodes.nodes);
    else
        *nodes_out = nodes;
    return failed;
}
