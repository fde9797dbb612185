/* SPDX-License-Identifier: MIT */
/* What is true of every routine without a CCE, in a fork, and in each thread. */
#include "cce.h"

#include <bcr/program.h>

#include <limits.h>
#include <pthread.h>
#include <unistd.h>

/* Every routine fails with `code` for want of a CCE; `rgid` and `list` are what a CCE could use. */
static void all_fail(int code, bcr_region rgid, int cell)
{
    bcr_region list[1] = {rgid};
    int cells[2] = {1, cell};
    int value = 0, archtype = 0;
    char path[PATH_MAX];
    FAILS(bcr_cagrow(0, 1, 1, 1, 1, 1, 64), code);
    FAILS(bcr_cafree(cell), code);
    FAILS(bcr_celllen(1, cell), code);
    FAILS(bcr_watch(2, cell), code);
    FAILS(bcr_publish("name", cell), code);
    FAILS(bcr_find("name", NULL, NULL, 0), code);
    FAILS(bcr_teamrank(), code);
    FAILS(bcr_teamsize(), code);
    FAILS(bcr_teamcce(0), code);
    FAILS(bcr_teamhost(0), code);
    FAILS(bcr_teamsync(0), code);
    FAILS(bcr_unwatch(2, cell), code);
    FAILS(bcr_fd(cell), code);
    FAILS_NULL(bcr_rgalloc(4, 0), code);
    FAILS_NULL(bcr_rgalloc_within(4, 0, bcr_BLOCK), code);
    FAILS(bcr_rgmod(rgid), code);
    FAILS(bcr_rgfree(rgid), code);
    FAILS(bcr_rgrealloc(rgid, 2), code);
    FAILS(bcr_rglen(rgid, &archtype), code);
    FAILS(bcr_rgwait(rgid, bcr_BLOCK, 0), code);
    FAILS(bcr_rgwaitm(1, list, bcr_BLOCK, 1), code);
    FAILS(bcr_rgerror(rgid), code);
    FAILS(bcr_put(1, rgid, 1, cell, bcr_FREE), code);
    FAILS(bcr_put(0, rgid, 1, cell, bcr_FREE), code);
    FAILS(bcr_putm(1, rgid, 1, cells, bcr_FREE), code);
    FAILS_NULL(bcr_get(0, 1, cell, 0), code);
    FAILS_NULL(bcr_get(1, 1, cell, bcr_BLOCK), code);
    FAILS_NULL(bcr_get(1, 1, cell, bcr_PENDING), code);
    FAILS(bcr_zap(1, cell), code);
    FAILS_NULL(bcr_acqrl(1, cell, 0), code);
    FAILS_NULL(bcr_acqwl(1, cell, 0), code);
    FAILS(bcr_rlsrl(rgid), code);
    FAILS(bcr_rlswl(rgid, 1, cell), code);
    FAILS(bcr_wl2rl(rgid, 1, cell), code);
    FAILS(bcr_put_within(1, rgid, 1, cell, bcr_FREE, 0), code);
    FAILS(bcr_rgshared(rgid), code);
    FAILS(bcr_rgkind(rgid), code);
    FAILS(bcr_heapleft(), code);
    FAILS(bcr_threadcores(), code);
    FAILS(bcr_idle(0), code);
    FAILS(bcr_note("it waits", -1), code);
    FAILS(bcr_outdone(0), code);
    FAILS(bcr_hostadd("a"), code);
    FAILS(bcr_hostdel("a"), code);
    FAILS(bcr_hostinfo(0, &(struct bcr_hostentry){.size = sizeof(struct bcr_hostentry)}), code);
    FAILS(bcr_hostof(1), code);
    FAILS(bcr_tempdir(path, sizeof path), code);
    FAILS(bcr_sigenter(), code);
    FAILS(bcr_sigleave(), code);
    FAILS(bcr_wake(cell), code);
    FAILS(bcr_wakefd(), code);
    FAILS(bcr_wakeon(cell, 1), code);
    FAILS(bcr_getputwait(&value), code);
    FAILS(bcr_putwait(0), code);
    FAILS(bcr_putdone(0), code);
    bcr_errno = 0;
    CHECK_INT(bcr_copyfm(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2);
    CHECK_INT(bcr_errno, code);
    bcr_errno = 0;
    CHECK_INT(bcr_copyto(bcrT_1INT, 1, rgid, 0, &value, sizeof value), -2);
    CHECK_INT(bcr_errno, code);
    FAILS(bcr_copytosz(bcrT_1INT, 1, 0, 0, &value, sizeof value), code);
    FAILS(bcr_recv(&value, sizeof value, bcrT_1INT, 1, 1, cell, 1, bcr_BLOCK), code);
    bcr_errno = 0;
    CHECK_INT(bcr_copytofm(bcrT_1INT, 1, rgid, 0, rgid, 0), -2);
    CHECK_INT(bcr_errno, code);
    bcr_errno = 0;
    CHECK_INT(bcr_send(&value, sizeof value, bcrT_1INT, 1, 1, cell, 1, 0), -2);
    CHECK_INT(bcr_errno, code);
    bcr_errno = 0;
    CHECK_INT(bcr_sendm(&value, sizeof value, bcrT_1INT, 1, 1, cells, 1, 0), -2);
    CHECK_INT(bcr_errno, code);
    CHECK_INT(archtype, 0);
}

TEST(without_a_CCE_every_routine_says_NOINIT)
{
    CHECK_INT(bcr_cce, 0);
    CHECK_INT(bcr_errno, bcrE_OK);
    all_fail(bcrE_NOINIT, NULL, 1);
    void *variable;
    all_fail(bcrE_NOINIT, &variable, 1);
}

TEST(without_a_CCE_descriptors_can_be_shown_and_codes_explained)
{
    char text[1024];
    CHECK(bcr_descshow(bcrT_1INT, 0, text, sizeof text) > 0);
    FAILS(bcr_descshow(NULL, 0, text, sizeof text), bcrE_ARG);
    FAILS(bcr_descshow(bcrT_1INT, 5, text, sizeof text), bcrE_ARCH);
    FAILS(bcr_descshow((const int[]){0, bcrT_NEST | bcrT_END, 1}, 0, text, sizeof text), bcrE_DESC);
    FAILS(bcr_descshow(bcrT_1INT, 0, text, -1), bcrE_ARG);
    FAILS(bcr_descshow(bcrT_1INT, 0, NULL, 1), bcrE_ARG);
    CHECK(bcr_strerror(bcrE_ARCH) != NULL);
}

TEST(in_a_fork_every_routine_says_FORK_and_harms_nothing)
{
    begin();
    int cell = grow(1, 9, 1024);
    bcr_region rgid = number(1);
    CHECK_INT(bcr_enq(rgid, bcr_cce, cell, bcr_NOFREE), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        all_fail(bcrE_FORK, rgid, cell);
        _exit(0);
    }
    test_join(pid, 0);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 1);
    CHECK_INT(value_of(rgid), 1);
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

static void *another_thread(void *arg)
{
    as(arg);
    CHECK_INT(bcr_errno, bcrE_OK);
    bcr_errno = 55;
    return NULL;
}

TEST(bcr_errno_is_each_threads_own)
{
    begin();
    FAILS(bcr_zap(77, 1), bcrE_NOCCE);
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, another_thread, two), 0);
    pthread_join(thread, NULL);
    CHECK_INT(bcr_errno, bcrE_NOCCE);
    end();
}

TEST(the_table_of_IDs_grows)
{
    begin();
    int cell = grow(1, 9, 1024);
    CHECK_INT(bcr_enq(number(1), bcr_cce, cell, bcr_FREE), 0);
    for (int i = 0; i < 10000; i++) {
        bcr_region rgid = bcr_read(bcr_cce, cell, 0);
        CHECK(rgid != NULL);
    }
    CHECK_INT(take(bcr_cce, cell), 1);
    end();
}

TEST(the_globals_tell_of_the_calling_threads_CCE)
{
    begin();
    CHECK_INT(bcr_cce, 1);
    CHECK_INT(bcr_enlistor, -1);
    CHECK_INT(bcr_cceord, 0);
    CHECK(bcr_archtype > 0);
    int mine = bcr_archtype;
    as(two);
    CHECK_INT(bcr_cce, 1); /* IDs are each CCE's own */
    CHECK_INT(bcr_archtype, mine);
    bcr_cce = 99; /* misleads only the program */
    int cell = grow(1, 1, 0);
    CHECK_INT(bcr_celllen(1, cell), 0);
    as(one);
    CHECK_INT(bcr_cce, 1);
    end();
}
