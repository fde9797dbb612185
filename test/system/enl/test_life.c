/* SPDX-License-Identifier: MIT */
/* What a program's CCEs print, how they end, and what is left. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr.h>

#include "check.h"
#include "run.h"

static struct run run, asked;

/* Waits until the root and `others` CCEs have told; watches all. */
static void all_there(int others, int *watches)
{
    for (int seen = 0; seen < others + 1;) {
        const char *line = run_told();
        int ordinal, pid, group;
        if (sscanf(line, "%d %d %d", &ordinal, &pid, &group) == 3)
            watches[seen++] = run_watch(pid);
    }
}

static void all_gone(int others, const int *watches)
{
    for (int i = 0; i < others + 1; i++)
        run_gone(watches[i]);
}

TEST(abort_ends_all_and_says_who_died_how_with_the_last_it_printed)
{
    run_folder();
    setenv("SYS_CHILD", "out last-words kill 9", 1);
    run_start(&run, run_enl(), run_cce(), "enlist", run_cce(), "1", "pause");
    run_ends(&run, 128 + SIGKILL, "CCE 1 (");
    run_check_error(&run, "was killed by signal 9 (Killed)");
    run_check_error(&run, "[1] last-words");
}

TEST(abort_leaves_no_process_of_the_program)
{
    int watches[4];
    run_folder();
    setenv("SYS_CHILD", "tell pause", 1);
    run_start(&run, run_enl(), run_cce(), "tell", "enlist", run_cce(), "3", "wait", "exit", "6");
    all_there(3, watches);
    run_go();
    run_ends(&run, 6, "CCE 0 (");
    run_check_error(&run, "exited with status 6; that ends the program");
    all_gone(3, watches);
}

TEST(whoever_a_CCE_rings_before_it_ends_wakes_up)
{
    run_folder();
    setenv("SYS_CHILD", "putter", 1);
    run_start(&run, run_enl(), run_cce(), "rung", "40", run_cce());
    CHECK_STR(run_told_by(&run), "rung 40");
    run_ends(&run, 0, "");
    setenv("SYS_CHILD", "putter kill 9", 1);
    setenv("BCR_ONFAIL", "isolate", 1);
    run_start(&run, run_enl(), run_cce(), "rung", "10", run_cce());
    CHECK_STR(run_told_by(&run), "rung 10");
    run_ends(&run, 0, "was killed by signal 9");
}

/* It exits, and its child still holds its socket. */
TEST(a_child_that_a_CCE_has_forked_does_not_hold_up_its_end)
{
    int pid;
    run_folder();
    setenv("SYS_CHILD", "fork-stays putter", 1);
    run_start(&run, run_enl(), run_cce(), "rung", "1", run_cce());
    bool rung = false; /* told before the child tells, or after */
    while (sscanf(run_told_by(&run), "stays %d", &pid) != 1)
        rung = true;
    const int stays = run_watch(pid);
    if (!rung)
        CHECK_STR(run_told_by(&run), "rung 1");
    run_ends(&run, 0, "");
    CHECK_INT(kill(pid, SIGKILL), 0);
    run_gone(stays);
}

TEST(isolate_lets_the_others_go_on)
{
    run_folder();
    setenv("SYS_CHILD", "exit 3", 1);
    run_start(&run, run_enl(), "--onfail", "isolate", run_cce(), "enlist", run_cce(), "2", "wait", "out",
              "on");
    run_told();
    run_wait_for_text("bcr.", "CCE 1 (");
    run_wait_for_text("bcr.", "CCE 2 (");
    run_wait_for_text("bcr.", "exited with status 3; the others go on");
    run_go();
    run_end(&run);
    CHECK_STR(run.text, "on\n");
    CHECK_INT(run.status, 0);
}

/* Two CCEs that pause, one of which is killed; then the root ends with `status`. */
static void roots_end_ends_all(const char *status)
{
    int watch[2], pid[2], ordinal, killed = 0;
    run_folder();
    setenv("SYS_CHILD", "tell pause", 1);
    run_start(&run, run_enl(), "--onfail", "root", run_cce(), "enlist", run_cce(), "2", "wait", "exit",
              status);
    while (killed < 2)
        if (sscanf(run_told_by(&run), "%d %d", &ordinal, &pid[killed]) == 2) {
            watch[killed] = run_watch(pid[killed]);
            killed++;
        }
    CHECK_INT(kill(pid[0], SIGKILL), 0);
    run_gone(watch[0]);
    run_wait_for_text("bcr.", "was killed by signal 9 (Killed); the others go on (onfail root)");
    run_go();
    run_end(&run);
    run_gone(watch[1]);
}

TEST(under_root_a_CCE_that_fails_harms_no_other_and_the_roots_good_end_ends_all)
{
    roots_end_ends_all("0");
    CHECK_INT(run.status, 0);
    CHECK_PTR(strstr(run.error, "CCE 0"), NULL); /* it has not failed */
}

