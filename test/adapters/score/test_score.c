/* SPDX-License-Identifier: MIT */
/* SCore programs: the scenarios of score_members.c alone, on one host and on several, and what score_wants.c asks for. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run;

static const char *members(void)
{
    return getenv("SCORE_MEMBERS");
}

static void ends_with(int status)
{
    run_end(&run);
    if (run.status != status)
        FAIL("status %d, wanted %d: %s%s", run.status, status, run.text, run.error);
}

/* On `hosts` more hosts than this one, of which each has room for all. */
static void start(const char *hosts, const char *count, const char *const *words)
{
    const char *all[16] = {run_enl(), "--per-host", count, "-n", count};
    size_t used = 5;
    if (strcmp(hosts, "0") != 0) {
        all[used++] = "--local";
        all[used++] = hosts;
        all[used++] = "--map";
        all[used++] = "cyclic";
    }
    for (size_t i = 0; words[i] != NULL; i++)
        all[used++] = words[i];
    run_start_words(&run, all);
}

static void start_on(const char *hosts, const char *count, const char *scenario, const char *first,
                     const char *second)
{
    const char *const words[] = {members(), scenario, first, second, NULL};
    start(hosts, count, words);
}

/* Alone, then on one host and on three. */
static void runs_everywhere(const char *count, const char *scenario, const char *first, const char *second,
                            int status)
{
    run_folder();
    run_start(&run, members(), scenario, first, second);
    ends_with(status);
    start_on("0", count, scenario, first, second);
    ends_with(status);
    start_on("2", count, scenario, first, second);
    ends_with(status);
}

static int lines_with(const char *part)
{
    int lines = 0;
    for (const char *at = run.text; (at = strstr(at, part)) != NULL; at += strlen(part))
        lines++;
    return lines;
}

TEST(nodes_hosts_and_processes_are_numbered_as_the_manual_says)
{
    run_folder();
    run_start(&run, members(), "nodes");
    run_ends(&run, 0, "");
    CHECK_STR(run.text, "node 0 of 1, host 0 of 1, process 0 of 1, nets 0\n");
    run_start(&run, run_enl(), "-n", "1", members(), "nodes");
    run_ends(&run, 0, "");
    CHECK_STR(run.text, "node 0 of 1, host 0 of 1, process 0 of 1, nets 0\n");
    run_start(&run, run_enl(), members(), "nodes");
    run_ends(&run, 0, "");
    CHECK_STR(run.text, "node 0 of 1, host 0 of 1, process 0 of 1, nets 0\n");
    start_on("1", "4", "nodes", NULL, NULL); /* member 0 alone here, the others there */
    ends_with(0);
    CHECK_INT(lines_with("node 0 of 4, host 0 of 2, process 0 of 1, nets 1\n"), 1);
    for (int node = 1; node < 4; node++) {
        char line[100];
        snprintf(line, sizeof line, "node %d of 4, host 1 of 2, process %d of 3, nets 1\n", node, node - 1);
        CHECK_INT(lines_with(line), 1);
    }
}

static void option_is(const char *options, const char *key, const char *value)
{
    char line[100];
    setenv("SCORE_OPTIONS", options, 1);
    run_start(&run, members(), "option", key);
    run_ends(&run, 0, "");
    snprintf(line, sizeof line, "%s\n", value);
    CHECK_STR(run.text, line);
}

TEST(the_leftmost_of_two_options_counts)
{
    run_folder();
    option_is("a=1,b,a=2,c=x=y,ab=3", "a", "1");
    option_is("ab=3,a=1", "a", "1");
    option_is("a=1,b,a=2,c=x=y,ab=3", "b", "empty");
    option_is("a=1,b,a=2,c=x=y,ab=3", "c", "x=y");
    option_is("a=1,b,a=2,c=x=y,ab=3", "ab", "3");
    option_is("a=1,b", "d", "none");
    option_is("", "a", "none");
    option_is("a=", "a", "empty");
    option_is("a=1,b", "a=1", "none");
    option_is("a=1,b", "a=", "none");
}

TEST(malformed_options_end_the_program_with_a_sentence)
{
    static const char *const wrong[] = {"a,,b", "=1", "a=1 b", "-a", ",", "a,"};
    run_folder();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        setenv("SCORE_OPTIONS", wrong[i], 1);
        run_start(&run, members(), "small");
        run_ends(&run, 1, "SCORE_OPTIONS is malformed");
        run_start(&run, run_enl(), "-n", "2", members(), "small");
        run_ends(&run, 1, "SCORE_OPTIONS is malformed");
    }
}

