/* SPDX-License-Identifier: MIT */
/* The root's daemon of tree_sim.h, after starting.c, child.c and child_lane.c. */
#include "check.h"
#include "tree_sim.h"

void root_wants(uint32_t place)
{
    struct host *host = &sim.hosts[++sim.last_number];
    CHECK(sim.last_number < NUMBERS);
    *host = (struct host){.number = sim.last_number, .place = place};
    host->numbers = (struct enl_sequence){.pass = way_up, .owner = host};
    host->root_numbers = (struct enl_sequence){.pass = way_down, .owner = host};
    CHECK(enl_plan_want(&sim.plan, &(struct enl_plan_host){.number = sim.last_number, .sshd = place}));
}

void root_begins(void)
{
    uint32_t number, by;
    while (enl_plan_next(&sim.plan, &number, &by)) {
        struct host *host = &sim.hosts[number];
        host->state = R_BEGUN;
        host->starter = by;
        if (by == 0)
            clock_later(LOGIN, number, 100 + test_rand_below(&sim.random, 200));
        else {
            struct bcri_control begin = message_of(BCRI_MSG_begin, number);
            begin.present |= BCRI_HAS(machine) | BCRI_HAS(flags);
            begin.machine = bcri_view_of("host");
            root_says(&sim.hosts[by], begin);
        }
    }
}

static bool hangs_on(const struct host *other, uint32_t number)
{
    while (!other->root_control_link && other->starter != 0 && other->starter != number)
        other = &sim.hosts[other->starter];
    return !other->root_control_link && other->starter == number;
}

/* All whose way leads by that host have none now. */
static void way_ends(uint32_t number)
{
    const uint32_t last = sim.last_number;
    enl_plan_ends(&sim.plan, number);
    for (uint32_t i = 1; i <= last; i++)
        if (i != number && sim.hosts[i].state == R_UP && hangs_on(&sim.hosts[i], number))
            enl_plan_ends(&sim.plan, i);
    for (uint32_t i = 1; i <= last; i++) {
        struct host *other = &sim.hosts[i];
        if (i == number || other->state == R_NONE || other->state == R_GONE || other->cut_off ||
            !hangs_on(other, number))
            continue;
        other->cut_off = true;
        if (other->state != R_UP)
            root_loses(other, false);
        else
            enl_backup_listen(&other->root_backup, &sim.root.all, i);
    }
}

void root_tells_of_lost(void)
{
    const uint64_t next_ms = enl_introducer_lose(&sim.root.all, sim.now_ms);
    if (next_ms != UINT64_MAX)
        clock_later(LOSE, 0, next_ms - sim.now_ms);
}

/* Of one of which nothing is known but that its pipe has ended others may only learn when its lease is over. */
void root_loses(struct host *host, bool end_is_known)
{
    const bool was_up = host->state == R_UP;
    if (was_up && !host->was_killed && !host->was_stopped)
        FAIL("host %u is lost, which was neither killed nor stood still", host->number);
    host->state = R_GONE;
    sim.gone_count++;
    way_ends(host->number);
    enl_plan_gone(&sim.plan, host->number);
    enl_introducer_gone(&sim.root.all, host->number,
                        end_is_known ? 0 : host->heard_ms + enl_lease_patience(TIMEOUT));
    root_tells_of_lost();
    if (was_up)
        sim.lost_count++;
    else
        root_wants(host->place);
    root_begins();
}

void root_attaches(struct host *host)
{
    sim.attached++;
    host->root_control_link = true;
    host->cut_off = false;
    enl_plan_ends(&sim.plan, host->number);
    enl_sequence_ask(&host->root_numbers);
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        struct host *other = &sim.hosts[i];
        if (i == host->number || other->state == R_NONE || other->state == R_GONE ||
            !hangs_on(other, host->number))
            continue;
        if (other->state != R_UP) {
            root_loses(other, false);
            continue;
        }
        enl_plan_ends(&sim.plan, i);
        other->cut_off = false;
        enl_sequence_ask(&other->root_numbers);
    }
}

