/* SPDX-License-Identifier: MIT */
/* roster.c -- what is launched: the requests to start the members that a plan places (roster_plan.c). */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/machine.h"
#include "job/job.h"
#include "job/roster_plan.h"
#include "wire/wire.h"

/* No CCE has enlisted the members. */
static const uint8_t nobody[BCRI_IDENTITY_BYTES];

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
    if (jobs->roster->front != ENL_FRONT_TEAM) {
        request.present |= BCRI_HAS(flags);
        request.flags = BCRI_ENLIST_JOB;
    }
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

/* Asks for all members from `first` on, which is of the first line. */
static void start_from(struct enl_jobs *jobs, uint32_t first)
{
    const struct enl_roster *roster = jobs->roster;
    uint32_t from = 0;
    for (size_t i = 0; i < roster->count && jobs->self->phase == ENL_RUNNING; i++) {
        const struct enl_roster_line *line = &roster->lines[i];
        const char *failed = start_line(jobs, line, from == 0 ? first : from, from + line->members);
        from += line->members;
        if (failed == NULL)
            continue;
        enl_report(jobs->self, BCRI_LOG_ERROR, "%s cannot be started: %s", line->argv[0], failed);
        jobs->self->ops->abort(jobs->self->program, 126);
    }
}

void enl_roster_others(struct enl_jobs *jobs)
{
    start_from(jobs, 1);
}

bool enl_roster_job(struct enl_jobs *jobs)
{
    jobs->launched = enl_teams_new(jobs, jobs->roster->members, nobody);
    if (jobs->launched == 0)
        return false;
    start_from(jobs, 0);
    return true;
}
