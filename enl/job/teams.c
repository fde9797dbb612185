/* SPDX-License-Identifier: MIT */
/* teams.c -- teams, in the root's daemon: who is in one, when its gate opens, and how a round of bcr_teamsync ends.
 *
 * What becomes of a rank:
 *
 *   FREE --its start is asked for--> ASKED --STARTED--> STARTED --CAME--> CAME
 *     |                                |                   |               |
 *     +---------- NEVER ---------------+                   +---- OVER -----+
 *
 * The daemon of the host where it is started tells of it (host/members.c), before it answers the request; this one tells itself
 * that a rank will never be started: since its request is answered or refused, or its host is lost, or whoever makes the team
 * has ended before it asked for all. So each rank has an identity or never will, and each comes or is over, whoever dies:
 *
 *   all have an identity, or never will   each host that has members gets the table
 *   all have come, or are over            the gate opens: all of these hosts are told
 *
 * A round of bcr_teamsync is over when all hosts with members have said that theirs have arrived; or as soon as a member has
 * ended that had not begun it, with bcrE_DEAD, and so are all later rounds. The team is forgotten when all its members
 * are over. */
#include "job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>
#include <bcr/program.h>

#include "wire/wire.h"

enum rank_state { FREE, ASKED, STARTED, NEVER, CAME, OVER };

/* A host with members. */
struct seat {
    uint32_t host;
    bool has_arrived; /* in this round */
};

struct enl_team {
    LIST_ENTRY(enl_team) entry;
    struct enl_jobs *jobs;
    uint32_t number, size;
    uint8_t creator[BCRI_IDENTITY_BYTES]; /* zeros: enl -n has made it */
    uint32_t unknown;                     /* ranks that may get an identity */
    uint32_t absent;                      /* that may come */
    uint32_t living;                      /* that are not over, nor never will be */
    bool is_open;
    struct seat *seats; /* when the table is whole */
    uint32_t seat_count, arrived;
    uint32_t round;
    uint32_t
        rounds_left; /* the last round that all members have begun, or may; UINT32_MAX: no member is over */
    bool is_broken;
    uv_timer_t *patience; /* until who is missing is named */
    uint8_t *identities;
    uint8_t states[];
};

enum { PATIENCE_MSEC = 10000, PART = 2048 / BCRI_IDENTITY_BYTES };

static uint8_t *identity_of(const struct enl_team *team, uint32_t rank)
{
    return team->identities + rank * (size_t)BCRI_IDENTITY_BYTES;
}

static struct enl_team *team_of(const struct enl_jobs *jobs, uint32_t number)
{
    struct enl_team *team;
    LIST_FOREACH (team, &jobs->teams, entry)
        if (team->number == number)
            break;
    return team;
}

