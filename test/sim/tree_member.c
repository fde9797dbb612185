/* SPDX-License-Identifier: MIT */
/* A host's daemon of tree_sim.h, after parent.c and branch.c. */
#include "check.h"
#include "tree_sim.h"

static struct link *link_of(struct host *host, uint32_t other)
{
    for (unsigned i = 0; i < host->link_count; i++)
        if (host->links[i].other == other)
            return &host->links[i];
    if (host->link_count == LINKS)
        return NULL;
    host->links[host->link_count] = (struct link){.other = other};
    return &host->links[host->link_count++];
}

static void dispatch(struct host *host, const struct bcri_control *message)
{
    uint64_t sent_ms;
    struct link *link;
    switch (message->type) {
    case BCRI_MSG_end: clock_later(STARTED, host->number, 20); break;
    case BCRI_MSG_begin:
        CHECK(enl_routes_add(&host->routes, message->host, message->host));
        clock_later(LOGIN, message->host, 100 + test_rand_below(&sim.random, 200));
        break;
    case BCRI_MSG_beat:
        if (enl_lease_sent(&host->lease, message->id, &sent_ms))
            enl_lease_extend(&host->lease, sent_ms, TIMEOUT);
        break;
    case BCRI_MSG_introduce:
        if (message->host != 0 && (link = link_of(host, message->host)) != NULL)
            link->made++;
        member_says(host, message_with_random(BCRI_MSG_agreed, message->host));
        break;
    case BCRI_MSG_introduced:
        link = link_of(host, message->host);
        CHECK(link != NULL);
        link->made++;
        break;
    case BCRI_MSG_lost:
        for (unsigned i = 0; i < host->link_count; i++)
            if (host->links[i].other == message->host)
                (*(message->flags == 0 ? &host->links[i].lost : &host->links[i].unknown))++;
        break;
    default: FAIL("a host gets a message of type %s", bcri_control_name(message->type));
    }
}

void member_takes(struct host *host, const struct bcri_control *message)
{
    if ((message->present & BCRI_HAS(to)) != 0 && message->to != host->number) {
        const uint32_t neighbour = enl_routes_find(&host->routes, message->to);
        host->passed++;
        if (neighbour == 0)
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
    if (way_is_numbered(host))
        enl_sequence_tell(&host->numbers, &message);
    member_says(host, message);
}

void member_ends(struct host *host)
{
    host->runs = false;
    for (uint32_t i = 1; i <= sim.last_number; i++)
        if (sim.hosts[i].starter == host->number && sim.hosts[i].runs)
            clock_later(ENDED_PIPE, i, 1 + test_rand_below(&sim.random, 3));
    clock_later(CLOSED, host->number, 1 + test_rand_below(&sim.random, 3));
}

void member_beats(struct host *host)
{
    if (enl_lease_is_over(&host->lease, sim.now_ms)) {
        member_ends(host);
        return;
    }
    host->seeks |= way_is_numbered(host) && enl_lease_is_silent(&host->lease, sim.now_ms, TIMEOUT);
    send_beat(host);
    clock_later(BEAT, host->number, host->seeks && !host->on_lane ? TIMEOUT / 16 : TIMEOUT / 4);
}

void member_works(struct host *host)
{
    struct bcri_control line = {
        .type = BCRI_MSG_output, .present = BCRI_HAS(ordinal) | BCRI_HAS(kind) | BCRI_HAS(bytes), .kind = 1};
    line.ordinal = host->said++;
    line.bytes = bcri_view_of("line");
    member_says(host, line);
    const uint32_t other = (uint32_t)test_rand_below(&sim.random, sim.last_number) + 1;
    if (host->wants < PARTNERS && other != host->number && sim.hosts[other].place != host->place) {
        bool is_known = false;
        for (unsigned i = 0; i < host->link_count; i++)
            is_known |= host->links[i].other == other;
        if (!is_known && link_of(host, other) != NULL) {
            host->wants++;
            member_says(host, message_with_random(BCRI_MSG_want, other));
        }
    }
    if (host->wants < PARTNERS)
        clock_later(WORK, host->number, 200 + test_rand_below(&sim.random, 2000));
}

void member_has_started(struct host *host)
{
    member_says(host,
                (struct bcri_control){.type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status)});
    host->is_up = true;
    enl_lease_extend(&host->lease, sim.now_ms, TIMEOUT);
    clock_later(BEAT, host->number, test_rand_below(&sim.random, TIMEOUT / 4));
    clock_later(WORK, host->number, 500 + test_rand_below(&sim.random, 3000));
}

void member_logs_in(struct host *host)
{
    if (host->state != R_BEGUN || (host->starter != 0 && !sim.hosts[host->starter].runs))
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
    if (!host->runs || host->on_lane)
        return;
    if (!host->is_up || !way_is_numbered(host)) {
        member_ends(host);
        return;
    }
    host->seeks = host->on_lane = true;
    enl_sequence_hold(&host->numbers);
    send_beat(host);
}

void member_tells_of_closed(struct host *host)
{
    struct host *starter = &sim.hosts[host->starter];
    if (host->starter == 0) {
        if (host->state != R_GONE)
            root_loses(host);
    } else if (starter->runs && !host->on_lane) {
        struct bcri_control closed = message_of(BCRI_MSG_closed, host->number);
        closed.present |= BCRI_HAS(text);
        closed.text = bcri_view_of("its pipe has ended");
        member_says(starter, closed);
    }
}
