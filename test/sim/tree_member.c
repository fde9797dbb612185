/* SPDX-License-Identifier: MIT */
/* A host's daemon of tree_sim.h: those that it begins, and what comes, after branch.c and parent.c. */
#include "check.h"
#include "tree_sim.h"

/* It gets its links, and runs its startscript: what comes meanwhile waits in its pipe. */
enum { START_MSEC = 20 };

static uint64_t soon_ms(void)
{
    return 1 + test_rand_below(&sim.random, 3);
}

/* ---- those that it begins ---- */

struct bcri_control ended_message(uint32_t number)
{
    struct bcri_control message = message_of(BCRI_MSG_ended, number);
    message.present |= BCRI_HAS(code) | BCRI_HAS(flags) | BCRI_HAS(text);
    message.text = bcri_view_of("");
    return message;
}

static void take_begin(struct host *host, uint32_t number)
{
    struct host *branch = &sim.hosts[number];
    struct bcri_control ended = ended_message(number);
    host->begun++;
    branch->next_branch = host->first_branch;
    host->first_branch = number;
    CHECK(enl_routes_add(&host->routes, number, number));
    if (!fails(16)) {
        clock_later(LOGIN, number, login_ms());
        clock_later(PUSHED, number, test_rand_below(&sim.random, 2) == 0 ? 50 : CONNECT / 2);
        return;
    }
    branch->command_is_over = true;
    ended.present |= BCRI_HAS(object);
    ended.object = bcri_view_of("no processes");
    member_says(host, ended);
}

/* Its routes lead nowhere any more. */
static void cut_branch(struct host *host, uint32_t number)
{
    struct host *branch = &sim.hosts[number];
    CHECK_UINT(branch->life.starter, host->life.number);
    if (branch->command_is_over)
        return; /* the root does not know yet */
    enl_routes_drop(&host->routes, number);
    command_is_killed(branch);
}

bool member_has_branches(const struct host *host)
{
    uint32_t at = host->first_branch;
    while (at != 0 && sim.hosts[at].command_is_over)
        at = sim.hosts[at].next_branch;
    return at != 0;
}

void command_ends(struct host *host, bool closes)
{
    const uint32_t number = host->life.number;
    if (host->command_is_over || sim.now_ms < host->hangs_ms)
        return;
    host->command_is_over = true;
    host->has_pipe = false;
    if (host->runs)
        clock_later(ENDED_PIPE, number, soon_ms());
    if (closes)
        clock_later(CLOSED, number, way_behind_ms(UP, host) - sim.now_ms + soon_ms());
    clock_later(ENDED, number, soon_ms());
}

void command_is_killed(struct host *host)
{
    const uint32_t number = host->life.number;
    if (host->command_is_over)
        return;
    if (host->was_spared || !fails(4)) {
        host->hangs_ms = 0;
        command_ends(host, false);
        return;
    }
    host->was_spared = true; /* the next one ends it */
    host->has_pipe = false;
    host->hangs_ms = is_deep(host) ? sim.now_ms + 3 * END_MSEC : UINT64_MAX;
    if (host->runs)
        clock_later(ENDED_PIPE, number, soon_ms());
    if (is_deep(host)) /* nobody may kill it again */
        clock_later(KILLED, number, 3 * END_MSEC);
}

/* Says it to the root, which is the starter itself, or not. */
static void starter_tells(struct host *host, const struct bcri_control *message, enum enl_life_event event)
{
    struct host *starter = &sim.hosts[host->life.starter];
    if (is_deep(host) && starter->runs)
        member_says(starter, *message);
    if (!is_deep(host) && enl_lives_find(&sim.lives, host->life.number) != NULL &&
        enl_life_takes(&host->life, event))
        root_happens(host, event);
}

void member_tells_of_closed(struct host *host)
{
    struct bcri_control message = message_of(BCRI_MSG_closed, host->life.number);
    message.present |= BCRI_HAS(text);
    message.text = bcri_view_of("its pipe has ended");
    starter_tells(host, &message, ENL_LIFE_PIPE_ENDS);
    enl_routes_drop(&sim.hosts[host->life.starter].routes, host->life.number);
}

/* Nothing can be written to it, though it is heard. The root itself gives one up of which it finds
 * that. */
