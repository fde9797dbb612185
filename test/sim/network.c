/* SPDX-License-Identifier: MIT */
#include "network.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory.h"

enum event_kind { PACKET, ALARM };

struct event {
    uint64_t at, order; /* events of one time happen in the order in which they were made */
    enum event_kind kind;
    struct sim_end *end;
    uint8_t *packet;
    size_t bytes;
    sim_alarm_fn *alarm;
    void *context;
    uint64_t argument;
};

struct sim_network {
    uint64_t random, now, made;
    struct event *event; /* a heap by (at, order) */
    size_t events, capacity;
    struct sim_end **end; /* a heap by when they are due */
    size_t ends;
    uint64_t digest, packets;
    sim_tap_fn *tap;
    void *tap_context;
};

struct sim_network *sim_new(uint64_t seed)
{
    struct sim_network *network = calloc(1, sizeof *network);
    CHECK(network != NULL);
    network->random = seed;
    network->now = SIM_S;
    return network;
}

void sim_free(struct sim_network *network)
{
    for (size_t i = 0; i < network->events; i++)
        free(network->event[i].packet);
    free(network->event);
    free(network->end);
    free(network);
}

uint64_t sim_now(const struct sim_network *network)
{
    return network->now;
}

void sim_pass(struct sim_network *network, uint64_t now)
{
    network->now = now > network->now ? now : network->now;
}

uint64_t sim_random(struct sim_network *network, uint64_t bound)
{
    return test_rand_below(&network->random, bound);
}

static bool chance(struct sim_network *network, unsigned of_1000)
{
    return of_1000 != 0 && sim_random(network, 1000) < of_1000;
}

static bool earlier(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct sim_network *network, struct event event)
{
    if (network->events == network->capacity) {
        network->capacity = network->capacity == 0 ? 64 : network->capacity * 2;
        network->event = realloc(network->event, network->capacity * sizeof event);
        CHECK(network->event != NULL);
    }
    event.order = network->made++;
    size_t at = network->events++;
    for (; at != 0 && earlier(&event, &network->event[(at - 1) / 2]); at = (at - 1) / 2)
        network->event[at] = network->event[(at - 1) / 2];
    network->event[at] = event;
}

static struct event pop(struct sim_network *network)
{
    const struct event first = network->event[0], last = network->event[--network->events];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < network->events; at = child) {
        if (child + 1 < network->events && earlier(&network->event[child + 1], &network->event[child]))
            child++;
        if (!earlier(&network->event[child], &last))
            break;
        network->event[at] = network->event[child];
    }
    network->event[at] = last;
    return first;
}

uint64_t sim_clock(const struct sim_end *end)
{
    return end->clock_stopped_at != 0 ? end->clock_stopped_at : end->network->now + end->clock_ahead;
}

uint64_t sim_digest(const struct sim_network *network)
{
    return network->digest;
}

uint64_t sim_packets(const struct sim_network *network)
{
    return network->packets;
}

/* The end moves in the heap to where its time belongs. */
static void set_due(struct sim_end *end, uint64_t due)
{
    struct sim_end **heap = end->network->end;
    const size_t ends = end->network->ends;
    size_t at = end->where;
    end->due = due;
    for (; at != 0 && due < heap[(at - 1) / 2]->due; at = (at - 1) / 2)
        (heap[at] = heap[(at - 1) / 2])->where = at;
    for (size_t child; (child = 2 * at + 1) < ends; at = child) {
        if (child + 1 < ends && heap[child + 1]->due < heap[child]->due)
            child++;
        if (heap[child]->due >= due)
            break;
        (heap[at] = heap[child])->where = at;
    }
    (heap[at] = end)->where = at;
}

static void add_end(struct sim_network *network, struct sim_end *end, struct sim_end *other)
{
    end->network = network;
    end->other = other;
    end->path_free_at = 0;
    end->where = network->ends;
    network->end[network->ends++] = end;
    set_due(end, BCRI_LINK_NEVER);
}

void sim_join(struct sim_network *network, struct sim_end *one, struct sim_end *two)
{
    network->end = realloc(network->end, (network->ends + 2) * sizeof(struct sim_end *));
    CHECK(network->end != NULL);
    add_end(network, one, two);
    add_end(network, two, one);
}

void sim_tap(struct sim_network *network, sim_tap_fn *tap, void *context)
{
    network->tap = tap;
    network->tap_context = context;
}

void sim_alarm(struct sim_network *network, uint64_t at, sim_alarm_fn *alarm, void *context,
               uint64_t argument)
{
    push(network,
         (struct event){.at = at, .kind = ALARM, .alarm = alarm, .context = context, .argument = argument});
}

static void arrive_at(struct sim_end *end, uint64_t at, const uint8_t *packet, size_t bytes)
{
    uint8_t *copy = malloc(bytes + 1);
    CHECK(copy != NULL);
    memcpy(copy, packet, bytes);
    push(end->network, (struct event){.at = at, .kind = PACKET, .end = end, .packet = copy, .bytes = bytes});
}

