/* SPDX-License-Identifier: MIT */
/* A CCE is stopped (SIGSTOP) while it holds the locks of a cell: a CCE that must wait for it is told
 * of, and who need not wait does not. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr.h>

#include "check.h"
#include "run.h"

static struct run run, command;

/* The next that is told must be of this CCE. */
static pid_t told(int ordinal)
{
    int is = -1;
    long pid = 0;
    CHECK_INT(sscanf(run_told(), "%d %ld", &is, &pid), 2);
    CHECK_INT(is, ordinal);
    return (pid_t)pid;
}

static bool is_stopped(pid_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    run_read_file(path, text, sizeof text);
    const char *end = strrchr(text, ')');
    return end != NULL && end[2] == 'T';
}

/* The one that holds the locks. */
static pid_t told_stopped(void)
{
    pid_t pid = told(2);
    while (!is_stopped(pid))
        sched_yield();
    return pid;
}

static void start(const char *holds)
{
    run_folder();
    setenv("SYS_HOLDS", holds, 1);
}

static void check_told(const char *call, int code)
{
    char want[64];
    snprintf(want, sizeof want, "%s %d", call, code);
    CHECK_STR(run_told(), want);
}

TEST_TIMEOUT(a_repair_that_waits_for_a_stopped_cce_is_told_of_and_births_go_on, 120)
{
    char part[128];
    start("ht");
    run_start(&run, run_enl(), "--onfail", "isolate", getenv("SYS_STOPPED"), "enlist", "1", "wait", "enlist",
              "2", "wait", "enlist", "3", "wait");
    pid_t waiter = told(1);
    run_go();
    pid_t holder = told_stopped();
    CHECK_INT(kill(waiter, SIGKILL), 0);
    run_wait_for_text("bcr.", "holds up the repair of what was left by CCE 1");
    run_go();
    told(3); /* the worker waits all the while */
    CHECK(is_stopped(holder));
    CHECK_INT(kill(holder, SIGCONT), 0);
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    snprintf(part, sizeof part, "kill -CONT %ld", (long)holder);
    run_check_error(&run, "it is stopped");
    run_check_error(&run, part);
    CHECK_INT(run_count(run.error, "holds up"), 1);
}

