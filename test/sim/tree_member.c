/* SPDX-License-Identifier: MIT */
/* A host's daemon of tree_sim.h, after parent.c and branch.c. */
#include "check.h"
#include "tree_sim.h"

static const char *take_introduction(struct host *host, const struct bcri_control *message)
{
    const char *wrong = enl_introduced_take(&host->ends.all, message);
    return wrong != NULL ? wrong : "";
}

static struct bcri_control ended_message(uint32_t number)
{
    struct bcri_control message = message_of(BCRI_MSG_ended, number);
    message.present |= BCRI_HAS(code) | BCRI_HAS(flags) | BCRI_HAS(text);
    message.text = bcri_view_of("");
    return message;
}

static void take_begin(struct host *host, uint32_t number)
{
    struct bcri_control ended = ended_message(number);
    host->begun++;
    CHECK(enl_routes_add(&host->routes, number, number));
    if (!fails(16)) {
        clock_later(LOGIN, number, login_ms());
        return;
    }
    sim.hosts[number].command_is_over = true;
    ended.present |= BCRI_HAS(object);
    ended.object = bcri_view_of("no processes");
    member_says(host, ended);
}

static void dispatch(struct host *host, const struct bcri_control *message)
{
    uint64_t sent_ms;
    switch (message->type) {
    case BCRI_MSG_start:
        ends_begin(&host->ends, host->life.number, (const uint8_t *)message->key.bytes);
        host->backup = enl_backup_take(message);
        clock_later(STARTED, host->life.number, 20);
        break;
    case BCRI_MSG_begin: take_begin(host, message->host); break;
    case BCRI_MSG_cut: command_ends(&sim.hosts[message->host], false); break;
    case BCRI_MSG_end:
        if (host->on_control_link) /* nobody else tells it */
            member_says(host, ended_message(host->life.number));
        member_ends(host);
        break;
    case BCRI_MSG_beat:
        if (enl_lease_sent(&host->lease, message->id, &sent_ms))
            enl_lease_extend(&host->lease, sent_ms, TIMEOUT);
        break;
    case BCRI_MSG_introduce:
    case BCRI_MSG_introduced:
        CHECK(!way_is_numbered(host) || (message->present & BCRI_HAS(seq)) != 0); /* else it may be lost */
        CHECK_STR(take_introduction(host, message), "");
        break;
    case BCRI_MSG_lost: CHECK_STR(take_introduction(host, message), ""); break;
    default: FAIL("a host gets a message of type %s", bcri_control_name(message->type));
    }
}

/* Introductions are killed on their way rather than anything else. */
static bool is_ambushed(struct host *host, const struct bcri_control *message)
{
    const bool introduces = message->type == BCRI_MSG_introduce || message->type == BCRI_MSG_introduced;
    const bool is_early = (message->present & BCRI_HAS(seq)) == 0;
    if (!introduces || sim.ambushes == 0 || sim.now_ms > 100000 ||
        test_rand_below(&sim.random, is_early ? 2 : 64) != 0)
        return false;
    sim.ambushes--;
    host->was_killed = true;
    member_ends(host);
    return true;
}

void member_takes(struct host *host, const struct bcri_control *message)
{
    if ((message->present & BCRI_HAS(to)) != 0 && message->to != host->life.number) {
        const uint32_t neighbour = enl_routes_find(&host->routes, message->to);
        host->passed++;
        if (neighbour == 0 || is_ambushed(host, message))
            return;
        if (message->type == BCRI_MSG_begin)
            CHECK(enl_routes_add(&host->routes, message->host, neighbour));
        way_post(DOWN, neighbour, message);
        return;
    }
    if (way_is_numbered(host) && host->is_up) {
        const enum enl_sequence_verdict verdict = enl_sequence_came(&host->numbers, message);
        CHECK(verdict != ENL_SEQUENCE_NONSENSE);
        if (verdict == ENL_SEQUENCE_DROP)
            return;
    }
    dispatch(host, message);
}

static void send_beat(struct host *host)
{
    struct bcri_control message = {
        .type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = enl_lease_beat(&host->lease, sim.now_ms)};
    if (enl_lease_is_silent(&host->lease, sim.now_ms, TIMEOUT)) {
        message.present |= BCRI_HAS(flags);
        message.flags = BCRI_BEAT_UNHEARD;
    }
    if (way_is_numbered(host))
        enl_sequence_tell(&host->numbers, &message);
    member_says(host, message);
}

void command_ends(struct host *host, bool closes)
{
    if (host->command_is_over)
        return;
    host->command_is_over = true;
    if (host->runs)
        clock_later(ENDED_PIPE, host->life.number, 1 + test_rand_below(&sim.random, 3));
    if (closes)
        clock_later(CLOSED, host->life.number, 1 + test_rand_below(&sim.random, 3));
    clock_later(ENDED, host->life.number, 1 + test_rand_below(&sim.random, 3));
}