void sim_inject(struct sim_end *end, const uint8_t *packet, size_t bytes)
{
    arrive_at(end, end->network->now, packet, bytes);
}

static void send(struct sim_end *from, uint8_t *packet, size_t bytes)
{
    struct sim_network *network = from->network;
    const struct sim_path *path = &from->path;
    if (network->tap != NULL)
        network->tap(network->tap_context, from, packet, bytes);
    uint64_t leaves = network->now;
    if (path->bytes_per_s != 0) {
        if (from->path_free_at > leaves)
            leaves = from->path_free_at;
        if ((leaves - network->now) * path->bytes_per_s / SIM_S > path->queue_bytes)
            return;
        leaves += bytes * SIM_S / path->bytes_per_s;
        from->path_free_at = leaves;
    }
    if (path->cut || (path->packet_max != 0 && bytes > path->packet_max) || chance(network, path->lost))
        return;
    for (unsigned copies = chance(network, path->doubled) ? 2 : 1; copies != 0; copies--) {
        uint64_t at =
            leaves + path->delay_ns + (path->jitter_ns != 0 ? sim_random(network, path->jitter_ns) : 0);
        if (chance(network, path->held))
            at += sim_random(network, 8 * path->delay_ns + 1);
        uint8_t kept = 0;
        const size_t where = (size_t)sim_random(network, bytes);
        const bool altered = chance(network, path->altered);
        if (altered) {
            kept = packet[where];
            packet[where] ^= (uint8_t)(1u << sim_random(network, 8));
        }
        arrive_at(from->other, at, packet, bytes);
        if (altered)
            packet[where] = kept;
    }
}

/* When the link's deadline comes by the network's clock. */
static uint64_t deadline_of(const struct sim_end *end)
{
    const uint64_t deadline = end->link != NULL ? bcri_link_deadline(end->link) : BCRI_LINK_NEVER;
    if (deadline == BCRI_LINK_NEVER || (end->clock_stopped_at != 0 && deadline > end->clock_stopped_at))
        return BCRI_LINK_NEVER;
    return deadline > end->clock_ahead ? deadline - end->clock_ahead : 0;
}

void sim_flush(struct sim_end *end)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    if (end->link != NULL && end->asleep_until > end->network->now) {
        set_due(end, end->asleep_until);
        return;
    }
    while (end->link != NULL) {
        const bool before = memory_watch(true);
        const size_t bytes = bcri_link_fill(end->link, packet, sim_clock(end));
        memory_watch(before);
        if (bytes == 0)
            break;
        send(end, packet, bytes);
    }
    set_due(end, deadline_of(end));
}

static void happen(struct sim_network *network, struct event *event)
{
    struct sim_end *end = event->end;
    if (event->kind == ALARM) {
        event->alarm(event->context, event->argument);
        return;
    }
    if (end->asleep_until > network->now) {
        event->at = end->asleep_until;
        push(network, *event);
        return;
    }
    network->packets++;
    network->digest = (network->digest ^ network->now ^ event->bytes) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < event->bytes; i += 61)
        network->digest = (network->digest ^ event->packet[i]) * UINT64_C(0x100000001b3);
    if (end->link != NULL) {
        const bool before = memory_watch(true);
        (void)bcri_link_receive(end->link, event->packet, event->bytes, sim_clock(end));
        memory_watch(before);
        /* One flush for all packets that come together. */
        const bool more = network->events != 0 && network->event[0].at == network->now &&
                          network->event[0].kind == PACKET && network->event[0].end == end;
        if (!more)
            sim_flush(end);
    }
    free(event->packet);
}

bool sim_run(struct sim_network *network, uint64_t until, sim_done_fn *done, void *context)
{
    /* The test may have called any link. Where the ends lie in the heap changes meanwhile. */
    struct sim_end **ends = malloc(network->ends * sizeof(struct sim_end *) + 1);
    CHECK(ends != NULL);
    memcpy(ends, network->end, network->ends * sizeof(struct sim_end *));
    for (size_t i = 0; i < network->ends; i++)
        sim_flush(ends[i]);
    free(ends);
    for (unsigned idle = 0; !done(context);) {
        struct sim_end *const end = network->ends != 0 ? network->end[0] : NULL;
        const uint64_t deadline = end != NULL ? end->due : BCRI_LINK_NEVER;
        const bool is_event = network->events != 0 && network->event[0].at <= deadline;
        const uint64_t at = is_event ? network->event[0].at : deadline;
        if (at > until || at == BCRI_LINK_NEVER)
            return false;
        idle = is_event || at > network->now ? 0 : idle + 1;
        if (idle > 1000)
            FAIL("an end wants to be called again and again at one time");
        network->now = at > network->now ? at : network->now;
        if (is_event) {
            struct event event = pop(network);
            happen(network, &event);
        } else {
            sim_flush(end);
        }
    }
    return true;
}
