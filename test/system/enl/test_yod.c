/* SPDX-License-Identifier: MIT */
/* bcr-yod: jobs of any programs, on this machine and on hosts of it, in the manner of Cplant's yod. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run;

static const char *yod(void)
{
    return run_enl_as("bcr-yod");
}

static bool has_line(const char *text, const char *line)
{
    char framed[512];
    snprintf(framed, sizeof framed, "%s\n", line);
    return run_count_lines(text, framed) == 1;
}

static void said(const char *line)
{
    if (!has_line(run.error, line))
        FAIL("no line %s in: %s", line, run.error);
}

static void ends(int status)
{
    run_end(&run);
    if (run.status != status)
        FAIL("status %d, not %d: %s", run.status, status, run.error);
}

/* The pid behind a word that a program tells, and what is behind that. */
static pid_t told_pid(const char *word, char **behind_out)
{
    const char *line = run_told_by(&run);
    char *behind;
    CHECK_INT(strncmp(line, word, strlen(word)), 0);
    const pid_t pid = (pid_t)strtol(line + strlen(word), &behind, 10);
    CHECK(pid > 1);
    if (behind_out != NULL)
        *behind_out = behind;
    return pid;
}

#define THREE_HOSTS "a local slots=2\nb local slots=3\nc local\n"

TEST(each_rank_has_a_line_and_the_lowest_that_failed_gives_the_status)
{
    run_folder();
    run_hosts(THREE_HOSTS);
    run_script("load", "-sz 2 true\n-sz 2 sh -c 'exit 3' # both\n-l 5 sh -c 'kill -USR1 $$'\n");
    run_start(&run, yod(), "load");
    ends(3);
    said("yod: rank 0 on a: exit code 0");
    said("yod: rank 1 on a: exit code 0");
    said("yod: rank 2 on b: exit code 3");
    said("yod: rank 3 on b: exit code 3");
    said("yod: rank 4 on c: SIGUSR1");
    CHECK_INT(run_count(run.error, "\n"), 5); /* and nothing else */
    run_start(&run, yod(), "-l", "5,0", "sh", "-c", "kill -KILL $$");
    ends(128 + SIGKILL);
    said("yod: rank 0 on c: SIGKILL");
    said("yod: rank 1 on a: SIGKILL");
}

TEST(quiet_has_no_lines_and_timing_has_one_for_each_step)
{
    run_folder();
    run_start(&run, yod(), "-quiet", "-sz", "2", "sh", "-c", "echo out; exit 5");
    ends(5);
    CHECK_STR(run.error, "");
    CHECK_STR(run.text, "out\nout\n");
    run_start(&run, yod(), "-timing", "-quiet", "true");
    run_ends(&run, 0, "ms  all processes started\n");
    run_check_error(&run, "ms  all there, and let go\n");
    run_check_error(&run, "ms  all ended\n");
    CHECK_INT(run_count(run.error, "\n"), 3);
}

/* The log of the front end, or of that host, behind `number`. */
static const char *log_of(const char *number)
{
    static char name[128];
    char machine[64] = "";
    CHECK_INT(gethostname(machine, sizeof machine - 1), 0);
    snprintf(name, sizeof name, "bcr.%s.%d%s.log", machine, (int)run.pid, number);
    return name;
}

/* The daemon of host b is a script, which waits for the test before it becomes enl. */
TEST(no_program_begins_before_all_are_there)
{
    run_folder();
    run_script("late", "#!/bin/sh\necho late >\"$SYS_TELL\"\ndd bs=1 count=1 <\"$SYS_GO\" >/dev/null 2>&1\n"
                       "echo goes >\"$SYS_TELL\"\nexec \"$SYS_ENL\" \"$@\"\n");
    run_script("member", "#!/bin/sh\necho runs >\"$SYS_TELL\"\n");
    setenv("SYS_ENL", run_enl(), 1);
    setenv("BCR_LOGLEVEL", "debug", 1);
    char lines[4096];
    snprintf(lines, sizeof lines, "a local slots=3\nb local enl=%s\n", run_in_folder("late"));
    run_hosts(lines);
    run_start(&run, yod(), "-sz", "4", run_in_folder("member"));
    CHECK_STR(run_told_by(&run), "late");
    run_wait_for_text(log_of(""), "host a is number 1");
    run_wait_for_text(log_of(".1"), "started CCE 2"); /* those of host a wait */
    run_go();
    CHECK_STR(run_told_by(&run), "goes");
    for (int i = 0; i < 4; i++)
        CHECK_STR(run_told_by(&run), "runs");
    run_ends(&run, 0, "rank 3 on b: exit code 0");
}

