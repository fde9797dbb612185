/* SPDX-License-Identifier: MIT */
/* The root's daemon of tree_sim.h: takes what frames bring, as child_frames.c and starting.c do. */
#include "check.h"
#include "tree_sim.h"

/* Now and then one is on a machine that the program has already. */
static void take_present(struct host *host)
{
    CHECK(enl_life_takes(&host->life, ENL_LIFE_PRESENTS));
    host->has_spoken = true;
    enl_plan_met(&sim.plan, host->life.number);
    sim.begins = true;
    if (fails(64)) {
        host->life.is_told = host->is_dismissed = true;
        root_happens(host, ENL_LIFE_CUT);
        return;
    }
    root_happens(host, ENL_LIFE_PRESENTS);
}

static void take_announce(struct host *host, const struct bcri_control *message)
{
    CHECK_PTR(
        enl_introducer_announced(&sim.root.all, host->life.number, "host", "boot net user abi", message),
        NULL);
    enl_control_link_accept(&host->root_control_link, message);
    CHECK(enl_life_takes(&host->life, ENL_LIFE_ANNOUNCES));
    root_happens(host, ENL_LIFE_ANNOUNCES);
}

static void take_beat(struct host *host, const struct bcri_control *message)
{
    root_says(host, (struct bcri_control){.type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = message->id});
    root_happens(host, ENL_LIFE_BEATS);
    if (sim.now_ms < sim.quiet_ms && test_rand_below(&sim.random, 32) == 0)
        ends_renew(&sim.root, ends_find(&sim.root, host->life.number));
}

static void take_ended(struct host *other, const struct bcri_control *message)
{
    if ((message->present & BCRI_HAS(object)) != 0 && enl_life_takes(&other->life, ENL_LIFE_NOT_BEGUN))
        root_happens(other, ENL_LIFE_NOT_BEGUN);
    else
        root_happens(other, end_is_sure(other) ? ENL_LIFE_DAEMON_ENDS : ENL_LIFE_PROCESS_ENDS);
}

/* The news must not overtake what the host has said by its control link. */
static void take_closed(struct host *other)
{
    if (!enl_life_has_way(&other->life))
        return;
    if (!other->life.was_up)
        root_happens(other, ENL_LIFE_PIPE_ENDS);
    else
        clock_later(READ, other->life.number, way_behind_ms(LINK_UP, other) - sim.now_ms);
}

void root_has_read(struct host *host)
{
    if (enl_life_takes(&host->life, ENL_LIFE_PIPE_ENDS))
        root_happens(host, ENL_LIFE_PIPE_ENDS);
}

/* A starter tells of a host, or a host of its own end. */
static void take_told(struct host *host, const struct bcri_control *message)
{
    const uint32_t number = host->life.number;
    CHECK(message->host != 0 && message->host <= sim.last_number);
    struct host *other = &sim.hosts[message->host];
    if (other == host) {
        CHECK(message->type == BCRI_MSG_ended && is_deep(host));
        CHECK(enl_life_takes(&host->life, ENL_LIFE_SAYS_END));
        root_happens(host, ENL_LIFE_SAYS_END);
        return;
    }
    CHECK_UINT(other->life.starter, number);
    if (enl_lives_find(&sim.lives, message->host) == NULL)
        return; /* it has been left */
    if (message->type == BCRI_MSG_ended)
        take_ended(other, message);
    else if (message->type == BCRI_MSG_said && enl_life_takes(&other->life, ENL_LIFE_MORE))
        root_happens(other, ENL_LIFE_MORE);
    else if (message->type == BCRI_MSG_said)
        return;
    else if ((message->flags & BCRI_CLOSED_WRITE_FAILED) != 0 &&
             enl_life_takes(&other->life, ENL_LIFE_WAY_LOST))
        root_happens(other, ENL_LIFE_WAY_LOST);
    else if ((message->flags & BCRI_CLOSED_WRITE_FAILED) != 0)
        return;
    else
        take_closed(other);
}

/* To `start` (1) or `stop` (2). */
static void take_reply(struct host *host, uint32_t id)
{
    if (id == 1 && host->life.state == ENL_LIFE_ANNOUNCED)
        root_happens(host, ENL_LIFE_STARTS);
    else if (id == 2 && host->stops)
        root_has_stopped(host);
}

static void dispatch(struct host *host, const struct bcri_control *message)
{
    const uint32_t number = host->life.number;
    const enum enl_life_state state = host->life.state;
    if (enl_life_is_ending(&host->life))
        root_happens(host, ENL_LIFE_SPEAKS);
    if (state < ENL_LIFE_UP && message->type != BCRI_MSG_present && message->type != BCRI_MSG_announce &&
        message->type != BCRI_MSG_reply)
        FAIL("host %u, which is %s, says %s at %llu ms (seed %#llx)", number, enl_life_state_name(state),
             bcri_control_name(message->type), (unsigned long long)sim.now_ms, (unsigned long long)sim.seed);
    switch (message->type) {
    case BCRI_MSG_present: take_present(host); break;
    case BCRI_MSG_announce: take_announce(host, message); break;
    case BCRI_MSG_reply: take_reply(host, message->id); break;
    case BCRI_MSG_beat: take_beat(host, message); break;
    case BCRI_MSG_want:
    case BCRI_MSG_agreed: CHECK_PTR(enl_introducer_take(&sim.root.all, number, message), NULL); break;
    case BCRI_MSG_output: CHECK_UINT(message->ordinal, host->root_heard++); break;
    case BCRI_MSG_said:
    case BCRI_MSG_closed:
    case BCRI_MSG_ended: take_told(host, message); break;
    default: FAIL("the root gets a message of type %s", bcri_control_name(message->type));
    }
}

void root_takes(uint32_t by, const struct bcri_control *message)
{
    const uint32_t from = (message->present & BCRI_HAS(from)) != 0 ? message->from : by;
    struct host *host = &sim.hosts[from];
    if (enl_lives_find(&sim.lives, from) == NULL || !enl_life_has_way(&host->life) ||
        !enl_life_has_way(&sim.hosts[by].life))
        return; /* late */
    const struct enl_life *top = enl_lives_highest(&sim.lives, &host->life, 0);
    if (top == NULL)
        return; /* those between are gone */
    if (top->number != by)
        FAIL("host %u speaks for host %u, which is not below it", by, from);
    if (is_deep(host) && host->life.state > ENL_LIFE_MET)
        return; /* by its control link it is heard, and by nothing else */
    dispatch(host, message);
}

void root_takes_of_link(struct host *host, const struct bcri_control *message)
{
    CHECK(is_deep(host) && host->has_end && host->life.state >= ENL_LIFE_ANNOUNCED);
    if (host->life.state == ENL_LIFE_ANNOUNCED) /* output may overtake the reply */
        root_happens(host, ENL_LIFE_STARTS);
    dispatch(host, message);
}
