/* SPDX-License-Identifier: MIT */
/* The root's daemon of tree_sim.h: does what life.c decides, as child.c does. */
#include "check.h"
#include "tree_sim.h"

/* ---- who is begun ---- */

static struct host *want(uint32_t place, uint32_t wish, bool direct)
{
    struct host *host = &sim.hosts[++sim.last_number];
    CHECK(sim.last_number < sim.numbers);
    *host = (struct host){.place = place, .wish = wish, .looks_ms = UINT64_MAX, .ticks_ms = UINT64_MAX};
    host->ways[LINK_UP].waits_ms = host->ways[LINK_DOWN].waits_ms = BCRI_LANE_NOTHING_WAITS;
    host->life = (struct enl_life){.number = sim.last_number, .until_ms = UINT64_MAX};
    sim.lives.by_number[sim.last_number] = &host->life;
    CHECK(enl_plan_want(&sim.plan,
                        &(struct enl_plan_host){.number = sim.last_number, .sshd = place, .direct = direct}));
    sim.begins = true;
    return host;
}

void root_wants(uint32_t place)
{
    CHECK(sim.last_wish + 1 < sim.numbers);
    want(place, ++sim.last_wish, false);
}

/* As places.c: of a host that was not up, and is not begun again, it is told that it cannot be used. */
static void want_again(const struct host *host)
{
    const enum enl_life_again again = enl_life_again(&host->life, host->has_spoken);
    if (host->is_dismissed && !host->life.was_up && !sim.is_over)
        sim.wishes[host->wish].told++;
    if (host->life.was_up || host->life.is_told || sim.is_over)
        return;
    if (again == ENL_LIFE_NOT_AGAIN) {
        if (host->blamed != 0)
            enl_plan_distrust(&sim.plan, host->blamed, false);
        sim.wishes[host->wish].told++;
        return;
    }
    struct host *next = want(host->place, host->wish, again == ENL_LIFE_AGAIN_BY_ROOT);
    if (again == ENL_LIFE_AGAIN_BY_ANY)
        return;
    next->blamed = host->life.starter;
    enl_plan_distrust(&sim.plan, next->blamed, true);
}

void root_begins(void)
{
    uint32_t number, by;
    while (sim.begins && !sim.is_over && enl_plan_next(&sim.plan, &number, &by)) {
        struct host *host = &sim.hosts[number];
        host->life.starter = by;
        if (by == 0 && fails(16)) {
            root_happens(host, ENL_LIFE_NOT_BEGUN);
            continue;
        }
        CHECK(by == 0 || enl_life_works(&sim.hosts[by].life));
        root_happens(host, ENL_LIFE_BEGIN);
        if (by == 0) {
            clock_later(LOGIN, number, login_ms());
            clock_later(PUSHED, number, test_rand_below(&sim.random, 2) == 0 ? 50 : CONNECT / 2);
        } else {
            struct bcri_control begin = message_of(BCRI_MSG_begin, number);
            begin.present |= BCRI_HAS(machine) | BCRI_HAS(flags);
            begin.machine = bcri_view_of("host");
            root_says(&sim.hosts[by], begin);
        }
    }
    sim.begins = false;
}

void root_tells_of_lost(void)
{
    const uint64_t next_ms = enl_introducer_lose(&sim.root.all, sim.now_ms);
    if (next_ms != UINT64_MAX)
        clock_later(LOSE, 0, next_ms - sim.now_ms);
}

bool end_is_sure(const struct host *host)
{
    return !host->runs && host->life.number % 2 == 0;
}

/* ---- what is done ---- */

