/* SPDX-License-Identifier: MIT */
/* The abstract address: enl ps, enl kill, enl --join. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr.h>

#include "check.h"
#include "run.h"

static struct run run, command;

TEST(ps_lists_the_programs_cces)
{
    char want[512];
    int ordinal;
    pid_t root, child;
    run_apart();
    run_folder();
    setenv("SYS_CHILD", "tell pause", 1);
    run_start(&run, run_enl(), run_cce(), "tell", "enlist", run_cce(), "1", "pause");
    run_told_pid(&ordinal, &root);
    const char *line = run_told();
    if (strncmp(line, "enlist", 6) == 0)
        line = run_told();
    CHECK_INT(sscanf(line, "1 %d", &child), 1);
    run_start(&command, run_enl(), "ps");
    run_end(&command); /* 1 if another test's program is seen, and stopped just now */
    snprintf(want, sizeof want, "%-28s %7d %9d  alive     %s\n", run_program(), 1, (int)child, run_cce());
    if (strstr(command.text, want) == NULL)
        FAIL("wanted %s, got %s", want, command.text);
    run_start(&command, run_enl(), "kill", run_program());
    run_end(&command);
    CHECK_INT(command.status, 0);
    run_ends(&run, 128 + SIGKILL, "is ended by enl kill");
}

TEST(a_stopped_program_is_listed_as_such_and_can_be_killed)
{
    int ordinal, status;
    pid_t root;
    run_apart();
    run_start(&run, run_enl(), run_cce(), "tell", "pause");
    run_told_pid(&ordinal, &root);
    CHECK_INT(kill(run.pid, SIGSTOP), 0);
    CHECK_INT(waitpid(run.pid, &status, WUNTRACED), run.pid);
    CHECK(WIFSTOPPED(status));
    run_start(&command, run_enl(), "ps");
    run_end(&command);
    CHECK(strstr(command.text, run_program()) != NULL);
    CHECK(strstr(command.text, "does not answer") != NULL);
    run_start(&command, run_enl(), "audit", run_program());
    run_end(&command);
    CHECK_INT(command.status, 2);
    run_check_error(&command, ", is stopped: ");
    run_start(&command, run_enl(), "kill", run_program());
    run_end(&command);
    CHECK_INT(command.status, 0);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGKILL);
}

TEST(kill_of_a_program_that_does_not_run_says_so)
{
    run_start(&command, run_enl(), "kill", "nowhere.1");
    run_ends(&command, 1, "no program of yours has that name");
}

TEST(kill_without_a_name_ends_nothing_though_there_is_one_program_only)
{
    int ordinal;
    pid_t root;
    if (unshare(CLONE_NEWNET) != 0) /* addresses of programs belong to a network */
        SKIP("a network of its own needs root");
    run_start(&run, run_enl(), run_cce(), "tell", "wait");
    run_told_pid(&ordinal, &root);
    run_start(&command, run_enl(), "kill");
    run_ends(&command, 2, "enl kill takes the name of a program");
    run_go();
    run_ends(&run, 0, "");
}

TEST(kill_all_ends_each_program_of_this_user)
{
    static struct run other;
    int ordinal;
    pid_t root;
    if (unshare(CLONE_NEWNET) != 0)
        SKIP("a network of its own needs root");
    run_start(&command, run_enl(), "kill", "--all");
    run_ends(&command, 0, "no BCR program of yours is running");
    run_start(&run, run_enl(), run_cce(), "tell", "pause");
    run_told_pid(&ordinal, &root);
    run_start(&other, run_enl(), "--local", "1", run_cce(), "tell", "at", "local1", "enlist", run_cce(), "1",
              "pause");
    run_told_pid(&ordinal, &root);
    CHECK_STR(run_told(), "enlist 0 0"); /* and has a daemon of another host here */
    run_start(&command, run_enl(), "kill", "--all");
    run_ends(&command, 0, "");
    const char *first = strstr(command.text, "program "), *second = strstr(first + 1, "program ");
    CHECK(second != NULL && strstr(second + 1, "program ") == NULL && strchr(command.text, ':') == NULL);
    run_ends(&run, 128 + SIGKILL, "is ended by enl kill");
    run_ends(&other, 128 + SIGKILL, "is ended by enl kill");
}

