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

/* Of a job: all hosts in the order of their list. Returns as fill does. */
static int fill_job(struct enl_roster_plan *plan, const struct enl_roster *roster,
                    const struct enl_self *self, const struct enl_hosts *hosts, char *error,
                    size_t error_size)
{
    const size_t own = own_entry(self, hosts);
    plan->machines[0] = "";
    plan->slots[0] = ENL_NODES_UNLISTED;
    plan->hosts = hosts->count != 0 ? hosts->count : 1;
    for (size_t i = 0; i < hosts->count; i++) {
        plan->machines[i] = i == own ? "" : hosts->hosts[i]->name;
        plan->slots[i] = hosts->hosts[i]->slots;
    }
    return enl_placement_on_nodes(roster, plan->slots, plan->hosts,
                                  hosts->count != 0 ? enl_hosts_source(hosts) : "there is no list of hosts",
                                  plan->host_of, error, error_size);
}

/* Returns 0, or -1 with a sentence: they do not fit. */
static int fill(struct enl_roster_plan *plan, const struct enl_roster *roster, const struct enl_self *self,
                const struct enl_hosts *hosts, char *error, size_t error_size)
{
    uint64_t room = 0;
    if (roster->front != ENL_FRONT_TEAM)
        return fill_job(plan, roster, self, hosts, error, error_size);
    if (hosts->count == 0 && roster->per_host != 0 && roster->per_host < roster->members)
        return bcri_refuse(
            error, error_size, -1,
            "%u members do not fit on this machine with --per-host %u, and there is no list of hosts",
            roster->members, roster->per_host);
    take_hosts(plan, roster, self, hosts);
    for (size_t i = 0; i < plan->hosts; i++)
        room += plan->slots[i];
    if (room < roster->members)
        return bcri_refuse(
            error, error_size, -1,
            "%u members are more than the %llu slots of the hosts (%s): raise slots= there, or give "
            "--per-host",
            roster->members, (unsigned long long)room, enl_hosts_source(hosts));
    enl_placement(plan->slots, plan->hosts, roster->members, roster->is_cyclic, plan->host_of);
    return 0;
}

struct enl_roster_plan *enl_roster_plan_new(const struct enl_roster *roster, const struct enl_self *self,
                                            const struct enl_hosts *hosts, char *error, size_t error_size)
{
    struct enl_roster_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL || (plan->machines = calloc(hosts->count + 1, sizeof *plan->machines)) == NULL ||
        (plan->slots = calloc(hosts->count + 1, sizeof *plan->slots)) == NULL ||
        (plan->host_of = calloc(roster->members, sizeof *plan->host_of)) == NULL)
        bcri_refuse(error, error_size, 0, "no memory for a team of %u", roster->members);
    else if (fill(plan, roster, self, hosts, error, error_size) == 0)
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
        for (uint32_t k = 0; k < line->members; k++, rank++)
            is_here = is_here || plan->machines[plan->host_of[rank]][0] == '\0';
        if (is_here)
            status = enl_object_find(line->argv[0], path, error, error_size);
    }
    return status;
}

const char *enl_roster_host(const struct enl_jobs *jobs, uint32_t rank)
{
    const char *machine = jobs->plan->machines[jobs->plan->host_of[rank]];
    return machine[0] != '\0' ? machine : jobs->self->hostname;
}
