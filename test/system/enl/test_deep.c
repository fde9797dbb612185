/* SPDX-License-Identifier: MIT */
/* A tree of daemons that is three levels deep: seven hosts of this machine, of which no daemon starts more than two.
 * What works with one level works with three, and what a dead daemon in the middle takes with it is known. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/error.h>

#include "check.h"
#include "run.h"

enum { HOSTS = 7 };

static struct run run;

static void deep(void)
{
    run_folder();
    setenv("BCR_FANOUT", "2", 1);
}

static const char *list[] = {"--local", "7"};

/* Words by which the root enlists a CCE on each of these hosts, CCE n on host n. */
static void add_hosts(const char **argv, int *count, int first, int last)
{
    static char numbers[HOSTS + 1][16], names[HOSTS + 1][24];
    for (int i = first; i <= last; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%d", i);
        snprintf(names[i], sizeof names[i], "local%d", i);
        const char *more[] = {"at", names[i], "from", numbers[i], "enlist", run_cce(), "1"};
        memcpy(argv + *count, more, sizeof more);
        *count += (int)(sizeof more / sizeof more[0]);
    }
}

/* Starts the root, which enlists one CCE on each host and goes on by the words in `then`. */
static void start(const char *child, const char *then, const char *onfail)
{
    char words[256];
    const char *argv[96] = {run_enl(), "--output", "--onfail", onfail, list[0], list[1], run_cce()};
    int count = 7;
    setenv("SYS_CHILD", child, 1);
    add_hosts(argv, &count, 1, HOSTS);
    snprintf(words, sizeof words, "%s", then);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        argv[count++] = word;
    argv[count] = NULL;
    run_start_words(&run, argv);
}

/* The pids of CCE n and of its daemon. */
static void learn(pid_t daemons[HOSTS + 1], pid_t cces[HOSTS + 1])
{
    int left = 3 * HOSTS, ordinal, pid;
    while (left > 0) {
        const char *line = run_told_by(&run);
        if (sscanf(line, "daemon %d %d", &ordinal, &pid) == 2) {
            CHECK(ordinal >= 1 && ordinal <= HOSTS);
            daemons[ordinal] = pid;
        } else if (sscanf(line, "%d %d", &ordinal, &pid) == 2) {
            CHECK(ordinal >= 1 && ordinal <= HOSTS);
            cces[ordinal] = pid;
        } else {
            CHECK_STR(line, "enlist 0 0");
        }
        left--;
    }
}

TEST_TIMEOUT(no_daemon_starts_more_than_fanout_and_three_levels_are_there, 300)
{
    deep();
    start("out hello", "", "abort");
    for (int i = 0; i < HOSTS; i++)
        CHECK_STR(run_told_by(&run), "enlist 0 0");
    run_end(&run);
    CHECK_INT(run.status, 0);
    for (int i = 1; i <= HOSTS; i++) {
        char line[32];
        snprintf(line, sizeof line, "[%d] hello\n", i);
        CHECK(strstr(run.text, line) != NULL);
    }
    char log[512];
    snprintf(log, sizeof log, "bcr.%s.log", run_program_by(".7.log"));
    run_wait_for_text(log, "host local2 is number 2, started by this one");
    run_wait_for_text(log, "host local3 is number 3, started by host local1");
    run_wait_for_text(log, "host local6 is number 6, started by host local2");
    run_wait_for_text(log, "host local7 is number 7, started by host local3");
}

TEST_TIMEOUT(a_cce_three_levels_down_enlists_on_every_host_and_is_told_of_what_fails, 300)
{
    char words[2048], want[64];
    int used = snprintf(words, sizeof words, "out hello tell only 7");
    static const char *const places[] = {"localhost", "local1", "local2", "local3", "local6", "local7"};
    enum { PLACES = sizeof places / sizeof places[0] };
    deep();
    for (int i = 0; i < PLACES; i++)
        used += snprintf(words + used, sizeof words - (size_t)used, " at %s from %d enlist %s 1", places[i],
                         11 + i, run_cce());
    snprintf(words + used, sizeof words - (size_t)used, " at nowhere enlist %s 1 hosts", run_cce());
    start(words, "wait", "abort");
    int told[32] = {0}, good = 0, bad = 0, listed = 0, ordinal, count = 0;
    snprintf(want, sizeof want, "enlist -1 %d", bcrE_NOHOST);
    while (good < HOSTS + PLACES || bad < 1 || listed < 1 || count < HOSTS + PLACES) {
        const char *line = run_told_by(&run);
        good += strcmp(line, "enlist 0 0") == 0;
        bad += strcmp(line, want) == 0;
        listed += strncmp(line, "hosts local1:1 local2:1", 23) == 0;
        if (sscanf(line, "%d ", &ordinal) == 1 && ordinal > 0 && ordinal < 32) {
            CHECK_INT(told[ordinal]++, 0);
            count++;
        }
    }
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    for (int i = 0; i < PLACES; i++) {
        char line[32];
        snprintf(line, sizeof line, "[%d] hello\n", 11 + i);
        CHECK(strstr(run.text, line) != NULL);
    }
}

TEST_TIMEOUT(floods_of_output_from_all_levels_come_whole, 300)
{
    deep();
    start("flood 5000", "", "abort");
    for (int i = 0; i < HOSTS; i++)
        CHECK_STR(run_told_by(&run), "enlist 0 0");
    run_end(&run);
    CHECK_INT(run.status, 0);
    int next[HOSTS + 1] = {0}, ordinal, line;
    for (char *at = run.text; *at != '\0'; at = strchr(at, '\n') + 1) {
        CHECK_INT(sscanf(at, "[%d] line %d\n", &ordinal, &line), 2);
        CHECK(ordinal >= 1 && ordinal <= HOSTS);
        CHECK_INT(line, next[ordinal]++);
    }
    for (int i = 1; i <= HOSTS; i++)
        CHECK_INT(next[i], 5000);
}