TEST(under_root_the_roots_failure_ends_all)
{
    roots_end_ends_all("5");
    CHECK_INT(run.status, 5);
    run_check_error(&run, "exited with status 5; that ends the program (onfail root)");
}

TEST(the_program_lasts_until_its_last_cce_has_ended_and_gives_the_roots_status)
{
    int pid = 0;
    run_folder();
    setenv("SYS_CHILD", "tell wait exit 0", 1);
    run_start(&run, run_enl(), "--onfail=isolate", run_cce(), "enlist", run_cce(), "1", "exit", "5");
    while (sscanf(run_told(), "1 %d", &pid) != 1)
        ;
    int watch = run_watch(pid);
    run_wait_for_text("bcr.", "exited with status 5");
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 5);
    run_gone(watch);
}

TEST(output_shows_whole_lines_with_the_ordinal)
{
    run_folder();
    setenv("SYS_CHILD", "out from-stdout err from-stderr", 1);
    run_start(&run, run_enl(), "--output", run_cce(), "enlist", run_cce(), "2");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK(strstr(run.text, "[1] from-stdout\n") != NULL);
    CHECK(strstr(run.text, "[2] from-stdout\n") != NULL);
    run_check_error(&run, "[1] from-stderr\n");
    run_check_error(&run, "[2] from-stderr\n");
}

TEST(what_is_shown_is_not_logged_and_what_is_not_shown_is)
{
    static const struct {
        const char *option, *shown, *said;
        bool logged;
    } cases[] = {{"--output=plain", "for-all\n", "wrong\n", false},
                 {"--output=none", "", "", true},
                 {"--output=no", "", "", true},
                 {"--output=yes", "[1] for-all\n", "[1] wrong\n", false},
                 {"--label", "[1] for-all\n", "[1] wrong\n", false},
                 {"--onfail=abort", "for-all\n", "wrong\n", false}};
    setenv("SYS_CHILD", "out for-all err wrong", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[65536];
        run_folder();
        run_start(&run, run_enl(), cases[i].option, run_cce(), "enlist", run_cce(), "1");
        run_end(&run);
        CHECK_INT(run.status, 0);
        CHECK_STR(run.text, cases[i].shown);
        CHECK_STR(run.error, cases[i].said);
        const char *log = run_file("bcr.", ".log");
        run_read_file(log, text, sizeof text);
        CHECK_INT(strstr(text, "/1 for-all\n") != NULL, cases[i].logged);
        CHECK_INT(strstr(text, "/1 wrong\n") != NULL, cases[i].logged);
        CHECK_INT(unlink(log), 0);
    }
}

TEST(a_long_line_that_is_not_shown_is_in_the_log_whole)
{
    enum { LONG = 9000 };
    static char words[LONG + 64], text[65536];
    char seen[LONG + 1] = "", *at = words + sprintf(words, "out ");
    for (int i = 0; i < LONG; i++)
        at[i] = (char)('a' + i / 7 % 26);
    run_folder();
    setenv("SYS_CHILD", words, 1);
    run_start(&run, run_enl(), "--output=none", run_cce(), "enlist", run_cce(), "1");
    run_ends(&run, 0, "");
    run_read_file(run_file("bcr.", ".log"), text, sizeof text);
    for (const char *part = text; (part = strstr(part, "/1 ")) != NULL;) {
        const size_t length = strcspn(part += 3, "\n"), had = strlen(seen);
        if (strspn(part, "abcdefghijklmnopqrstuvwxyz") != length)
            continue;
        CHECK(had + length <= LONG);
        memcpy(seen + had, part, length);
        seen[had + length] = '\0';
    }
    CHECK_STR(seen, at);
}

static off_t size_of(const char *suffix)
{
    struct stat status;
    CHECK_INT(stat(run_file("bcr.", suffix), &status), 0);
    return status.st_size;
}

TEST(what_cces_print_does_not_make_the_log_grow_without_bound)
{
    static char text[2 << 20];
    run_folder();
    setenv("SYS_CHILD", "flood 100000", 1);
    setenv("BCR_LOGSIZE", "1", 1);
    run_start(&run, run_enl(), "--output=none", run_cce(), "enlist", run_cce(), "1");
    run_ends(&run, 0, "");
    off_t old = size_of(".log.old");
    CHECK(old >= 1 << 20 && old < (1 << 20) + 4096);
    CHECK(size_of(".log") < (1 << 20) + 4096);
    run_read_file(run_file("bcr.", ".log"), text, sizeof text);
    CHECK(strstr(text, "line 99999\n") != NULL);
}

