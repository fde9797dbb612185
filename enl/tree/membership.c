/* SPDX-License-Identifier: MIT */
/* See membership.h. */
#include "tree/membership.h"

#include <stdatomic.h>

/* A daemon that ends says more often that it is there, since it is waited for 2 s after each word. Its last one may never be
 * acknowledged: the root may be gone by then. */
enum { END_BEAT_MSEC = 400, LAST_MSEC = 1000 };
/* While the program is stopped nothing tells a host of the root's death that is reached by a link. */
enum { STOPPED_MSEC = 3600 * 1000 };

/* Sets of states. */
enum {
    WORKS = 1u << ENL_MEMBERSHIP_WORKS,
    STOPPED = 1u << ENL_MEMBERSHIP_STOPPED,
    ENDING = 1u << ENL_MEMBERSHIP_ENDING,
    FLUSHES = 1u << ENL_MEMBERSHIP_FLUSHES,
    LAST = 1u << ENL_MEMBERSHIP_LAST,
    LOST = 1u << ENL_MEMBERSHIP_LOST,
    HAS_WORK = WORKS | STOPPED | ENDING,
    HAS_LEASE = WORKS | ENDING | FLUSHES,
    LEAVES = FLUSHES | LAST,
    HAS_ROOT = HAS_WORK | LEAVES
};

/* Short names for what is to be done, and for the ways. */
enum {
    WARN = ENL_MEMBERSHIP_DO_WARN,
    LOSE = ENL_MEMBERSHIP_DO_LOSE,
    LEAVE = ENL_MEMBERSHIP_DO_LEAVE,
    BEAT = ENL_MEMBERSHIP_DO_BEAT,
    SAY = ENL_MEMBERSHIP_DO_SAY,
    AWAIT = ENL_MEMBERSHIP_DO_AWAIT,
    DONE = ENL_MEMBERSHIP_DO_DONE,
    PIPES = ENL_MEMBERSHIP_BY_PIPES,
    LINK = ENL_MEMBERSHIP_BY_CONTROL_LINK,
    ANY = ENL_MEMBERSHIP_BY_ANY
};

#define TO(state) ENL_MEMBERSHIP_##state
#define ON(event) ENL_MEMBERSHIP_##event

/* docs/states/member.md explains them, in this order. */
const struct enl_membership_rule enl_membership_rules[] = {
    {HAS_LEASE, ANY, ON(BEAT_DUE), TO(SAME), BEAT},
    {HAS_ROOT, ANY, ON(ANSWERED), TO(SAME), 0},
    {HAS_WORK, ANY, ON(EXPIRES), TO(LOST), LOSE},
    {LEAVES, ANY, ON(EXPIRES), TO(OVER), LOSE | DONE},
    /* Ctrl-Z */
    {WORKS, ANY, ON(STOP), TO(STOPPED), 0},
    {STOPPED, ANY, ON(STOP), TO(SAME), 0},
    {WORKS, ANY, ON(GO_ON), TO(SAME), BEAT},
    {STOPPED, ANY, ON(GO_ON), TO(WORKS), BEAT},
    {ENDING | LEAVES, ANY, ON(STOP), TO(SAME), 0},
    {ENDING | LEAVES, ANY, ON(GO_ON), TO(SAME), 0},
    /* deaths above it */
    {HAS_WORK, ANY, ON(WAY_ENDS), TO(LOST), WARN | LOSE},
    {LEAVES, ANY, ON(WAY_ENDS), TO(OVER), LOSE | DONE},
    {HAS_ROOT, LINK, ON(PIPE_ENDS), TO(SAME), LEAVE},
    {STOPPED, LINK, ON(ROOT_LOST), TO(LOST), WARN | LOSE},
    {WORKS | ENDING, LINK, ON(ROOT_LOST), TO(SAME), WARN},
    {LEAVES, LINK, ON(ROOT_LOST), TO(SAME), 0},
    /* its end */
    {WORKS | STOPPED, ANY, ON(END), TO(ENDING), BEAT},
    {ENDING | LEAVES, ANY, ON(END), TO(SAME), 0},
    {HAS_WORK, ANY, ON(FLUSH), TO(FLUSHES), BEAT | AWAIT},
    {LOST, ANY, ON(FLUSH), TO(OVER), DONE},
    {FLUSHES, PIPES, ON(FLUSHED), TO(OVER), DONE},
    {FLUSHES, LINK, ON(FLUSHED), TO(LAST), SAY | AWAIT},
    {LAST, ANY, ON(FLUSHED), TO(OVER), DONE},
};
const size_t enl_membership_rules_count = sizeof enl_membership_rules / sizeof enl_membership_rules[0];

static _Atomic uint64_t dropped;

const char *enl_membership_state_name(enum enl_membership_state state)
{
    static const char *const names[] = {"WORKS", "STOPPED", "ENDING", "FLUSHES", "LAST", "LOST", "OVER"};
    _Static_assert(sizeof names / sizeof names[0] == ENL_MEMBERSHIP_STATES, "one for each");
    return names[state];
}

const char *enl_membership_event_name(enum enl_membership_event event)
{
    static const char *const names[] = {"BEAT_DUE",  "EXPIRES",   "ANSWERED", "STOP",  "GO_ON",  "END",
                                        "ROOT_LOST", "PIPE_ENDS", "WAY_ENDS", "FLUSH", "FLUSHED"};
    _Static_assert(sizeof names / sizeof names[0] == ENL_MEMBERSHIP_EVENTS, "one for each");
    return names[event];
}

uint64_t enl_membership_dropped(void)
{
    return atomic_load_explicit(&dropped, memory_order_relaxed);
}

