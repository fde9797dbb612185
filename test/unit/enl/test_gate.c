/* SPDX-License-Identifier: MIT */
/* The gate of a job (enl/job/teams.c) on 1,024 hosts, in rounds: in each a message goes from a host to the one above or below it. When
 * the last member is there, all go on 2 x depth rounds later at most, wherever that member is, and none does so before the root knows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "job/job.h"
#include "wire/wire.h"

enum { HOSTS = 1024, EACH = 4, FANOUT = 16, DEPTH = 3, MESSAGES = 3 * HOSTS * EACH };

static struct enl_self self;
static struct enl_jobs jobs;
static struct enl_here here;
static uint8_t nobody[BCRI_IDENTITY_BYTES], identities[HOSTS * EACH][BCRI_IDENTITY_BYTES];
static int round_now, opened[HOSTS]; /* in which round a host lets its members go; -1: it has not */
static uint32_t table[HOSTS];        /* identities that have come */

static unsigned depth_of(uint32_t host)
{
    return host == 0 ? 0 : 1 + depth_of((host - 1) / FANOUT);
}

/* On its way up: what a host says of a member. It is at the root when as many rounds are over as that host lies deep. */
static struct said {
    int due;
    uint32_t host;
    struct bcri_control message;
} up[MESSAGES];
static unsigned said;

static void say(uint32_t member, enum bcri_member_state state, int in_round)
{
    const uint32_t host = member / EACH;
    up[said++] =
        (struct said){in_round + (int)depth_of(host),
                      host,
                      {.type = BCRI_MSG_member,
                       .present = BCRI_HAS(team) | BCRI_HAS(rank) | BCRI_HAS(state) | BCRI_HAS(enlistor),
                       .team = jobs.last_team,
                       .rank = member,
                       .state = state,
                       .enlistor = {(const char *)identities[member], BCRI_IDENTITY_BYTES}}};
}

/* The way down is as long. */
static void take(uint32_t host, const struct bcri_control *message)
{
    if (message->type == BCRI_MSG_team_table)
        table[host] += message->bytes.length / BCRI_IDENTITY_BYTES;
    if (message->type != BCRI_MSG_team_open)
        return;
    CHECK(opened[host] < 0 && table[host] == HOSTS * EACH);
    opened[host] = round_now + (int)depth_of(host);
}

static void send_to_host(struct enl_program *program, uint32_t host, const struct bcri_control *message)
{
    (void)program;
    CHECK(host != 0);
    take(host, message);
}

/* ---- what else teams.c needs ---- */

const char *enl_members_take(struct enl_here *at, const struct bcri_control *message)
{
    CHECK_PTR(at, &here);
    return take(0, message), NULL;
}

void enl_summary_step(struct enl_jobs *of, enum enl_step step)
{
    (void)of;
    (void)step;
}

void enl_summary_end(struct enl_jobs *of, uint32_t team, uint32_t rank, const struct enl_ended *ended)
{
    (void)of;
    (void)team;
    (void)rank;
    (void)ended;
}

void enl_summary_finish(struct enl_jobs *of, uint32_t team, int status)
{
    (void)of;
    (void)team;
    (void)status;
}

void enl_feed_begin(struct enl_jobs *of, uint32_t team, uint32_t host)
{
    (void)of;
    CHECK(team != 0 && host == 0);
}

void enl_feed_taken(struct enl_jobs *of, const struct bcri_control *message)
{
    (void)of;
    (void)message;
}

void enl_cce_answer(struct enl_conn *conn, const struct bcri_control *reply)
{
    (void)conn;
    (void)reply;
}

void enl_report(struct enl_self *of, enum bcri_log_level level, const char *format, ...)
{
    (void)of;
    (void)level;
    FAIL("it reports: %s", format);
}

/* ---- the test ---- */

/* All come in rounds that chance chooses; `last` comes, or ends without that, behind them. */
static void run(uint32_t last, enum bcri_member_state how)
{
    enum { LAST = 40 };
    static const struct enl_jobs_ops ops = {.send_to_host = send_to_host};
    said = 0;
    self = (struct enl_self){.phase = ENL_RUNNING};
    uv_loop_init(&self.loop);
    jobs = (struct enl_jobs){.self = &self, .here = &here, .ops = &ops};
    LIST_INIT(&jobs.teams);
    for (uint32_t host = 0; host < HOSTS; host++) {
        opened[host] = -1;
        table[host] = 0;
    }
    const uint32_t team = enl_teams_new(&jobs, HOSTS * EACH, nobody);
    CHECK(team != 0);
    const struct bcri_control request = {.team = team,
                                         .count = HOSTS * EACH,
                                         .stride = 1,
                                         .enlistor = {(const char *)nobody, BCRI_IDENTITY_BYTES}};
    CHECK(enl_teams_start(&jobs, &request));
    for (uint32_t member = 0; member < HOSTS * EACH; member++) {
        const uint32_t host = member / EACH;
        identities[member][0] = (uint8_t)(host >> 8);
        identities[member][1] = (uint8_t)host;
        identities[member][2] = (uint8_t)(1 + member % EACH);
        CHECK_UINT(bcri_identity_host(identities[member]), host);
        const int starts = rand() % 10;
        say(member, BCRI_MEMBER_STARTED, starts);
        say(member, member == last ? how : BCRI_MEMBER_CAME, member == last ? LAST : starts + rand() % 10);
    }
    for (round_now = 0; round_now <= LAST + DEPTH; round_now++)
        for (unsigned i = 0; i < said; i++)
            if (up[i].due == round_now)
                CHECK(enl_teams_take(&jobs, up[i].host, &up[i].message) == NULL);
    for (uint32_t host = 0; host < HOSTS; host++)
        CHECK_INT(opened[host], LAST + (int)depth_of(last / EACH) + (int)depth_of(host));
    enl_teams_close(&jobs);
    uv_run(&self.loop, UV_RUN_DEFAULT);
    CHECK_INT(uv_loop_close(&self.loop), 0);
}

TEST(all_go_on_when_the_last_ones_word_has_gone_up_and_the_roots_down)
{
    CHECK_UINT(depth_of(HOSTS - 1), DEPTH);
    run(HOSTS * EACH - 1, BCRI_MEMBER_CAME);
    run(HOSTS * EACH - 1, BCRI_MEMBER_OVER);
    run(0, BCRI_MEMBER_CAME);
    run(17 * EACH, BCRI_MEMBER_OVER);
}
