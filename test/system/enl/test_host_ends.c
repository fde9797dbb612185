/* SPDX-License-Identifier: MIT */
/* The end of a program on several hosts: whatever ends first, nothing is left anywhere. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr/error.h>

#include "check.h"
#include "run.h"

static struct run run;

/* The program's name, by the log of its daemon on local1. */
static const char *program_name(void)
{
    return run_program_by(".1.log");
}

/* Of the program there are logs, and nothing else: no socket, no file of its own. */
static void only_logs_are_left(void)
{
    static char sockets[1 << 20];
    run_read_file("/proc/net/unix", sockets, sizeof sockets);
    CHECK_PTR(strstr(sockets, program_name()), NULL);
    DIR *folder = opendir(run_folder());
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strstr(entry->d_name, program_name()) != NULL && strstr(entry->d_name, ".log") == NULL)
            FAIL("%s is left", entry->d_name);
    closedir(folder);
}

/* Starts a root here and a CCE on local1 that waits; gives pidfds of the CCE and its daemon. */
static pid_t start_two(const char *option, const char *value, int *cce_out, int *daemon_out)
{
    run_folder();
    setenv("SYS_CHILD", "tell parent pause", 1);
    run_start(&run, run_enl(), option, value, "--local", "1", run_cce(), "at", "local1", "enlist", run_cce(),
              "1", "wait");
    pid_t pid = 0, daemon = 0;
    for (int told = 0; told < 3; told++) {
        int ordinal;
        const char *line = run_told_by(&run);
        if (sscanf(line, "parent %d", &daemon) != 1)
            sscanf(line, "%d %d", &ordinal, &pid);
    }
    CHECK(pid != 0 && daemon != 0);
    *cce_out = run_watch(pid);
    *daemon_out = run_watch(daemon);
    return daemon;
}

/* A signal to the root's daemon ends the CCE and the daemon elsewhere, too. */
static void end_root_by(int signal)
{
    int cce, daemon;
    start_two("--onfail", "abort", &cce, &daemon);
    kill(run.pid, signal);
    run_gone(cce);
    run_gone(daemon);
    run_end(&run);
    CHECK_INT(run.status, 128 + signal);
    only_logs_are_left();
}

TEST(a_killed_root_daemon_leaves_nothing)
{
    end_root_by(SIGKILL);
}

TEST(a_killed_daemon_elsewhere_is_a_lost_host)
{
    int cce, daemon;
    kill(start_two("--onfail", "abort", &cce, &daemon), SIGKILL);
    run_gone(cce);
    run_gone(daemon);
    run_end(&run);
    CHECK_INT(run.status, 1);
    run_check_error(&run,
                    "host local1 is lost: enl was killed by signal 9 (Killed); 1 CCE was there; that ends "
                    "the program (onfail abort)");
}

TEST(under_isolate_a_lost_host_is_told_and_can_be_used_again)
{
    int cce, daemon;
    kill(start_two("--onfail", "isolate", &cce, &daemon), SIGKILL);
    run_gone(cce);
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    run_check_error(&run, "1 CCE was there; the others go on (onfail isolate)");
}

/* What the root tells, between what the others do. */
static const char *next_enlist(void)
{
    const char *line;
    while (strncmp(line = run_told_by(&run), "enlist ", 7) != 0)
        ;
    return line;
}

TEST(who_enlists_at_a_host_that_is_lost_meanwhile_is_told_so_and_may_try_again)
{
    char want[64];
    pid_t daemon = 0;
    run_folder();
    setenv("BCR_HOSTTIMEOUT", "3000", 1);
    setenv("SYS_CHILD", "parent pause", 1);
    snprintf(want, sizeof want, "enlist -1 %d", bcrE_HOSTLOST);
    run_start(&run, run_enl(), "--onfail", "root", "--local", "1", run_cce(), "at", "local1", "enlist",
              run_cce(), "1", "wait", "enlist", run_cce(), "1", "wait", "enlist", run_cce(), "1", "wait");
    for (int told = 0; told < 2; told++)
        sscanf(run_told_by(&run), "parent %d", &daemon);
    CHECK(daemon != 0);
    CHECK_INT(kill(daemon, SIGSTOP), 0); /* so the next request there is not answered */
    run_go();
    CHECK_STR(next_enlist(), want);
    run_go();
    CHECK_STR(next_enlist(), "enlist 0 0");
    run_go();
    run_end(&run);
    unsetenv("BCR_HOSTTIMEOUT");
}

