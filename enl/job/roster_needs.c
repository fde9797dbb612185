/* SPDX-License-Identifier: MIT */
/* roster_needs.c -- of a job of SCore's, before anything starts: whether its programs can run on the nodes that a plan has for them.
 * A program is looked at as it is on this machine. Where it is not found here, or its file says nothing, it looks at its nodes by
 * itself when it starts. */
#include <limits.h>
#include <stdlib.h>

#include "base/object.h"
#include "base/roster.h"
#include "base/score_needs.h"
#include "job/job.h"
#include "job/roster_plan.h"

/* A sentence. Returns 1, as the count of those. */
#define REFUSE(jobs, ...) (enl_report((jobs)->self, BCRI_LOG_ERROR, __VA_ARGS__), 1u)

static unsigned check_twice(const struct enl_jobs *jobs, const char *program,
                            const struct enl_score_needs *needs)
{
    unsigned wrong = 0;
    for (enum enl_score_kind kind = ENL_SCORE_NODES; kind < ENL_SCORE_KINDS; kind++)
        if (needs->of[kind].is_twice)
            wrong +=
                REFUSE(jobs, "%s stands in %s twice, with different numbers", enl_score_macro(kind), program);
    return wrong;
}

static unsigned check_nodes(const struct enl_jobs *jobs, const char *program,
                            const struct enl_score_need *need, uint32_t nodes)
{
    if (!need->is_there || need->is_twice)
        return 0;
    if (need->low < 1 || need->low > need->high)
        return REFUSE(jobs,
                      "%s asks for %d to %d nodes (SCORE_RSRC_NUM_NODES): the first number is at least 1, "
                      "and not the greater one",
                      program, (int)need->low, (int)need->high);
    if (nodes < (uint32_t)need->low || nodes > (uint32_t)need->high)
        return REFUSE(jobs, "%s runs on %d to %d nodes (SCORE_RSRC_NUM_NODES), not on %u", program,
                      (int)need->low, (int)need->high, nodes);
    return 0;
}

static unsigned check_nets(const struct enl_jobs *jobs, const char *program,
                           const struct enl_score_need *need)
{
    if (!need->is_there || need->is_twice || (need->low >= 1 && need->low <= ENL_SCORE_NETS_MAX))
        return 0;
    return REFUSE(jobs, "%s asks for %d network sets (SCORE_RSRC_NUM_NETS); there can be 1 to %d", program,
                  (int)need->low, ENL_SCORE_NETS_MAX);
}

/* The first host that has another number of the team's members than `need` says is named. */
static unsigned check_procs(const struct enl_jobs *jobs, const char *program,
                            const struct enl_score_need *need, const struct enl_planned_team *team)
{
    const struct enl_roster_plan *plan = jobs->plan;
    if (!need->is_there || need->is_twice)
        return 0;
    if (need->low < 1)
        return REFUSE(jobs, "%s asks for %d nodes on each host (SCORE_RSRC_NUM_PROCS); it is at least 1",
                      program, (int)need->low);
    uint32_t *on_host = calloc(plan->hosts, sizeof *on_host);
    if (on_host == NULL)
        return REFUSE(jobs, "no memory");
    for (uint32_t i = team->first; i < team->first + team->members; i++)
        on_host[plan->host_of[i]]++;
    unsigned wrong = 0;
    for (uint32_t i = team->first; wrong == 0 && i < team->first + team->members; i++)
        if (on_host[plan->host_of[i]] != (uint32_t)need->low)
            wrong = REFUSE(jobs,
                           "%s runs with %d nodes on each host (SCORE_RSRC_NUM_PROCS), and %s would have %u",
                           program, (int)need->low, enl_roster_host(jobs, i), on_host[plan->host_of[i]]);
    free(on_host);
    return wrong;
}

/* It says so by the record's presence alone. */
static unsigned check_mixed(const struct enl_jobs *jobs, const char *program,
                            const struct enl_score_needs *needs)
{
    if (!jobs->roster->is_heterogeneous || !needs->is_score || needs->of[ENL_SCORE_MIXED].is_there)
        return 0;
    return REFUSE(jobs,
                  "%s does not say that it runs on machines of several architectures "
                  "(SCORE_RSRC_HETERO_NODES): leave heterogeneous out",
                  program);
}

bool enl_roster_fits(const struct enl_jobs *jobs)
{
    const struct enl_roster *roster = jobs->roster;
    char path[PATH_MAX], reason[512];
    struct enl_score_needs needs;
    unsigned wrong = 0;
    for (size_t i = 0; roster->front == ENL_FRONT_SCRUN && i < roster->team_count; i++) {
        const char *program = roster->lines[roster->teams[i].first].argv[0];
        if (enl_object_find(program, path, reason, sizeof reason) != 0)
            continue;
        enl_score_needs_read(path, &needs);
        wrong += check_twice(jobs, program, &needs) +
                 check_nodes(jobs, program, &needs.of[ENL_SCORE_NODES], jobs->plan->teams[i].members) +
                 check_procs(jobs, program, &needs.of[ENL_SCORE_PROCS], &jobs->plan->teams[i]) +
                 check_nets(jobs, program, &needs.of[ENL_SCORE_NETS]) + check_mixed(jobs, program, &needs);
    }
    return wrong == 0;
}
