/* SPDX-License-Identifier: MIT */
/* Deadlocks are told by themselves, and programs that only look so are not accused. Several programs run at
 * once, since each needs some seconds. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr/program.h>

#include "check.h"
#include "run.h"

enum { RUNS_MAX = 8 };

static struct run runs[RUNS_MAX], command;
static char names[RUNS_MAX][256];
static bool chooses_nothing;

/* Starts a program as run `i`, whose CCEs have told that they are where they go on waiting. Returns the pid
 * of its root. */
static void start(int i, const char *hosts, const char *mode, const char *cces, const char *option)
{
    char suffix[64];
    setenv("BCR_ONDEADLOCK", "report", 1);
    if (chooses_nothing)
        unsetenv("BCR_ONDEADLOCK");
    run_folder();
    setenv("SYS_MODE", mode, 1);
    setenv("SYS_CCES", cces, 1);
    if (hosts[0] == '1')
        unsetenv("SYS_MACH");
    else
        setenv("SYS_MACH", "local1", 1);
    run_start(&runs[i], run_enl(), "--log-level", "debug", "--local", hosts, option, getenv("SYS_WAITS"));
    for (int told = 0; told < strtol(cces, NULL, 10); told++)
        run_told_by(&runs[i]);
    snprintf(suffix, sizeof suffix, ".%ld.log", (long)runs[i].pid);
    const char *log = run_file("bcr.", suffix), *begin = strrchr(log, '/') + strlen("/bcr.");
    snprintf(names[i], sizeof names[i], "%.*s", (int)(strlen(begin) - strlen(".log")), begin);
}

static void wait_for_log(int i, const char *text)
{
    char prefix[300];
    snprintf(prefix, sizeof prefix, "bcr.%s.log", names[i]);
    run_wait_for_text(prefix, text);
}

static void end(int i)
{
    run_start(&command, run_enl(), "kill", names[i]);
    run_ends(&command, 0, "");
    run_end(&runs[i]);
    CHECK_INT(runs[i].status, 128 + SIGKILL);
}

static void has(int i, const char *part)
{
    if (strstr(runs[i].error, part) == NULL)
        FAIL("run %d: no \"%s\" in:\n%s", i, part, runs[i].error);
}
static void lacks(int i, const char *part)
{
    if (strstr(runs[i].error, part) != NULL)
        FAIL("run %d: \"%s\" in:\n%s", i, part, runs[i].error);
}

static bool has_told_in_log(int i)
{
    static char text[1 << 16];
    char path[300];
    snprintf(path, sizeof path, "bcr.%s.log", names[i]);
    text[run_read_file(path, text, sizeof text - 1)] = '\0';
    return strstr(text, "nothing is on its way") != NULL;
}

/* The process of CCE `ordinal` of run `i`, by enl ps. */
static pid_t pid_of(int i, int ordinal)
{
    run_start(&command, run_enl(), "ps", "--json", names[i]);
    run_ends(&command, 0, "");
    char part[64];
    snprintf(part, sizeof part, "\"ordinal\":%d,\"pid\":", ordinal);
    const char *at = strstr(command.text, part);
    if (at == NULL)
        FAIL("no CCE %d in:\n%s", ordinal, command.text);
    return (pid_t)strtol(at + strlen(part), NULL, 10);
}

TEST_TIMEOUT(deadlocks_are_told_by_themselves_with_their_reason, 300)
{
    start(0, "1", "circle", "2", "--");
    start(1, "1", "circle", "3", "--");
    start(2, "1", "circle", "50", "--");
    start(3, "1", "missing", "1", "--");
    start(4, "1", "locks", "2", "--");
    start(5, "2", "circle", "4", "--");
    start(6, "1", "crammed", "2", "--");
    for (int i = 0; i <= 6; i++) {
        wait_for_log(i, i != 3 ? "deadlock: all " : "deadlock: the program's only CCE waits");
        wait_for_log(i, i != 5 ? "CCE 0 waits for " : "CCE 3 on local1 waits for ");
        end(i);
        CHECK_INT(strncmp(runs[i].error, "deadlock: ", 10), 0);
        CHECK_INT(run_count(runs[i].error, "nothing is on its way"), 1);
    }
    has(0, "deadlock: all 2 CCEs of the program wait without a time limit, and nothing is on its way.\n"
           "deadlock: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.\n"
           "CCE 0 waits for a region from cell 1 of CCE 1, into which nobody has put anything yet");
    has(1, "deadlock: CCE 0 waits for CCE 1, which waits for CCE 2, which waits for CCE 0: a circle.");
    has(2, "CCE 49, which waits for CCE 0: a circle.");
    has(2, "enl why tells what 30 more CCEs wait for.");
    has(3, "a put is missing: CCE 0 waits for one into cell 1 of CCE 0");
    has(4, "CCE 0 waits for the write lock of cell 1 of CCE 1, which CCE 1 has");
    has(4, "deadlock: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.");
    has(5, "deadlock: all 4 CCEs of the program");
    has(5, "CCE 3 on local1, which waits for CCE 0 on ");
    has(6, "CCE 0 waits for room in its nbytes, which others' frees would make");
    has(6, "CCE 1 waits for room in its nbytes, which others' frees would make");
}

