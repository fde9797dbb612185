/* SPDX-License-Identifier: MIT */
/* roster_plan.c -- which member of what is launched runs where: of a team of enl -n member 0 is the root, and runs here; a job has no
 * root, and nodes are the slots of all hosts. */
#include "job/roster_plan.h"

#include <ifaddrs.h>
#include <limits.h>
#include <stdlib.h>

#include "base/object.h"
#include "base/roster.h"
#include "bcri/record.h"
#include "bcri/refuse.h"
#include "hosts/hosts.h"
#include "job/job.h"

/* Nodes of this machine, where no list says how many it has. */
enum { ENL_NODES_UNLISTED = BCRI_CCE_MAX };

/* The entry of this machine; the number of entries: it has none. */
static size_t own_entry(const struct enl_self *self, const struct enl_hosts *hosts)
{
    struct ifaddrs *known = NULL;
    size_t own = 0;
    while (own < hosts->count && !enl_entry_is_here(&self->config, hosts->hosts[own], &known))
        own++;
    freeifaddrs(known);
    return own;
}

static void take_hosts(struct enl_roster_plan *plan, const struct enl_roster *roster,
                       const struct enl_self *self, const struct enl_hosts *hosts)
{
    const uint32_t per_host = roster->per_host;
    const size_t own = own_entry(self, hosts);
    bool is_list = false; /* hosts of --local are this machine, and named nowhere */
    plan->machines[0] = "";
    plan->hosts = 1;
    if (hosts->count == 0)
        plan->slots[0] = roster->members; /* nobody has said how many this machine may have */
    else if (own == hosts->count)
        plan->slots[0] = 1;
    else
        plan->slots[0] = per_host != 0 ? per_host : hosts->hosts[own]->slots;
    for (size_t i = 0; i < hosts->count; i++) {
        is_list = is_list || !hosts->hosts[i]->local;
        if (i != own) {
            plan->machines[plan->hosts] = hosts->hosts[i]->name;
            plan->slots[plan->hosts++] = per_host != 0 ? per_host : hosts->hosts[i]->slots;
        }
    }
    plan->is_unlisted = is_list && own == hosts->count && roster->members > 1;
}

/* Of a job: all hosts in the order of their list. */
static void take_all_hosts(struct enl_roster_plan *plan, const struct enl_self *self,
                           const struct enl_hosts *hosts)
{
    const size_t own = own_entry(self, hosts);
    plan->machines[0] = "";
    plan->slots[0] = ENL_NODES_UNLISTED;
    plan->hosts = hosts->count != 0 ? hosts->count : 1;
    for (size_t i = 0; i < hosts->count; i++) {
        plan->machines[i] = i == own ? "" : hosts->hosts[i]->name;
        plan->slots[i] = hosts->hosts[i]->slots;
    }
}

/* SCore's: so many on each of so many hosts. Returns 0, or -1 with a sentence. */
static int choose_hosts(struct enl_roster_plan *plan, const struct enl_roster *roster, const char *source,
                        char *error, size_t error_size)
{
    if (roster->hosts > plan->hosts)
        return bcri_refuse(error, error_size, -1, "%u hosts are asked for, and there are %zu (%s)",
                           roster->hosts, plan->hosts, source);
    if (roster->hosts != 0)
        plan->hosts = roster->hosts;
    for (size_t i = 0; i < plan->hosts && roster->per_host != 0; i++)
        plan->slots[i] = roster->per_host;
    return 0;
}

static uint64_t room_of(const struct enl_roster_plan *plan)
{
    uint64_t room = 0;
    for (size_t i = 0; i < plan->hosts; i++)
        room += plan->slots[i];
    return room;
}

/* How many members lines and teams have. Returns 0, or -1 with a sentence. */
static int count_members(struct enl_roster_plan *plan, const struct enl_roster *roster, const char *source,
                         char *error, size_t error_size)
{
    const uint64_t room = room_of(plan);
    uint64_t all = 0;
    for (size_t i = 0; i < roster->team_count; i++) {
        uint64_t of_team = 0;
        plan->teams[i].first = (uint32_t)all;
        for (size_t k = roster->teams[i].first; k < roster->teams[i].first + roster->teams[i].count; k++) {
            const uint64_t members = roster->lines[k].members != 0 ? roster->lines[k].members : room;
            plan->of_line[k] = (uint32_t)(members <= BCRI_CCE_MAX ? members : BCRI_CCE_MAX);
            of_team += members;
        }
        if (of_team > room)
            return bcri_refuse(error, error_size, -1, "%llu nodes are asked for, and there are %llu (%s)",
                               (unsigned long long)of_team, (unsigned long long)room, source);
        all += of_team;
        if (all > BCRI_CCE_MAX)
            return bcri_refuse(error, error_size, -1,
                               "%llu members are more than the %u that a program may have",
                               (unsigned long long)all, BCRI_CCE_MAX);
        plan->teams[i].members = (uint32_t)of_team;
    }
    plan->members = (uint32_t)all;
    plan->host_of = calloc(plan->members + 1ul, sizeof *plan->host_of);
    return plan->host_of != NULL
               ? 0
               : bcri_refuse(error, error_size, -1, "no memory for a job of %u", plan->members);
}

