/* SPDX-License-Identifier: MIT */
/* Who is alive: a root and three more hosts, whose CCEs put and get at each other's cells while
 * ways are cut in one direction and daemons stand still (SIGSTOP), for less and for more than
 * hosttimeout. All is drawn from the seed.
 *
 * The rule is that of the daemons (lease.h): a host sends beats over the tree and works as long as
 * its lease lasts; the root takes it for dead when its patience is over, and tells the others. A
 * cut holds up what the tree carries, as TCP does, and loses what a link carries.
 *
 * Checked: nobody acts on the death of a host that may still work; a host says nothing after its
 * lease, even if it was stopped meanwhile; what a CCE there puts after that arrives nowhere; no
 * region is seen twice by those who live; nothing that they wait for stands still, and all
 * structures agree.
 *
 * SIM_SEED=N in the environment runs that seed alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

#include "network.h"

#include "agent_idle.h"
#include "bcri/agent.h"
#include "bcri/audit.h"
#include "bcri/cces.h"
#include "bcri/repair.h"
#include "bcri/seal.h"
#include "bcri/self.h"
#include "check.h"
#include "group.h"
#include "tree/lease.h"

enum { HOSTS = 4, ROOT = 0, CELLS = 2, ROOM = 16, PENDING = 4, PUTS_MAX = 2048, STOPPED_ACTS = 40 };
enum { HOSTTIMEOUT = 1000 }; /* ms */

struct host {
    struct group *group;
    struct bcri_ctx *agent_ctx, *cce;
    struct bcri_agent *agent;
    struct sim_end end[HOSTS];
    bool wants[HOSTS], lost[HOSTS];
    /* its way to the root: held up until then */
    uint64_t up_cut_until, down_cut_until;
    struct enl_lease lease;
    uint64_t heard_ms; /* by the root */
    bool is_dead;      /* the root says so */
    bool has_ended;    /* it has ended itself */
    uint64_t stopped_until;
    int acts_left; /* while it is stopped: its CCEs are not, but nobody takes what they order */
    int cells;
    bcr_cce_id name_of[HOSTS];
    bcr_region pending[PENDING];
};

struct put {
    uint8_t from;
    uint8_t seen_by[HOSTS];
    bool is_too_late; /* the lease of its host was over */
};

static struct {
    struct sim_network *network;
    struct host host[HOSTS];
    struct put put[PUTS_MAX];
    unsigned puts;
    uint64_t alarm_at;
    bool is_over; /* no more beats */
} run;
static unsigned deaths, stops;

static const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_NONE, .token = 0x1234567890abcdefu};

static uint64_t now(void)
{
    return sim_now(run.network);
}

static uint64_t now_ms(void)
{
    return now() / SIM_MS;
}

static uint64_t draw(uint64_t bound)
{
    return sim_random(run.network, bound);
}

static bool works(const struct host *host)
{
    return !host->has_ended && host->stopped_until <= now();
}

static bool lease_is_over(const struct host *host)
{
    return host != &run.host[ROOT] && enl_lease_is_over(&host->lease, now_ms());
}

/* ---- agents ---- */

static void wants_link(void *owner, uint32_t number)
{
    struct host *host = owner;
    host->wants[number - 1] = true;
}

static void ignore_index(void *owner, uint32_t index)
{
    (void)owner;
    (void)index;
}

static void ignore_note(void *owner, uint32_t host, const char *sentence)
{
    (void)host;
    (void)owner;
    (void)sentence;
}

static bool ignore_end(void *owner, const struct bcri_notice *notice)
{
    (void)owner;
    (void)notice;
    return true;
}

static const struct bcri_agent_events events = {
    .wants_link = wants_link, .forgotten = ignore_index, .ended = ignore_end, .note = ignore_note};

static void outbox(void *context, uint32_t member, bcri_ref at)
{
    const struct host *host = context;
    CHECK_INT(bcri_agent_outbox(host->agent, member, at), 0);
}