TEST_TIMEOUT(who_waits_for_one_that_dies_hears_of_it_although_an_earlier_repair_waits_for_a_stopped_cce, 120)
{
    start("ht");
    run_start(&run, run_enl(), "--onfail", "isolate", getenv("SYS_STOPPED"), "enlist", "1", "wait", "enlist",
              "2", "wait", "enlist", "5", "meet", "enlist", "5", "meet", "enlist", "3", "wait", "get", "0");
    pid_t waiter = told(1);
    run_go();
    pid_t holder = told_stopped();
    CHECK_INT(kill(waiter, SIGKILL), 0);
    run_wait_for_text("bcr.", "holds up the repair of what was left by CCE 1");
    run_go();
    for (int i = 0; i < 2; i++) {
        pid_t met = told(5);
        CHECK_STR(run_told(), "meets");
        CHECK_INT(kill(met, SIGKILL), 0);
        check_told("met", bcrE_DEAD);
    }
    told(3); /* births go on, too */
    CHECK(is_stopped(holder));
    int watch = run_watch(holder);
    CHECK_INT(kill(holder, SIGCONT), 0);
    run_gone(watch);
    run_go();
    check_told("get", bcrE_TIMEOUT);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST_TIMEOUT(a_program_ends_although_repairs_wait_for_a_stopped_cce, 120)
{
    start("ht");
    run_start(&run, run_enl(), "--onfail", "isolate", getenv("SYS_STOPPED"), "enlist", "1", "wait", "enlist",
              "2", "wait", "enlist", "4", "wait", "enlist", "3", "wait");
    pid_t waiter = told(1);
    run_go();
    pid_t holder = told_stopped();
    CHECK_INT(kill(waiter, SIGKILL), 0);
    run_wait_for_text("bcr.", "holds up the repair of what was left by CCE 1");
    run_go();
    pid_t zapper = told(4);
    CHECK_INT(kill(zapper, SIGKILL), 0);
    run_go();
    told(3);
    CHECK(is_stopped(holder));
    CHECK_INT(kill(holder, SIGKILL), 0);
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST_TIMEOUT(a_call_that_waits_for_a_stopped_cce_is_told_of_and_ps_says_that_it_is_stopped, 120)
{
    char row[128];
    run_apart();
    start("t");
    run_start(&run, run_enl(), getenv("SYS_STOPPED"), "enlist", "2", "wait", "put", "wait");
    pid_t holder = told_stopped();
    run_go();
    run_wait_for_text("bcr.", "holds up CCE 0");
    run_start(&command, run_enl(), "ps");
    run_end(&command);
    snprintf(row, sizeof row, " %ld  stopped ", (long)holder);
    CHECK(strstr(command.text, row) != NULL);
    CHECK_INT(kill(holder, SIGCONT), 0);
    CHECK_STR(run_told(), "put 0");
    run_go();
    run_ends(&run, 0, "it is stopped");
}

/* Once it has been continued nothing is left of the calls that were in vain. */
static void end_with_one_region(pid_t holder, int zapper)
{
    int watch = run_watch(holder);
    CHECK(is_stopped(holder));
    CHECK_INT(kill(holder, SIGCONT), 0);
    run_gone(watch);
    if (zapper >= 0)
        run_gone(zapper);
    run_go();
    check_told("get", bcrE_TIMEOUT);
    check_told("put", 0);
    check_told("get", 0);
    check_told("get", bcrE_TIMEOUT);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST_TIMEOUT(a_get_or_a_lock_behind_a_stopped_taker_ends_in_its_time, 120)
{
    start("h");
    run_start(&run, run_enl(), getenv("SYS_STOPPED"), "enlist", "2", "wait", "get", "0", "get", "20", "read",
              "0", "read", "20", "lock", "0", "lock", "20", "wait", "get", "0", "put", "get", "0", "get",
              "0");
    pid_t holder = told_stopped();
    run_go();
    for (int i = 0; i < 6; i++)
        check_told(i < 2 ? "get" : i < 4 ? "read" : "lock", bcrE_TIMEOUT);
    end_with_one_region(holder, -1);
}

TEST_TIMEOUT(a_put_behind_a_stopped_putter_ends_in_its_time, 120)
{
    start("t");
    run_start(&run, run_enl(), getenv("SYS_STOPPED"), "enlist", "2", "wait", "putwait", "0", "put", "putwait",
              "20", "put", "get", "0", "read", "0", "lock", "0", "wait", "get", "0", "put", "get", "0", "get",
              "0");
    pid_t holder = told_stopped();
    run_go();
    check_told("put", bcrE_FULL);
    check_told("put", bcrE_FULL);
    check_told("get", bcrE_TIMEOUT);
    check_told("read", bcrE_TIMEOUT);
    check_told("lock", bcrE_TIMEOUT);
    end_with_one_region(holder, -1);
}

TEST_TIMEOUT(a_get_behind_one_who_waits_for_a_stopped_one_ends_in_its_time, 120)
{
    start("t");
    run_start(&run, run_enl(), getenv("SYS_STOPPED"), "enlist", "2", "wait", "enlist", "4", "wait", "get",
              "0", "get", "20", "wait", "get", "0", "put", "get", "0", "get", "0");
    pid_t holder = told_stopped();
    run_go();
    int zapper = run_watch(told(4));
    run_wait_for_text("bcr.", "holds up CCE 4"); /* which has the other lock by now */
    run_go();
    check_told("get", bcrE_TIMEOUT);
    check_told("get", bcrE_TIMEOUT);
    end_with_one_region(holder, zapper);
}