TEST(a_barrier_holds_each_node_until_all_have_come)
{
    runs_everywhere("4", "barriers", NULL, NULL, 0);
}

TEST(threads_may_call_while_one_waits_at_the_barrier)
{
    runs_everywhere("3", "threads", NULL, NULL, 0);
}

TEST(temporary_files_are_shared_on_a_host_and_gone_afterwards)
{
    runs_everywhere("4", "files", NULL, NULL, 0);
}

TEST(sc_exit_of_any_node_ends_all_with_its_status)
{
    static const char *const nodes[] = {"0", "2"};
    for (int i = 0; i < 2; i++)
        for (int hosts = 0; hosts < 3; hosts += 2) {
            run_folder();
            start_on(hosts == 0 ? "0" : "2", "3", "exits", nodes[i], "3");
            ends_with(3);
            CHECK(strstr(run.text, "before") != NULL);
        }
    run_start(&run, members(), "exits", "0", "259");
    run_ends(&run, 3, "");
    run_start(&run, run_enl(), "-n", "1", members(), "exits_unheard");
    run_ends(&run, 4, "closed its connection to enl");
    run_start(&run, run_enl(), "-n", "3", members(), "terminates");
    run_ends(&run, 1, "");
}

TEST(an_exit_status_is_no_failure_and_that_of_node_0_counts)
{
    runs_everywhere("3", "plain", "0", NULL, 0);
    runs_everywhere("3", "plain", "5", NULL, 5);
}

TEST(a_signal_of_one_node_reaches_all)
{
    char number[20];
    snprintf(number, sizeof number, "%d", SIGUSR1);
    runs_everywhere("3", "signals", number, NULL, 0);
}

/* Table 3.1: what is broadcast. */
TEST(a_signal_to_enl_reaches_all_nodes_and_the_program_goes_on)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGABRT, SIGUSR1, SIGUSR2, SIGURG, SIGWINCH};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char number[20];
        snprintf(number, sizeof number, "%d", numbers[i]);
        run_folder();
        start_on("1", "3", "signals", number, "outside");
        CHECK_STR(run_told_by(&run), "ready");
        CHECK_INT(kill(run.pid, numbers[i]), 0);
        ends_with(0);
    }
}

/* What ends the program unless a node catches it, and what does not. */
TEST(a_broadcast_signal_does_to_each_node_what_it_does_by_default)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGABRT, SIGUSR1, SIGUSR2};
    static const int harmless[] = {SIGURG, SIGWINCH};
    run_folder();
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        start_on("1", "3", "waits", NULL, NULL);
        CHECK_STR(run_told_by(&run), "ready");
        for (size_t k = 0; k < 2; k++)
            CHECK_INT(kill(run.pid, harmless[k]), 0);
        CHECK_INT(kill(run.pid, numbers[i]), 0);
        ends_with(128 + numbers[i]);
    }
}

TEST(term_ends_the_program_and_quit_only_brings_a_sentence)
{
    run_folder();
    start_on("1", "3", "waits", NULL, NULL);
    CHECK_STR(run_told_by(&run), "ready");
    CHECK_INT(kill(run.pid, SIGQUIT), 0);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    ends_with(128 + SIGTERM);
    run_check_error(&run, "(Quit) is passed to no CCE and does not end program");
}

TEST(tstp_suspends_all_nodes_and_cont_resumes_them)
{
    run_folder();
    start_on("1", "3", "suspended", NULL, NULL);
    int pids[3];
    for (int i = 0; i < 3; i++)
        CHECK((pids[i] = atoi(run_told_by(&run))) > 0);
    CHECK_INT(kill(run.pid, SIGTSTP), 0);
    for (int i = 0; i < 3; i++)
        run_wait_for_state(pids[i], 'T', true);
    CHECK_INT(kill(run.pid, SIGCONT), 0);
    for (int i = 0; i < 3; i++)
        run_wait_for_state(pids[i], 'T', false);
    CHECK_INT(kill(run.pid, SIGUSR1), 0);
    ends_with(0);
}

TEST(all_nodes_have_one_number_and_other_programs_another)
{
    char first[100] = "";
    run_folder();
    for (int i = 0; i < 2; i++) {
        start_on("1", "3", "pid", NULL, NULL);
        ends_with(0);
        const size_t length = strcspn(run.text, "\n") + 1;
        CHECK_INT(strlen(run.text), 3 * length);
        for (size_t node = 1; node < 3; node++)
            CHECK(strncmp(run.text, run.text + node * length, length) == 0);
        CHECK(strncmp(first, run.text, length) != 0);
        snprintf(first, sizeof first, "%.*s", (int)length, run.text);
    }
}