void member_tells_of_stuck(struct host *host)
{
    struct bcri_control message = message_of(BCRI_MSG_closed, host->life.number);
    message.present |= BCRI_HAS(text) | BCRI_HAS(flags);
    message.text = bcri_view_of("nothing can be sent to it");
    message.flags = BCRI_CLOSED_WRITE_FAILED;
    host->is_stuck = true;
    starter_tells(host, &message, ENL_LIFE_CUT);
}

void member_tells_of_push(struct host *host)
{
    struct bcri_control message = message_of(BCRI_MSG_said, host->life.number);
    message.present |= BCRI_HAS(bytes);
    message.bytes = bcri_view_of("");
    if (!host->command_is_over)
        starter_tells(host, &message, ENL_LIFE_MORE);
}

void member_tells_of_ended(struct host *host)
{
    const struct bcri_control message = ended_message(host->life.number);
    starter_tells(host, &message, end_is_sure(host) ? ENL_LIFE_DAEMON_ENDS : ENL_LIFE_PROCESS_ENDS);
    if (is_deep(host))
        member_finishes(&sim.hosts[host->life.starter]);
}

/* ---- its beginning ---- */

void member_logs_in(struct host *host)
{
    if (host->command_is_over || (is_deep(host) ? !sim.hosts[host->life.starter].runs : sim.is_dead))
        return;
    host->runs = host->has_pipe = true;
    member_says(host, (struct bcri_control){.type = BCRI_MSG_present,
                                            .present = BCRI_HAS(machine) | BCRI_HAS(text) | BCRI_HAS(object) |
                                                       BCRI_HAS(archtype),
                                            .machine = bcri_view_of("host"),
                                            .text = bcri_view_of("station"),
                                            .object = bcri_view_of("abi")});
}

/* One that finds no memory for its link goes on without, as far as it comes. */
static void take_start(struct host *host, const struct bcri_control *message)
{
    ends_begin(&host->ends, host->life.number, (const uint8_t *)message->key.bytes);
    host->control_link = enl_control_link_take(message);
    CHECK_INT(host->control_link != NULL, is_deep(host));
    if (host->control_link != NULL && fails(64)) {
        enl_control_link_drop(host->control_link);
        host->control_link = NULL;
    }
    clock_later(STARTED, host->life.number, START_MSEC);
    host->starts_ms = sim.now_ms + START_MSEC + 1;
}

void member_has_started(struct host *host)
{
    struct bcri_control announce = enl_introduced_announce(&host->ends.all);
    if (host->control_link != NULL)
        enl_control_link_answer(host->control_link, &announce);
    member_says(host, announce);
    if (host->control_link != NULL && enl_control_link_make(host->control_link, &host->ends.all) != NULL) {
        member_ends(host);
        return;
    }
    host->by_link = host->control_link != NULL;
    host->ways[UP].last_ms[0] +=
        test_rand_below(&sim.random, 50); /* two frames, between which others may come */
    member_says(host, (struct bcri_control){
                          .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = 1});
    member_joins(host);
    clock_later(WORK, host->life.number, test_rand_below(&sim.random, 2000));
}

/* ---- what comes ---- */

/* Its work is ended, which takes a while. */
static void end_work(struct host *host)
{
    if (host->membership.state <= ENL_MEMBERSHIP_STOPPED)
        clock_later(FINISH, host->life.number, test_rand_below(&sim.random, END_MSEC + 1000));
    member_happens(host, ENL_MEMBERSHIP_END);
}

/* Beside a control link. */
static void take_of_pipes(struct host *host, const struct bcri_control *message)
{
    if (message->type == BCRI_MSG_lost && message->host == 0)
        member_hears_that_root_is_lost(host);
    else if (message->type == BCRI_MSG_stop && enl_membership_heeds_stop(&host->membership))
        member_stops(host);
}

static void dispatch(struct host *host, const struct bcri_control *message)
{
    const char *wrong = NULL;
    switch (message->type) {
    case BCRI_MSG_start: take_start(host, message); break;
    case BCRI_MSG_begin: take_begin(host, message->host); break;
    case BCRI_MSG_cut: cut_branch(host, message->host); break;
    case BCRI_MSG_end: end_work(host); break;
    case BCRI_MSG_beat: member_is_answered(host, message->id); break;
    case BCRI_MSG_stop: member_stops(host); break;
    case BCRI_MSG_go_on: member_goes_on(host); break;
    case BCRI_MSG_introduce:
    case BCRI_MSG_introduced:
    case BCRI_MSG_lost: wrong = enl_introduced_take(&host->ends.all, message); break;
    default: FAIL("a host gets a message of type %s", bcri_control_name(message->type));
    }
    if (wrong != NULL)
        FAIL("host %u is told nonsense: %s", host->life.number, wrong);
}