static void leave(struct host *host)
{
    const uint32_t number = host->life.number;
    if (host->life.was_up && !host->was_killed && !host->is_excused && !host->life.is_told)
        FAIL("host %u is lost, which was neither killed nor stood still nor was cut off (seed %#llx)", number,
             (unsigned long long)sim.seed);
    CHECK(!host->life.is_told || sim.is_over || host->is_dismissed);
    enl_lives_gone(&sim.lives, &host->life);
    sim.gone_count++;
    enl_plan_gone(&sim.plan, number);
    if (host->life.was_up)
        sim.lost_count++;
    want_again(host);
    enl_introducer_gone(&sim.root.all, number, enl_life_lease_ms(&host->life, end_is_sure(host), TIMEOUT));
    root_tells_of_lost();
    if (host->stops)
        root_has_stopped(host);
    sim.begins = true;
}

static void end_command(struct host *host)
{
    const uint32_t starter = host->life.starter;
    struct host *by = &sim.hosts[starter];
    if (starter == 0)
        command_is_killed(host);
    if (starter == 0 || host->life.process == ENL_LIFE_ENDED || enl_lives_find(&sim.lives, starter) == NULL)
        return;
    root_says(by, message_of(BCRI_MSG_cut, host->life.number));
    if (!fails(4))
        return;
    by->cuts++;
    root_says(by, message_of(BCRI_MSG_cut, host->life.number));
}

static void set_up(struct host *host)
{
    uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX];
    struct bcri_control start = message_of(BCRI_MSG_start, host->life.number);
    start.present |= BCRI_HAS(id) | BCRI_HAS(daemon) | BCRI_HAS(program) | BCRI_HAS(key) | BCRI_HAS(flags);
    start.daemon = host->life.number;
    start.program = bcri_view_of("program");
    start.key = enl_introduction_view(sim.root.keys.program, sizeof sim.root.keys.program);
    if (is_deep(host)) {
        struct enl_member there = {.host = host->life.number};
        enl_member_call(&there, "host", "boot net user abi");
        enl_control_link_offer(&host->root_control_link, &sim.root.all, &there, &start, addresses);
    }
    root_says(host, start);
    if (sim.is_stopping)
        root_has_stop(host);
}

static void listen_for(struct host *host)
{
    host->has_end =
        enl_control_link_listen(&host->root_control_link, &sim.root.all, host->life.number) == NULL;
    if (!host->has_end)
        root_happens(host, ENL_LIFE_CUT);
}

static void welcome(struct host *host)
{
    const unsigned level = enl_plan_level(&sim.plan, host->life.number);
    CHECK_INT(host->has_end, is_deep(host));
    if (host->goes_on_late)
        root_has_go_on(host);
    sim.up_count++;
    sim.wishes[host->wish].up++;
    sim.rounds_ms = (unsigned)sim.now_ms;
    sim.deepest = level > sim.deepest ? level : sim.deepest;
    enl_plan_up(&sim.plan, host->life.number);
    CHECK(ends_want(&sim.root, host->life.number));
    sim.begins = true;
}

/* In the order of child.c. */
static void carry_out(struct host *host, unsigned actions)
{
    const uint32_t number = host->life.number;
    if ((actions & ENL_LIFE_DO_KILL) != 0)
        end_command(host);
    if ((actions & ENL_LIFE_DO_IDLE) != 0)
        enl_plan_ends(&sim.plan, number);
    if ((actions & ENL_LIFE_DO_CLOSE) != 0) {
        enl_plan_ends(&sim.plan, number);
        enl_lives_closed(&sim.lives, number);
    }
    if ((actions & ENL_LIFE_DO_SET_UP) != 0)
        set_up(host);
    if ((actions & ENL_LIFE_DO_LISTEN) != 0 && is_deep(host))
        listen_for(host);
    if ((actions & ENL_LIFE_DO_WELCOME) != 0)
        welcome(host);
    if ((actions & ENL_LIFE_DO_TELL) != 0)
        root_says(host, (struct bcri_control){.type = BCRI_MSG_end});
    if ((actions & ENL_LIFE_DO_LEAVE) != 0)
        leave(host);
}

/* ---- what happens ---- */

unsigned sim_happened[ENL_LIFE_STATES][ENL_LIFE_EVENTS];