TEST_TIMEOUT(write_locks_taken_in_two_orders_are_suspected_once_while_others_run, 300)
{
    start(0, "1", "locks", "3", "--");
    start(1, "2", "locks", "3", "--"); /* the locks of other hosts' cells are not looked at */
    wait_for_log(0, "deadlock suspected: ");
    wait_for_log(0, "look 7 ");
    wait_for_log(1, "look 7 ");
    end(0);
    end(1);
    CHECK_INT(strncmp(runs[0].error,
                      "deadlock suspected: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.\n"
                      "CCE 0 waits for the write lock of cell 1 of CCE 1, which CCE 1 has",
                      100),
              0);
    CHECK_INT(run_count(runs[0].error, "deadlock"), 1);
    lacks(1, "deadlock");
}

TEST_TIMEOUT(who_computes_reads_has_time_or_is_held_is_not_accused, 300)
{
    start(0, "1", "slow", "3", "--");
    start(1, "1", "timed", "3", "--");
    start(2, "1", "spin", "2", "--");
    start(3, "2", "input", "3", "--");
    start(4, "1", "later", "2", "--");
    const pid_t stopped = pid_of(4, 1);
    kill(stopped, SIGSTOP);
    start(5, "1", "later", "2", "--");
    const pid_t tracee = pid_of(5, 1);
    const bool traced = ptrace(PTRACE_SEIZE, tracee, NULL, NULL) == 0; /* it may be forbidden */
    run_go();
    run_go();
    for (int i = 0; i <= 5; i++)
        wait_for_log(i, "look 5 ");
    for (int i = 0; i <= 3; i++) {
        end(i);
        lacks(i, "deadlock");
    }
    CHECK(!has_told_in_log(4));
    CHECK(!traced || !has_told_in_log(5));
    /* Let go on, both are accused. */
    if (traced) {
        CHECK_INT(ptrace(PTRACE_INTERRUPT, tracee, NULL, NULL), 0);
        CHECK_INT(waitpid(tracee, NULL, __WALL), tracee);
        CHECK_INT(ptrace(PTRACE_DETACH, tracee, NULL, NULL), 0);
    }
    kill(stopped, SIGCONT);
    wait_for_log(4, "deadlock: all 2 CCEs");
    wait_for_log(5, "deadlock: all 2 CCEs");
    end(4);
    end(5);
}

/* The number of the last look in the log. `rests`: look `from` or a later one has found so many CCEs at rest. */
static unsigned looks(int i, unsigned from, unsigned resting, bool *rests)
{
    static char text[1 << 16];
    char path[300];
    unsigned last = 0, number, found;
    snprintf(path, sizeof path, "bcr.%s.log", names[i]);
    text[run_read_file(path, text, sizeof text - 1)] = '\0';
    *rests = false;
    for (const char *at = text; (at = strstr(at, " look ")) != NULL; at++)
        if (sscanf(at, " look %u for a deadlock: %u CCEs rest", &number, &found) == 2) {
            last = number;
            *rests = *rests || (number >= from && found == resting);
        }
    return last;
}

static void wait_for_look(int i, unsigned number)
{
    char text[32];
    snprintf(text, sizeof text, "look %u ", number);
    wait_for_log(i, text);
}

static void wait_for_looks(int i, unsigned more)
{
    bool unused;
    wait_for_look(i, looks(i, 0, 0, &unused) + more);
}