void member_takes(struct host *host, enum kind kind, const struct bcri_control *message)
{
    if (is_ambushed(host, message))
        return;
    if ((message->present & BCRI_HAS(to)) == 0 || message->to == host->life.number) {
        if (host->by_link && kind == DOWN)
            take_of_pipes(host, message);
        else if (message->type == BCRI_MSG_lost && message->host == 0)
            member_has_no_pipe(host); /* it has no control link yet, or no memory for one */
        else
            dispatch(host, message);
        return;
    }
    const uint32_t neighbour = enl_routes_find(&host->routes, message->to);
    host->passed++;
    if (neighbour != 0)
        way_post(DOWN, neighbour, message);
}

/* A host speaks first by saying what it is: so the way to it becomes known here. */
void member_passes_up(struct host *host, uint32_t from, struct bcri_control message)
{
    const bool is_own = (message.present & BCRI_HAS(from)) == 0;
    const uint32_t leads_by = is_own ? from : enl_routes_find(&host->routes, message.from);
    if (is_ambushed(host, &message))
        return;
    if (leads_by == 0 && message.type == BCRI_MSG_present) {
        if (fails(32)) /* there is no memory */
            return;
        CHECK(enl_routes_add(&host->routes, message.from, from));
    } else if (leads_by == 0) {
        return; /* its `present` was dropped, or a pipe between has ended */
    }
    CHECK(leads_by == 0 || leads_by == from);
    message.present |= BCRI_HAS(from);
    message.from = is_own ? from : message.from;
    host->passed++;
    way_post(UP, host->life.number, &message);
}

/* ---- at work ---- */

/* The root has met it, and does not introduce anybody to it yet. */
static bool is_met(uint32_t number)
{
    return number <= sim.last_number && (sim.hosts[number].life.state == ENL_LIFE_MET ||
                                         sim.hosts[number].life.state == ENL_LIFE_ANNOUNCED);
}

/* Some of those that are asked for are about to be started, or not yet; some of the links get new
 * keys. */
static bool want_one(struct host *host)
{
    uint32_t other = (uint32_t)test_rand_below(&sim.random, sim.last_number + 1);
    for (unsigned tries = 0; tries < 8 && !is_met(other); tries++)
        other = (uint32_t)test_rand_below(&sim.random, sim.last_number + 8);
    struct link *link = ends_find(&host->ends, other);
    if (link != NULL && test_rand_below(&sim.random, 2) == 0)
        ends_renew(&host->ends, link);
    return other != host->life.number && (other > sim.last_number || sim.hosts[other].place != host->place) &&
           ends_want(&host->ends, other);
}

/* Its CCEs run when the root has asked for them, which it does when it has had the reply to
 * `start`. */
void member_works(struct host *host)
{
    if (host->membership.state == ENL_MEMBERSHIP_STOPPED) {
        clock_later(WORK, host->life.number, 200);
        return;
    }
    struct bcri_control line = {
        .type = BCRI_MSG_output, .present = BCRI_HAS(ordinal) | BCRI_HAS(kind) | BCRI_HAS(bytes), .kind = 1};
    line.ordinal = host->said++;
    line.bytes = bcri_view_of("line");
    member_says(host, line);
    if (host->wants < sim.partners && sim.now_ms < sim.quiet_ms && want_one(host))
        host->wants++;
    if (host->wants < sim.partners && sim.now_ms < sim.quiet_ms)
        clock_later(WORK, host->life.number, 200 + test_rand_below(&sim.random, 2000));
}

void member_is_refused(struct host *host)
{
    if (sim.now_ms >= sim.quiet_ms)
        return;
    if (host->wants == sim.partners)
        clock_later(WORK, host->life.number, 200 + test_rand_below(&sim.random, 2000));
    host->wants--;
}

/* ---- its end ---- */

void member_ends(struct host *host)
{
    if (!host->runs)
        return;
    host->runs = false;
    for (uint32_t at = host->first_branch; at != 0; at = sim.hosts[at].next_branch) {
        struct host *branch = &sim.hosts[at];
        if (branch->runs && branch->has_pipe)
            clock_later(ENDED_PIPE, at, way_behind_ms(DOWN, branch) - sim.now_ms + soon_ms());
        branch->has_pipe = false;
    }
    command_ends(host, true);
}
