/* SPDX-License-Identifier: MIT */
/* See life.h. */
#include "tree/life.h"

#include <stdatomic.h>

#include "tree/lease.h"

/* How long the end of a command is waited for. */
enum { END_MSEC = 2000 };

/* Sets of states. */
enum {
    WAITING = 1u << ENL_LIFE_WAITING,
    BEGUN = 1u << ENL_LIFE_BEGUN,
    MET = 1u << ENL_LIFE_MET,
    ANNOUNCED = 1u << ENL_LIFE_ANNOUNCED,
    UP = 1u << ENL_LIFE_UP,
    ENDING = 1u << ENL_LIFE_ENDING,
    FAILED = 1u << ENL_LIFE_FAILED,
    CLOSED = 1u << ENL_LIFE_CLOSED,
    COMING = BEGUN | MET | ANNOUNCED,
    WAS_UP = UP | ENDING,
    IS_OVER = FAILED | CLOSED
};

/* Short names for what is to be done. */
enum {
    KILL = ENL_LIFE_DO_KILL,
    IDLE = ENL_LIFE_DO_IDLE,
    CLOSE = ENL_LIFE_DO_CLOSE,
    SET_UP = ENL_LIFE_DO_SET_UP,
    LISTEN = ENL_LIFE_DO_LISTEN,
    WELCOME = ENL_LIFE_DO_WELCOME,
    TELL = ENL_LIFE_DO_TELL
};

#define TO(state) ENL_LIFE_##state
#define ON(event) ENL_LIFE_##event

/* docs/states/host.md explains them, in this order. */
const struct enl_life_rule enl_life_rules[] = {
    {WAITING, ON(BEGIN), TO(BEGUN), 0},
    {WAITING, ON(NOT_BEGUN), TO(FAILED), 0},
    {WAITING, ON(END), TO(FAILED), 0},
    {WAITING, ON(CUT), TO(FAILED), 0},
    {WAITING, ON(GO_ON), TO(SAME), 0},
    /* coming */
    {BEGUN, ON(MORE), TO(SAME), 0},
    {BEGUN, ON(PRESENTS), TO(MET), SET_UP},
    {MET, ON(ANNOUNCES), TO(ANNOUNCED), LISTEN},
    {ANNOUNCED, ON(STARTS), TO(UP), WELCOME},
    {COMING, ON(GO_ON), TO(SAME), 0},
    {COMING, ON(PROCESS_ENDS), TO(SAME), 0},
    {COMING, ON(DAEMON_ENDS), TO(SAME), 0},
    {COMING, ON(NOT_BEGUN), TO(FAILED), CLOSE},
    {COMING, ON(PIPE_ENDS), TO(FAILED), CLOSE},
    {COMING, ON(WAY_LOST), TO(FAILED), KILL | CLOSE},
    {COMING, ON(STARTER_LOST), TO(FAILED), CLOSE},
    {COMING, ON(SILENT), TO(FAILED), KILL | CLOSE},
    {COMING, ON(CUT), TO(FAILED), KILL | CLOSE},
    {COMING, ON(END), TO(FAILED), KILL | CLOSE},
    /* at work, or told to end */
    {UP, ON(END), TO(ENDING), IDLE | TELL},
    {ENDING, ON(END), TO(SAME), TELL},
    {ENDING, ON(SPEAKS), TO(SAME), 0},
    {WAS_UP, ON(BEATS), TO(SAME), 0},
    {WAS_UP, ON(GO_ON), TO(SAME), 0},
    {WAS_UP, ON(PROCESS_ENDS), TO(SAME), 0},
    {WAS_UP, ON(DAEMON_ENDS), TO(SAME), 0},
    {WAS_UP, ON(WAY_LOST), TO(SAME), IDLE},
    {WAS_UP, ON(STARTER_LOST), TO(SAME), IDLE},
    {WAS_UP, ON(PIPE_ENDS), TO(CLOSED), CLOSE},
    {WAS_UP, ON(SAYS_END), TO(CLOSED), CLOSE},
    {WAS_UP, ON(SILENT), TO(CLOSED), KILL | CLOSE},
    {WAS_UP, ON(CUT), TO(CLOSED), KILL | CLOSE},
    /* no way leads to it any more */
    {IS_OVER, ON(PROCESS_ENDS), TO(SAME), 0},
    {IS_OVER, ON(DAEMON_ENDS), TO(SAME), 0},
    {IS_OVER, ON(NOT_BEGUN), TO(SAME), 0},
    {IS_OVER, ON(STARTER_LOST), TO(SAME), 0},
    {IS_OVER, ON(GO_ON), TO(SAME), 0},
    {IS_OVER, ON(END), TO(SAME), 0},
    {IS_OVER, ON(SILENT), TO(SAME), KILL},
    {IS_OVER, ON(CUT), TO(SAME), KILL},
};
const size_t enl_life_rules_count = sizeof enl_life_rules / sizeof enl_life_rules[0];

static _Atomic uint64_t dropped;

const char *enl_life_state_name(enum enl_life_state state)
{
    static const char *const names[] = {"WAITING", "BEGUN",  "MET",    "ANNOUNCED", "UP",
                                        "ENDING",  "FAILED", "CLOSED", "GONE"};
    _Static_assert(sizeof names / sizeof names[0] == ENL_LIFE_STATES, "one for each");
    return names[state];
}

