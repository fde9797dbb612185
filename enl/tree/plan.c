/* SPDX-License-Identifier: MIT */
/* See plan.h.
 *
 * Daemons that may start one more lie in a list for each level; a daemon that was given a host to start goes to its end.
 * So a choice looks at few of them, and they come by turns. */
#include "tree/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum state { UNUSED, WAITING, BEGUN, MET, UP };

struct enl_plan_node {
    enum state state;
    bool near, direct, distrusted, ends, listed;
    uint32_t sshd, starter, level;
    uint32_t started;        /* children, begun or later */
    uint32_t logins;         /* of them, under way */
    uint32_t next, previous; /* of those that wait, or may start one more at its level; 0: the end */
};

bool enl_plan_init(struct enl_plan *plan, uint32_t fanout)
{
    *plan = (struct enl_plan){.fanout = fanout};
    if (!enl_grow(&plan->nodes, &plan->room, 1, sizeof *plan->nodes)) {
        enl_plan_fini(plan);
        return false;
    }
    plan->nodes[0] = (struct enl_plan_node){.state = UP, .near = true};
    return true;
}

void enl_plan_fini(struct enl_plan *plan)
{
    free(plan->nodes);
    free(plan->logins);
    *plan = (struct enl_plan){0};
}

/* ---- lists; 0 is the root, and in none ---- */

static void insert(struct enl_plan *plan, struct enl_plan_list *list, uint32_t number, bool in_front)
{
    struct enl_plan_node *node = &plan->nodes[number];
    node->previous = in_front ? 0 : list->last;
    node->next = in_front ? list->first : 0;
    *(node->previous != 0 ? &plan->nodes[node->previous].next : &list->first) = number;
    *(node->next != 0 ? &plan->nodes[node->next].previous : &list->last) = number;
}

static void take_out(struct enl_plan *plan, struct enl_plan_list *list, uint32_t number)
{
    const struct enl_plan_node *node = &plan->nodes[number];
    *(node->previous != 0 ? &plan->nodes[node->previous].next : &list->first) = node->next;
    *(node->next != 0 ? &plan->nodes[node->next].previous : &list->last) = node->previous;
}

/* Lists or unlists a daemon by whether it may start one more. */
static void look_at(struct enl_plan *plan, uint32_t number)
{
    struct enl_plan_node *node = &plan->nodes[number];
    struct enl_plan_list *level = &plan->levels[node->level];
    const bool may = node->state == UP && number != 0 && !node->ends && node->started < plan->fanout &&
                     node->logins < ENL_PLAN_AT_ONCE && (node->near || !node->distrusted);
    if (may && !node->listed)
        insert(plan, level, number, false);
    else if (!may && node->listed)
        take_out(plan, level, number);
    node->listed = may;
}

static void wait_no_more(struct enl_plan *plan, uint32_t number)
{
    take_out(plan, &plan->waiting, number);
    plan->near_waiting -= plan->nodes[number].near;
}

/* ---- what happens ---- */

bool enl_plan_want(struct enl_plan *plan, const struct enl_plan_host *host)
{
    if (!enl_grow(&plan->nodes, &plan->room, host->number + 1ul, sizeof *plan->nodes) ||
        !enl_grow(&plan->logins, &plan->sshds, host->sshd + 1ul, sizeof *plan->logins))
        return false;
    plan->nodes[host->number] = (struct enl_plan_node){
        .state = WAITING, .near = host->near, .direct = host->direct, .sshd = host->sshd};
    insert(plan, &plan->waiting, host->number, host->direct);
    plan->near_waiting += host->near;
    plan->count++;
    return true;
}

static void login_is_over(struct enl_plan *plan, const struct enl_plan_node *node)
{
    plan->nodes[node->starter].logins--;
    plan->logins[node->sshd]--;
    look_at(plan, node->starter);
}

void enl_plan_met(struct enl_plan *plan, uint32_t number)
{
    struct enl_plan_node *node = &plan->nodes[number];
    if (node->state != BEGUN)
        return;
    node->state = MET;
    login_is_over(plan, node);
}