TEST(what_was_flushed_is_out_before_what_comes_later)
{
    run_folder();
    start_on("2", "6", "flushes", NULL, NULL);
    ends_with(0);
    CHECK_STR(run.text, "0\n1\n2\n3\n4\n5\n");
}

TEST(the_small_calls_do_what_they_say)
{
    runs_everywhere("2", "small", NULL, NULL, 0);
}

TEST_TIMEOUT(nodes_that_all_only_look_for_messages_are_told_of, 120)
{
    run_folder();
    unsetenv("BCR_ONDEADLOCK");
    run_start(&run, run_enl(), "-n", "2", members(), "deadlock");
    run_ends(&run, 128 + SIGHUP, "deadlock");
}

TEST(with_noidle_nodes_that_only_look_for_messages_are_not_told_of)
{
    run_folder();
    unsetenv("BCR_ONDEADLOCK");
    setenv("SCORE_OPTIONS", "noidle", 1);
    run_start(&run, run_enl(), "-n", "2", members(), "only_look");
    run_ends(&run, 0, "");
}

TEST_TIMEOUT(a_node_that_wants_to_be_inspected_gets_gdb_as_the_option_debug_allows, 120)
{
    if (system("command -v gdb >/dev/null 2>&1") != 0)
        SKIP("gdb is not installed");
    char path[300];
    run_folder();
    unsetenv("DISPLAY");
    setenv("DEBUGINFOD_URLS", "", 1);
    run_start(&run, run_enl(), "-n", "2", members(), "fault");
    run_ends(&run, 134, "asks for a debugger; 0 of 0 are open, so program");
    setenv("SCORE_OPTIONS", "debug", 1);
    run_start(&run, run_enl(), "-n", "2", members(), "fault");
    run_ends(&run, 134, "sc_inspectme (display=");
    CHECK_INT(chdir(run_folder()), 0);
    snprintf(path, sizeof path, "%s/score.gdb", run_folder());
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs("printf \"by score.gdb\\n\"\n", file) >= 0 && fclose(file) == 0);
    setenv("SCORE_OPTIONS", "debug=ddt", 1);
    run_start(&run, run_enl(), "-n", "2", members(), "fault");
    run_ends(&run, 134, "by score.gdb");
    run_check_error(&run, "score: SCORE_OPTIONS: debug=ddt opens gdb");
    setenv("SCORE_OPTIONS", "debug=11", 1);
    run_start(&run, run_enl(), "-n", "2", members(), "fault");
    run_ends(&run, 1, "debug=11 is neither a number from 1 to 10 nor ddt");
}

static void wants(const char *variable, const char *hosts, const char *count, int status,
                  const char *sentence)
{
    const char *const words[] = {getenv(variable), NULL};
    start(hosts, count, words);
    ends_with(status);
    if (strstr(status != 0 ? run.error : run.text, sentence) == NULL)
        FAIL("wanted \"%s\", got %s%s", sentence, run.text, run.error);
}

TEST(a_program_runs_on_the_nodes_that_it_asks_for_and_no_others)
{
    run_folder();
    wants("SCORE_WANTS_NODES", "0", "1", 1, "on 2 to 3 nodes (SCORE_RSRC_NUM_NODES), not on 1");
    wants("SCORE_WANTS_NODES", "0", "2", 0, "runs with 3 nets");
    wants("SCORE_WANTS_NODES", "1", "3", 0, "runs with 3 nets");
    wants("SCORE_WANTS_NODES", "0", "4", 1, "not on 4");
    wants("SCORE_WANTS_PROCS", "0", "2", 0, "runs with 1 nets");
    wants("SCORE_WANTS_PROCS", "1", "3", 1,
          "with 2 nodes on each host (SCORE_RSRC_NUM_PROCS), and host 0 has 1");
    wants("SCORE_WANTS_ONE", "1", "3", 1,
          "with 1 nodes on each host (SCORE_RSRC_NUM_PROCS), and host 1 has 2");
}

TEST(unlike_machines_are_for_programs_that_say_so)
{
    const bool are_unlike = getenv("RUN_THERE") != NULL;
    run_folder();
    wants("SCORE_WANTS_NOTHING", "1", "2", are_unlike ? 1 : 0,
          are_unlike ? "machines of different architecture" : "runs with 1 nets");
}

TEST(what_a_program_asks_for_must_make_sense)
{
    run_folder();
    wants("SCORE_WANTS_CONTRADICTION", "0", "2", 1, "SCORE_RSRC_NUM_NODES stands in the program twice");
    wants("SCORE_WANTS_NOTHING_GOOD", "0", "2", 1, "SCORE_RSRC_NUM_NETS asks for 0 network sets");
}