static void lose(struct host *host, unsigned other)
{
    if (host->lost[other])
        return;
    host->lost[other] = true;
    host->end[other].link = NULL;
    bcri_agent_lost(host->agent, other + 1);
}

/* Its daemon ends, and so do its CCEs. */
static void end_host(struct host *host)
{
    host->has_ended = true;
    for (unsigned i = 0; i < HOSTS; i++)
        if (host != &run.host[i])
            lose(host, i);
}

static void introduce(unsigned one, unsigned two)
{
    struct host *const hosts[] = {&run.host[one], &run.host[two]};
    const unsigned numbers[] = {one, two};
    for (int i = 0; i < 2; i++)
        if (hosts[i]->lost[numbers[1 - i]] || !works(hosts[i]) || lease_is_over(hosts[i]))
            return;
    for (int i = 0; i < 2; i++) {
        const struct bcri_link_config config = {.host = numbers[i] + 1,
                                                .peer = numbers[1 - i] + 1,
                                                .packet_max = 1452,
                                                .carrier = {.packet_max = 1452, .room = 1 << 20},
                                                .secret = &secret};
        struct sim_end *end = &hosts[i]->end[numbers[1 - i]];
        hosts[i]->wants[numbers[1 - i]] = false;
        if (end->link == NULL)
            CHECK((end->link = bcri_agent_link(hosts[i]->agent, numbers[1 - i] + 1, &config, now())) != NULL);
    }
}

static void rings(void *context, uint64_t at)
{
    (void)context;
    if (run.alarm_at == at)
        run.alarm_at = BCRI_LINK_NEVER;
}

/* What each thread of a daemon does before it says or takes anything; here when it may be over. */
static void look_at_lease(void *context, uint64_t which)
{
    struct host *const host = &run.host[which];
    (void)context;
    if (works(host) && lease_is_over(host))
        end_host(host);
}

static void turn(void)
{
    for (unsigned i = 0; i < HOSTS; i++) {
        struct host *host = &run.host[i];
        if (host->stopped_until > now())
            continue;
        look_at_lease(NULL, i);
        bcri_agent_run(host->agent, now());
        for (unsigned other = 0; other < HOSTS; other++)
            if (host->wants[other])
                introduce(i, other);
        for (unsigned other = 0; other < HOSTS; other++)
            if (other != i)
                sim_flush(&host->end[other]);
        const uint64_t deadline = bcri_agent_deadline(host->agent);
        if (deadline < run.alarm_at) {
            run.alarm_at = deadline;
            sim_alarm(run.network, deadline, rings, NULL, deadline);
        }
    }
}

static bool turn_once(void *context)
{
    (void)context;
    turn();
    return false;
}

static void extend_lease(unsigned which, uint64_t from_ms)
{
    struct host *const host = &run.host[which];
    (void)enl_lease_extend(&host->lease, from_ms, HOSTTIMEOUT);
    sim_alarm(run.network, (host->lease.until_ms + 1) * SIM_MS, look_at_lease, NULL, which);
}

/* No host may say anything after its lease. */
static void see_packet(void *context, struct sim_end *from, const uint8_t *packet, size_t bytes)
{
    const struct host *host = from->owner;
    (void)context;
    (void)packet;
    (void)bytes;
    CHECK(works(host) && !lease_is_over(host));
}

/* ---- the tree ---- */

enum said { BEAT, BEAT_ANSWERED, LOST };

static void hear(void *context, uint64_t argument);

static void say(enum said what, unsigned host, uint32_t number)
{
    const struct host *at = &run.host[host];
    const uint64_t cut_until = what == BEAT ? at->up_cut_until : at->down_cut_until;
    const uint64_t leaves = cut_until > now() ? cut_until : now();
    sim_alarm(run.network, leaves + SIM_US * (50 + draw(1000)), hear, NULL,
              (uint64_t)what << 48 | (uint64_t)host << 32 | number);
}