static void start(struct host *host)
{
    uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX];
    struct bcri_control start = message_of(BCRI_MSG_start, host->number);
    start.present |= BCRI_HAS(id) | BCRI_HAS(daemon) | BCRI_HAS(program) | BCRI_HAS(key) | BCRI_HAS(flags);
    start.daemon = host->number;
    start.program = bcri_view_of("program");
    start.key = enl_introduction_view(sim.root.keys.program, sizeof sim.root.keys.program);
    if (way_is_numbered(host)) {
        struct enl_member there = {.host = host->number};
        enl_member_call(&there, "host", "boot net user abi");
        enl_backup_offer(&host->root_backup, &sim.root.all, &there, &start, addresses);
    }
    root_says(host, start);
}

bool end_is_told(const struct host *host)
{
    return !host->runs && host->number % 2 == 0;
}

static void dispatch(struct host *host, const struct bcri_control *message)
{
    struct host *other = message->host <= sim.last_number ? &sim.hosts[message->host] : NULL;
    switch (message->type) {
    case BCRI_MSG_present:
        host->state = R_MET;
        enl_plan_met(&sim.plan, host->number);
        start(host);
        root_begins();
        break;
    case BCRI_MSG_reply:
        host->state = R_UP;
        host->was_up = true;
        host->heard_ms = sim.now_ms;
        sim.up_count++;
        sim.rounds_ms = (unsigned)sim.now_ms;
        sim.deepest = enl_plan_level(&sim.plan, host->number) > sim.deepest
                          ? enl_plan_level(&sim.plan, host->number)
                          : sim.deepest;
        enl_plan_up(&sim.plan, host->number);
        clock_later(LOOK, host->number, enl_lease_unrest(TIMEOUT) + 1);
        CHECK(ends_want(&sim.root, host->number));
        root_begins();
        break;
    case BCRI_MSG_beat: {
        struct bcri_control answer = {.type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = message->id};
        if (way_is_numbered(host))
            enl_sequence_tell(&host->root_numbers, &answer);
        root_says(host, answer);
        host->heard_ms = sim.now_ms;
        break;
    }
    case BCRI_MSG_announce:
        CHECK_PTR(enl_introducer_announced(&sim.root.all, host->number, "host", "boot net user abi", message),
                  NULL);
        enl_backup_accept(&host->root_backup, message);
        break;
    case BCRI_MSG_want:
    case BCRI_MSG_agreed:
        CHECK_INT(host->state, R_UP);
        CHECK_PTR(enl_introducer_take(&sim.root.all, host->number, message), NULL);
        break;
    case BCRI_MSG_output: CHECK_UINT(message->ordinal, host->root_heard++); break;
    case BCRI_MSG_closed:
        if (other->state != R_GONE && !other->root_control_link)
            root_loses(other, end_is_told(other));
        break;
    default: FAIL("the root gets a message of type %s", bcri_control_name(message->type));
    }
}

void root_takes(uint32_t by, const struct bcri_control *message)
{
    const uint32_t from = (message->present & BCRI_HAS(from)) != 0 ? message->from : by;
    struct host *host = &sim.hosts[from];
    if (host->state == R_GONE || host->cut_off || way_carrier(from) != by)
        return; /* late */
    if (way_is_numbered(host) && host->state == R_UP) {
        const enum enl_sequence_verdict verdict = enl_sequence_came(&host->root_numbers, message);
        CHECK(verdict != ENL_SEQUENCE_NONSENSE);
        if (verdict == ENL_SEQUENCE_DROP)
            return;
    }
    dispatch(host, message);
}

void root_looks(struct host *host)
{
    const uint64_t age = sim.now_ms - host->heard_ms, patience = enl_lease_patience(TIMEOUT);
    if (host->state != R_UP)
        return;
    if (age > enl_lease_unrest(TIMEOUT))
        enl_backup_listen(&host->root_backup, &sim.root.all, host->number);
    if (age > patience) {
        root_loses(host, false);
        return;
    }
    if (sim.now_ms < sim.quiet_ms && test_rand_below(&sim.random, 32) == 0)
        ends_renew(&sim.root, ends_find(&sim.root, host->number));
    clock_later(LOOK, host->number,
                age > enl_lease_unrest(TIMEOUT) ? patience - age + 1 : enl_lease_unrest(TIMEOUT) - age + 1);
}