TEST(a_log_that_could_not_be_written_whole_is_said)
{
    struct rlimit size;
    run_folder();
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &size), 0);
    size.rlim_cur = 5 << 20;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &size), 0);
    setenv("SYS_CHILD", "flood 120000", 1);
    run_start(&run, run_enl(), "--output=none", run_cce(), "enlist", run_cce(), "1");
    run_ends(&run, 0, " lines could not be written into the log on ");
}

TEST(much_output_arrives_whole_and_the_tail_is_bounded)
{
    run_folder();
    setenv("SYS_CHILD", "flood 50000", 1);
    run_start(&run, run_enl(), "--output", run_cce(), "enlist", run_cce(), "1");
    run_end(&run);
    CHECK_INT(run.status, 0);
    int lines = 0;
    char want[64];
    for (char *at = run.text; *at != '\0'; at = strchr(at, '\n') + 1) {
        snprintf(want, sizeof want, "[1] line %d\n", lines++);
        CHECK(strncmp(at, want, strlen(want)) == 0);
    }
    CHECK_INT(lines, 50000);
    setenv("SYS_CHILD", "flood 50000 exit 1", 1);
    run_start(&run, run_enl(), run_cce(), "enlist", run_cce(), "1", "pause");
    run_end(&run);
    CHECK_INT(run.status, 1);
    CHECK(strlen(run.error) < 8192);
    run_check_error(&run, "[1] line 49999\n");
}

TEST(a_fork_of_a_cce_that_exits_is_not_the_end_of_the_cce)
{
    run_start(&run, run_enl(), run_cce(), "fork-dies", "exit", "0");
    run_ends(&run, 0, "");
}

TEST(a_cce_under_a_wrapper_gives_the_status_that_it_recorded)
{
    char command[512];
    snprintf(command, sizeof command, "%s exit 3; true", run_cce());
    run_start(&run, run_enl(), "/bin/sh", "-c", command);
    run_ends(&run, 3, "exited with status 3");
}

TEST(a_cce_under_a_wrapper_that_is_killed_is_an_abnormal_end)
{
    char command[512];
    snprintf(command, sizeof command, "%s kill 9; true", run_cce());
    run_start(&run, run_enl(), "/bin/sh", "-c", command);
    run_ends(&run, 1, "ended without exit()");
}

TEST(what_a_fork_of_a_cce_exits_with_is_not_recorded_as_the_cces_status)
{
    char command[512];
    snprintf(command, sizeof command, "%s fork-dies kill 9; true", run_cce());
    run_start(&run, run_enl(), "/bin/sh", "-c", command);
    run_end(&run);
    CHECK_INT(run.status, 1);
    run_check_error(&run, "ended without exit()");
}

TEST(a_cce_that_executes_another_program_has_given_up_and_is_killed)
{
    static const char forever[] = "#!/bin/sh\nexec sleep 1000\n";
    run_write_file("forever", forever, sizeof forever - 1, 0700);
    run_start(&run, run_enl(), run_cce(), "exec", "./forever");
    run_ends(&run, 128 + SIGKILL, "gave up its connection");
}

TEST(a_cce_under_a_wrapper_that_gives_up_its_connection_is_killed_and_named)
{
    char command[512];
    snprintf(command, sizeof command, "%s shut pause; true", run_cce());
    run_start(&run, run_enl(), "/bin/sh", "-c", command);
    run_ends(&run, 1, "gave up its connection");
}

TEST(nothing_is_written_into_what_a_program_has_opened_in_place_of_the_librarys_descriptors)
{
    char want[64];
    snprintf(want, sizeof want, "grow -1 %d, enlist -1 %d, found 0", bcrE_ENLIST, bcrE_ENLIST);
    run_start(&run, run_enl(), run_cce(), "own-sockets", "exit", "0");
    CHECK_STR(run_told(), want);
    run_end(&run);
    run_check_error(&run, "has closed its connection to enl");
}

