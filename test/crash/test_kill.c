/* SPDX-License-Identifier: MIT */
/* Death at any moment: processes that work on each other's cells as fast as they can, and one after
 * the other is killed, buried while the others go on, and replaced. What it leaves, memory and
 * record, goes while the others are at it, and its record serves one that comes later. Between
 * burials all stop for a moment and the shared memory is audited.
 *
 * Half of the kills at least must find an open journal: else they hit waits and the program's own
 * code. */
#include <bcr.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "actor.h"
#include "check.h"
#include "group.h"

#include "bcri/audit.h"
#include "bcri/bell.h"
#include "bcri/cces.h"
#include "bcri/journal.h"
#include "bcri/reclaim.h"
#include "bcri/self.h"

enum {
    GROUP_KILLS = 100, /* after these a new program begins */
    HANG_SECONDS = 50, /* without a kill */
    MOMENTS = 120,     /* at most, that one kill passes over */
    RESERVE = 12,      /* of kills with an open journal, twice: some members wait for longer than that */
    GAP_NS = 5000000   /* between kills, twice that at most */
};
/* ---- the one who kills ---- */

struct killer {
    struct group *group;
    struct bcri_reclaim *reclaim;
    struct actor actor;
    pid_t pid[MEMBERS];
    uint32_t index[MEMBERS];
    int youngest;
    uint64_t random;
};

/* What goes on, for the alarm. */
static const char *volatile step_now = "";
static const struct killer *volatile watched;

static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(3);
}

/* Ends the process, and says what each member is doing: this looks at shared memory only. */
static void on_alarm(int signal)
{
    const struct killer *killer = watched;
    (void)signal;
    say("hangs while ");
    say(step_now);
    say("\n");
    for (int i = 0; i < MEMBERS; i++) {
        char line[160];
        const struct bcri_record_shm *record = bcri_record(group_enl(killer->group), killer->index[i]);
        snprintf(line, sizeof line, "CCE %u: state %u, journal op %u phase %u, waits on %u, asleep %u\n",
                 killer->index[i], bcri_load(&record->id.state), bcri_load(&record->journal.op),
                 bcri_load(&record->journal.phase), bcri_load(&record->bell.waits_on),
                 bcri_load(&record->bell.sleeping));
        say(line);
    }
    _exit(1);
}

static void start(struct killer *killer, int i)
{
    killer->pid[i] = group_fork(killer->group, actor_body, &killer->actor, &killer->index[i]);
    bcri_store_release(&killer->actor.arena->index[i], killer->index[i]);
}

/* As enl's worker does after a repair. */
static void bury(struct killer *killer, int i)
{
    int status = group_bury(killer->group, killer->pid[i], killer->index[i]);
    uint32_t index;
    if (status != 0 && status != SIGKILL)
        FAIL("process %d ended by itself", (int)killer->pid[i]);
    CHECK(bcri_reclaim_add(killer->reclaim, killer->index[i]));
    bcri_reclaim_look(killer->reclaim);
    while (bcri_reclaim_take(killer->reclaim, &index))
        bcri_host_cce_release(group_host(killer->group), index);
    if (group_enl(killer->group)->daemon.corrupt)
        FAIL("CCE %u is buried, and shared memory called corrupt", killer->index[i]);
}

static void print_finding(void *arg, const char *sentence)
{
    (void)arg;
    printf("audit: %s\n", sentence);
}

static struct bcri_audit audit(struct killer *killer, const char *when)
{
    struct bcri_audit result = {.found = print_finding};
    CHECK_INT(bcri_audit(group_enl(killer->group), &result), 0);
    if (result.findings != 0)
        FAIL("%llu findings %s", (unsigned long long)result.findings, when);
    return result;
}

static void audit_while_all_stand(struct killer *killer)
{
    struct arena *arena = killer->actor.arena;
    uint32_t parked;
    atomic_store(&arena->parked, 0);
    atomic_fetch_add(&arena->pause, 1);
    while ((parked = bcri_load_acquire(&arena->parked)) < MEMBERS)
        bcri_futex_wait(&arena->parked, parked, UINT64_MAX);
    audit(killer, "while all stand");
    atomic_fetch_add(&arena->pause, 1);
    bcri_futex_wake(&arena->pause, INT32_MAX);
}

static void wait_a_moment(struct killer *killer, uint64_t most_ns)
{
    struct timespec gap = {.tv_nsec = 1 + (long)test_rand_below(&killer->random, most_ns)};
    nanosleep(&gap, NULL);
}

static const struct bcri_record_shm *record_of(const struct killer *killer, int i)
{
    return bcri_record(group_enl(killer->group), killer->index[i]);
}
static bool journal_is_open(const struct killer *killer, int i)
{
    return bcri_load(&record_of(killer, i)->journal.op) != 0;
}
static bool requests(const struct killer *killer, int i)
{
    const struct bcri_journal_shm *j = &record_of(killer, i)->journal;
    return bcri_load(&j->op) != 0 && (bcri_load(&j->phase) & BCRI_PHASE_REQUESTS) != 0;
}

