/* SPDX-License-Identifier: MIT */
/* members.c -- the members of teams on this host: their gate, what they know of each other, and bcr_teamsync.
 *
 * The root's daemon decides (job/teams.c); this one tells it of each member what becomes of it, and is told:
 *
 *   team_table    the identities of all members, a part at a time, when each has one. They go into a memory file that nobody
 *                 can change any more, once for all members here
 *   team_open     each has come, or never will: those that wait get their welcome, and that file
 *   team_synced   how a round of bcr_teamsync has ended
 *
 * A round of bcr_teamsync, here:
 *
 *   GATHERING --all members here that live wait--> ARRIVED, which the root is told
 *   ARRIVED --the time of one is up--> BACK, of which the root is told, too
 *   BACK --the root has not decided: it says so--> GATHERING, and that one gets bcrE_TIMEOUT
 *   any --team_synced--> GATHERING of the next round; all that wait get its status
 *
 * The root decides of a round once, and tells all hosts the same; so who waits until it is told gets what all others get. A
 * member whose time is up gets bcrE_TIMEOUT only while the root has not counted on it: before ARRIVED, or when the root has
 * sent team_back. Messages keep their order, so a team_synced that the root had sent before it got our team_back comes
 * in its place. A member that ends while it waits has arrived, unless its time is up: the root is told how many rounds each had
 * begun. */
#include "host/host.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/segment.h"
#include "wire/wire.h"

enum round_state { GATHERING, ARRIVED, BACK };

struct enl_members {
    LIST_ENTRY(enl_members) entry;
    struct enl_here *here;
    uint32_t team;
    LIST_HEAD(, enl_cce) all; /* that have not ended */
    bool is_known;            /* to the root's daemon, which says when the gate is open: some were started */
    bool has_output;          /* a member has the file into which they print */
    bool is_open, is_opening; /* is_opening: those that wait are being welcomed */
    struct {
        uint32_t size, came; /* identities of the team, and of them those that are here */
        int fd;              /* -1: there is none yet, or no memory */
        uint8_t *bytes;      /* NULL once it is sealed */
    } table;
    enum round_state state;
    uint32_t round;    /* of bcr_teamsync: the one that is not over */
    bool is_broken;    /* a member has ended that would be needed */
    uv_timer_t *timer; /* until the time of the first of those that wait is up; NULL: none had one so far */
};

static void tell_root(struct enl_here *here, const struct bcri_control *message)
{
    here->ops->tell_teams(here->self->program, message);
}

/* A call whose time is up has not begun its round: the root does not count on it any more, or is about to hear that. */
static void tell_of_member(const struct enl_cce *cce, enum bcri_member_state state)
{
    const struct bcri_control message = {
        .type = BCRI_MSG_member,
        .present = BCRI_HAS(team) | BCRI_HAS(rank) | BCRI_HAS(state) | BCRI_HAS(enlistor) |
                   BCRI_HAS(generation) |
                   (state == BCRI_MEMBER_OVER && cce->how != 0
                        ? BCRI_HAS(kind) | BCRI_HAS(status) | BCRI_HAS(clock) | BCRI_HAS(size)
                        : 0),
        .team = cce->team.members->team,
        .rank = cce->team.rank,
        .state = state,
        .enlistor = {(const char *)cce->record->id.identity, BCRI_IDENTITY_BYTES},
        .generation = cce->team.rounds - cce->team.is_late,
        .kind = cce->how,
        .status = cce->number,
        .clock = cce->cpu_us,
        .size = cce->rss_kib};
    tell_root(cce->here, &message);
}

static void tell_of_round(const struct enl_members *members, enum bcri_control_type type)
{
    const struct bcri_control message = {.type = type,
                                         .present = BCRI_HAS(team) | BCRI_HAS(generation),
                                         .team = members->team,
                                         .generation = members->round};
    tell_root(members->here, &message);
}