static struct enl_life_now now_of(void)
{
    return (struct enl_life_now){
        .ms = sim.now_ms, .connecttimeout = CONNECT, .hosttimeout = TIMEOUT, .patience_ms = END_MSEC};
}

/* Looks at the deadline when it comes; one that is put off is met too early, once. */
static void look_later(struct host *host)
{
    if (host->life.until_ms >= host->looks_ms)
        return;
    host->looks_ms = host->life.until_ms > sim.now_ms ? host->life.until_ms : sim.now_ms;
    clock_later(LOOK, host->life.number, host->looks_ms - sim.now_ms);
}

static bool is_within; /* an event is handled */

static void happens(void *owner, struct enl_life *life, enum enl_life_event event)
{
    (void)owner;
    struct host *host = &sim.hosts[life->number];
    const struct enl_life_now now = now_of();
    const enum enl_life_state before = host->life.state;
    const unsigned actions = enl_life_happens(&host->life, event, &now);
    const enum enl_life_state after = host->life.state;
    sim_happened[before][event]++;
    sim.orphans += event == ENL_LIFE_STARTER_LOST && before == ENL_LIFE_UP;
    CHECK(!is_within); /* what is done for one event is done before the next */
    is_within = true;
    if (event == ENL_LIFE_MORE)
        host->more_ms = sim.now_ms;
    if (after != before)
        sim_trace("host %u (of %u): %s, %s: %s", host->life.number, host->life.starter,
                  enl_life_state_name(before), enl_life_event_name(event), enl_life_state_name(after));
    if ((host->life.until_ms == UINT64_MAX) != (after == ENL_LIFE_WAITING || after == ENL_LIFE_GONE))
        FAIL("host %u is %s, and has %s deadline", host->life.number, enl_life_state_name(after),
             host->life.until_ms == UINT64_MAX ? "no" : "a");
    look_later(host);
    carry_out(host, actions);
    is_within = false;
}

void root_happens(struct host *host, enum enl_life_event event)
{
    enl_lives_tell(&sim.lives, &host->life, event);
    enl_lives_run(&sim.lives, happens, NULL);
}

/* Nobody is given up for its silence whose lease holds, or who says that he is there while he
 * ends. */
static void look_whether_it_is_silent(const struct host *host)
{
    const bool has_lease = host->life.state == ENL_LIFE_UP && host_works(host);
    const bool is_heard =
        host->life.state == ENL_LIFE_ENDING && host->runs && host->troubled_ms + END_MSEC < sim.now_ms;
    const bool gets_more =
        host->life.state == ENL_LIFE_BEGUN && host->more_ms != 0 && host->more_ms + CONNECT > sim.now_ms;
    if (has_lease || is_heard || gets_more)
        FAIL("host %u is given up for its silence, and %s (seed %#llx)", host->life.number,
             has_lease   ? "its lease holds"
             : gets_more ? "more is on its way there"
                         : "it has said that it ends",
             (unsigned long long)sim.seed);
}

void root_looks(struct host *host)
{
    if (sim.now_ms < host->looks_ms)
        return; /* there is an earlier one, or another */
    host->looks_ms = UINT64_MAX;
    if (host->life.until_ms == UINT64_MAX)
        return;
    if (enl_life_works(&host->life) && sim.is_stopping && !host->stops) {
        root_happens(host, ENL_LIFE_BEATS); /* it has stopped, and sends no beats before it goes on */
        return;
    }
    if (!enl_life_is_silent(&host->life, sim.now_ms)) {
        look_later(host);
        return;
    }
    look_whether_it_is_silent(host);
    root_happens(host, ENL_LIFE_SILENT);
}

void root_ends(void)
{
    sim.is_over = true;
    for (uint32_t i = 1; i <= sim.last_number; i++)
        if (enl_lives_find(&sim.lives, i) != NULL)
            root_happens(&sim.hosts[i], ENL_LIFE_END);
}