void member_ends(struct host *host)
{
    host->runs = false;
    for (uint32_t i = 1; i <= sim.last_number; i++)
        if (sim.hosts[i].life.starter == host->life.number && sim.hosts[i].runs)
            clock_later(ENDED_PIPE, i, 1 + test_rand_below(&sim.random, 3));
    command_ends(host, true);
}

/* The way to the root by others is lost, or silent. */
static void seek(struct host *host)
{
    CHECK(host->seeks || enl_backup_make(host->backup, &host->ends.all));
    host->seeks = true;
}

void member_beats(struct host *host)
{
    if (enl_lease_is_over(&host->lease, sim.now_ms)) {
        member_ends(host);
        return;
    }
    if (way_is_numbered(host) && enl_lease_is_silent(&host->lease, sim.now_ms, TIMEOUT))
        seek(host);
    send_beat(host);
    const bool tries = host->numbers.asked || enl_lease_is_silent(&host->lease, sim.now_ms, TIMEOUT);
    clock_later(BEAT, host->life.number, way_is_numbered(host) && tries ? TIMEOUT / 16 : TIMEOUT / 4);
}

/* The root has met it, and does not introduce anybody to it yet. */
static bool is_met(uint32_t number)
{
    return number <= sim.last_number && (sim.hosts[number].life.state == ENL_LIFE_MET ||
                                         sim.hosts[number].life.state == ENL_LIFE_ANNOUNCED);
}

/* Some of those that are asked for are about to be started, or not yet; some of the links get new keys. */
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

void member_works(struct host *host)
{
    struct bcri_control line = {
        .type = BCRI_MSG_output, .present = BCRI_HAS(ordinal) | BCRI_HAS(kind) | BCRI_HAS(bytes), .kind = 1};
    line.ordinal = host->said++;
    line.bytes = bcri_view_of("line");
    member_says(host, line);
    if (host->wants < sim.partners && want_one(host))
        host->wants++;
    if (host->wants < sim.partners && sim.now_ms < sim.quiet_ms)
        clock_later(WORK, host->life.number, 200 + test_rand_below(&sim.random, 2000));
}

void member_is_refused(struct host *host)
{
    if (host->wants == sim.partners)
        clock_later(WORK, host->life.number, 200 + test_rand_below(&sim.random, 2000));
    host->wants--;
}

void member_has_started(struct host *host)
{
    struct bcri_control announce = enl_introduced_announce(&host->ends.all);
    CHECK_INT(enl_backup_answer(host->backup, &announce), way_is_numbered(host));
    member_says(host, announce);
    host->last[2 * UP] += test_rand_below(&sim.random, 50); /* two frames, between which others may come */
    member_says(host,
                (struct bcri_control){.type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status)});
    host->is_up = true;
    enl_lease_extend(&host->lease, sim.now_ms, TIMEOUT);
    clock_later(BEAT, host->life.number, test_rand_below(&sim.random, TIMEOUT / 4));
    clock_later(WORK, host->life.number, test_rand_below(&sim.random, 2000));
}

void member_logs_in(struct host *host)
{
    if (host->command_is_over || (host->life.starter != 0 && !sim.hosts[host->life.starter].runs))
        return;
    host->runs = true;
    member_says(host, (struct bcri_control){.type = BCRI_MSG_present,
                                            .present = BCRI_HAS(machine) | BCRI_HAS(text) | BCRI_HAS(object) |
                                                       BCRI_HAS(archtype),
                                            .machine = bcri_view_of("host"),
                                            .text = bcri_view_of("station"),
                                            .object = bcri_view_of("abi")});
}

void member_has_no_pipe(struct host *host)
{
    if (!host->runs || host->on_control_link)
        return;
    if (!host->is_up || !way_is_numbered(host)) {
        member_ends(host);
        return;
    }
    seek(host);
    host->on_control_link = true;
    enl_sequence_hold(&host->numbers);
    send_beat(host);
}

/* Says it to the root, which is the starter itself, or not. */
static void starter_tells(struct host *host, const struct bcri_control *message, enum enl_life_event event)
{
    struct host *starter = &sim.hosts[host->life.starter];
    if (host->life.starter != 0 && starter->runs)
        member_says(starter, *message);
    if (host->life.starter == 0 && enl_lives_find(&sim.lives, host->life.number) != NULL &&
        enl_life_takes(&host->life, event))
        root_happens(host, event);
}

void member_tells_of_closed(struct host *host)
{
    struct bcri_control message = message_of(BCRI_MSG_closed, host->life.number);
    message.present |= BCRI_HAS(text);
    message.text = bcri_view_of("its pipe has ended");
    starter_tells(host, &message, ENL_LIFE_PIPE_ENDS);
}

void member_tells_of_ended(struct host *host)
{
    const struct bcri_control message = ended_message(host->life.number);
    starter_tells(host, &message, ENL_LIFE_PROCESS_ENDS);
}
