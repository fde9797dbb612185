/* SPDX-License-Identifier: MIT */
/* enl why and the other commands that look in: programs that wait in known ways are explained by the
 * right sentences, and those that only look as if they did are not accused. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run, command;
static char program[256];

/* Starts a program, whose CCEs have told that they are where they go on waiting. */
static void start_on(const char *hosts, const char *mode, const char *cces)
{
    setenv("SYS_MODE", mode, 1);
    setenv("SYS_CCES", cces, 1);
    run_folder();
    run_start(&run, run_enl(), "--local", hosts, getenv("SYS_WAITS"));
    for (int i = 0; i < strtol(cces, NULL, 10); i++)
        run_told_by(&run);
    snprintf(program, sizeof program, "%s", run_program_by(hosts[0] == '1' ? ".log" : ".1.log"));
}

static void start(const char *mode, const char *cces)
{
    start_on("1", mode, cces);
}

static void end(void)
{
    run_start(&command, run_enl(), "kill", program);
    run_ends(&command, 0, "");
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGKILL);
}

/* What a command prints. */
static const char *look(const char *word, const char *option)
{
    run_start(&command, run_enl(), word, option, program);
    run_end(&command);
    const bool tells =
        strstr(command.text, "deadlock: all ") != NULL || strstr(command.text, "\"deadlock\":true") != NULL;
    const int status = strcmp(word, "why") == 0 && (tells || strcmp(option, "--dot") == 0) ? 3 : 0;
    if (command.status != status)
        FAIL("enl %s: status %d, not %d, %s", word, command.status, status, command.error);
    return command.text;
}

/* Between telling and waiting a CCE may need a while. */
static const char *look_until(const char *word, const char *option, const char *part)
{
    while (strstr(look(word, option), part) == NULL)
        ;
    return command.text;
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        FAIL("no \"%s\" in:\n%s", part, text);
}
static void lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        FAIL("\"%s\" in:\n%s", part, text);
}

/* The process of the CCE with that ordinal, of one host. */
static pid_t pid_of(int ordinal)
{
    char line[64];
    int pid = 0;
    snprintf(line, sizeof line, "\n   0 %7d ", ordinal);
    const char *at = strstr(look("ps", "--"), line);
    if (at == NULL || sscanf(at + strlen(line), "%d", &pid) != 1)
        FAIL("no CCE %d in:\n%s", ordinal, command.text);
    return (pid_t)pid;
}

TEST(a_circle_of_two_gets_is_told)
{
    setenv("SYS_CCES", "2", 1);
    start("circle", "2");
    const char *text = look_until("why", "--", "deadlock: all 2 CCEs");
    has(text, "CCE 0 waits for a region from cell 1 of CCE 1, into which nobody has put anything yet");
    has(text, "CCE 1 waits for a region from cell 1 of CCE 0");
    has(text, "deadlock: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.");
    end();
}

TEST(a_circle_of_three_is_told)
{
    start("circle", "3");
    has(look_until("why", "--", "deadlock: all 3 CCEs"),
        "deadlock: CCE 0 waits for CCE 1, which waits for CCE 2, which waits for CCE 0: a circle.");
    end();
}

TEST(a_circle_of_fifty_is_told_once)
{
    start("circle", "50");
    const char *text = look_until("why", "--", "deadlock: all 50 CCEs");
    CHECK_INT(run_count(text, "waits for a region"), 50);
    has(text, "CCE 49, which waits for CCE 0: a circle.");
    CHECK_INT(run_count(text, "a circle."), 1);
    end();
}

TEST(notes_are_shown_and_followed)
{
    start("paired", "3");
    const char *text = look_until("why", "--", "suspected deadlock");
    has(text, "CCE 0 waits for CCE 1: crecv type 5 from node 1\\x1b[2J (in cell 1 of CCE 0, for ");
    has(text, "suspected deadlock: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.");
    has(text, "2 CCEs wait for CCEs that wait themselves; 1 run or can go on.");
    has(look("why", "--json"), "\"note\":\"crecv type 5 from node 1\\u001b[2J\",\"waits_for\":{\"host\":0,");
    has(look("waits", "--"), "; it waits for CCE 1: crecv type 5 from node 1\\x1b[2J\n");
    has(look("waits", "--json"), "\"note\":[{");
    has(look("ps", "--"), "  (waits for CCE 0: crecv type 5 from node 0\\x1b[2J, ");
    end();
}