/* The root does. */
static void declare_dead(unsigned which)
{
    struct host *const dead = &run.host[which];
    CHECK(dead->has_ended || lease_is_over(dead));
    dead->is_dead = true;
    deaths++;
    lose(&run.host[ROOT], which);
    for (unsigned i = 1; i < HOSTS; i++)
        if (i != which && !run.host[i].is_dead)
            say(LOST, i, which);
}

static void look_at_children(void)
{
    for (unsigned i = 1; i < HOSTS; i++)
        if (!run.host[i].is_dead && now_ms() > run.host[i].heard_ms + enl_lease_patience(HOSTTIMEOUT))
            declare_dead(i);
}

/* It has come to who stands still: that one hears it when it goes on. */
static bool is_heard_later(const struct host *by, uint64_t argument)
{
    if (by->stopped_until <= now())
        return false;
    sim_alarm(run.network, by->stopped_until, hear, NULL, argument);
    return true;
}

static void hear(void *context, uint64_t argument)
{
    const enum said what = (enum said)(argument >> 48);
    const unsigned which = argument >> 32 & 0xffff;
    const uint32_t number = (uint32_t)argument;
    struct host *const host = &run.host[which];
    (void)context;
    if (is_heard_later(what == BEAT ? &run.host[ROOT] : host, argument))
        return;
    if (what == BEAT) {
        look_at_children();
        if (host->is_dead)
            return; /* its pipe is closed */
        host->heard_ms = now_ms();
        say(BEAT_ANSWERED, which, number);
        return;
    }
    uint64_t sent_ms;
    if (host->has_ended || lease_is_over(host))
        return;
    if (what == LOST)
        lose(host, number);
    else if (enl_lease_sent(&host->lease, number, &sent_ms))
        extend_lease(which, sent_ms);
}

/* What a daemon does by the clock. */
static void tick(void *context, uint64_t which)
{
    struct host *const host = &run.host[which];
    (void)context;
    if (host->has_ended || (run.is_over && host->stopped_until <= now()))
        return;
    if (host->stopped_until > now()) {
        sim_alarm(run.network, host->stopped_until, tick, NULL, which);
        return;
    }
    if (which == ROOT)
        look_at_children();
    else if (now_ms() % (HOSTTIMEOUT / 4) == which)
        say(BEAT, (unsigned)which, enl_lease_beat(&host->lease, now_ms()));
    sim_alarm(run.network, now() + SIM_MS, tick, NULL, which);
}

/* ---- what CCEs do ---- */

static void put(struct host *host, unsigned from, unsigned to)
{
    bcr_region rgid = run.puts < PUTS_MAX ? bcr_rgalloc(8 + (int)draw(3000), 0) : NULL;
    if (rgid == NULL)
        return;
    **(unsigned **)rgid = run.puts;
    if (bcr_put(1, rgid, host->name_of[to], run.host[to].cells + (int)draw(CELLS), bcr_FREE) != 0) {
        CHECK_INT(bcr_rgfree(rgid), 0);
        return;
    }
    run.put[run.puts++] = (struct put){.from = (uint8_t)from, .is_too_late = lease_is_over(host)};
}