static int fill_job(struct enl_roster_plan *plan, const struct enl_roster *roster,
                    const struct enl_self *self, const struct enl_hosts *hosts, char *error,
                    size_t error_size)
{
    const char *source = hosts->count != 0 ? enl_hosts_source(hosts) : "there is no list of hosts";
    take_all_hosts(plan, self, hosts);
    if (hosts->count == 0 &&
        roster->lines[0].members == 0) /* one on each node: nobody has said how many there are */
        plan->slots[0] = 1;
    if (choose_hosts(plan, roster, source, error, error_size) != 0 ||
        count_members(plan, roster, source, error, error_size) != 0)
        return -1;
    if (roster->front == ENL_FRONT_YOD)
        return enl_placement_on_nodes(roster, plan->slots, plan->hosts, source, plan->host_of, error,
                                      error_size);
    for (size_t i = 0; i < roster->team_count; i++) /* each on the same hosts */
        enl_placement(plan->slots, plan->hosts, plan->teams[i].members, false,
                      plan->host_of + plan->teams[i].first);
    return 0;
}

/* A team of enl -n. Returns 0, or -1 with a sentence: it does not fit. */
static int fill_team(struct enl_roster_plan *plan, const struct enl_roster *roster,
                     const struct enl_self *self, const struct enl_hosts *hosts, char *error,
                     size_t error_size)
{
    if (hosts->count == 0 && roster->per_host != 0 && roster->per_host < roster->members)
        return bcri_refuse(
            error, error_size, -1,
            "%u members do not fit on this machine with --per-host %u, and there is no list of hosts",
            roster->members, roster->per_host);
    take_hosts(plan, roster, self, hosts);
    const uint64_t room = room_of(plan);
    if (room < roster->members)
        return bcri_refuse(
            error, error_size, -1,
            "%u members are more than the %llu slots of the hosts (%s): raise slots= there, or give "
            "--per-host",
            roster->members, (unsigned long long)room, enl_hosts_source(hosts));
    if (count_members(plan, roster, "", error, error_size) != 0)
        return -1;
    enl_placement(plan->slots, plan->hosts, roster->members, roster->is_cyclic, plan->host_of);
    return 0;
}

struct enl_roster_plan *enl_roster_plan_new(const struct enl_roster *roster, const struct enl_self *self,
                                            const struct enl_hosts *hosts, char *error, size_t error_size)
{
    struct enl_roster_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL || (plan->machines = calloc(hosts->count + 1, sizeof *plan->machines)) == NULL ||
        (plan->slots = calloc(hosts->count + 1, sizeof *plan->slots)) == NULL ||
        (plan->of_line = calloc(roster->count + 1, sizeof *plan->of_line)) == NULL ||
        (plan->teams = calloc(roster->team_count + 1, sizeof *plan->teams)) == NULL)
        bcri_refuse(error, error_size, 0, "no memory for what is to be launched");
    else if ((enl_roster_is_job(roster) ? fill_job : fill_team)(plan, roster, self, hosts, error,
                                                                error_size) == 0)
        return plan;
    enl_roster_plan_free(plan);
    return NULL;
}

void enl_roster_plan_free(struct enl_roster_plan *plan)
{
    if (plan == NULL)
        return;
    free(plan->machines);
    free(plan->slots);
    free(plan->host_of);
    free(plan->of_line);
    free(plan->teams);
    free(plan);
}

int enl_roster_find(const struct enl_jobs *jobs, char *error, size_t error_size)
{
    const struct enl_roster_plan *plan = jobs->plan;
    char path[PATH_MAX];
    uint32_t rank = 0;
    int status = 0;
    for (size_t i = 0; i < jobs->roster->count && status == 0; i++) {
        const struct enl_roster_line *line = &jobs->roster->lines[i];
        bool is_here = false;
        for (uint32_t k = 0; k < plan->of_line[i]; k++, rank++)
            is_here = is_here || plan->machines[plan->host_of[rank]][0] == '\0';
        if (is_here)
            status = enl_object_find(line->argv[0], path, error, error_size);
    }
    return status;
}

const char *enl_roster_host(const struct enl_jobs *jobs, uint32_t member)
{
    const char *machine = jobs->plan->machines[jobs->plan->host_of[member]];
    return machine[0] != '\0' ? machine : jobs->self->hostname;
}

bool enl_roster_member(const struct enl_jobs *jobs, uint32_t team, uint32_t rank, uint32_t *member_out)
{
    for (size_t i = 0; jobs->plan != NULL && i < jobs->roster->team_count; i++)
        if (jobs->plan->teams[i].number == team && rank < jobs->plan->teams[i].members) {
            *member_out = jobs->plan->teams[i].first + rank;
            return true;
        }
    return false;
}
