/* SPDX-License-Identifier: MIT */
/* What goes wrong in tree_sim.h, and who may be lost by it. */
#include "check.h"
#include "tree_sim.h"

bool fails(unsigned times)
{
    return sim.has_faults && sim.now_ms < 60000 && test_rand_below(&sim.random, times) == 0;
}

uint64_t login_ms(void)
{
    return (fails(16) ? CONNECT : 100) + test_rand_below(&sim.random, 200);
}

bool is_ambushed(struct host *host, const struct bcri_control *message)
{
    const bool is_deep_start = (message->present & (BCRI_HAS(to) | BCRI_HAS(from))) != 0;
    const bool introduces = message->type == BCRI_MSG_introduce || message->type == BCRI_MSG_introduced;
    if ((!introduces && !is_deep_start) || sim.ambushes == 0 || sim.now_ms > 100000 ||
        test_rand_below(&sim.random, is_deep_start ? 8 : 64) != 0)
        return false;
    sim.ambushes--;
    sim_trace("fault ambush of host %u", host->life.number);
    host->was_killed = true;
    member_ends(host);
    return true;
}

/* Half of the times without harm. */
static uint64_t for_a_while(void)
{
    return 1000 +
           test_rand_below(&sim.random, test_rand_below(&sim.random, 2) == 0 ? HARMLESS - 1000 : 2 * TIMEOUT);
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- of a host that runs ---- */

/* One that is reached by pipes alone may be lost by that. */
static void block_one(struct host *host, struct way *way, uint64_t for_ms)
{
    way->blocked_ms = later_of(way->blocked_ms, sim.now_ms + for_ms);
    host->is_excused |= !host->by_link && for_ms > HARMLESS;
    host->troubled_ms = later_of(host->troubled_ms, way->blocked_ms);
    host->has_said_end = false; /* it may be on its way */
}

/* One direction, or all: a cable. */
static void block(struct host *host, uint64_t for_ms)
{
    const bool is_cable = test_rand_below(&sim.random, 3) == 0;
    const unsigned one = (unsigned)test_rand_below(&sim.random, WAYS);
    for (unsigned way = 0; way < WAYS; way++)
        if (is_cable || way == one)
            block_one(host, &host->ways[way], is_cable ? for_a_while() : for_ms);
}

/* What waits keeps its order. */
static void stand_still(struct host *host, uint64_t for_ms)
{
    host->is_excused |= for_ms > HARMLESS;
    host->resumes = later_of(host->resumes, sim.now_ms + for_ms);
    host->troubled_ms = later_of(host->troubled_ms, host->resumes);
}

/* A timer counts on when its machine wakes up; CLOCK_BOOTTIME has gone on. */
static void sleep_of(struct host *host, uint64_t for_ms)
{
    stand_still(host, for_ms);
    if (host->ticks_ms == UINT64_MAX)
        return;
    host->ticks_ms = later_of(host->ticks_ms, sim.now_ms) + for_ms;
    clock_later(TICK, host->life.number, host->ticks_ms - sim.now_ms);
}

static void sleep_of_root(uint64_t for_ms)
{
    if (sim.is_stopping)
        return;
    sim_trace("fault sleep of the root for %llu ms", (unsigned long long)for_ms);
    sim.root_until_ms = later_of(sim.root_until_ms, sim.now_ms + for_ms);
    for (uint32_t i = 1; i <= sim.last_number; i++) {
        struct host *host = &sim.hosts[i];
        host->is_excused |= for_ms > HARMLESS;
        host->troubled_ms = later_of(host->troubled_ms, sim.root_until_ms);
        if (host->looks_ms == UINT64_MAX)
            continue;
        host->looks_ms = later_of(host->looks_ms, sim.now_ms) + for_ms;
        clock_later(LOOK, i, host->looks_ms - sim.now_ms);
    }
}

/* So long that answers are on their way when something else goes wrong. */
static void lag(struct host *host)
{
    for (unsigned way = 0; way < WAYS; way++)
        host->ways[way].lag_ms = test_rand_below(&sim.random, TIMEOUT / 5);
    host->troubled_ms = UINT64_MAX - END_MSEC;
}

void fault_happens(enum kind kind)
{
    static const char *const names[] = {"kill", "stop", "sleep", "cut", "stick", "lag", "block", "quit"};
    struct host *host = &sim.hosts[1 + test_rand_below(&sim.random, sim.last_number)];
    const uint64_t for_ms = for_a_while();
    if (kind == DIE) {
        root_dies();
        return;
    }
    if (kind == SLEEP && test_rand_below(&sim.random, 4) == 0) {
        sleep_of_root(for_ms);
        return;
    }
    if (!host->runs)
        return;
    sim_trace("fault %s of host %u, for %llu ms", names[kind - KILL], host->life.number,
              (unsigned long long)for_ms);
    switch (kind) {
    case KILL:
        host->was_killed = true;
        member_ends(host);
        break;
    case CUT: /* its pipe; a starter that sees that tells so */
        host->is_excused |= !host->command_is_over;
        command_ends(host, true);
        break;
    case STICK:
        host->is_excused |= !is_deep(host);
        if (host->has_pipe && host->is_up && !host->is_stuck)
            member_tells_of_stuck(host);
        break;
    case QUIT:
        host->was_killed = true;
        host->has_quit = host->is_up;
        if (host->is_up)
            member_happens(host, ENL_MEMBERSHIP_FLUSH);
        break;
    case LAG: lag(host); break;
    case BLOCK: block(host, for_ms); break;
    case SLEEP: sleep_of(host, for_ms); break;
    default: stand_still(host, for_ms);
    }
}

/* ---- what the root does ---- */

void root_meddles(enum kind kind)
{
    struct host *host = &sim.hosts[1 + test_rand_below(&sim.random, sim.last_number)];
    if (enl_lives_find(&sim.lives, host->life.number) == NULL || sim.is_over || sim.is_stopping)
        return;
    sim_trace("the root %s host %u", kind == DISMISS ? "dismisses" : "cuts off", host->life.number);
    host->is_dismissed |= kind == DISMISS;
    host->is_excused |= kind == NONSENSE;
    host->has_said_end &= kind != NONSENSE; /* it may be on its way */
    root_happens(host, kind == DISMISS ? ENL_LIFE_END : ENL_LIFE_CUT);
}