static const struct enl_membership_rule *rule_of(const struct enl_membership *membership,
                                                 enum enl_membership_event event)
{
    const unsigned state = 1u << membership->state, by = membership->by_control_link ? LINK : PIPES;
    for (size_t i = 0; i < enl_membership_rules_count; i++) {
        const struct enl_membership_rule *rule = &enl_membership_rules[i];
        if (rule->event == event && (rule->states & state) != 0 && (rule->by & by) != 0)
            return rule;
    }
    return NULL;
}

/* A lease that begins anew is the root's from when it sent go_on, which may be long ago: so the links rest until it has answered a
 * heartbeat that is sent now. And they rest before the last word is said, by which others take this host for lost. */
static void set_lease(struct enl_membership *membership, enum enl_membership_state before,
                      enum enl_membership_event event, uint64_t now_ms)
{
    const bool was_stopped = before == ENL_MEMBERSHIP_STOPPED;
    const bool is_stopped = membership->state == ENL_MEMBERSHIP_STOPPED;
    const bool goes_on = event == ENL_MEMBERSHIP_GO_ON && membership->state == ENL_MEMBERSHIP_WORKS;
    if (is_stopped) {
        membership->links_ms = UINT64_MAX;
    } else if (membership->state == ENL_MEMBERSHIP_LAST) {
        membership->links_ms = 0;
    } else if (was_stopped || goes_on) {
        (void)enl_lease_extend(&membership->lease, now_ms, membership->hosttimeout);
        membership->links_ms = 0;
    }
}

static void set_deadline(struct enl_membership *membership, enum enl_membership_state before, uint64_t now_ms)
{
    const uint64_t over_ms = membership->lease.until_ms + 1;
    const bool enters = membership->state != before;
    switch (membership->state) {
    case ENL_MEMBERSHIP_STOPPED:
        if (enters)
            membership->until_ms = membership->by_control_link ? now_ms + STOPPED_MSEC + 1 : UINT64_MAX;
        break;
    case ENL_MEMBERSHIP_LAST:
        membership->until_ms = enters ? now_ms + LAST_MSEC : membership->until_ms;
        break;
    case ENL_MEMBERSHIP_LOST:
    case ENL_MEMBERSHIP_OVER: membership->until_ms = UINT64_MAX; break;
    default: membership->until_ms = membership->beat_ms < over_ms ? membership->beat_ms : over_ms;
    }
}

static void set_beat(struct enl_membership *membership, uint64_t now_ms)
{
    const uint64_t quarter_ms = membership->hosttimeout / 4;
    const bool ends = membership->state != ENL_MEMBERSHIP_WORKS;
    membership->beat_ms = now_ms + (ends && END_BEAT_MSEC < quarter_ms ? END_BEAT_MSEC : quarter_ms);
}

void enl_membership_begin(struct enl_membership *membership, bool by_control_link, uint64_t hosttimeout,
                          uint64_t now_ms)
{
    *membership = (struct enl_membership){
        .by_control_link = by_control_link, .hosttimeout = hosttimeout, .beat_ms = now_ms};
    membership->links_ms = enl_lease_extend(&membership->lease, now_ms, hosttimeout);
    set_deadline(membership, membership->state, now_ms);
}

/* A lease that is over stays so, whatever comes before its end was looked at. */
static bool has_expired(const struct enl_membership *membership, uint64_t now_ms)
{
    return (1u << membership->state & HAS_LEASE) != 0 && enl_lease_is_over(&membership->lease, now_ms);
}

static unsigned apply(struct enl_membership *membership, enum enl_membership_event event, uint64_t now_ms)
{
    const enum enl_membership_state before = membership->state;
    const struct enl_membership_rule *rule = rule_of(membership, event);
    if (rule == NULL) {
        atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
        return 0;
    }
    if (rule->next != ENL_MEMBERSHIP_SAME)
        membership->state = rule->next;
    membership->has_gone_on |= event == ENL_MEMBERSHIP_GO_ON;
    set_lease(membership, before, event, now_ms);
    if ((rule->actions & BEAT) != 0)
        set_beat(membership, now_ms);
    set_deadline(membership, before, now_ms);
    return rule->actions;
}

unsigned enl_membership_happens(struct enl_membership *membership, enum enl_membership_event event,
                                uint64_t now_ms)
{
    const bool expires = event != ENL_MEMBERSHIP_EXPIRES && has_expired(membership, now_ms);
    const unsigned actions = expires ? apply(membership, ENL_MEMBERSHIP_EXPIRES, now_ms) : 0;
    return actions | apply(membership, event, now_ms);
}

bool enl_membership_due(const struct enl_membership *membership, uint64_t now_ms,
                        enum enl_membership_event *event_out)
{
    const bool beats = (1u << membership->state & HAS_LEASE) != 0 && !has_expired(membership, now_ms);
    *event_out = beats ? ENL_MEMBERSHIP_BEAT_DUE : ENL_MEMBERSHIP_EXPIRES;
    return now_ms >= membership->until_ms;
}

uint32_t enl_membership_beat(struct enl_membership *membership, uint64_t now_ms)
{
    return enl_lease_beat(&membership->lease, now_ms);
}

const char *enl_membership_answered(struct enl_membership *membership, uint32_t beat, uint64_t now_ms)
{
    uint64_t sent_ms;
    if (beat > membership->lease.beat)
        return "it answers a heartbeat that was not sent";
    if (enl_lease_sent(&membership->lease, beat, &sent_ms) && !has_expired(membership, now_ms))
        membership->links_ms = enl_lease_extend(&membership->lease, sent_ms, membership->hosttimeout);
    return NULL;
}