static void see(unsigned by, bcr_region rgid)
{
    const unsigned number = **(unsigned **)rgid;
    CHECK(number < run.puts);
    struct put *const seen = &run.put[number];
    CHECK(seen->from == by || !seen->is_too_late);
    CHECK_UINT(++seen->seen_by[by], 1);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

static void get(struct host *host, unsigned to)
{
    for (int i = 0; i < PENDING; i++)
        if (host->pending[i] == NULL) {
            host->pending[i] =
                bcr_get(1, host->name_of[to], run.host[to].cells + (int)draw(CELLS), bcr_PENDING);
            return;
        }
}

static void look_at_gets(struct host *host, unsigned by)
{
    for (int i = 0; i < PENDING; i++) {
        const int ready = host->pending[i] != NULL ? bcr_rgwait(host->pending[i], 0, 0) : 0;
        if (ready == 1)
            see(by, host->pending[i]);
        if (ready != 0)
            host->pending[i] = NULL;
    }
}

static void drain(struct host *host, unsigned by)
{
    for (int i = 0; i < CELLS; i++)
        for (bcr_region rgid; (rgid = bcr_get(1, bcr_cce, host->cells + i, 0)) != NULL;)
            see(by, rgid);
    for (bcr_region rgid; (rgid = bcr_get(1, bcr_cce, 0, 0)) != NULL;)
        CHECK_INT(bcr_rgfree(rgid), 0);
}

static void act(unsigned which)
{
    struct host *const host = &run.host[which];
    const unsigned to = (unsigned)draw(HOSTS);
    if (host->has_ended || (!works(host) && host->acts_left-- <= 0))
        return;
    bcri_self_set(host->cce);
    switch (draw(6)) {
    case 0:
    case 1:
    case 2: put(host, which, to); break;
    case 3: get(host, to); break;
    case 4: look_at_gets(host, which); break;
    default: drain(host, which); break;
    }
    bcri_self_set(NULL);
}

/* ---- a run ---- */

static void open_host(unsigned which)
{
    struct host *host = &run.host[which];
    host->group = group_open_host(which + 1);
    host->agent_ctx = group_join(host->group);
    host->agent_ctx->daemon.parks = true;
    host->agent = bcri_agent_new(host->agent_ctx, 1 << 20, &events, host);
    CHECK(host->agent != NULL);
    group_has_agent(host->group, host->agent_ctx->index, outbox, host);
    host->cce = group_join(host->group);
    host->cce->flags |= bcr_errors;
    bcri_self_set(host->cce);
    host->cells = bcr_cagrow(0, 0, 0, 0, CELLS, ROOM, 1 << 18);
    CHECK(host->cells >= 1);
    bcri_self_set(NULL);
    host->heard_ms = now_ms();
    extend_lease(which, now_ms());
    sim_alarm(run.network, now(), tick, NULL, which);
}

static void open_all(uint64_t seed)
{
    memset(&run, 0, sizeof run);
    run.network = sim_new(seed);
    run.alarm_at = BCRI_LINK_NEVER;
    for (unsigned i = 0; i < HOSTS; i++)
        open_host(i);
    for (unsigned i = 0; i < HOSTS; i++)
        for (unsigned k = 0; k < HOSTS; k++) {
            struct sim_end *end = &run.host[i].end[k];
            CHECK_INT(bcri_cce_decode(run.host[i].cce, run.host[k].cce->record->id.identity,
                                      &run.host[i].name_of[k]),
                      0);
            end->owner = &run.host[i];
            end->path = (struct sim_path){.delay_ns = 20 * SIM_US + draw(2 * SIM_MS),
                                          .jitter_ns = draw(SIM_MS),
                                          .lost = draw(3) == 0 ? (unsigned)draw(200) : 0};
            if (i < k)
                sim_join(run.network, end, &run.host[k].end[i]);
        }
    sim_tap(run.network, see_packet, NULL);
}

/* For less or for more than hosttimeout. */
static uint64_t draw_time(void)
{
    return now() + draw(draw(2) == 0 ? HOSTTIMEOUT : 3 * HOSTTIMEOUT) * SIM_MS;
}

static void heal(void *context, uint64_t which)
{
    (void)context;
    run.host[which / HOSTS].end[which % HOSTS].path.cut = false;
}

static void disturb(void)
{
    const unsigned which = (unsigned)draw(HOSTS), other = (unsigned)draw(HOSTS);
    struct host *const host = &run.host[which];
    switch (draw(4)) {
    case 0: host->up_cut_until = draw_time(); break;
    case 1: host->down_cut_until = draw_time(); break;
    case 2:
        if (which != other) {
            host->end[other].path.cut = true;
            sim_alarm(run.network, draw_time(), heal, NULL, which * HOSTS + other);
        }
        break;
    default:
        if (!works(host))
            break;
        stops++;
        host->stopped_until = draw_time();
        sim_alarm(run.network, host->stopped_until, look_at_lease, NULL, which);
        host->acts_left = STOPPED_ACTS;
        for (unsigned i = 0; i < HOSTS; i++)
            host->end[i].asleep_until = host->stopped_until;
    }
}

static void pass(uint64_t time_ns)
{
    (void)sim_run(run.network, now() + time_ns, turn_once, NULL);
}

static void leave(struct host *host)
{
    bcri_cce_dying(group_host(host->group), host->cce->index);
    bcri_agent_forget(host->agent, host->cce->index);
    for (int i = 0; i < 1000 && !agent_is_idle(host->agent); i++)
        pass(SIM_MS);
    group_leave(host->group, host->cce);
}

static void print_finding(void *arg, const char *sentence)
{
    printf("audit of host %u: %s\n", *(unsigned *)arg + 1, sentence);
}

static void close_all(void)
{
    for (unsigned i = 0; i < HOSTS; i++)
        leave(&run.host[i]);
    pass(10 * SIM_S);
    for (unsigned i = 0; i < HOSTS; i++) {
        struct host *host = &run.host[i];
        struct bcri_audit audit = {.found = print_finding, .arg = &i};
        CHECK(agent_is_idle(host->agent));
        CHECK_INT(bcri_audit(group_enl(host->group), &audit), 0);
        CHECK_UINT(audit.findings, 0);
        CHECK_UINT(audit.regions, 0);
        bcri_agent_free(host->agent);
        group_check_ids(host->agent_ctx);
        group_leave(host->group, host->agent_ctx);
        group_close(host->group);
    }
    sim_free(run.network);
}

/* Those who live have what they wait for, or are told why not. */
static void end_run(void)
{
    pass(10 * HOSTTIMEOUT * SIM_MS);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < HOSTS; i++) {
            if (run.host[i].has_ended)
                continue;
            bcri_self_set(run.host[i].cce);
            look_at_gets(&run.host[i], i);
            drain(&run.host[i], i);
            bcri_self_set(NULL);
            pass(SIM_S / 10);
        }
    for (unsigned i = 1; i < HOSTS; i++)
        CHECK(run.host[i].is_dead == run.host[i].has_ended);
    for (unsigned number = 0; number < run.puts; number++) {
        unsigned alive = 0;
        for (unsigned i = 0; i < HOSTS; i++)
            alive += run.host[i].has_ended ? 0 : run.put[number].seen_by[i];
        CHECK(alive <= 1);
    }
    run.is_over = true;
}

static void run_seed(uint64_t seed)
{
    open_all(seed);
    for (unsigned left = 200 + (unsigned)draw(200); left != 0; left--) {
        act((unsigned)draw(HOSTS));
        if (draw(40) == 0)
            disturb();
        pass(draw(20) * SIM_MS);
    }
    end_run();
    close_all();
}

TEST_TIMEOUT(nobody_acts_on_the_death_of_who_may_still_work, 3600)
{
    const char *one = getenv("SIM_SEED");
    const uint64_t first = one != NULL ? strtoull(one, NULL, 10) : test_seed() >> 20;
    const uint64_t count = one != NULL ? 1 : test_scale(100, 10000);
    printf("  seeds %llu to %llu\n", (unsigned long long)first, (unsigned long long)(first + count - 1));
    for (uint64_t seed = first; seed < first + count; seed++) {
        if (getenv("SIM_TELL") != NULL)
            fprintf(stderr, "  seed %llu\n", (unsigned long long)seed);
        run_seed(seed);
    }
    printf("  daemons stopped: %u, hosts lost: %u\n", stops, deaths);
}
