/* SPDX-License-Identifier: MIT */
/* roster.c -- what is launched: the requests to start the members that a plan places (roster_plan.c). */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/environment.h"
#include "bcri/machine.h"
#include "job/job.h"
#include "job/roster_plan.h"
#include "wire/wire.h"

enum { OF_TEAM_MAX = 3 };

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
    const uint32_t team = enl_teams_new(jobs, jobs->roster->members, nobody);
    const struct bcri_control first = {
        .team = team, .count = 1, .stride = 1, .enlistor = {(const char *)nobody, sizeof nobody}};
    jobs->plan->teams[0].number = team;
    if (jobs->plan->is_unlisted)
        enl_report(jobs->self, BCRI_LOG_WARN,
                   "this machine is not in the list of hosts: member 0 runs here, and no other");
    return team != 0 && enl_teams_start(jobs, &first) && enl_members_add(root, team, 0) &&
           (jobs->roster->await == NULL || claim_root(jobs, root, reason, reason_size));
}

/* What a line's processes get beside their program: arguments, and variables of all and of their team. */
struct given {
    char *const *arguments, *const *variables;
    char *of_team[OF_TEAM_MAX + 1]; /* further variables: files in place of standard ones, limits */
};

static uint64_t count_strings(char *const *strings, uint32_t *count_io)
{
    uint64_t length = 0;
    for (; strings != NULL && *strings != NULL; strings++, ++*count_io)
        length += strlen(*strings) + 1;
    return length;
}

static void add_strings(struct enl_strings *block, char *const *strings)
{
    for (; strings != NULL && *strings != NULL; strings++)
        enl_strings_add(block, (struct bcri_view){*strings, (uint32_t)strlen(*strings) + 1});
}

/* As start strings. NULL: there are none, or `*failed_out`, which a sentence follows. */
static struct enl_strings *strings_of(const struct given *given, const char **failed_out)
{
    uint64_t length = BCRI_STRINGS_HEAD_BYTES + 1;
    uint8_t head[BCRI_STRINGS_HEAD_BYTES + 1] = {0}; /* and no directory */
    uint32_t arguments = 0, variables = 0;
    *failed_out = NULL;
    length += count_strings(given->arguments, &arguments) + count_strings(given->variables, &variables) +
              count_strings(given->of_team, &variables);
    if (arguments == 0 && variables == 0)
        return NULL;
    bcri_strings_write_u32(head, arguments);
    bcri_strings_write_u32(head + 4, variables);
    struct enl_strings *strings = enl_strings_new(length);
    *failed_out = "no memory for its arguments, or they are more than there may be";
    if (strings == NULL)
        return NULL;
    enl_strings_add(strings, (struct bcri_view){(const char *)head, sizeof head});
    add_strings(strings, given->arguments);
    add_strings(strings, given->variables);
    add_strings(strings, given->of_team);
    if (enl_strings_check(strings) == NULL) {
        *failed_out = NULL;
        return strings;
    }
    enl_strings_drop(strings);
    return NULL;
}

static uint32_t flags_of(const struct enl_roster *roster, size_t team)
{
    const struct enl_roster_team *teams = roster->teams;
    const bool is_read = team + 1 < roster->team_count && teams[team + 1].reads_pipe;
    if (!enl_roster_is_job(roster))
        return 0;
    return (uint32_t)BCRI_ENLIST_JOB | (teams[team].reads_pipe ? (uint32_t)BCRI_ENLIST_READS_PIPE : 0) |
           (is_read ? (uint32_t)BCRI_ENLIST_WRITES_PIPE : 0) |
           (team == 0 && teams[0].in == NULL ? (uint32_t)BCRI_ENLIST_INPUT : 0) |
           (roster->front == ENL_FRONT_SCRUN ? (uint32_t)BCRI_ENLIST_SCORE : 0);
}

/* What is asked for: members of a team, `from` to before `to`, which are of one line. */
struct wanted {
    size_t team;
    const struct enl_roster_line *line;
    uint32_t from, to;
};