TEST(a_crash_report_has_the_notes)
{
    start("noted", "3");
    look_until("why", "--", "deadlock: all 3 CCEs");
    has(look("why", "--dot"), "label=\"crecv type 5 from node 1\\u001b[2J\"");
    kill(pid_of(1), SIGSEGV);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGSEGV);
    has(run.error, "crash: CCE 1 (");
    has(run.error, "  [1] it waited for CCE 2 (");
    has(run.error, ": crecv type 5 from node 2\\\\x1b[2J\n");
    has(run.error, "  [1] CCE 0 (");
    has(run.error, " has waited for it for ");
    has(run.error, " s: crecv type 5 from node 1\\\\x1b[2J\n");
}

TEST(a_missing_put_is_told)
{
    start("missing", "3");
    has(look_until("why", "--", "deadlock: all 3 CCEs"),
        "a put is missing: CCE 0 waits for one into cell 1 of CCE 0, and every CCE that could do it waits "
        "itself.");
    lacks(command.text, "circle");
    end();
}

TEST(write_locks_taken_in_two_orders_are_told_while_others_run)
{
    start("locks", "3");
    const char *text = look_until("why", "--", "suspected deadlock");
    has(text, "CCE 0 waits for the write lock of cell 1 of CCE 1, which CCE 1 has");
    has(text, "suspected deadlock: CCE 0 waits for CCE 1, which waits for CCE 0: a circle.");
    has(text, "2 CCEs wait for CCEs that wait themselves; 1 run or can go on.");
    lacks(text, "deadlock: all");
    end();
}

TEST(who_waits_for_room_at_one_that_runs_is_not_accused)
{
    start("full", "2");
    const char *text = look_until("why", "--", "1 CCEs wait; 1 run and could end that.");
    has(text, "CCE 1 waits for room to put into cell 1 of CCE 0");
    lacks(text, "deadlock");
    has(look("cells", "--"), "in/out");
    end();
}

/* A line of `enl cells --watch` with a time in both of its columns that have one: cell 1 of CCE 0 is full, and has
 * been for a look or more, and who wants to put there sleeps. */
TEST(cells_tell_their_oldest_region_and_who_sleeps_for_them)
{
    char line[512];
    unsigned regions = 0, most = 0, high = 0, waiting = 0;
    double oldest = 0, asleep = 0;
    start("full", "2");
    run_start(&command, run_enl(), "cells", "--watch", program);
    FILE *watched = fdopen(dup(command.out), "r");
    while (watched != NULL && fgets(line, sizeof line, watched) != NULL)
        if (sscanf(line, " 0 0 1 in/out %u %u %u %lf s %*u %u %lf s", &regions, &most, &high, &oldest,
                   &waiting, &asleep) == 6 &&
            oldest > 0)
            break;
    CHECK_UINT(regions, 2);
    CHECK_UINT(most, 2);
    CHECK_UINT(high, 2);
    CHECK_UINT(waiting, 1);
    CHECK(oldest > 0 && asleep > 0);
    kill(command.pid, SIGINT);
    run_end(&command);
    fclose(watched);
    has(look("cells", "--"), " -          200 ");
    end();
}

TEST(who_waits_for_one_that_computes_is_not_accused)
{
    start("slow", "3");
    lacks(look_until("why", "--", "2 CCEs wait; 1 run and could end that."), "deadlock");
    end();
}

TEST(who_waits_for_one_that_has_a_time_limit_is_not_accused)
{
    start("timed", "3");
    lacks(look_until("why", "--", "2 CCEs wait; 1 run and could end that."), "deadlock");
    end();
}