TEST(bcr_programs_are_a_team_and_others_stand_beside_them)
{
    run_folder();
    run_hosts("a local slots=3\nb local slots=3\n");
    run_start(&run, yod(), "-sz", "6", getenv("SYS_TEAM"), "whole");
    ends(0);
    CHECK(strstr(run.text, "5 of 6 on host") != NULL);
    char lines[4096]; /* a script whose program is a CCE comes through both gates */
    snprintf(lines, sizeof lines, "-sz 2 %s out x\nsh -c 'exec %s out x'\ntrue\n", getenv("SYS_CCE"),
             getenv("SYS_CCE"));
    run_write_file("load", lines, strlen(lines), 0600);
    run_start(&run, yod(), "load");
    run_ends(&run, 0, "rank 3 on b: exit code 0");
    CHECK_STR(run.text, "x\nx\nx\n");
}

TEST(user_signals_reach_all_and_a_first_interrupt_asks_a_second_kills)
{
    run_folder();
    run_hosts("a local slots=1\nb local slots=2\n");
    run_script("member",
               "#!/bin/sh\ntrap 'echo usr1 >\"$SYS_TELL\"' USR1\ntrap 'echo term >\"$SYS_TELL\"' TERM\n"
               "echo here $$ >\"$SYS_TELL\"\nwhile :; do sleep 100 & wait $!; kill $! 2>/dev/null; done\n");
    run_start(&run, yod(), "-sz", "3", run_in_folder("member"));
    int ends[3];
    for (int i = 0; i < 3; i++) {
        ends[i] = run_watch(told_pid("here ", NULL));
    }
    kill(run.pid, SIGUSR1);
    for (int i = 0; i < 3; i++)
        CHECK_STR(run_told_by(&run), "usr1");
    kill(run.pid, SIGINT);
    for (int i = 0; i < 3; i++)
        CHECK_STR(run_told_by(&run), "term");
    kill(run.pid, SIGINT);
    run_ends(&run, 128 + SIGINT, "all processes get SIGTERM; a second signal kills them");
    said("yod: rank 2 on b: ended with the job");
    for (int i = 0; i < 3; i++)
        run_gone(ends[i]);
}

TEST(a_rank_whose_program_is_missing_did_not_start_and_the_others_ended_with_the_job)
{
    run_folder();
    run_hosts(THREE_HOSTS);
    run_script("load", "-sz 2 sleep 100\n-l 5 no_such_program\n");
    run_start(&run, yod(), "load");
    ends(126);
    said("yod: rank 0 on a: ended with the job");
    said("yod: rank 1 on a: ended with the job");
    said("yod: rank 2 on c: did not start");
}

TEST(who_heeds_the_first_interrupt_ends_as_it_likes)
{
    run_folder();
    run_script(
        "member",
        "#!/bin/sh\ntrap 'exit 7' TERM\necho here >\"$SYS_TELL\"\nwhile :; do sleep 100 & wait $!; done\n");
    run_start(&run, yod(), "-sz", "2", run_in_folder("member"));
    CHECK_STR(run_told_by(&run), "here");
    CHECK_STR(run_told_by(&run), "here");
    kill(run.pid, SIGTERM);
    run_ends(&run, 7, "rank 1 on");
}

/* What it has left in the background has its socket, and its pipes. */
TEST(a_rank_is_over_when_its_process_has_ended)
{
    run_folder();
    run_start(&run, yod(), "-sz", "2", "sh", "-c", "sleep 1000 & exit 4");
    ends(4);
}

/* Its host's daemon is killed: the others go on to their end. */
TEST(a_host_that_is_lost_takes_its_own_ranks_and_no_others)
{
    run_folder();
    run_hosts("a local\nb local\n");
    run_script(
        "member",
        "#!/bin/sh\necho here $PPID $$ >\"$SYS_TELL\"\nexec dd bs=1 count=1 <\"$SYS_GO\" >/dev/null 2>&1\n");
    run_start(&run, yod(), "-sz", "2", run_in_folder("member"));
    pid_t daemons[2], pids[2];
    for (int i = 0; i < 2; i++) {
        char *behind;
        daemons[i] = told_pid("here ", &behind);
        pids[i] = (pid_t)strtol(behind, NULL, 10);
    }
    const int gone = run_watch(pids[0]);
    kill(daemons[0], SIGKILL);
    run_gone(gone);
    run_go();
    run_ends(&run, 1, "its host was lost");
    CHECK_INT(run_count(run.error, ": exit code 0"), 1);
    run_groups_gone(run.pid);
}

TEST(a_program_that_is_not_there_is_one_sentence_and_nothing_starts)
{
    run_folder();
    run_write_file("load", "true\nno-such\n", 13, 0600);
    run_start(&run, yod(), "load");
    run_ends(&run, 127, "no program no-such");
    run_start(&run, yod(), "-sz", "2", "no-such", "x");
    run_ends(&run, 127, "no program no-such");
    run_start(&run, yod(), "-strace", "/nowhere", "true");
    if (access("/usr/bin/strace", X_OK) != 0)
        run_ends(&run, 127, "no program strace");
    else
        run_ends(&run, 1, "exit code 1");
    run_start(&run, yod(), "-sz", "0", "true");
    run_ends(&run, 2, "yod: -sz takes a number of nodes");
    run_start(&run, yod(), "-help");
    ends(0);
    CHECK(strstr(run.text, "usage: bcr-yod") != NULL);
}