/* Until a look that has begun after this call finds so many CCEs at rest. */
static void wait_for_rest(int i, unsigned resting)
{
    bool rests;
    const unsigned from = looks(i, 0, resting, &rests) + 2; /* the next one may have counted already */
    for (unsigned look = from; looks(i, from, resting, &rests), !rests; look++)
        wait_for_look(i, look);
}

TEST_TIMEOUT(who_computes_in_a_signal_handler_while_it_waits_is_not_accused, 300)
{
    start(0, "1", "alarm", "2", "--");
    wait_for_rest(0, 1); /* or the signal would come before the call that it is to interrupt */
    CHECK_INT(kill(pid_of(0, 0), SIGALRM), 0);
    wait_for_log(0, "2 CCEs rest, and nothing else is under way");
    wait_for_looks(0, 3);
    end(0);
    lacks(0, "deadlock");
}

TEST_TIMEOUT(while_a_process_waits_to_join_nobody_is_accused, 300)
{
    start(0, "1", "later", "2", "--");
    run_start(&runs[1], run_enl(), "--join", names[0], getenv("SYS_WAITS"));
    wait_for_log(0, "waits to be enlisted");
    run_go();
    wait_for_log(0, "2 CCEs rest, others do not");
    wait_for_looks(0, 3);
    kill(runs[1].pid, SIGKILL);
    run_end(&runs[1]);
    wait_for_log(0, "deadlock: all 2 CCEs");
    end(0);
}

TEST_TIMEOUT(cces_that_only_look_for_regions_are_in_a_deadlock_once_there_are_none, 300)
{
    start(0, "1", "idle", "1", "--");
    start(1, "1", "idle", "4", "--");
    start(2, "2", "idle", "5", "--");
    for (int i = 0; i <= 2; i++) {
        wait_for_log(i, i != 0 ? "deadlock: all " : "deadlock: the program's only CCE waits");
        wait_for_log(i, i != 2 ? "CCE 0 only looks for regions, again and again (bcr_idle)."
                               : "CCE 4 on local1 only looks for regions");
        if (i == 0) {
            run_start(&command, run_enl(), "why", names[i]);
            run_ends(&command, 0, "");
            CHECK(strstr(command.text, "CCE 0 only looks for regions") != NULL);
        }
        end(i);
        CHECK_INT(run_count(runs[i].error, "nothing is on its way"), 1);
    }
    has(1, "CCE 3 waits for a region from cell 1 of CCE 3");
}

TEST_TIMEOUT(cces_that_only_look_are_not_accused_while_a_region_is_there, 300)
{
    start(0, "1", "token", "4", "--");
    start(1, "2", "token", "5", "--");
    start(2, "1", "found", "3", "--");
    for (int i = 0; i <= 2; i++)
        wait_for_log(i, "look 5 ");
    for (int i = 0; i <= 2; i++) {
        end(i);
        lacks(i, "deadlock");
    }
}

TEST_TIMEOUT(a_deadlock_is_told_in_the_words_of_notes, 300)
{
    start(0, "1", "noted", "2", "--");
    start(1, "2", "noted", "3", "--");
    for (int i = 0; i <= 1; i++) {
        wait_for_log(i, "nothing is on its way");
        wait_for_log(i, i == 0 ? "CCE 1 waits for CCE 0: " : "CCE 2 on local1 waits for CCE 0 on ");
        end(i);
        CHECK_INT(run_count(runs[i].error, "nothing is on its way"), 1);
    }
    has(0, "deadlock: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.");
    has(0, "CCE 0 waits for CCE 1: crecv type 5 from node 1\\x1b[2J (in cell 1 of CCE 0, for ");
    has(1, " waits for CCE 1 on local1, which waits for CCE 2 on local1, which waits for CCE 0 on ");
    has(1,
        "CCE 1 on local1 waits for CCE 2 on local1: crecv type 5 from node 2\\x1b[2J (in cell 1 of CCE 1 on");
    lacks(1, "missing");
}