/* Each at its own host: what its CCE waits for there has a time, though the CCE waits for the answer. */
TEST(who_puts_with_a_time_limit_at_another_host_is_not_accused)
{
    setenv("SYS_MACH", "local2", 1);
    start_on("2", "crowded", "2");
    while (run_count(look("waits", "--"), " more") < 2) /* "for 1 h more": both sleep for that */
        ;
    const char *text = look("why", "--");
    has(text, "no CCE waits without a time limit; 2 run, or wait for a time.");
    lacks(text, "on their way");
    end();
    unsetenv("SYS_MACH");
}

TEST(a_stopped_program_gets_a_sentence)
{
    start("circle", "2");
    look_until("why", "--", "deadlock: all 2 CCEs");
    kill(run.pid, SIGSTOP); /* the daemon answers nobody then */
    run_start(&command, run_enl(), "why", program);
    run_end(&command);
    CHECK_INT(command.status, 1);
    has(command.error, "does not answer; its daemon, process ");
    has(command.error, ", is stopped: fg, kill -CONT or enl kill ends that");
    kill(run.pid, SIGCONT);
    end();
}

TEST(json_and_dot_have_the_same)
{
    start("circle", "2");
    look_until("why", "--json", "\"deadlock\":true");
    has(command.text, "\"fate\":\"stuck\",\"in_cycle\":true");
    has(look("why", "--dot"), "c0 -> c1 [color=red, label=\"cell 1 of CCE 1\"];");
    has(look("waits", "--json"), "\"wait\":[{");
    has(look("cells", "--json"), "\"area\":[{");
    has(look("ps", "--json"), "\"state_name\":\"alive\"");
    lacks(command.text, "\"sleeps\":0,");
    end();
}

TEST(what_cannot_be_written_is_no_success)
{
    static const char *const commands[][2] = {{"ps", "1"},   {"ps --json", "1"},  {"cells", "1"},
                                              {"why", "1"},  {"why --json", "1"}, {"stacks", "1"},
                                              {"audit", "2"}};
    char line[512];
    start("slow", "2");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        snprintf(line, sizeof line, "exec %s %s %s >/dev/full", run_enl(), commands[i][0], program);
        run_start(&command, "/bin/sh", "-c", line);
        run_ends(&command, (int)strtol(commands[i][1], NULL, 10),
                 "enl: what is to be shown cannot be written: No space left on device");
    }
    end();
}

TEST(waits_regions_and_processes_are_listed)
{
    start("regions", "2");
    const char *text = look_until("waits", "--", "CCE 0 waits for a region from cell 1 of CCE 1, asleep for");
    has(text, "s more\n");
    text = look("regions", "--");
    has(text, "heap of CCE 0: 700 of 69712 bytes in use\n");
    has(text, "  held by CCE 0: 3 regions, 600 bytes\n");
    has(text, "  in cells of CCE 0: 1 region, 100 bytes\n");
    text = look("ps", "--");
    has(text, "waits for a region from cell 1 of CCE 1");
    has(look("stats", "--"), "per second");
    end();
}

TEST(other_hosts_are_asked_through_the_tree)
{
    setenv("SYS_MACH", "local2", 1);
    start_on("2", "circle", "3");
    const char *text = look_until("why", "--", "deadlock: all 3 CCEs");
    has(text, " waits for a region from cell 1 of CCE 1 on local2, into which");
    has(text, " waits for CCE 1 on local2, which waits for CCE 2 on local2, which waits for CCE 0 on ");
    text = look("ps", "--json");
    CHECK_INT(run_count(text, "\"hostname\":"), 2);
    CHECK_INT(run_count(text, "\"state_name\":\"alive\""), 3);
    char second[300];
    snprintf(second, sizeof second, "%s:1", program);
    run_start(&command, run_enl(), "ps", second); /* a daemon that is not the root's knows its own host */
    run_ends(&command, 0, "");
    CHECK_INT(run_count(command.text, "sys_waits"), 2);
    end();
    unsetenv("SYS_MACH");
}