static struct enl_members *members_of(const struct enl_here *here, uint32_t team)
{
    struct enl_members *members;
    LIST_FOREACH (members, &here->teams, entry)
        if (members->team == team)
            break;
    return members;
}

static void close_timer(uv_handle_t *timer)
{
    free(timer);
}

static void drop(struct enl_members *members)
{
    LIST_REMOVE(members, entry);
    if (members->table.bytes != NULL)
        munmap(members->table.bytes, members->table.size * (size_t)BCRI_IDENTITY_BYTES);
    if (members->table.fd >= 0)
        close(members->table.fd);
    if (members->timer != NULL)
        uv_close((uv_handle_t *)members->timer, close_timer);
    free(members);
}

/* Nobody here needs it any more. */
static bool may_drop(const struct enl_members *members)
{
    return LIST_EMPTY(&members->all) && (members->is_open || !members->is_known) && !members->is_opening;
}

/* ---- the members ---- */

bool enl_members_add(struct enl_cce *cce, uint32_t team, uint32_t rank)
{
    struct enl_here *here = cce->here;
    struct enl_members *members = members_of(here, team);
    if (members == NULL) {
        members = malloc(sizeof *members);
        if (members == NULL)
            return false;
        *members = (struct enl_members){.here = here, .team = team, .table.fd = -1, .round = 1};
        LIST_INSERT_HEAD(&here->teams, members, entry);
    }
    cce->team.members = members;
    cce->team.rank = rank;
    LIST_INSERT_HEAD(&members->all, cce, team.entry);
    return true;
}

void enl_members_started(struct enl_cce *cce)
{
    cce->team.is_told = cce->team.members->is_known = true;
    tell_of_member(cce, BCRI_MEMBER_STARTED);
}

void enl_members_came(struct enl_cce *cce)
{
    cce->team.has_come = true;
    tell_of_member(cce, BCRI_MEMBER_CAME);
}

bool enl_members_claim_output(const struct enl_cce *cce)
{
    const bool is_first = !cce->team.members->has_output;
    cce->team.members->has_output = true;
    return is_first;
}

bool enl_members_may_go(const struct enl_cce *cce)
{
    return cce->team.members == NULL || cce->team.members->is_open;
}

int enl_members_table(const struct enl_cce *cce)
{
    return cce->team.members != NULL ? cce->team.members->table.fd : -1;
}

/* ---- the table ---- */

