/* SPDX-License-Identifier: MIT */
/* The root's daemon of tree_sim.h: does what life.c decides, as child.c does, and takes what its children's frames bring. */
#include "check.h"
#include "tree_sim.h"

void root_wants(uint32_t place)
{
    struct host *host = &sim.hosts[++sim.last_number];
    CHECK(sim.last_number < sim.numbers);
    *host = (struct host){.place = place, .looks_ms = UINT64_MAX};
    host->life = (struct enl_life){.number = sim.last_number, .until_ms = UINT64_MAX};
    host->numbers = (struct enl_sequence){.pass = way_up, .owner = host};
    host->root_numbers = (struct enl_sequence){.pass = way_down, .owner = host};
    sim.lives.by_number[sim.last_number] = &host->life;
    CHECK(enl_plan_want(&sim.plan, &(struct enl_plan_host){.number = sim.last_number, .sshd = place}));
    sim.begins = true;
}

bool fails(unsigned times)
{
    return sim.has_faults && sim.now_ms < 60000 && test_rand_below(&sim.random, times) == 0;
}

uint64_t login_ms(void)
{
    return (fails(16) ? CONNECT : 100) + test_rand_below(&sim.random, 200);
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
        root_happens(host, ENL_LIFE_BEGIN);
        if (by == 0) {
            clock_later(LOGIN, number, login_ms());
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

/* What happened above it, twice or more, may have held back first what the host says, and then the answer: so the root hears late of a
 * host that it has not heard for long, and the host's lease is over before the root listens for it. */
static bool may_be_late(const struct host *host)
{
    unsigned troubles = 0;
    for (uint32_t above = host->life.starter; above != 0; above = sim.hosts[above].life.starter)
        troubles += sim.hosts[above].troubles;
    return troubles >= 2;
}

static void leave(struct host *host)
{
    const uint32_t number = host->life.number;
    if (host->life.was_up && !host->was_killed && !host->was_stopped && !host->life.is_told &&
        !may_be_late(host))
        FAIL("host %u is lost, which was neither killed nor stood still (seed %#llx)", number,
             (unsigned long long)sim.seed);
    CHECK(!host->life.is_told || sim.is_over);
    sim.lives.by_number[number] = NULL;
    sim.gone_count++;
    enl_plan_gone(&sim.plan, number);
    enl_introducer_gone(&sim.root.all, number, enl_life_lease_ms(&host->life, end_is_sure(host), TIMEOUT));
    root_tells_of_lost();
    if (host->life.was_up)
        sim.lost_count++;
    else if (!host->life.is_told)
        root_wants(host->place);
    sim.begins = true;
}

static void end_command(struct host *host)
{
    const uint32_t starter = host->life.starter;
    if (starter == 0)
        command_ends(host, false);
    else if (host->life.process != ENL_LIFE_ENDED && enl_lives_find(&sim.lives, starter) != NULL &&
             enl_life_has_way(&sim.hosts[starter].life))
        root_says(&sim.hosts[starter], message_of(BCRI_MSG_cut, host->life.number));
}

static void set_up(struct host *host)
{
    uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX];
    struct bcri_control start = message_of(BCRI_MSG_start, host->life.number);
    start.present |= BCRI_HAS(id) | BCRI_HAS(daemon) | BCRI_HAS(program) | BCRI_HAS(key) | BCRI_HAS(flags);
    start.daemon = host->life.number;
    start.program = bcri_view_of("program");
    start.key = enl_introduction_view(sim.root.keys.program, sizeof sim.root.keys.program);
    if (way_is_numbered(host)) {
        struct enl_member there = {.host = host->life.number};
        enl_member_call(&there, "host", "boot net user abi");
        enl_backup_offer(&host->root_backup, &sim.root.all, &there, &start, addresses);
    }
    enl_plan_met(&sim.plan, host->life.number);
    root_says(host, start);
    sim.begins = true;
}

static void welcome(struct host *host)
{
    const unsigned level = enl_plan_level(&sim.plan, host->life.number);
    host->life.is_numbered = host->root_backup.is_there;
    CHECK_INT(host->life.is_numbered, way_is_numbered(host));
    sim.up_count++;
    sim.rounds_ms = (unsigned)sim.now_ms;
    sim.deepest = level > sim.deepest ? level : sim.deepest;
    enl_plan_up(&sim.plan, host->life.number);
    CHECK(ends_want(&sim.root, host->life.number));
    sim.begins = true;
}

static void on_other(void *owner, struct enl_life *life, enum enl_life_event event)
{
    (void)owner;
    root_happens(&sim.hosts[life->number], event);
}

/* In the order of child.c. */
static void carry_out(struct host *host, unsigned actions)
{
    const uint32_t number = host->life.number;
    if ((actions & ENL_LIFE_DO_KILL) != 0)
        end_command(host);
    if ((actions & ENL_LIFE_DO_LISTEN) != 0)
        enl_backup_listen(&host->root_backup, &sim.root.all, number);
    if ((actions & ENL_LIFE_DO_IDLE) != 0)
        enl_plan_ends(&sim.plan, number);
    if ((actions & ENL_LIFE_DO_LINK) != 0) {
        sim.attached++;
        enl_sequence_ask(&host->root_numbers);
        enl_lives_linked(&sim.lives, number, on_other, NULL);
    }
    if ((actions & ENL_LIFE_DO_PASS) != 0)
        enl_sequence_ask(&host->root_numbers);
    if ((actions & ENL_LIFE_DO_CLOSE) != 0) {
        enl_plan_ends(&sim.plan, number);
        enl_lives_closed(&sim.lives, number, on_other, NULL);
    }
    if ((actions & ENL_LIFE_DO_SET_UP) != 0)
        set_up(host);
    if ((actions & ENL_LIFE_DO_WELCOME) != 0)
        welcome(host);
    if ((actions & ENL_LIFE_DO_TELL) != 0)
        root_says(host, (struct bcri_control){.type = BCRI_MSG_end});
    if ((actions & ENL_LIFE_DO_LEAVE) != 0)
        leave(host);
}

/* ---- what happens ---- */

static struct enl_life_now now_of(const struct host *host)
{
    return (struct enl_life_now){.ms = sim.now_ms,
                                 .connecttimeout = CONNECT,
                                 .hosttimeout = TIMEOUT,
                                 .patience_ms = END_MSEC,
                                 .may_listen = host->root_backup.is_there && !host->root_backup.is_made};
}

/* Looks at the deadline when it comes; one that is put off is met too early, once. */
static void look_later(struct host *host)
{
    if (host->life.until_ms >= host->looks_ms)
        return;
    host->looks_ms = host->life.until_ms > sim.now_ms ? host->life.until_ms : sim.now_ms;
    clock_later(LOOK, host->life.number, host->looks_ms - sim.now_ms);
}

void root_happens(struct host *host, enum enl_life_event event)
{
    const struct enl_life_now now = now_of(host);
    const enum enl_life_state before = host->life.state;
    const unsigned actions = enl_life_happens(&host->life, event, &now);
    sim.events++;
    if (host->life.state != before)
        sim_trace("host %u (of %u): %s, %s: %s", host->life.number, host->life.starter,
                  enl_life_state_name(before), enl_life_event_name(event),
                  enl_life_state_name(host->life.state));
    look_later(host);
    carry_out(host, actions);
}

void root_looks(struct host *host)
{
    const struct enl_life_now now = now_of(host);
    enum enl_life_event event;
    if (sim.now_ms < host->looks_ms)
        return; /* there is an earlier one, or another */
    host->looks_ms = UINT64_MAX;
    if (host->life.until_ms == UINT64_MAX)
        return;
    if (enl_life_deadline(&host->life, &now, &event))
        root_happens(host, event);
    else
        look_later(host);
}

void root_ends(void)
{
    sim.is_over = true;
    for (uint32_t i = 1; i <= sim.last_number; i++)
        if (enl_lives_find(&sim.lives, i) != NULL)
            root_happens(&sim.hosts[i], ENL_LIFE_END);
}

/* ---- what comes ---- */

static void take_ended(struct host *host, const struct bcri_control *message)
{
    struct host *other = &sim.hosts[message->host];
    CHECK(message->host != 0 && message->host <= sim.last_number);
    if (other == host)
        root_happens(other, ENL_LIFE_SAYS_END);
    else if ((message->present & BCRI_HAS(object)) != 0 && enl_life_takes(&other->life, ENL_LIFE_NOT_BEGUN))
        root_happens(other, ENL_LIFE_NOT_BEGUN);
    else if (enl_lives_find(&sim.lives, message->host) != NULL)
        root_happens(other, end_is_sure(other) ? ENL_LIFE_DAEMON_ENDS : ENL_LIFE_PROCESS_ENDS);
}

static void take_beat(struct host *host, const struct bcri_control *message)
{
    struct bcri_control answer = {.type = BCRI_MSG_beat, .present = BCRI_HAS(id), .id = message->id};
    if (host->life.is_numbered)
        enl_sequence_tell(&host->root_numbers, &answer);
    root_says(host, answer);
    root_happens(host, ENL_LIFE_BEATS);
    if ((message->flags & BCRI_BEAT_UNHEARD) != 0 && enl_life_takes(&host->life, ENL_LIFE_UNREST))
        root_happens(host, ENL_LIFE_UNREST);
    if (sim.now_ms < sim.quiet_ms && test_rand_below(&sim.random, 32) == 0)
        ends_renew(&sim.root, ends_find(&sim.root, host->life.number));
}

static void dispatch(struct host *host, const struct bcri_control *message)
{
    const uint32_t number = host->life.number;
    struct host *other = message->host <= sim.last_number ? &sim.hosts[message->host] : NULL;
    switch (message->type) {
    case BCRI_MSG_present:
        CHECK(enl_life_takes(&host->life, ENL_LIFE_PRESENTS));
        root_happens(host, ENL_LIFE_PRESENTS);
        break;
    case BCRI_MSG_reply:
        CHECK(enl_life_takes(&host->life, ENL_LIFE_STARTS));
        root_happens(host, ENL_LIFE_STARTS);
        break;
    case BCRI_MSG_beat: take_beat(host, message); break;
    case BCRI_MSG_announce:
        CHECK_PTR(enl_introducer_announced(&sim.root.all, number, "host", "boot net user abi", message),
                  NULL);
        enl_backup_accept(&host->root_backup, message);
        CHECK(enl_life_takes(&host->life, ENL_LIFE_ANNOUNCES));
        root_happens(host, ENL_LIFE_ANNOUNCES);
        break;
    case BCRI_MSG_want:
    case BCRI_MSG_agreed:
        if (!host->life.was_up)
            FAIL("host %u, which is %s, says %s at %llu ms (seed %#llx)", number,
                 enl_life_state_name(host->life.state), bcri_control_name(message->type),
                 (unsigned long long)sim.now_ms, (unsigned long long)sim.seed);
        CHECK_PTR(enl_introducer_take(&sim.root.all, number, message), NULL);
        break;
    case BCRI_MSG_output: CHECK_UINT(message->ordinal, host->root_heard++); break;
    case BCRI_MSG_closed:
        CHECK_UINT(other->life.starter, number);
        if (enl_life_has_way(&other->life))
            root_happens(other, ENL_LIFE_PIPE_TOLD);
        break;
    case BCRI_MSG_ended: take_ended(host, message); break;
    default: FAIL("the root gets a message of type %s", bcri_control_name(message->type));
    }
}

void root_takes(uint32_t by, const struct bcri_control *message)
{
    const uint32_t from = (message->present & BCRI_HAS(from)) != 0 ? message->from : by;
    struct host *host = &sim.hosts[from];
    const struct enl_life *carrier = enl_lives_carrier(&sim.lives, &host->life);
    if (enl_lives_find(&sim.lives, from) == NULL || enl_life_is_cut_off(&host->life) || carrier == NULL ||
        carrier->number != by)
        return; /* late */
    if (enl_life_is_ending(&host->life))
        root_happens(host, ENL_LIFE_SPEAKS);
    if (host->life.is_numbered) {
        const enum enl_sequence_verdict verdict = enl_sequence_came(&host->root_numbers, message);
        CHECK(verdict != ENL_SEQUENCE_NONSENSE);
        if (verdict == ENL_SEQUENCE_DROP)
            return;
    }
    dispatch(host, message);
}