/* What was found of those that were killed. */
struct tally {
    uint64_t kills, open, requesting, under_way;
};
static void note(struct killer *killer, int i, struct tally *tally)
{
    tally->kills++;
    tally->open += journal_is_open(killer, i);
    tally->requesting += requests(killer, i);
    tally->under_way += bcri_load(&killer->actor.arena->under_way[killer->index[i] % RECORDS]) != 0;
}

/* Waits until it has stopped or ended. */
static void wait_for(const struct killer *killer, int i, int how, int code)
{
    siginfo_t info;
    while (waitid(P_PID, (id_t)killer->pid[i], &info, how | WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    if (info.si_code != code)
        FAIL("process %d ended by itself", (int)killer->pid[i]);
}

static void stop(const struct killer *killer, int i)
{
    siginfo_t info;
    kill(killer->pid[i], SIGSTOP);
    wait_for(killer, i, WSTOPPED, CLD_STOPPED);
    waitid(P_PID, (id_t)killer->pid[i], &info, WSTOPPED);
}

/* Kills one at a random moment. It is stopped first, to see where it is: calls are shorter than the
 * way of a signal. Too many had closed journals lately: then a moment at which this one's is
 * closed, too, is passed over. On a busy machine members spend most of their time waiting. With
 * handlers every other shall be requesting one, if such a moment is found in half of the tries. */
static void kill_one(struct killer *killer, struct tally *tally)
{
    const bool requester = killer->actor.marked && tally->kills % 2 == 0;
    const bool reluctant = 2 * tally->open < tally->kills + RESERVE;
    int i = (int)test_rand_below(&killer->random, MEMBERS - 1);
    i += i >= killer->youngest; /* which is still finding its way */
    wait_a_moment(killer, 2 * GAP_NS);
    stop(killer, i);
    for (int tries = 0; tries < MOMENTS; tries++) {
        const bool closed = reluctant && !journal_is_open(killer, i);
        const bool other = requester && !requests(killer, i) && tries < MOMENTS / 2;
        if (!closed && !other)
            break;
        kill(killer->pid[i], SIGCONT);
        wait_a_moment(killer, closed ? GAP_NS / 8 : GAP_NS / 64);
        stop(killer, i);
    }
    kill(killer->pid[i], SIGKILL);
    wait_for(killer, i, 0, CLD_KILLED);
    note(killer, i, tally);
    bcri_store(&killer->actor.arena->index[i], 0);
    bury(killer, i);
    start(killer, i);
    killer->youngest = i;
}

static void end_all(struct killer *killer)
{
    atomic_store(&killer->actor.arena->pause, OVER);
    for (int i = 0; i < MEMBERS; i++)
        bury(killer, i);
    CHECK_UINT(audit(killer, "in the end").regions, 0);
}

static struct tally kill_many(bool marked, uint64_t kills)
{
    struct killer killer = {.random = test_seed()};
    struct tally tally = {0};
    killer.actor.seed = killer.random;
    killer.actor.marked = marked;
    killer.actor.arena =
        mmap(NULL, sizeof *killer.actor.arena, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(killer.actor.arena != MAP_FAILED);
    watched = &killer;
    signal(SIGALRM, on_alarm);
    while (tally.kills < kills) {
        memset(killer.actor.arena, 0, sizeof *killer.actor.arena);
        killer.group = group_open();
        killer.reclaim = bcri_reclaim_init(group_host(killer.group));
        CHECK(killer.reclaim != NULL);
        for (int i = 0; i < MEMBERS; i++)
            start(&killer, i);
        for (int n = 0; n < GROUP_KILLS && tally.kills < kills; n++) {
            alarm(HANG_SECONDS);
            step_now = "one is killed and buried";
            kill_one(&killer, &tally);
            step_now = "all come to a halt for the audit";
            audit_while_all_stand(&killer);
        }
        step_now = "all end";
        end_all(&killer);
        bcri_reclaim_fini(killer.reclaim);
        group_close(killer.group);
    }
    alarm(0);
    printf("%llu kills, %llu with an open journal\n", (unsigned long long)tally.kills,
           (unsigned long long)tally.open);
    CHECK(2 * tally.open >= tally.kills);
    return tally;
}

static const char *skipped(void)
{
    return test_is_instrumented() ? "under a tool most kills would hit the tool" : NULL;
}

TEST_TIMEOUT(when_any_CCE_is_killed_at_any_moment_the_others_go_on, 1800)
{
    if (skipped() != NULL)
        SKIP(skipped());
    kill_many(false, test_scale(200, 1000));
}

TEST_TIMEOUT(when_any_CCE_is_killed_among_handlers_the_others_go_on, 1800)
{
    if (skipped() != NULL)
        SKIP(skipped());
    struct tally tally = kill_many(true, test_scale(150, 1000));
    printf("%llu while they requested a handler, %llu with invocations under way\n",
           (unsigned long long)tally.requesting, (unsigned long long)tally.under_way);
    CHECK(tally.requesting != 0 && tally.under_way != 0);
}