static bool is_launched(const struct enl_team *team)
{
    return bcri_identity_is_none(team->creator);
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

static void drop(struct enl_team *team)
{
    LIST_REMOVE(team, entry);
    if (team->patience != NULL)
        uv_close((uv_handle_t *)team->patience, free_handle);
    free(team->seats);
    free(team->identities);
    free(team);
}

/* ---- who is missing ---- */

enum { NAMED_MAX = 10 };

static void name_missing(uv_timer_t *timer)
{
    const struct enl_team *team = timer->data;
    char ranks[NAMED_MAX * 16] = "";
    size_t used = 0;
    uint32_t named = 0;
    for (uint32_t rank = 0; rank < team->size && named < NAMED_MAX; rank++)
        if (team->states[rank] < NEVER) {
            used += (size_t)snprintf(ranks + used, sizeof ranks - used, "%s%u", named == 0 ? "" : ", ", rank);
            named++;
        }
    if (named < team->absent)
        snprintf(ranks + used, sizeof ranks - used, ", ... (%u)", team->absent);
    enl_report(team->jobs->self, BCRI_LOG_WARN,
               "the team of %u waits for member%s %s, which %s not %s in %d seconds", team->size,
               team->absent == 1 ? "" : "s", ranks, team->absent == 1 ? "has" : "have",
               is_launched(team) && team->jobs->summary != NULL ? "come" : "called bcr_init",
               PATIENCE_MSEC / 1000);
}

/* ---- making one ---- */

uint32_t enl_teams_new(struct enl_jobs *jobs, uint32_t size, const uint8_t creator[BCRI_IDENTITY_BYTES])
{
    struct enl_team *team = calloc(1, sizeof *team + size);
    if (team == NULL || (team->identities = calloc(size, BCRI_IDENTITY_BYTES)) == NULL ||
        (team->patience = malloc(sizeof *team->patience)) == NULL) {
        if (team != NULL)
            free(team->identities);
        free(team);
        return 0;
    }
    if (++jobs->last_team == 0)
        jobs->last_team = 1;
    team->jobs = jobs;
    team->number = jobs->last_team;
    team->size = team->unknown = team->absent = team->living = size;
    team->round = 1;
    team->rounds_left = UINT32_MAX;
    memcpy(team->creator, creator, sizeof team->creator);
    uv_timer_init(&jobs->self->loop, team->patience);
    team->patience->data = team;
    uv_timer_start(team->patience, name_missing, PATIENCE_MSEC, 0);
    LIST_INSERT_HEAD(&jobs->teams, team, entry);
    return team->number;
}

const char *enl_teams_ask(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request)
{
    if (request->count == 0 || request->enlistor.length != BCRI_IDENTITY_BYTES)
        return "a team of nobody, or made by nobody";
    const uint32_t number = enl_teams_new(jobs, request->count, (const uint8_t *)request->enlistor.bytes);
    const struct bcri_control reply = {.type = BCRI_MSG_reply,
                                       .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(team),
                                       .id = request->id,
                                       .status = number == 0 ? bcrE_NOMEM : 0,
                                       .team = number};
    enl_cce_answer(conn, &reply);
    return NULL;
}

bool enl_teams_start(struct enl_jobs *jobs, const struct bcri_control *request)
{
    struct enl_team *team = team_of(jobs, request->team);
    const uint64_t stride = request->stride, count = request->count;
    if (team == NULL || stride == 0 || request->rank + stride * (count - 1) >= team->size ||
        memcmp(team->creator, request->enlistor.bytes, sizeof team->creator) != 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (team->states[request->rank + i * stride] != FREE)
            return false;
    for (uint32_t i = 0; i < count; i++)
        team->states[request->rank + i * stride] = ASKED;
    return true;
}

/* ---- what hosts are told ---- */

static void tell_host(const struct enl_team *team, uint32_t host, const struct bcri_control *message)
{
    struct enl_jobs *jobs = team->jobs;
    if (host == jobs->self->host_number)
        (void)enl_members_take(jobs->here, message);
    else
        jobs->ops->send_to_host(jobs->self->program, host, message);
}

/* What the last host is told may end the team: nobody uses it afterwards. This daemon's own host comes last, since it acts at
 * once. */
static void tell_hosts(struct enl_team *team, const struct bcri_control *message)
{
    const uint32_t own = team->jobs->self->host_number;
    bool is_here = false;
    for (uint32_t i = 0; i < team->seat_count; i++)
        if (team->seats[i].host == own)
            is_here = true;
        else
            tell_host(team, team->seats[i].host, message);
    if (is_here)
        tell_host(team, own, message);
}

static void send_table(struct enl_team *team)
{
    for (uint32_t rank = 0; rank < team->size; rank += PART) {
        const uint32_t count = team->size - rank < PART ? team->size - rank : PART;
        const struct bcri_control message = {
            .type = BCRI_MSG_team_table,
            .present = BCRI_HAS(team) | BCRI_HAS(size) | BCRI_HAS(rank) | BCRI_HAS(bytes),
            .team = team->number,
            .size = team->size,
            .rank = rank,
            .bytes = {(const char *)identity_of(team, rank), count * BCRI_IDENTITY_BYTES}};
        tell_hosts(team, &message);
    }
}

static int compare_hosts(const void *a, const void *b)
{
    const struct seat *one = a, *two = b;
    return one->host < two->host ? -1 : one->host > two->host;
}

/* Each rank has an identity, or never will. False: no memory. */
static bool make_seats(struct enl_team *team)
{
    /* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): no team is of nobody (enl_teams_ask) */
    struct seat *seats = calloc(team->size, sizeof *seats);
    uint32_t count = 0, kept = 0;
    if (seats == NULL)
        return false;
    for (uint32_t rank = 0; rank < team->size; rank++)
        if (team->states[rank] != NEVER) {
            const uint32_t host = bcri_identity_host(identity_of(team, rank));
            if (count == 0 || seats[count - 1].host != host)
                seats[count++].host = host;
        }
    qsort(seats, count, sizeof *seats, compare_hosts);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || seats[kept - 1].host != seats[i].host)
            seats[kept++].host = seats[i].host;
    team->seats = seats;
    team->seat_count = kept;
    return true;
}

/* That round is over, as far as it is not over already. */
static void end_round(struct enl_team *team, int status)
{
    const struct bcri_control message = {.type = BCRI_MSG_team_synced,
                                         .present = BCRI_HAS(team) | BCRI_HAS(generation) | BCRI_HAS(status),
                                         .team = team->number,
                                         .generation = team->round,
                                         .status = (uint32_t)status};
    team->is_broken = status != 0;
    team->round++;
    team->arrived = 0;
    for (uint32_t i = 0; i < team->seat_count; i++)
        team->seats[i].has_arrived = false;
    tell_hosts(team, &message);
}

/* A member has ended that had begun so many rounds. */
static void break_rounds(struct enl_team *team, uint32_t rounds)
{
    if (rounds < team->rounds_left)
        team->rounds_left = rounds;
    if (team->rounds_left < team->round && !team->is_broken && team->is_open)
        end_round(team, bcrE_DEAD);
}

/* ---- what becomes of ranks ---- */

/* Something has changed. The team may be gone afterwards. */
static void look_at_gate(struct enl_team *team)
{
    struct enl_jobs *jobs = team->jobs;
    const uint32_t number = team->number;
    const struct bcri_control message = {
        .type = BCRI_MSG_team_open, .present = BCRI_HAS(team), .team = number};
    if (team->unknown == 0 && team->seats == NULL) {
        if (!make_seats(team)) {
            enl_report(jobs->self, BCRI_LOG_ERROR, "no memory for a team of %u", team->size);
            jobs->self->ops->abort(jobs->self->program, 1);
            return;
        }
        if (is_launched(team))
            enl_summary_step(jobs, ENL_STEP_STARTED);
        send_table(team);
    }
    if (team->living == 0 && team->is_open) {
        drop(team);
    } else if (team->absent == 0 && !team->is_open) {
        team->is_open = true;
        if (is_launched(team)) {
            enl_summary_step(jobs, ENL_STEP_OPEN);
            enl_feed_begin(jobs, number, bcri_identity_host(identity_of(team, 0)));
        }
        uv_timer_stop(team->patience);
        tell_hosts(team, &message);
        team = team_of(jobs, number); /* if all members are here, and none could be welcomed, it is gone */
        if (team != NULL && team->living == 0)
            drop(team);
        else if (team != NULL && team->rounds_left < team->round && !team->is_broken)
            end_round(team, bcrE_DEAD);
    }
}

/* False: it was started, or is known not to be. */
static bool set_never(struct enl_team *team, uint32_t rank)
{
    if (team->states[rank] > ASKED)
        return false;
    if (is_launched(team))
        enl_summary_end(team->jobs, team->number, rank, &(struct enl_ended){.how = bcr_NEVERUP});
    team->states[rank] = NEVER;
    team->unknown--;
    team->absent--;
    team->living--;
    team->rounds_left = 0;
    return true;
}

static void set_over(struct enl_team *team, uint32_t rank, uint32_t rounds, const struct enl_ended *ended)
{
    if (team->states[rank] != STARTED && team->states[rank] != CAME)
        return;
    if (is_launched(team))
        enl_summary_end(team->jobs, team->number, rank, ended);
    team->absent -= team->states[rank] == STARTED;
    team->living--;
    team->states[rank] = OVER;
    break_rounds(team, rounds);
}

static void end_launch(struct enl_jobs *jobs)
{
    if (jobs->self->phase == ENL_RUNNING)
        jobs->self->ops->abort(jobs->self->program, 126);
}

static const char *take_member(struct enl_team *team, uint32_t host, const struct bcri_control *message)
{
    const uint32_t rank = message->rank;
    const uint8_t *identity = (const uint8_t *)message->enlistor.bytes;
    const bool has_identity = message->enlistor.length == BCRI_IDENTITY_BYTES;
    if (rank >= team->size || message->state == 0 || message->state >= BCRI_MEMBER_STATES ||
        (message->state != BCRI_MEMBER_NEVER && !has_identity) ||
        (has_identity && bcri_identity_host(identity) != host))
        return "a member that cannot be";
    const enum rank_state state = team->states[rank];
    const bool is_it = has_identity && memcmp(identity_of(team, rank), identity, BCRI_IDENTITY_BYTES) == 0;
    switch (message->state) {
    case BCRI_MEMBER_STARTED:
        if (state != ASKED)
            return "a member that was not asked for";
        memcpy(identity_of(team, rank), identity, BCRI_IDENTITY_BYTES);
        team->states[rank] = STARTED;
        team->unknown--;
        break;
    case BCRI_MEMBER_CAME:
        if (state != STARTED || !is_it)
            return "a member came that was not started";
        team->states[rank] = CAME;
        team->absent--;
        break;
    case BCRI_MEMBER_OVER:
        if (!is_it)
            return "a member ended that was not started";
        set_over(team, rank, message->generation,
                 &(struct enl_ended){(uint8_t)message->kind, (uint8_t)message->status, message->clock,
                                     message->size});
        break;
    default:
        (void)set_never(team, rank);
        if (is_launched(team)) {
            end_launch(team->jobs);
            return NULL;
        }
    }
    look_at_gate(team);
    return NULL;
}

/* ---- rounds ---- */

static struct seat *seat_of(const struct enl_team *team, uint32_t host)
{
    const struct seat key = {.host = host};
    return team->seats != NULL
               ? bsearch(&key, team->seats, team->seat_count, sizeof *team->seats, compare_hosts)
               : NULL;
}

static const char *take_round(struct enl_team *team, uint32_t host, const struct bcri_control *message)
{
    struct seat *seat = seat_of(team, host);
    if (seat == NULL || !team->is_open)
        return "a round of a team that it is not in";
    if (message->generation != team->round || team->is_broken)
        return NULL; /* it is over, as that host is being told */
    if (message->type == BCRI_MSG_team_arrived && !seat->has_arrived) {
        seat->has_arrived = true;
        if (++team->arrived == team->seat_count)
            end_round(team, 0);
        if (team->arrived == 0 && !team->is_broken && team->rounds_left < team->round)
            end_round(team, bcrE_DEAD);
    } else if (message->type == BCRI_MSG_team_back && seat->has_arrived) {
        seat->has_arrived = false;
        team->arrived--;
        tell_host(team, host, message);
    }
    return NULL;
}

const char *enl_teams_take(struct enl_jobs *jobs, uint32_t host, const struct bcri_control *message)
{
    struct enl_team *team = team_of(jobs, message->team);
    if (team == NULL || jobs->self->phase != ENL_RUNNING)
        return NULL; /* all its members have ended */
    if (message->type == BCRI_MSG_input_taken) {
        enl_feed_taken(jobs, message);
        return NULL;
    }
    return message->type == BCRI_MSG_member ? take_member(team, host, message)
                                            : take_round(team, host, message);
}

void enl_teams_pass(struct enl_jobs *jobs, uint32_t number, const struct bcri_control *message)
{
    struct enl_team *team = team_of(jobs, number);
    if (team == NULL || jobs->self->phase != ENL_RUNNING)
        return;
    if (message->type == BCRI_MSG_finish && is_launched(team)) {
        if (jobs->summary != NULL)
            enl_summary_finish(jobs, number, (int)message->status);
        else /* also if member 0 has ended well before */
            enl_jobs_decide(jobs, (int)message->status, true);
    }
    tell_hosts(team, message);
}

/* ---- those who will never come ---- */

void enl_teams_answered(struct enl_jobs *jobs, const struct bcri_control *request)
{
    struct enl_team *team = team_of(jobs, request->team);
    bool lacks = false;
    if (team == NULL || jobs->self->phase != ENL_RUNNING)
        return;
    for (uint64_t i = 0, rank = request->rank; i < request->count && rank < team->size;
         i++, rank += request->stride)
        lacks |= set_never(team, (uint32_t)rank);
    if (lacks && is_launched(team))
        end_launch(jobs);
    else if (lacks)
        look_at_gate(team);
}

static void cut(struct enl_team *team)
{
    for (uint32_t rank = 0; rank < team->size; rank++)
        if (team->states[rank] == FREE)
            (void)set_never(team, rank);
    look_at_gate(team);
}

void enl_teams_cut(struct enl_jobs *jobs, const struct bcri_control *message)
{
    struct enl_team *team = team_of(jobs, message->team);
    if (team != NULL && jobs->self->phase == ENL_RUNNING && message->enlistor.length == BCRI_IDENTITY_BYTES &&
        memcmp(team->creator, message->enlistor.bytes, sizeof team->creator) == 0)
        cut(team);
}

void enl_teams_left(struct enl_jobs *jobs, const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    struct enl_team *team = LIST_FIRST(&jobs->teams), *next;
    for (; team != NULL && jobs->self->phase == ENL_RUNNING; team = next) {
        next = LIST_NEXT(team, entry);
        if (memcmp(team->creator, identity, sizeof team->creator) == 0)
            cut(team);
    }
}

/* A host's members had all begun a round that it has told of, and may not have begun another. */
static void lose_members(struct enl_team *team, uint32_t host)
{
    const struct seat *seat = seat_of(team, host);
    const uint32_t rounds = seat != NULL && seat->has_arrived ? team->round : team->round - 1;
    for (uint32_t rank = 0; rank < team->size; rank++)
        if ((team->states[rank] == STARTED || team->states[rank] == CAME) &&
            bcri_identity_host(identity_of(team, rank)) == host)
            set_over(team, rank, rounds, &(struct enl_ended){.how = bcr_HOSTLOST});
    if (!is_launched(team) && bcri_identity_host(team->creator) == host)
        cut(team);
    else
        look_at_gate(team);
}

bool enl_teams_lives(const struct enl_jobs *jobs, uint32_t number)
{
    return team_of(jobs, number) != NULL;
}

void enl_teams_host_lost(struct enl_jobs *jobs, uint32_t host)
{
    struct enl_team *team = LIST_FIRST(&jobs->teams), *next;
    for (; team != NULL && jobs->self->phase == ENL_RUNNING; team = next) {
        next = LIST_NEXT(team, entry);
        lose_members(team, host);
    }
}

void enl_teams_close(struct enl_jobs *jobs)
{
    for (struct enl_team *team = LIST_FIRST(&jobs->teams), *next; team != NULL; team = next) {
        next = LIST_NEXT(team, entry);
        drop(team);
    }
}