TEST_TIMEOUT(ccs_whose_notes_name_each_other_are_suspected_once_while_others_run, 300)
{
    start(0, "1", "paired", "4", "--");
    start(1, "2", "paired", "4", "--"); /* CCE 0 is on another host than CCE 1 */
    wait_for_log(0, "deadlock suspected: ");
    wait_for_looks(0, 10);
    wait_for_look(1, 8);
    end(0);
    end(1);
    CHECK_INT(strncmp(runs[0].error,
                      "deadlock suspected: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.\n"
                      "CCE 0 waits for CCE 1: crecv type 5 from node 1\\x1b[2J (in cell 1 of CCE 0, for ",
                      140),
              0);
    CHECK_INT(run_count(runs[0].error, "deadlock"), 1);
    lacks(1, "deadlock");
}

static void start_with_servers(int i, const char *hosts, const char *mode, const char *cces,
                               const char *servers)
{
    setenv("SYS_SERVERS", servers, 1);
    start(i, hosts, mode, cces, "--");
    unsetenv("SYS_SERVERS");
}

TEST_TIMEOUT(servers_are_no_part_of_a_deadlock, 300)
{
    start_with_servers(0, "1", "missing", "3", "1");
    start_with_servers(1, "2", "missing", "2", "1"); /* CCE 1 is alone on its host, and CCE 0 on the root's */
    start_with_servers(2, "1", "idle", "5", "2");    /* those that only look may be servers, too */
    start_with_servers(3, "2", "missing", "3", "3");
    start_with_servers(4, "1", "slow", "3", "1"); /* a server that does something */
    wait_for_log(3, "0 CCEs and servers rest, and nothing else is under way");
    wait_for_looks(3, 4);
    wait_for_looks(4, 4);
    for (int i = 0; i <= 2; i++)
        wait_for_log(i, ", a server, ");
    for (int i = 0; i <= 4; i++)
        end(i);
    has(0, "deadlock: all 2 CCEs of the program that are no servers wait without a time limit");
    has(0, "CCE 0, a server, waits for a region from cell 1 of CCE 0");
    has(0, "a put is missing: CCE 1 waits for one into cell 1 of CCE 1");
    lacks(0, "a put is missing: CCE 0 ");
    has(1, "deadlock: the program's only CCE that is no server waits without a time limit");
    has(1, "CCE 1 on local1 waits for ");
    has(2, "deadlock: all 3 CCEs of the program that are no servers");
    has(2, "CCE 0, a server, only looks for regions");
    for (int i = 0; i <= 2; i++)
        CHECK_INT(run_count(runs[i].error, "nothing is on its way"), 1);
    lacks(3, "deadlock");
    lacks(4, "deadlock");
}

TEST_TIMEOUT(hangup_follows_where_signals_are_passed_unless_another_choice_was_made, 300)
{
    char flags[16];
    snprintf(flags, sizeof flags, "%d", bcr_passsignals);
    setenv("SYS_FLAGS", flags, 1);
    start(0, "1", "idle", "2", "--"); /* BCR_ONDEADLOCK is report */
    chooses_nothing = true;
    start(1, "2", "idle", "3", "--");
    unsetenv("SYS_FLAGS");
    start(2, "1", "idle", "2", "--");
    chooses_nothing = false;
    run_end(&runs[1]);
    has(1, "deadlock: all 3 CCEs");
    has(1, "was killed by signal 1 (Hangup)");
    CHECK_INT(runs[1].status, 128 + SIGHUP);
    for (int i = 0; i <= 2; i += 2) {
        wait_for_log(i, "deadlock: all 2 CCEs");
        end(i);
    }
}

TEST_TIMEOUT(ondeadlock_says_what_is_done, 300)
{
    unsetenv("DISPLAY");
    start(0, "2", "circle", "2", "--ondeadlock=hup");
    start(1, "1", "circle", "2", "--ondeadlock=debug");
    start(2, "1", "circle", "2", "--ondeadlock=ignore");
    run_end(&runs[0]);
    has(0, "deadlock: all 2 CCEs");
    has(0, "was killed by signal 1 (Hangup)");
    wait_for_log(1, "deadlock: all 2 CCEs");
    end(2);
    lacks(2, "deadlock");
    end(1);
    has(1, "gdb -ex 'target remote | ");
    run_start(&command, run_enl(), "--ondeadlock=maybe", run_cce());
    run_ends(&command, 2,
             "--ondeadlock: ondeadlock must be one of report, hup, debug, ignore, not \"maybe\"");
}