TEST(a_daemon_that_is_silent_for_hosttimeout_is_lost)
{
    int cce, daemon;
    setenv("BCR_HOSTTIMEOUT", "1500", 1);
    const pid_t pid = start_two("--onfail", "abort", &cce, &daemon);
    kill(pid, SIGSTOP);
    run_end(&run);
    CHECK_INT(run.status, 1);
    run_check_error(&run, "host local1 is lost: nothing came from it for 1500 ms (hosttimeout)");
    run_gone(cce);
    run_gone(daemon);
    unsetenv("BCR_HOSTTIMEOUT");
}

TEST(a_daemon_whose_heartbeats_nobody_answers_ends)
{
    int cce, daemon;
    setenv("BCR_HOSTTIMEOUT", "1500", 1);
    start_two("--onfail", "abort", &cce, &daemon);
    kill(run.pid, SIGSTOP);
    run_gone(cce);
    run_gone(daemon);
    kill(run.pid, SIGCONT);
    run_end(&run);
    CHECK_INT(run.status, 1);
    unsetenv("BCR_HOSTTIMEOUT");
}

/* The daemon that `run` has started on another host. */
static pid_t daemon_of(const struct run *of)
{
    char path[64], text[512];
    pid_t found = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)of->pid, (int)of->pid);
    FILE *children = fopen(path, "re");
    CHECK(children != NULL);
    for (int pid; children != NULL && fscanf(children, "%d", &pid) == 1;) {
        snprintf(path, sizeof path, "/proc/%d/comm", pid);
        run_read_file(path, text, sizeof text);
        if (strcmp(text, "enl\n") == 0)
            found = (pid_t)pid;
    }
    fclose(children);
    return found;
}

/* No CCE has been started there, so none has failed. */
TEST(a_daemon_elsewhere_that_a_signal_ends_is_a_lost_host)
{
    run_folder();
    run_start(&run, run_enl(), "--local", "1", run_cce(), "at", "local1", "enlist", "/there/is/none", "1",
              "wait");
    run_told_by(&run);
    const pid_t pid = daemon_of(&run);
    CHECK(pid != 0);
    const int daemon = run_watch(pid);
    kill(pid, SIGTERM);
    run_gone(daemon);
    char host[128] = "", log[200];
    CHECK_INT(gethostname(host, sizeof host - 1), 0);
    snprintf(log, sizeof log, "bcr.%s.%d.log", host, (int)run.pid);
    run_wait_for_text(log, "host local1 is lost: enl ended with status 143; 0 CCEs were there");
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
}

/* As when that machine is shut down. */
TEST(cces_that_a_signal_to_their_daemon_ends_have_not_ended_normally)
{
    int cce, daemon;
    kill(start_two("--onfail", "abort", &cce, &daemon), SIGTERM);
    run_gone(cce);
    run_gone(daemon);
    run_end(&run);
    CHECK_INT(run.status, 1);
    run_check_error(&run, "host local1 is lost: enl ended with status 143; 1 CCE was there; that ends the "
                          "program (onfail abort)");
}

TEST(a_signal_ends_those_elsewhere_too)
{
    end_root_by(SIGTERM);
    CHECK_INT(run_count_lines(run.error, "enl: program "), 1);
}

TEST(a_program_that_is_killed_is_killed_everywhere)
{
    static struct run command;
    int cce, daemon;
    start_two("--onfail", "abort", &cce, &daemon);
    char program[300];
    snprintf(program, sizeof program, "%s", run_program_by(".1.log"));
    run_start(&command, run_enl(), "kill", program);
    run_end(&command);
    CHECK_INT(command.status, 0);
    run_gone(cce);
    run_gone(daemon);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGKILL);
}

