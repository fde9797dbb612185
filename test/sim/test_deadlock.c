/* SPDX-License-Identifier: MIT */
/* Deadlock detection on random programs: no false alarm, and no deadlock that is missed.
 *
 * CCEs of up to three hosts put, get, compute, start others and end, at random. Each is a machine of small
 * steps: those of cells/wait.c store by store into a real record, a put and its ring, an order and its
 * ring. Some spin instead, and say so (bcr_idle): they look into their cells, or at requests there, and answer the daemon
 * when they have found nothing. Agents and the network carry what is for other hosts. The scheduler takes any of them next, and lets some
 * rest for long, so a CCE that was rung may go on much later. Between them the daemons look: record by record,
 * with the code that enl has (stillness.c, host_detector.c, root_detector.c), while frames to the root are late.
 *
 * At a verdict the whole state is looked at: no CCE may be able to go on. When nothing moves any more and
 * CCEs are left, there must be a verdict within some seconds; and one only.
 *
 * SIM_SEED=N in the environment runs that seed alone. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "deadlock_model.h"

/* ---- the truth ---- */

static bool waits_for_ever(const struct cce *cce)
{
    return cce->pc >= SEE                       ? !cce->got && !cce->timed
           : cce->pc == POLL || cce->pc == VAIN ? has_nothing_to_find(cce)
                                                : false;
}

/* Whether nothing can ever move: how many CCEs wait then; 0: something can, or all have ended. */
static unsigned dead_count(void)
{
    unsigned count = 0;
    for (int i = 0; i < CCES_MAX; i++) {
        if (model.cce[i].pc != FREE && !waits_for_ever(&model.cce[i]))
            return 0;
        count += model.cce[i].pc != FREE;
    }
    for (int h = 0; h < model.hosts; h++) {
        const struct agent *agent = &model.agent[h];
        if (agent->outbox.count + agent->inbox.count + agent->served.count + agent->deadlines != 0 ||
            agent->pc == A_RING)
            return 0;
        for (int to = 0; to < model.hosts; to++)
            if (model.wire[h][to].count != 0)
                return 0;
    }
    return count;
}

void hear_verdict(void)
{
    const unsigned dead = dead_count();
    if (dead == 0 || dead != enl_root_detector_count(&model.root_detector))
        FAIL("seed %llu: %u CCEs accused, %u are dead", (unsigned long long)model.seed,
             enl_root_detector_count(&model.root_detector), dead);
    model.verdicts++;
}

/* ---- a run ---- */

static bool all_have_ended(void)
{
    for (int i = 0; i < CCES_MAX; i++)
        if (model.cce[i].pc != FREE)
            return false;
    return true;
}

/* Returns whether it ended in a deadlock. */
static bool run_seed(uint64_t seed)
{
    begin(seed);
    for (unsigned i = 0; i < 400 + draw(1600); i++)
        step();
    model.fair = true;
    for (unsigned i = 0; dead_count() == 0 && !all_have_ended(); i++) {
        step();
        if (i == 1000000)
            FAIL("seed %llu does not come to rest", (unsigned long long)seed);
    }
    const bool dead = !all_have_ended();
    for (unsigned i = 0; i < 20000 && model.verdicts == 0 && dead; i++)
        step();
    for (unsigned i = 0; i < 200; i++)
        step();
    if (model.verdicts != dead)
        FAIL("seed %llu: %u verdicts, %s", (unsigned long long)seed, model.verdicts,
             dead ? "and there is a deadlock" : "though all have ended");
    return dead;
}

TEST_TIMEOUT(no_false_alarm_and_none_missed, 36000)
{
    const char *one = getenv("SIM_SEED");
    const uint64_t first = one != NULL ? strtoull(one, NULL, 10) : test_seed() >> 20;
    const uint64_t count = one != NULL ? 1 : test_scale(10000, 1000000);
    uint64_t dead = 0;
    printf("  seeds %llu to %llu\n", (unsigned long long)first, (unsigned long long)(first + count - 1));
    for (uint64_t seed = first; seed < first + count; seed++)
        dead += run_seed(seed);
    printf("  %llu deadlocks\n", (unsigned long long)dead);
    CHECK(one != NULL || (dead != 0 && dead != count));
}