TEST_TIMEOUT(a_crash_three_levels_down_is_reported_with_its_host, 300)
{
    deep();
    start("only 7 kill 6", "", "isolate"); /* which sanitizers leave to enl */
    run_end(&run);
    CHECK_INT(run.status, 0);
    run_check_error(&run, "enl: CCE 7 (");
    run_check_error(&run, "on local7 was killed by signal 6");
}

static struct run command;

TEST_TIMEOUT(commands_see_and_end_hosts_of_all_levels, 300)
{
    pid_t daemons[HOSTS + 1], cces[HOSTS + 1];
    int gone[HOSTS + 1];
    char line[32], program[256];
    deep();
    start("daemon tell pause", "pause", "abort");
    learn(daemons, cces);
    snprintf(program, sizeof program, "%s", run_program_by(".7.log"));
    run_start(&command, run_enl(), "ps", program);
    run_end(&command);
    CHECK_INT(command.status, 0);
    for (int i = 1; i <= HOSTS; i++) {
        snprintf(line, sizeof line, "local%d", i);
        CHECK(strstr(command.text, line) != NULL);
        snprintf(line, sizeof line, "%d", (int)cces[i]);
        CHECK(strstr(command.text, line) != NULL);
        gone[i] = run_watch(daemons[i]);
    }
    run_start(&command, run_enl(), "kill", program);
    run_ends(&command, 0, "");
    for (int i = 1; i <= HOSTS; i++)
        run_gone(gone[i]);
    run_end(&run);
}

TEST_TIMEOUT(what_stops_the_program_stops_all_levels_until_it_goes_on, 300)
{
    pid_t daemons[HOSTS + 1], cces[HOSTS + 1];
    deep();
    start("daemon tell wait out alive", "wait", "abort");
    setpgid(run.pid, run.pid); /* as a shell does; the kernel does not stop a group that nobody looks after */
    learn(daemons, cces);
    kill(run.pid, SIGTSTP);
    run_wait_for_state(run.pid, 'T', true);
    for (int i = 1; i <= HOSTS; i++)
        run_wait_for_state(cces[i], 'T', true);
    kill(run.pid, SIGCONT);
    for (int i = 1; i <= HOSTS; i++)
        run_wait_for_state(cces[i], 'T', false);
    for (int i = 0; i <= HOSTS; i++)
        run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK(strstr(run.text, "[7] alive\n") != NULL);
}

TEST_TIMEOUT(a_daemon_that_is_killed_at_any_level_takes_nobody_along, 300)
{
    deep();
    for (int victim = 1; victim <= HOSTS; victim++) {
        pid_t daemons[HOSTS + 1], cces[HOSTS + 1];
        int gone[HOSTS + 1], cce_gone[HOSTS + 1];
        char text[64];
        start("daemon tell wait out alive", "wait", "isolate");
        learn(daemons, cces);
        for (int i = 1; i <= HOSTS; i++) {
            gone[i] = run_watch(daemons[i]);
            cce_gone[i] = run_watch(cces[i]);
        }
        kill(daemons[victim], SIGKILL);
        run_gone(gone[victim]);
        run_gone(cce_gone[victim]); /* or it might take a go */
        for (int i = 0; i < HOSTS; i++)
            run_go();
        run_end(&run);
        CHECK_INT(run.status, 0);
        for (int i = 1; i <= HOSTS; i++) {
            snprintf(text, sizeof text, "[%d] alive\n", i);
            CHECK((strstr(run.text, text) != NULL) == (i != victim));
            if (i == victim)
                continue;
            run_gone(gone[i]);
            run_gone(cce_gone[i]);
        }
        snprintf(text, sizeof text, "host local%d is lost: ", victim);
        run_check_error(&run, text);
    }
}

/* The daemons are reached as by an sshd that gives its commands a socket. */
static void list_with_sockets(void)
{
    char script[1024], hosts[2048];
    int used = 0;
    snprintf(script, sizeof script, "#!/bin/sh\nexec %s %s \"$@\"\n", getenv("SYS_SOCKETED"), run_enl());
    run_write_file("socketed", script, strlen(script), 0700);
    for (int i = 1; i <= HOSTS; i++)
        used += snprintf(hosts + used, sizeof hosts - (size_t)used, "local%d local enl=%s/socketed\n", i,
                         run_folder());
    run_write_file("machines", hosts, strlen(hosts), 0600);
    list[0] = "--hosts";
    list[1] = "machines";
}

TEST_TIMEOUT(hosts_go_on_whose_starter_ends_before_it_has_read_all_from_a_socket, 300)
{
    pid_t daemons[HOSTS + 1], cces[HOSTS + 1];
    char text[64];
    deep();
    list_with_sockets();
    start("daemon tell wait out alive", "wait", "isolate");
    learn(daemons, cces);
    const int gone = run_watch(daemons[1]), cce_gone = run_watch(cces[1]);
    kill(daemons[1], SIGKILL);
    run_gone(gone);
    run_gone(cce_gone);
    for (int i = 0; i < HOSTS; i++)
        run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    for (int i = 2; i <= HOSTS; i++) {
        snprintf(text, sizeof text, "[%d] alive\n", i);
        CHECK(strstr(run.text, text) != NULL);
    }
    run_check_error(&run, "host local1 is lost: ");
    CHECK_PTR(strstr(run.error, "host local3 is lost"), NULL);
}