/* One that hangs does not hold the others. */
TEST(a_host_that_does_not_end_is_cut_off)
{
    run_folder();
    setenv("SYS_CHILD", "tell parent pause", 1);
    run_start(&run, run_enl(), "--local", "2", run_cce(), "at", "local1", "enlist", run_cce(), "1", "at",
              "local2", "from", "2", "enlist", run_cce(), "1", "wait");
    pid_t pid, daemon;
    int ends[4], ordinal;
    for (int told = 0; told < 4;) {
        const char *line = run_told_by(&run);
        if (sscanf(line, "parent %d", &daemon) == 1)
            ends[told++] = run_watch(daemon);
        else if (sscanf(line, "%d %d", &ordinal, &pid) == 2)
            ends[told++] = run_watch(pid);
    }
    kill(daemon, SIGSTOP);
    kill(run.pid, SIGTERM);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGTERM);
    for (int i = 0; i < 4; i++)
        run_gone(ends[i]);
    only_logs_are_left();
}

static void scripts(void)
{
    static const char settings[] = "startscript ./script\nendscript ./script\n";
    static const char script[] = "#!/bin/sh\necho \"$1 $2 $4 $3\" >>called\n";
    run_write_file(".bcrrc", settings, sizeof settings - 1, 0600);
    run_write_file("script", script, sizeof script - 1, 0700);
    run_write_file("called", "", 0, 0600);
}

static int calls(int when, int is_root)
{
    char text[4096], line[400];
    run_read_file("called", text, sizeof text);
    snprintf(line, sizeof line, "%d %s %d ", when, program_name(), is_root);
    return run_count_lines(text, line);
}

TEST(each_host_runs_the_scripts_and_is_told_the_roots_address)
{
    char text[4096], first[64] = "", address[64];
    run_folder();
    scripts();
    setenv("SYS_CHILD", "tell", 1);
    run_start(&run, run_enl(), "--local", "2", run_cce(), "at", "local1", "enlist", run_cce(), "1", "at",
              "local2", "from", "2", "enlist", run_cce(), "1");
    for (int i = 0; i < 4; i++)
        run_told_by(&run);
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_INT(calls(0, 1), 1);
    CHECK_INT(calls(0, 0), 2);
    CHECK_INT(calls(1, 1), 1);
    CHECK_INT(calls(1, 0), 2);
    run_read_file("called", text, sizeof text);
    for (const char *at = text; at != NULL && *at != '\0'; at = strchr(at, '\n') + 1) {
        CHECK_INT(sscanf(at, "%*s %*s %*s %63s", address), 1);
        if (first[0] == '\0')
            snprintf(first, sizeof first, "%s", address);
        CHECK_STR(address, first);
    }
    CHECK_INT(unlink(".bcrrc"), 0);
}

TEST(the_endscript_runs_when_a_lease_ends)
{
    int cce, daemon;
    run_folder();
    scripts();
    setenv("BCR_HOSTTIMEOUT", "1500", 1);
    start_two("--onfail", "abort", &cce, &daemon);
    kill(run.pid, SIGSTOP);
    run_gone(cce);
    run_gone(daemon);
    CHECK_INT(calls(1, 0), 1);
    CHECK_INT(calls(1, 1), 0);
    kill(run.pid, SIGCONT);
    run_end(&run);
    CHECK_INT(calls(1, 1), 1);
    unsetenv("BCR_HOSTTIMEOUT");
    CHECK_INT(unlink(".bcrrc"), 0);
}

/* The first signal finds the script of local1 at work, so all CCEs have ended. */
TEST(an_endscript_that_hangs_elsewhere_holds_the_program_until_a_signal)
{
    static const char settings[] = "endscript ./script\n";
    static const char script[] = "#!/bin/sh\n[ $4 = 1 ] || { echo hangs $$ >called; exec sleep 1000; }\n";
    char text[64];
    long pid;
    run_folder();
    run_write_file(".bcrrc", settings, sizeof settings - 1, 0600);
    run_write_file("script", script, sizeof script - 1, 0700);
    run_write_file("called", "", 0, 0600);
    setenv("SYS_CHILD", "tell", 1);
    run_start(&run, run_enl(), "--local", "1", run_cce(), "at", "local1", "enlist", run_cce(), "1");
    run_wait_for_text("called", "\n");
    run_read_file("called", text, sizeof text);
    CHECK_INT(sscanf(text, "hangs %ld", &pid), 1);
    const int ends = run_watch((pid_t)pid);
    kill(run.pid, SIGTERM);
    run_gone(ends);
    run_end(&run);
    run_check_error(&run, "ended with signal 15");
    only_logs_are_left();
    CHECK_INT(unlink(".bcrrc"), 0);
}