TEST(ordinals_that_overflow_are_an_argument)
{
    char want[64];
    snprintf(want, sizeof want, "many -1 %d", bcrE_ARG);
    run_start(&run, run_enl(), run_cce(), "many");
    CHECK_STR(run_told(), want);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(killing_enl_ends_every_cce_even_one_that_only_computes)
{
    int watches[3];
    run_folder();
    setenv("SYS_CHILD", "tell spin", 1);
    run_start(&run, run_enl(), run_cce(), "tell", "enlist", run_cce(), "2", "pause");
    all_there(2, watches);
    CHECK_INT(kill(run.pid, SIGKILL), 0);
    all_gone(2, watches);
    run_end(&run);
}

TEST(killing_enl_ends_a_cce_that_was_started_through_a_wrapper)
{
    char command[512];
    int watches[1];
    snprintf(command, sizeof command, "%s tell spin; true", run_cce());
    run_start(&run, run_enl(), "/bin/sh", "-c", command);
    all_there(0, watches);
    CHECK_INT(kill(run.pid, SIGKILL), 0);
    all_gone(0, watches);
    run_end(&run);
}

TEST(killing_enl_ends_a_program_that_was_started_directly)
{
    int watches[2];
    run_folder();
    setenv("SYS_CHILD", "tell pause", 1);
    run_start(&run, run_cce(), "tell", "enlist", run_cce(), "1", "spin");
    all_there(1, watches);
    CHECK_INT(kill(run.pid, SIGKILL), 0);
    all_gone(1, watches);
    run_end(&run);
}

TEST(killing_enl_ends_a_directly_started_root_that_has_closed_all_its_descriptors)
{
    int watches[1];
    run_start(&run, run_cce(), "shut", "tell", "spin");
    all_there(0, watches);
    CHECK_INT(kill(run.pid, SIGKILL), 0);
    all_gone(0, watches);
    run_end(&run);
}

TEST(what_a_cce_left_running_goes_with_an_aborted_program)
{
    int watches[2];
    static const char leave[] =
        "#!/bin/sh\nsetsid sh -c 'echo 9 $$ 0 > $SYS_TELL; exec sleep 1000' &\nexec \"$@\"\n";
    run_write_file("leave", leave, sizeof leave - 1, 0700);
    run_start(&run, run_enl(), "./leave", run_cce(), "tell", "wait", "kill", "9");
    all_there(1, watches);
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGKILL);
    all_gone(1, watches);
}

TEST(a_signal_to_enl_ends_the_program_cleanly)
{
    int watches[2];
    run_folder();
    setenv("SYS_CHILD", "tell pause", 1);
    run_start(&run, run_enl(), run_cce(), "tell", "enlist", run_cce(), "1", "spin");
    all_there(1, watches);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_ends(&run, 128 + SIGTERM, "is ended by signal 15");
    all_gone(1, watches);
}

TEST(the_log_says_how_many_regions_are_held_elsewhere_when_nbytes_are_used_up)
{
    int ordinal;
    pid_t root;
    run_start(&run, run_enl(), run_cce(), "fill", "tell", "wait");
    run_told_pid(&ordinal, &root);
    run_wait_for_text("bcr.",
                      "has no room in its nbytes (640) for a region of 64 bytes: of its 10 regions 3 lie");
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    char log[1 << 16];
    int notes = 0;
    run_read_file(run_file("bcr.", ".log"), log, sizeof log);
    for (const char *at = log; (at = strstr(at, "has no room in its nbytes")) != NULL; at++)
        notes++;
    CHECK_INT(notes, 4); /* of the 1st, 2nd, 4th and 8th time */
}

TEST(killafter_is_the_time_that_a_program_has_after_a_signal)
{
    char line[512];
    int ordinal;
    pid_t root;
    run_folder();
    setenv("BCR_KILLAFTER", "60000", 1);
    snprintf(line, sizeof line, "trap 'sleep 1; echo drained; exit 0' TERM; %s tell pause & wait", run_cce());
    run_start(&run, run_enl(), "/bin/sh", "-c", line);
    run_told_pid(&ordinal, &root);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_end(&run);
    CHECK_STR(run.text, "drained\n");
}

TEST(a_signal_gives_its_status_also_where_nobody_can_know_how_a_wrapped_root_ended)
{
    char line[512];
    int ordinal;
    pid_t root;
    snprintf(line, sizeof line, "trap '' TERM; (trap - TERM; exec %s tell pause); true", run_cce());
    run_start(&run, run_enl(), "/bin/sh", "-c", line);
    run_told_pid(&ordinal, &root);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGTERM);
}

TEST(an_ignored_hangup_stays_ignored)
{
    run_apart();
    signal(SIGHUP, SIG_IGN);
    run_start(&run, run_enl(), run_cce(), "about", "wait", "out", "alive");
    CHECK(strstr(run_told(), "hup=ignored") != NULL);
    CHECK_INT(kill(run.pid, SIGHUP), 0);
    run_start(&asked, run_enl(), "ps"); /* its answer comes after what the daemon makes of the signal */
    run_end(&asked);
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_STR(run.text, "alive\n");
    run_check_error(&run, "");
}

TEST(a_hundred_cces_are_started_by_one_call)
{
    run_folder();
    setenv("SYS_CHILD", "tell", 1);
    run_start(&run, run_enl(), run_cce(), "tell", "enlist", run_cce(), "128");
    int ordinals[129] = {0};
    for (int seen = 0; seen < 129;) {
        int ordinal, pid, group;
        if (sscanf(run_told(), "%d %d %d", &ordinal, &pid, &group) != 3)
            continue;
        CHECK(ordinal >= 0 && ordinal <= 128);
        CHECK_INT(ordinals[ordinal]++, 0);
        seen++;
    }
    run_end(&run);
    CHECK_INT(run.status, 0);
}