static void start_run(struct enl_jobs *jobs, const struct wanted *wanted, const struct enl_run *run,
                      struct enl_strings *strings)
{
    struct enl_attached attached = ENL_ATTACHED_NONE;
    const struct enl_planned_team *team = &jobs->plan->teams[wanted->team];
    attached.strings = enl_strings_share(strings);
    struct bcri_control request = {
        .type = BCRI_MSG_enlist,
        .present = BCRI_HAS(id) | BCRI_HAS(machine) | BCRI_HAS(core) | BCRI_HAS(count) | BCRI_HAS(ordinal) |
                   BCRI_HAS(object) | BCRI_HAS(enlistor) | BCRI_HAS(team) | BCRI_HAS(rank) | BCRI_HAS(stride),
        .machine = bcri_view_of(jobs->plan->machines[run->host]),
        .core = -1,
        .count = run->count,
        .ordinal = team->first + run->first,
        .object = bcri_view_of(wanted->line->argv[0]),
        .enlistor = {(const char *)nobody, sizeof nobody},
        .team = team->number,
        .rank = run->first,
        .stride = run->stride,
        .flags = flags_of(jobs->roster, wanted->team)};
    if (request.flags != 0)
        request.present |= BCRI_HAS(flags);
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

/* Returns NULL, or why they cannot be started. */
static const char *start_line(struct enl_jobs *jobs, const struct wanted *wanted, const struct given *given)
{
    size_t count;
    const char *failed;
    if (wanted->from == wanted->to)
        return NULL;
    struct enl_strings *strings = strings_of(given, &failed);
    if (failed != NULL)
        return failed;
    struct enl_run *runs = enl_placement_runs(jobs->plan->host_of + jobs->plan->teams[wanted->team].first,
                                              jobs->plan->hosts, wanted->from, wanted->to, &count);
    for (size_t i = 0; runs != NULL && i < count && jobs->self->phase == ENL_RUNNING; i++)
        start_run(jobs, wanted, &runs[i], strings);
    enl_strings_drop(strings);
    free(runs);
    return runs != NULL ? NULL : "no memory";
}

/* Makes NAME=VALUE, which the caller frees; NULL: no memory. */
static char *variable_of(const char *name, const char *value)
{
    const size_t size = strlen(name) + 1 + strlen(value) + 1;
    char *variable = malloc(size);
    if (variable != NULL)
        snprintf(variable, size, "%s=%s", name, value);
    return variable;
}

/* By these variables the daemon of their host knows which files a team's members have, and what the job may use. False: no memory. */
static bool tell_daemon(const struct enl_roster *roster, const struct enl_roster_team *team,
                        struct given *given)
{
    const struct enl_roster_limits *limits = &roster->limits;
    char text[40];
    int count = 0;
    if (team->in != NULL && (given->of_team[count++] = variable_of(BCRI_STDIN_ENV, team->in)) == NULL)
        return false;
    if (team->out != NULL && (given->of_team[count++] = variable_of(
                                  team->appends ? BCRI_STDOUT_MORE_ENV : BCRI_STDOUT_ENV, team->out)) == NULL)
        return false;
    if (limits->cpu_s == 0 && limits->memory_mb == 0 && limits->disk_mb == 0)
        return true;
    snprintf(text, sizeof text, "%u %u %u", limits->cpu_s, limits->memory_mb, limits->disk_mb);
    return (given->of_team[count] = variable_of(BCRI_LIMITS_ENV, text)) != NULL;
}

/* Asks for all members of a team from `first` on, which is of the first line. */
static void start_team(struct enl_jobs *jobs, size_t number, uint32_t first)
{
    const struct enl_roster *roster = jobs->roster;
    const struct enl_roster_team *team = &roster->teams[number];
    struct given given = {.variables = roster->environment};
    const char *failed = tell_daemon(roster, team, &given) ? NULL : "no memory";
    uint32_t from = 0;
    for (size_t i = team->first; i < team->first + team->count && jobs->self->phase == ENL_RUNNING; i++) {
        const struct enl_roster_line *line = &roster->lines[i];
        const struct wanted wanted = {number, line, from == 0 ? first : from, from + jobs->plan->of_line[i]};
        given.arguments = line->argv + 1;
        if (failed == NULL)
            failed = start_line(jobs, &wanted, &given);
        from += jobs->plan->of_line[i];
        if (failed == NULL)
            continue;
        enl_report(jobs->self, BCRI_LOG_ERROR, "%s cannot be started: %s", line->argv[0], failed);
        jobs->self->ops->abort(jobs->self->program, 126);
    }
    for (int i = 0; i < OF_TEAM_MAX; i++)
        free(given.of_team[i]);
}

void enl_roster_others(struct enl_jobs *jobs)
{
    start_team(jobs, 0, 1);
}

/* All teams of the stage are made before any is started: those with a pipe between them have numbers one behind the other. */
bool enl_roster_job(struct enl_jobs *jobs)
{
    const struct enl_roster *roster = jobs->roster;
    for (size_t i = 0; i < roster->team_count; i++)
        if (roster->teams[i].stage == jobs->stage &&
            (jobs->plan->teams[i].number = enl_teams_new(jobs, jobs->plan->teams[i].members, nobody)) == 0)
            return false;
    for (size_t i = 0; i < roster->team_count && jobs->self->phase == ENL_RUNNING; i++)
        if (roster->teams[i].stage == jobs->stage)
            start_team(jobs, i, 0);
    return true;
}

bool enl_roster_go_on(struct enl_jobs *jobs)
{
    const struct enl_roster *roster = jobs->roster;
    if (jobs->summary == NULL || jobs->self->phase != ENL_RUNNING ||
        roster->teams[roster->team_count - 1].stage == jobs->stage)
        return false;
    for (size_t i = 0; i < roster->team_count; i++)
        if (roster->teams[i].stage == jobs->stage && enl_teams_lives(jobs, jobs->plan->teams[i].number))
            return false;
    jobs->stage++;
    if (enl_roster_job(jobs))
        return true;
    enl_report(jobs->self, BCRI_LOG_ERROR, "no memory for the next part of the job");
    jobs->self->ops->abort(jobs->self->program, 126);
    return true;
}