TEST(strace_is_started_before_the_ranks_that_are_named)
{
    run_folder();
    mkdir("bin", 0700);
    run_script("bin/strace", "#!/bin/sh\necho \"$@\" >\"$2\"\nshift 3\nexec \"$@\"\n");
    char path[4096], options[4096];
    snprintf(path, sizeof path, "%s:%s", run_in_folder("bin"), getenv("PATH"));
    setenv("PATH", path, 1);
    snprintf(options, sizeof options, "%s", run_in_folder("bin"));
    run_start(&run, yod(), "-sz", "3", "-strace", options, "-straceoptions", "-f", "-stracenodes", "1",
              "echo", "x");
    run_ends(&run, 0, "rank 1 on");
    CHECK_STR(run.text, "x\nx\nx\n");
    char text[4096];
    text[run_read_file(run_in_folder("bin/strace.1"), text, sizeof text - 1)] = '\0';
    CHECK(strstr(text, "/strace.1 -f echo x\n") != NULL);
    CHECK(access("bin/strace.0", F_OK) != 0);
}

TEST(a_crash_has_its_stack_with_g_and_none_without)
{
    run_folder();
    run_start(&run, yod(), "-g", getenv("SYS_CCE"), "kill", "11");
    run_end(&run);
    const int status = run.status;
    CHECK(strstr(run.error, "SIG") != NULL);
    CHECK(run_count(run.error, "\n") > 2);
    run_start(&run, yod(), getenv("SYS_CCE"), "kill", "11");
    run_end(&run);
    CHECK_INT(run.status, status);
    CHECK_INT(run_count(run.error, "\n"), 1);
}

/* Ranks 0 and 2 crash, on two hosts, and each stack is behind its rank's line, whichever came first. */
TEST(with_g_a_stack_is_behind_the_line_of_its_rank)
{
    char text[4096];
    run_folder();
    run_hosts("a local\nb local\nc local\n");
    snprintf(text, sizeof text, "%s kill 11\n%s exit 0\n%s kill 6\n", getenv("SYS_CCE"), getenv("SYS_CCE"),
             getenv("SYS_CCE"));
    run_write_file("load", text, strlen(text), 0600);
    run_start(&run, yod(), "-g", run_in_folder("load"));
    run_end(&run);
    static const char *const order[] = {
        "yod: rank 0 on a: SIGSEGV\nenl: crash: CCE 0 ",
        ", signal 11 (",
        "\n  [0] ",
        "yod: rank 1 on b: exit code 0\nyod: rank 2 on c: SIGABRT\nenl: crash: CCE 2 ",
        ", signal 6 (",
        "\n  [2] "};
    const char *at = run.error;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if ((at = strstr(at, order[i])) == NULL)
            FAIL("no \"%s\" at its place in %s", order[i], run.error);
    CHECK_INT(run_count(run.error, "crash: "), 2);
    run_start(&run, yod(), "-g", "-quiet", run_in_folder("load"));
    run_end(&run);
    CHECK_INT(run_count(run.error, "crash: "), 2);
    CHECK(strstr(run.error, "yod: rank") == NULL);
}

TEST(of_a_batch_systems_nodes_no_more_are_had_than_it_has_given)
{
    run_folder();
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
    setenv("SLURM_TASKS_PER_NODE", "1(x2)", 1);
    run_start(&run, yod(), "-sz", "3", "true");
    run_ends(&run, 2, "3 nodes are asked for, and there are 2");
}

/* The front end is killed while members wait at the gate, and while they run. */
TEST(when_the_front_end_is_killed_nothing_is_left)
{
    run_folder();
    run_script("late", "#!/bin/sh\necho late $$ >\"$SYS_TELL\"\ndd bs=1 count=1 <\"$SYS_GO\" >/dev/null "
                       "2>&1\nexec \"$SYS_ENL\" \"$@\"\n");
    run_script("member",
               "#!/bin/sh\necho runs $$ >\"$SYS_TELL\"\nexec dd bs=1 count=1 <\"$SYS_GO\" >/dev/null 2>&1\n");
    setenv("SYS_ENL", run_enl(), 1);
    char lines[4096];
    for (int phase = 0; phase < 2; phase++) {
        snprintf(lines, sizeof lines, "a local slots=2\nb local%s%s\n", phase == 0 ? " enl=" : "",
                 phase == 0 ? run_in_folder("late") : "");
        run_hosts(lines);
        run_start(&run, yod(), "-sz", "3", run_in_folder("member"));
        int ends[3], count = 0;
        for (; count < (phase == 0 ? 1 : 3); count++)
            ends[count] = run_watch(told_pid(phase == 0 ? "late " : "runs ", NULL));
        kill(run.pid, SIGKILL);
        run_end(&run);
        if (phase == 0)
            run_go();
        while (count > 0)
            run_gone(ends[--count]);
        run_groups_gone(run.pid);
    }
}
