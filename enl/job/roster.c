/* SPDX-License-Identifier: MIT */
/* roster.c -- enl -n: which member of the team runs where, and the requests to start them. Member 0 is the root, and runs
 * here. */
#include <ifaddrs.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/machine.h"
#include "bcri/refuse.h"
#include "hosts/hosts.h"
#include "job/job.h"
#include "wire/wire.h"

struct enl_roster_plan {
    size_t hosts;
    const char **machines; /* the first is "", this one */
    uint32_t *slots, *host_of;
    bool is_unlisted; /* this machine is not in the list of hosts */
};

/* No CCE has enlisted the members. */
static const uint8_t nobody[BCRI_IDENTITY_BYTES];

/* ---- which member runs where ---- */

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

/* Returns 0, or -1 with a sentence: they do not fit. */
static int fill(struct enl_roster_plan *plan, const struct enl_roster *roster, const struct enl_self *self,
                const struct enl_hosts *hosts, char *error, size_t error_size)
{
    uint64_t room = 0;
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

/* ---- starting them ---- */

/* Its process is there. Another program may have its key. */
static bool claim_root(struct enl_jobs *jobs, struct enl_cce *root, char *reason, size_t reason_size)
{
    struct enl_await_who who = {.key = jobs->roster->await};
    randombytes_buf(jobs->nonce, sizeof jobs->nonce);
    memcpy(who.nonce, jobs->nonce, sizeof who.nonce);
    return enl_await_claim(root, &who, reason, reason_size) == 0;
}

bool enl_roster_root(struct enl_jobs *jobs, struct enl_cce *root, char *reason, size_t reason_size)
{
    jobs->launched = enl_teams_new(jobs, jobs->roster->members, nobody);
    const struct bcri_control first = {
        .team = jobs->launched, .count = 1, .stride = 1, .enlistor = {(const char *)nobody, sizeof nobody}};
    if (jobs->plan->is_unlisted)
        enl_report(jobs->self, BCRI_LOG_WARN,
                   "this machine is not in the list of hosts: member 0 runs here, and no other");
    return jobs->launched != 0 && enl_teams_start(jobs, &first) && enl_members_add(root, jobs->launched, 0) &&
           (jobs->roster->await == NULL || claim_root(jobs, root, reason, reason_size));
}

/* The arguments of a line as start strings. NULL: there are none, or `*failed_out`, which a sentence follows. */
static struct enl_strings *strings_of(char *const *argv, const char **failed_out)
{
    uint64_t length = BCRI_STRINGS_HEAD_BYTES + 1;
    uint8_t head[BCRI_STRINGS_HEAD_BYTES + 1] = {0}; /* and no directory */
    uint32_t count = 0;
    *failed_out = NULL;
    for (; argv[1 + count] != NULL; count++)
        length += strlen(argv[1 + count]) + 1;
    if (count == 0)
        return NULL;
    bcri_strings_write_u32(head, count);
    struct enl_strings *strings = enl_strings_new(length);
    *failed_out = "no memory for its arguments, or they are more than there may be";
    if (strings == NULL)
        return NULL;
    enl_strings_add(strings, (struct bcri_view){(const char *)head, sizeof head});
    for (uint32_t i = 1; i <= count; i++)
        enl_strings_add(strings, (struct bcri_view){argv[i], (uint32_t)strlen(argv[i]) + 1});
    if (enl_strings_check(strings) == NULL) {
        *failed_out = NULL;
        return strings;
    }
    enl_strings_drop(strings);
    return NULL;
}

static void start_run(struct enl_jobs *jobs, const struct enl_roster_line *line, const struct enl_run *run,
                      struct enl_strings *strings)
{
    struct enl_attached attached = ENL_ATTACHED_NONE;
    attached.strings = enl_strings_share(strings);
    struct bcri_control request = {
        .type = BCRI_MSG_enlist,
        .present = BCRI_HAS(id) | BCRI_HAS(machine) | BCRI_HAS(core) | BCRI_HAS(count) | BCRI_HAS(ordinal) |
                   BCRI_HAS(object) | BCRI_HAS(enlistor) | BCRI_HAS(team) | BCRI_HAS(rank) | BCRI_HAS(stride),
        .machine = bcri_view_of(jobs->plan->machines[run->host]),
        .core = -1,
        .count = run->count,
        .ordinal = run->first,
        .object = bcri_view_of(line->argv[0]),
        .enlistor = {(const char *)nobody, sizeof nobody},
        .team = jobs->launched,
        .rank = run->first,
        .stride = run->stride};
    if (jobs->roster->await != NULL) {
        request.present |= BCRI_HAS(text) | BCRI_HAS(random);
        request.text = bcri_view_of(jobs->roster->await);
        request.random = (struct bcri_view){(const char *)jobs->nonce, sizeof jobs->nonce};
    }
    if (strings != NULL && strings->length > BCRI_STRINGS_INLINE_MAX) {
        request.present |= BCRI_HAS(size);
        request.size = strings->length;
    } else if (strings != NULL) {
        request.present |= BCRI_HAS(bytes);
        request.bytes = (struct bcri_view){(const char *)strings->bytes, strings->length};
    }
    enl_enlist_own(jobs, &request, &attached);
    enl_attached_close(&attached);
}

/* The members of that line, from `from` on. Returns NULL, or why they cannot be started. */
static const char *start_line(struct enl_jobs *jobs, const struct enl_roster_line *line, uint32_t from,
                              uint32_t to)
{
    size_t count;
    const char *failed;
    if (from == to)
        return NULL;
    struct enl_strings *strings = strings_of(line->argv, &failed);
    if (failed != NULL)
        return failed;
    struct enl_run *runs = enl_placement_runs(jobs->plan->host_of, jobs->plan->hosts, from, to, &count);
    for (size_t i = 0; runs != NULL && i < count && jobs->self->phase == ENL_RUNNING; i++)
        start_run(jobs, line, &runs[i], strings);
    enl_strings_drop(strings);
    free(runs);
    return runs != NULL ? NULL : "no memory";
}

void enl_roster_others(struct enl_jobs *jobs)
{
    const struct enl_roster *roster = jobs->roster;
    uint32_t from = 0;
    for (size_t i = 0; i < roster->count && jobs->self->phase == ENL_RUNNING; i++) {
        const struct enl_roster_line *line = &roster->lines[i];
        const char *failed = start_line(jobs, line, from == 0 ? 1 : from, from + line->members);
        from += line->members;
        if (failed == NULL)
            continue;
        enl_report(jobs->self, BCRI_LOG_ERROR, "%s cannot be started: %s", line->argv[0], failed);
        jobs->self->ops->abort(jobs->self->program, 126);
    }
}