TEST(a_process_that_joins_is_enlisted_first_and_keeps_its_own_streams)
{
    int ordinal;
    pid_t root;
    run_start(&run, run_enl(), run_cce(), "tell", "wait", "enlist", "far/away/sys_cce", "1", "wait");
    run_told_pid(&ordinal, &root);
    run_start(&command, run_enl(), "--join", run_program(), run_cce(), "out", "joined", "tell", "wait");
    run_wait_for_text("bcr.", "waits to be enlisted as sys_cce");
    run_go();
    const char *line = run_told();
    if (strncmp(line, "enlist", 6) == 0) {
        CHECK_STR(line, "enlist 0 0");
        line = run_told();
    }
    int pid, group;
    CHECK_INT(sscanf(line, "%d %d %d", &ordinal, &pid, &group), 3);
    CHECK_INT(ordinal, 1);
    CHECK_INT(pid, command.pid);
    run_go();
    run_go();
    run_end(&command);
    CHECK_INT(command.status, 0);
    CHECK_STR(command.text, "joined\n");
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(a_process_that_waits_is_found_by_the_last_component_of_its_name_and_is_listed)
{
    char want[512];
    int ordinal;
    pid_t root;
    run_apart();
    run_start(&run, run_enl(), run_cce(), "tell", "wait", "enlist", "no-such-program", "1", "enlist",
              "far/away/sys_cce", "1");
    run_told_pid(&ordinal, &root);
    setenv("SYS_NAME", "/some/where/sys_cce", 1);
    run_start(&command, run_enl(), "--join", run_program(), run_cce(), "tell", "exit", "0");
    run_wait_for_text("bcr.", "waits to be enlisted as /some/where/sys_cce");
    static struct run ps;
    run_start(&ps, run_enl(), "ps");
    run_end(&ps);
    snprintf(want, sizeof want, "%-28s %7s %9d  waiting   /some/where/sys_cce\n", run_program(), "-",
             (int)command.pid);
    if (strstr(ps.text, want) == NULL)
        FAIL("wanted %s, got %s", want, ps.text);
    run_go();
    run_ends(&command, 0, "waits until a bcr_enlist asks for /some/where/sys_cce");
    run_ends(&run, 0, "no process waits to be enlisted as no-such-program");
}

/* How many processes wait to be enlisted by this program. */
static int waiting_listed(void)
{
    static struct run ps;
    const size_t length = strlen(run_program());
    int count = 0; /* a blank behind the name: another program's may begin with it */
    run_start(&ps, run_enl(), "ps");
    run_end(&ps);
    for (char *line = strtok(ps.text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        count += strncmp(line, run_program(), length) == 0 && line[length] == ' ' &&
                 strstr(line, "  waiting ") != NULL;
    return count;
}

TEST(processes_that_wait_and_end_are_listed_no_more_the_first_before_the_next)
{
    static const char *const names[] = {"/first/of/two", "/second/of/two"};
    static struct run waiting[2];
    char text[64];
    int ordinal;
    pid_t root;
    run_apart();
    run_start(&run, run_enl(), run_cce(), "tell", "wait");
    run_told_pid(&ordinal, &root);
    for (int i = 0; i < 2; i++) {
        setenv("SYS_NAME", names[i], 1);
        run_start(&waiting[i], run_enl(), "--join", run_program(), run_cce());
        snprintf(text, sizeof text, "waits to be enlisted as %s", names[i]);
        run_wait_for_text("bcr.", text);
    }
    CHECK_INT(waiting_listed(), 2);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(kill(waiting[i].pid, SIGKILL), 0);
        run_end(&waiting[i]);
        while (waiting_listed() != 1 - i) /* until the daemon has seen its end */
            ;
    }
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(a_process_that_waits_is_told_when_the_program_has_ended)
{
    char want[64];
    int ordinal;
    pid_t root;
    snprintf(want, sizeof want, "init failed %d\n", bcrE_ENLIST);
    run_start(&run, run_enl(), run_cce(), "tell", "wait");
    run_told_pid(&ordinal, &root);
    run_start(&command, run_enl(), "--join", run_program(), run_cce());
    run_wait_for_text("bcr.", "waits to be enlisted");
    run_go();
    run_end(&run);
    run_end(&command);
    CHECK_STR(command.text, want);
    run_check_error(&command, "enl has not taken this process: the program has ended");
}

TEST(what_never_calls_bcr_init_has_not_joined)
{
    int ordinal;
    pid_t root;
    run_start(&run, run_enl(), run_cce(), "tell", "wait");
    run_told_pid(&ordinal, &root);
    run_start(&command, run_enl(), "--join", run_program(), "/bin/sh", "-c", "exit 3");
    run_ends(&command, 3, "has ended and never called bcr_init: it has not joined");
    run_write_file("no-program", "\177ELF", 4, 0700);
    run_start(&command, run_enl(), "--join", run_program(), "./no-program");
    run_ends(&command, 126, "could not be executed");
    CHECK_PTR(strstr(command.error, "bcr_init"), NULL);
    /* One that has no child that it does not know of, and joins. */
    run_start(&command, run_enl(), "--join", run_program(), "/bin/sh", "-c", "wait; exec \"$0\" \"$@\"",
              run_cce());
    run_wait_for_text("bcr.", "waits to be enlisted");
    CHECK_INT(kill(command.pid, SIGTERM), 0);
    run_end(&command);
    CHECK_PTR(strstr(command.error, "never called"), NULL);
    run_go();
    run_ends(&run, 0, "waits to be enlisted as sys_cce");
}

TEST(a_joined_cce_that_is_killed_is_an_abnormal_end)
{
    int ordinal;
    pid_t root;
    run_start(&run, run_enl(), run_cce(), "tell", "wait", "enlist", "sys_cce", "1", "pause");
    run_told_pid(&ordinal, &root);
    run_start(&command, run_enl(), "--join", run_program(), run_cce(), "kill", "9");
    run_wait_for_text("bcr.", "waits to be enlisted");
    run_go();
    run_end(&run);
    run_end(&command);
    CHECK_INT(run.status, 1);
    run_check_error(&run, "CCE 1 (sys_cce");
    run_check_error(&run, "ended without exit()");
}

TEST(a_joined_cce_ends_when_enl_is_killed)
{
    int ordinal;
    pid_t root, joined;
    run_start(&run, run_enl(), run_cce(), "tell", "wait", "enlist", "sys_cce", "1", "pause");
    run_told_pid(&ordinal, &root);
    run_start(&command, run_enl(), "--join", run_program(), run_cce(), "tell", "spin");
    run_wait_for_text("bcr.", "waits to be enlisted");
    run_go();
    const char *line = run_told();
    if (strncmp(line, "enlist", 6) == 0)
        line = run_told();
    CHECK_INT(sscanf(line, "1 %d", &joined), 1);
    CHECK_INT(kill(run.pid, SIGKILL), 0);
    run_end(&command);
    CHECK_INT(command.status, 128 + SIGKILL);
    run_end(&run);
}

TEST(joining_a_program_that_does_not_run_says_so)
{
    run_start(&command, run_enl(), "--join", "nowhere.1", run_cce());
    run_ends(&command, 1, "no program of yours has that name");
}