/* Room for a team of that size. False: no memory. */
static bool make_table(struct enl_members *members, uint32_t size)
{
    const size_t bytes = size * (size_t)BCRI_IDENTITY_BYTES;
    const int fd = memfd_create("bcr-team", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return false;
    uint8_t *map = ftruncate(fd, (off_t)bytes) == 0 && bcri_segment_reserve(fd, 0, bytes) == 0
                       ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                       : MAP_FAILED;
    if (map == MAP_FAILED) {
        close(fd);
        return false;
    }
    members->table.size = size;
    members->table.bytes = map;
    members->table.fd = fd;
    return true;
}

/* All identities are here. */
static void seal_table(struct enl_members *members)
{
    munmap(members->table.bytes, members->table.size * (size_t)BCRI_IDENTITY_BYTES);
    members->table.bytes = NULL;
    (void)fcntl(members->table.fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

static const char *take_table(struct enl_members *members, const struct bcri_control *message)
{
    const uint32_t count = message->bytes.length / BCRI_IDENTITY_BYTES;
    if (message->size == 0 || message->size > BCRI_CCE_MAX || message->rank != members->table.came ||
        message->bytes.length % BCRI_IDENTITY_BYTES != 0 || count == 0 ||
        count > message->size - members->table.came ||
        (members->table.came != 0 && message->size != members->table.size))
        return "a part of a team that does not fit";
    if (members->table.came == 0 && !make_table(members, (uint32_t)message->size)) {
        members->table.size = (uint32_t)message->size; /* members fail when they are welcomed */
        enl_report(members->here->self, BCRI_LOG_ERROR, "no memory for the table of a team of %u",
                   members->table.size);
    }
    if (members->table.bytes != NULL)
        memcpy(members->table.bytes + members->table.came * (size_t)BCRI_IDENTITY_BYTES, message->bytes.bytes,
               message->bytes.length);
    members->table.came += count;
    if (members->table.came == members->table.size && members->table.bytes != NULL)
        seal_table(members);
    return NULL;
}

static const char *open_gate(struct enl_members *members)
{
    struct enl_cce *next;
    if (members->table.came != members->table.size || members->table.size == 0 || members->is_open)
        return "the gate of a team that is not whole";
    members->is_open = members->is_opening = true;
    for (struct enl_cce *cce = LIST_FIRST(&members->all); cce != NULL; cce = next) {
        next = LIST_NEXT(cce, team.entry);
        enl_cce_gate_open(cce);
    }
    members->is_opening = false;
    if (may_drop(members))
        drop(members);
    return NULL;
}

/* ---- bcr_teamsync ---- */

static void answer(struct enl_cce *cce, int code)
{
    cce->team.waits = cce->team.is_late = false;
    if (cce->control != NULL)
        enl_cce_reply(cce->control, cce->team.request, code, NULL);
}

static void answer_all(struct enl_members *members, int code)
{
    struct enl_cce *cce, *next;
    for (cce = LIST_FIRST(&members->all); cce != NULL; cce = next) {
        next = LIST_NEXT(cce, team.entry);
        if (cce->team.waits)
            answer(cce, code);
    }
}

static void look_at_round(struct enl_members *members)
{
    const struct enl_cce *cce;
    if (members->state != GATHERING || LIST_EMPTY(&members->all))
        return;
    LIST_FOREACH (cce, &members->all, team.entry)
        if (cce->team.rounds < members->round)
            return;
    members->state = ARRIVED;
    tell_of_round(members, BCRI_MSG_team_arrived);
}

/* One whose time is up: 0, or when the first such time is. */
static uint64_t time_up(struct enl_members *members, struct enl_cce *cce, uint64_t now)
{
    if (cce->team.until_ms > now)
        return cce->team.until_ms;
    if (members->state == GATHERING) {
        cce->team.rounds--;
        answer(cce, bcrE_TIMEOUT);
        return UINT64_MAX;
    }
    cce->team.is_late = true;
    if (members->state == ARRIVED) {
        members->state = BACK;
        tell_of_round(members, BCRI_MSG_team_back);
    }
    return UINT64_MAX;
}

static void set_timer(struct enl_members *members);

static void on_time(uv_timer_t *timer)
{
    set_timer(timer->data);
}

static void set_timer(struct enl_members *members)
{
    struct enl_here *here = members->here;
    const uint32_t round = members->round;
    const uint64_t now = uv_now(&here->self->loop);
    uint64_t first = UINT64_MAX;
    for (struct enl_cce *cce = LIST_FIRST(&members->all), *next; cce != NULL; cce = next) {
        next = LIST_NEXT(cce, team.entry);
        if (!cce->team.waits || cce->team.is_late || cce->team.until_ms == UINT64_MAX)
            continue;
        const uint64_t until = time_up(members, cce, now);
        if (members->round != round || members->is_broken)
            return; /* the root is this daemon's, and has decided */
        first = until < first ? until : first;
    }
    if (first == UINT64_MAX)
        return;
    if (members->timer == NULL && (members->timer = malloc(sizeof *members->timer)) != NULL) {
        uv_timer_init(&here->self->loop, members->timer);
        members->timer->data = members;
    }
    if (members->timer != NULL)
        uv_timer_start(members->timer, on_time, first - now, 0);
}

const char *enl_members_sync(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_cce *cce = conn->cce;
    struct enl_members *members = cce->team.members;
    if (members == NULL || cce->life != ENL_ALIVE)
        return "team_sync of one that is in no team";
    if (cce->team.waits) {
        enl_cce_reply(conn, message->id, bcrE_BUSY, NULL);
        return NULL;
    }
    cce->team.request = message->id;
    if (members->is_broken) {
        answer(cce, bcrE_DEAD);
        return NULL;
    }
    cce->team.waits = true;
    cce->team.until_ms =
        message->size > INT32_MAX ? UINT64_MAX : uv_now(&cce->here->self->loop) + message->size;
    cce->team.rounds++;
    look_at_round(members);
    if (cce->team.waits)
        set_timer(members);
    return NULL;
}

static void round_over(struct enl_members *members, int status)
{
    members->state = GATHERING;
    members->round++;
    members->is_broken = status != 0;
    answer_all(members, status);
}

/* The root has not counted on those whose time is up. */
static void come_back(struct enl_members *members)
{
    struct enl_cce *cce, *next;
    members->state = GATHERING;
    for (cce = LIST_FIRST(&members->all); cce != NULL; cce = next) {
        next = LIST_NEXT(cce, team.entry);
        if (!cce->team.waits || !cce->team.is_late)
            continue;
        cce->team.rounds--;
        answer(cce, bcrE_TIMEOUT);
    }
    look_at_round(members);
}

static void signal_all(const struct enl_members *members, int signal)
{
    const struct enl_cce *cce;
    LIST_FOREACH (cce, &members->all, team.entry)
        (void)enl_cce_signal_itself(cce, signal);
}

/* They end with that status, whatever they do. */
static void finish_all(const struct enl_members *members, int status)
{
    struct enl_cce *cce;
    LIST_FOREACH (cce, &members->all, team.entry) {
        cce->has_status = true;
        cce->status = status;
        enl_cce_signal(cce, SIGKILL, true);
    }
}

uint32_t enl_members_team(const struct enl_cce *cce)
{
    return cce->team.members != NULL ? cce->team.members->team : 0;
}

const char *enl_members_take(struct enl_here *here, const struct bcri_control *message)
{
    struct enl_members *members = members_of(here, message->team);
    if (members == NULL)
        return NULL; /* all its members here have ended */
    switch (message->type) {
    case BCRI_MSG_team_table: return take_table(members, message);
    case BCRI_MSG_team_open: return open_gate(members);
    case BCRI_MSG_team_synced:
        if (message->generation != members->round || members->is_broken)
            return "the end of a round that is over";
        round_over(members, (int)message->status);
        return NULL;
    case BCRI_MSG_team_back:
        if (message->generation == members->round && members->state == BACK)
            come_back(members);
        return NULL;
    case BCRI_MSG_pass: signal_all(members, (int)message->kind); return NULL;
    case BCRI_MSG_finish: finish_all(members, (int)message->status); return NULL;
    default: return "not a message about a team";
    }
}

void enl_members_over(struct enl_cce *cce)
{
    struct enl_members *members = cce->team.members;
    if (members == NULL)
        return;
    const uint32_t team = members->team;
    LIST_REMOVE(cce, team.entry);
    cce->team.waits = false;
    if (cce->team.is_told && cce->here->self->phase == ENL_RUNNING)
        tell_of_member(cce, BCRI_MEMBER_OVER);
    cce->team.members = NULL;
    members = members_of(cce->here,
                         team); /* the root, if it is here, may have opened the gate: that was the last */
    if (members == NULL)
        return;
    if (may_drop(members))
        drop(members);
    else
        look_at_round(members);
}

void enl_members_stop(struct enl_here *here)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &here->all, entry)
        cce->team.members = NULL;
    for (struct enl_members *members = LIST_FIRST(&here->teams), *next; members != NULL; members = next) {
        next = LIST_NEXT(members, entry);
        drop(members);
    }
}