TEST(stacks_of_a_program_are_shown_once_with_those_that_have_them)
{
#if !defined(__x86_64__)
    SKIP("stacks are read on x86-64 only");
#endif
    setenv("SYS_MACH", "local2", 1);
    start_on("2", "circle", "4");
    has(look_until("stacks", "--", "; 1-3 on local2:\n"), "bcr_get");
    has(command.text, "4 threads of CCEs 0 on ");
    run_start(&command, run_enl(), "stacks", program, "2");
    run_ends(&command, 0, "");
    has(command.text, "1 thread of CCE 2 on local2:");
    lacks(command.text, "CCE 0");
    run_start(&command, run_enl(), "stacks", program, "two");
    run_ends(&command, 2, "CCEs are named by ordinals and ranges of them");
    has(look_until("why", "--", "deadlock: all 4 CCEs"), "circle"); /* it goes on as before */
    end();
    unsetenv("SYS_MACH");
}

TEST(stacks_of_a_program_with_many_threads_are_all_shown)
{
#if !defined(__x86_64__)
    SKIP("stacks are read on x86-64 only");
#endif
    start("threads", "1");
    look_until("stacks", "--", "100 threads of CCE 0:\n");
    CHECK_INT(run_count(command.text, " of CCE 0:\n"), 2);
    end();
}

TEST(who_waits_in_vain_again_and_again_is_told_and_who_sleeps_outside_does_not_run)
{
    start("again", "2");
    has(look_until("why", "--", "CCE 0 has never got anything from cell 1 of CCE 1 yet, 50 ms at a time."),
        "2 run, or wait for a time.");
    has(look_until("why", "--json", "\"fate\":\"timed\""), "\"at_a_time_ns\":");
    if (strstr(look("ps", "--"), "  polls ") == NULL)
        has(command.text, "  sleeps "); /* where the kernel does not say where */
    end();
}

TEST(who_put_last_and_was_killed_is_named)
{
    char part[128];
    setenv("BCR_ONFAIL", "isolate", 1);
    start("left", "3");
    const pid_t pid = pid_of(1);
    CHECK_INT(kill(pid, SIGKILL), 0);
    snprintf(part, sizeof part, "CCE 1 (pid %d), which last put there, was killed by signal 9.", (int)pid);
    look_until("why", "--", part);
    has(look("why", "--json"), "\"ended\":{\"ordinal\":1,");
    end();
    unsetenv("BCR_ONFAIL");
}

TEST(who_is_stopped_is_no_more_said_to_run)
{
    start("slow", "2");
    has(look_until("why", "--", "1 CCEs wait"), "1 run and could end that.");
    const pid_t pid = pid_of(0);
    CHECK_INT(kill(pid, SIGSTOP), 0);
    has(look_until("why", "--", "CCE 0 is stopped: SIGCONT lets it go on."),
        "1 CCEs wait; 0 run and could end that.");
    has(command.text, "1 is stopped.");
    CHECK_INT(kill(pid, SIGCONT), 0);
    end();
}

/* What its CCEs are at when one look comes by is no damage. */
TEST(an_audit_of_a_program_at_work_finds_nothing)
{
    start("busy", "4");
    for (int i = 0; i < 30; i++) {
        run_start(&command, run_enl(), "audit", program);
        run_end(&command);
        if (command.status != 0)
            FAIL("audit %d: %s%s", i, command.text, command.error);
        has(command.text, "all structures agree");
    }
    end();
}

TEST(a_program_that_is_not_there_gets_a_sentence)
{
    static const char *const words[] = {"ps", "cells", "regions", "waits", "stats", "why"};
    run_folder();
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        run_start(&command, run_enl(), words[i], "nowhere.1");
        run_ends(&command, 1, "no program of yours has that name, or it has ended; enl ps lists them");
        run_start(&command, run_enl(), words[i], "--colour");
        run_ends(&command, 2, "has no option --colour");
    }
    run_start(&command, run_enl(), "why", "--dot", "--json");
    run_ends(&command, 2, "one of --json, --dot and --svg");
    run_start(&command, run_enl(), "why", "--dot", "--watch");
    run_ends(&command, 2, "no picture");
}
