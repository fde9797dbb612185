/* SPDX-License-Identifier: MIT */
/* Which cores CCEs run on. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run, command;
static cpu_set_t allowed;
static int pinned[CPU_SETSIZE]; /* CCEs that have told that it is their only core */

static int cores(void)
{
    CHECK_INT(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    return CPU_COUNT(&allowed);
}

static int nth_core(int n)
{
    int core = 0;
    while (!CPU_ISSET((size_t)core, &allowed) || n-- > 0)
        core++;
    return core;
}

/* Reads what `count` CCEs tell of their cores; the root's, if it comes by, is let pass. */
static void read_cores(int count)
{
    int ordinal, many, first;
    while (count > 0) {
        if (sscanf(run_told(), "cores %d %d %d", &ordinal, &many, &first) != 3 || ordinal == 0)
            continue;
        CHECK_INT(many, 1);
        CHECK(CPU_ISSET((size_t)first, &allowed));
        pinned[first]++;
        count--;
    }
}

static void check_even(int most)
{
    for (int core = 0; core < CPU_SETSIZE; core++)
        CHECK(CPU_ISSET((size_t)core, &allowed) ? pinned[core] == most || pinned[core] == most - 1
                                                : pinned[core] == 0);
}

TEST(cces_for_any_core_are_pinned_to_the_cores_in_turn)
{
    char number[16];
    int count = 2 * cores() + 1;
    if (count < 5)
        SKIP("this machine has one core for us");
    run_folder();
    setenv("SYS_CHILD", "cores", 1);
    snprintf(number, sizeof number, "%d", count);
    run_start(&run, run_enl(), run_cce(), "enlist", run_cce(), number);
    read_cores(count);
    check_even(3);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(the_turn_goes_on_from_call_to_call)
{
    if (cores() < 2)
        SKIP("this machine has one core for us");
    run_folder();
    setenv("SYS_CHILD", "cores wait", 1);
    run_start(&run, run_enl(), run_cce(), "enlist", run_cce(), "1", "enlist", run_cce(), "1", "wait");
    read_cores(2);
    check_even(1);
    for (int i = 0; i < 3; i++)
        run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
}

/* A CCE for each core, enlisted on three hosts of this machine in turn. */
TEST(cores_are_dealt_out_over_all_hosts_of_a_machine)
{
    static const char *const places[] = {"local1", "local2", "localhost"};
    const char *words[6 * 64 + 8] = {run_enl(), "--local", "2", run_cce()};
    int used = 4;
    const int count = cores() > 64 ? 64 : cores();
    if (count < 2)
        SKIP("this machine has one core for us");
    run_folder();
    setenv("SYS_CHILD", "cores wait", 1);
    for (int i = 0; i < count; i++) {
        const char *const enlist[] = {"at", places[i % 3], "enlist", run_cce(), "1"};
        for (int k = 0; k < 5; k++)
            words[used++] = enlist[k];
    }
    words[used++] = "wait";
    run_start_words(&run, words);
    read_cores(count);
    check_even(1);
    for (int i = 0; i <= count; i++)
        run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(the_root_is_not_pinned)
{
    int ordinal, many, first;
    int count = cores();
    run_start(&run, run_enl(), run_cce(), "cores");
    CHECK_INT(sscanf(run_told(), "cores %d %d %d", &ordinal, &many, &first), 3);
    CHECK_INT(many, count);
    run_end(&run);
}

TEST(a_core_that_was_asked_for_is_the_only_one)
{
    char number[16];
    int last = nth_core(cores() - 1);
    run_folder();
    setenv("SYS_CHILD", "cores", 1);
    snprintf(number, sizeof number, "%d", -cores()); /* core cores() - 1 */
    run_start(&run, run_enl(), run_cce(), "enlist", run_cce(), number, "enlist", run_cce(), number);
    read_cores(2);
    CHECK_INT(pinned[last], 2);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(only_cores_that_enl_may_use_are_given)
{
    cpu_set_t one;
    if (cores() < 2)
        SKIP("this machine has one core for us");
    int kept = nth_core(1);
    CPU_ZERO(&one);
    CPU_SET((size_t)kept, &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    run_folder();
    setenv("SYS_CHILD", "cores", 1);
    /* -1 and -2 stand for cores 0 and 1. */
    run_start(&run, run_enl(), run_cce(), "enlist", run_cce(), "3", "enlist", run_cce(), "-1", "enlist",
              run_cce(), "-2");
    read_cores(4);
    CHECK_INT(pinned[kept], 4);
    run_end(&run);
    run_check_error(&run, "that this program may use");
    CHECK_INT(run.status, 0);
}

TEST(a_process_that_joins_keeps_its_cores)
{
    int ordinal, many = 0, first, count = cores();
    pid_t root;
    run_start(&run, run_enl(), run_cce(), "tell", "wait", "enlist", "sys_cce", "1", "wait");
    run_told_pid(&ordinal, &root);
    run_start(&command, run_enl(), "--join", run_program(), run_cce(), "cores");
    run_wait_for_text("bcr.", "waits to be enlisted");
    run_go();
    while (sscanf(run_told(), "cores %d %d %d", &ordinal, &many, &first) != 3)
        ;
    CHECK_INT(many, count);
    run_go();
    run_end(&command);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

/* Reads what one CCE tells: of how many cores, and of which first. The root tells what bcr_enlist
 * has returned, before that or behind it. */
static int read_one(int *first_out)
{
    int ordinal, many;
    const char *line = run_told();
    if (strncmp(line, "enlist ", strlen("enlist ")) == 0)
        line = run_told();
    CHECK_INT(sscanf(line, "cores %d %d %d", &ordinal, &many, first_out), 3);
    return many;
}

TEST(a_thread_of_a_pinned_cce_may_use_all_cores_of_the_program)
{
    int first;
    const int count = cores();
    if (count < 2)
        SKIP("this machine has one core for us");
    run_folder();
    setenv("SYS_CHILD", "cores threadcores cores", 1);
    run_start(&run, run_enl(), run_cce(), "threadcores", "enlist", run_cce(), "1");
    CHECK_INT(read_one(&first), count); /* the root's thread */
    CHECK_INT(read_one(&first), 1);
    CHECK_INT(read_one(&first), count);
    CHECK_INT(first, nth_core(0));
    CHECK_INT(read_one(&first), 1); /* the thread that calls BCR stays */
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(a_thread_gets_no_core_that_enl_may_not_use)
{
    cpu_set_t one;
    int first;
    if (cores() < 2)
        SKIP("this machine has one core for us");
    const int kept = nth_core(1);
    CPU_ZERO(&one);
    CPU_SET((size_t)kept, &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    run_folder();
    setenv("SYS_CHILD", "threadcores", 1);
    run_start(&run, run_enl(), run_cce(), "enlist", run_cce(), "-1"); /* on core 0 of those */
    CHECK_INT(read_one(&first), 1);
    CHECK_INT(first, kept);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(a_thread_gets_no_core_that_taskset_has_taken_from_its_program)
{
    char wrap[64];
    int first;
    if (cores() < 2)
        SKIP("this machine has one core for us");
    run_folder();
    setenv("SYS_CHILD", "threadcores", 1);
    snprintf(wrap, sizeof wrap, "taskset -c %d", nth_core(1));
    run_start(&run, run_enl(), "--wrap", wrap, run_cce(), "threadcores", "enlist", run_cce(), "-1");
    CHECK_INT(read_one(&first), 1); /* the root's */
    CHECK_INT(first, nth_core(1));
    CHECK_INT(read_one(&first), 1); /* and of one that was pinned to core 0 before */
    CHECK_INT(first, nth_core(1));
    run_end(&run);
    CHECK_INT(run.status, 0);
}
