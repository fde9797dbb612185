/* SPDX-License-Identifier: MIT */
/* A record is given out again by the daemon's loop while its worker goes through all records: at
 * each instruction of it, the worker finds what was there before, or another version and no
 * areas. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/cell0.h"
#include "bcri/record.h"
#include "check.h"
#include "group.h"
#include "trace.h"

static struct group *group;
static struct bcri_record_shm *record;
static struct bcri_record_shm before;

static void look(uint64_t step)
{
    static struct bcri_record_shm now;
    memcpy((void *)&now, (const void *)record, sizeof now);
    const uint32_t version = bcri_load(&now.id.version);
    if (version == bcri_load(&before.id.version)) {
        bcri_store(&now.id.first_area, bcri_load(&before.id.first_area)); /* goes first */
        if (memcmp((const void *)&now, (const void *)&before, sizeof now) != 0)
            FAIL("after %llu instructions it has changed, and its version has not", (unsigned long long)step);
    } else if ((version & 1u) != 0 || bcri_load(&now.id.first_area) != BCRI_REF_NONE) {
        FAIL("after %llu instructions there are areas, version %u", (unsigned long long)step, version);
    }
}

TEST_TIMEOUT(a_record_that_is_given_out_again_has_another_version_and_no_areas_before_anything_else_changes,
             50)
{
    uint32_t index, again;
    uint64_t steps = 0;
    if (trace_missing() != NULL)
        SKIP(trace_missing());
    group = group_open();
    CHECK_INT(bcri_host_cce_add(group_host(group), 7, &index), 0);
    bcri_cell0_init(group_enl(group), index);
    bcri_host_cce_release(group_host(group), index);
    record = bcri_host_record(group_host(group), index);
    CHECK(bcri_load(&record->id.first_area) != BCRI_REF_NONE);
    memcpy((void *)&before, (const void *)record, sizeof before);
    pid_t loop = fork();
    CHECK(loop >= 0);
    if (loop == 0) {
        trace_begin();
        const int error = bcri_host_cce_add(group_host(group), 8, &again);
        trace_end();
        _exit(error == 0 && again == index ? 0 : 1);
    }
    CHECK(trace_attach(loop));
    enum trace_at at;
    do {
        at = trace_step(loop);
        look(++steps);
    } while (at != TRACE_AT_END && at != TRACE_GONE);
    CHECK_INT(at, TRACE_AT_END);
    CHECK_INT(bcri_load(&record->id.state), BCRI_CCE_STARTING);
    trace_kill(loop);
    CHECK_INT(waitpid(loop, NULL, 0), loop);
    group_close(group);
}