const char *enl_life_event_name(enum enl_life_event event)
{
    static const char *const names[] = {"BEGIN",    "NOT_BEGUN",    "PRESENTS",     "ANNOUNCES",   "STARTS",
                                        "MORE",     "SPEAKS",       "BEATS",        "SILENT",      "END",
                                        "CUT",      "PIPE_ENDS",    "PROCESS_ENDS", "DAEMON_ENDS", "SAYS_END",
                                        "WAY_LOST", "STARTER_LOST", "GO_ON"};
    _Static_assert(sizeof names / sizeof names[0] == ENL_LIFE_EVENTS, "one for each");
    return names[event];
}

static const struct enl_life_rule *rule_of(const struct enl_life *life, enum enl_life_event event)
{
    for (size_t i = 0; i < enl_life_rules_count; i++)
        if (enl_life_rules[i].event == event && (enl_life_rules[i].states & 1u << life->state) != 0)
            return &enl_life_rules[i];
    return NULL;
}

bool enl_life_takes(const struct enl_life *life, enum enl_life_event event)
{
    return rule_of(life, event) != NULL;
}

uint64_t enl_life_dropped(void)
{
    return atomic_load_explicit(&dropped, memory_order_relaxed);
}

/* What an event says of the command. A starter that is lost tells nothing of it, but what it has told stays true. */
static void hear_of_process(struct enl_life *life, enum enl_life_event event)
{
    const bool is_coming = (1u << life->state & COMING) != 0;
    switch (event) {
    case ENL_LIFE_BEGIN: life->process = ENL_LIFE_RUNS; break;
    case ENL_LIFE_NOT_BEGUN:
    case ENL_LIFE_PROCESS_ENDS:
    case ENL_LIFE_DAEMON_ENDS: life->process = ENL_LIFE_ENDED; break;
    case ENL_LIFE_SAYS_END: life->process = ENL_LIFE_SAID_END; break;
    case ENL_LIFE_WAY_LOST:
    case ENL_LIFE_STARTER_LOST:
        if (is_coming || (life->process == ENL_LIFE_RUNS && event == ENL_LIFE_STARTER_LOST))
            life->process = ENL_LIFE_NOBODY_TELLS;
        break;
    case ENL_LIFE_SILENT:
        if ((1u << life->state & IS_OVER) != 0 && life->starter != 0)
            life->process = ENL_LIFE_NOT_TOLD;
        break;
    default: break;
    }
}

/* Each state has its own: connecttimeout; a silence of the host; or the patience with one that ends. */
static void set_deadline(struct enl_life *life, enum enl_life_event event, const struct enl_life_now *now)
{
    const uint32_t state = 1u << life->state, events = 1u << event;
    enum {
        HEARD = 1u << ENL_LIFE_STARTS | 1u << ENL_LIFE_BEATS | 1u << ENL_LIFE_GO_ON,
        CONNECTS =
            1u << ENL_LIFE_BEGIN | 1u << ENL_LIFE_MORE | 1u << ENL_LIFE_PRESENTS | 1u << ENL_LIFE_GO_ON,
        WAITS = 1u << ENL_LIFE_END | 1u << ENL_LIFE_SPEAKS | 1u << ENL_LIFE_GO_ON
    };
    if ((events & HEARD) != 0)
        life->heard_ms = now->ms;
    if (life->state == ENL_LIFE_GONE) {
        life->until_ms = UINT64_MAX;
    } else if ((state & COMING) != 0 && (events & CONNECTS) != 0) {
        life->until_ms = now->ms + now->connecttimeout;
    } else if (life->state == ENL_LIFE_UP) {
        life->until_ms = life->heard_ms + 1 + enl_lease_patience(now->hosttimeout);
    } else if ((state & IS_OVER) != 0 || (life->state == ENL_LIFE_ENDING && (events & WAITS) != 0)) {
        if (event == ENL_LIFE_END || (state & IS_OVER) != 0)
            life->patience_ms = event == ENL_LIFE_END ? now->patience_ms : END_MSEC;
        life->until_ms = now->ms + life->patience_ms;
    }
}

unsigned enl_life_happens(struct enl_life *life, enum enl_life_event event, const struct enl_life_now *now)
{
    const struct enl_life_rule *rule = rule_of(life, event);
    if (rule == NULL) {
        atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
        return 0;
    }
    unsigned actions = rule->actions;
    life->is_told |= event == ENL_LIFE_END;
    hear_of_process(life, event);
    if (rule->next != ENL_LIFE_SAME)
        life->state = rule->next;
    life->was_up |= life->state == ENL_LIFE_UP;
    if ((1u << life->state & IS_OVER) != 0 && life->process != ENL_LIFE_RUNS) {
        life->state = ENL_LIFE_GONE;
        actions |= ENL_LIFE_DO_LEAVE;
    }
    set_deadline(life, event, now);
    return actions;
}

uint64_t enl_life_lease_ms(const struct enl_life *life, bool is_sure, uint64_t hosttimeout)
{
    return life->process == ENL_LIFE_SAID_END || (life->process == ENL_LIFE_ENDED && is_sure)
               ? 0
               : life->heard_ms + enl_lease_patience(hosttimeout);
}

enum enl_life_again enl_life_again(const struct enl_life *life, bool has_spoken)
{
    if (life->was_up || life->is_told)
        return ENL_LIFE_NOT_AGAIN;
    if (life->process == ENL_LIFE_NOBODY_TELLS)
        return ENL_LIFE_AGAIN_BY_ANY;
    return life->starter != 0 && !has_spoken ? ENL_LIFE_AGAIN_BY_ROOT : ENL_LIFE_NOT_AGAIN;
}