void enl_plan_up(struct enl_plan *plan, uint32_t number)
{
    struct enl_plan_node *node = &plan->nodes[number];
    enl_plan_met(plan, number);
    if (node->state != MET)
        return;
    node->state = UP;
    plan->coming--;
    look_at(plan, number);
}

void enl_plan_ends(struct enl_plan *plan, uint32_t number)
{
    plan->nodes[number].ends = true;
    look_at(plan, number);
}

void enl_plan_gone(struct enl_plan *plan, uint32_t number)
{
    struct enl_plan_node *node = number < plan->room ? &plan->nodes[number] : NULL;
    if (node == NULL || node->state == UNUSED)
        return;
    const enum state was = node->state;
    if (was == WAITING)
        wait_no_more(plan, number);
    if (was == BEGUN || was == MET)
        plan->coming--;
    if (was == BEGUN)
        login_is_over(plan, node);
    node->state = UNUSED;
    look_at(plan, number);
    if (was != WAITING && plan->nodes[node->starter].started > 0) {
        plan->nodes[node->starter].started--;
        look_at(plan, node->starter);
    }
    plan->count--;
}

void enl_plan_distrust(struct enl_plan *plan, uint32_t number, bool distrust)
{
    if (number >= plan->room)
        return;
    plan->nodes[number].distrusted = distrust;
    look_at(plan, number);
}

uint32_t enl_plan_level(const struct enl_plan *plan, uint32_t number)
{
    return number < plan->room && plan->nodes[number].state > WAITING ? plan->nodes[number].level : 0;
}

/* ---- what is to be done ---- */

/* So many levels are enough for all hosts. */
static uint32_t levels_needed(const struct enl_plan *plan)
{
    uint64_t hold = 0, at_level = 1;
    uint32_t level = 0;
    while (hold < plan->count && level < ENL_PLAN_LEVELS - 1) {
        at_level *= plan->fanout;
        hold += at_level;
        level++;
    }
    return level;
}

/* A daemon at one of the first `levels` levels that may start that host. False: none now. */
static bool choose(const struct enl_plan *plan, const struct enl_plan_node *host, uint32_t levels,
                   uint32_t *starter_out)
{
    const struct enl_plan_node *root = &plan->nodes[0];
    const bool root_may = root->logins < ENL_PLAN_AT_ONCE;
    *starter_out = 0;
    if (host->direct || (root_may && root->started < plan->fanout))
        return root_may;
    for (uint32_t level = 1; level < levels; level++)
        for (uint32_t at = plan->levels[level].first; at != 0; at = plan->nodes[at].next)
            if (host->near ? plan->nodes[at].near : !plan->nodes[at].distrusted) {
                *starter_out = at;
                return true;
            }
    return plan->coming == 0 && root_may;
}

static void begin_node(struct enl_plan *plan, uint32_t number, uint32_t starter)
{
    struct enl_plan_node *node = &plan->nodes[number], *by = &plan->nodes[starter];
    wait_no_more(plan, number);
    node->state = BEGUN;
    node->starter = starter;
    node->level = by->level + 1;
    plan->coming++;
    plan->logins[node->sshd]++;
    by->started++;
    by->logins++;
    if (by->listed) { /* the others of its level come first now */
        take_out(plan, &plan->levels[by->level], starter);
        insert(plan, &plan->levels[by->level], starter, false);
    }
    look_at(plan, starter);
}

bool enl_plan_next(struct enl_plan *plan, uint32_t *number_out, uint32_t *starter_out)
{
    const uint32_t levels = levels_needed(plan);
    bool near_full = false, far_full = false; /* nobody starts one more of that kind now */
    for (uint32_t at = plan->waiting.first; at != 0; at = plan->nodes[at].next) {
        const struct enl_plan_node *node = &plan->nodes[at];
        const bool full = node->near ? near_full : far_full;
        if ((full && !node->direct) || (!node->near && plan->logins[node->sshd] >= ENL_PLAN_AT_ONCE))
            continue;
        if (choose(plan, node, levels, starter_out)) {
            *number_out = at;
            begin_node(plan, at, *starter_out);
            return true;
        }
        near_full |= node->near && !node->direct;
        far_full |= !node->near && !node->direct;
        if (far_full && (near_full || plan->near_waiting == 0))
            break;
    }
    return false;
}
