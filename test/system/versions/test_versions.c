/* SPDX-License-Identifier: MIT */
/* Builds of several versions in one program: those whose protocols differ part with a sentence that says what to do,
 * those whose messages differ by keys that the other does not know work together. Nothing hangs, nothing is left. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr/error.h>

#include "check.h"
#include "run.h"

#define OTHER  "another version of the protocol"
#define REMEDY "install the same version of BCR there"

static struct run run, command;

/* The path that an environment variable of the test has. */
static const char *of(const char *variable)
{
    const char *path = getenv(variable);
    CHECK(path != NULL);
    return path;
}

/* Processes whose parent is gone become this one's. */
static void keep_orphans(void)
{
    run_folder();
    CHECK_INT(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

/* All that was started has ended: those that were left would be waited for here until the test's time is over. */
static void nothing_is_left(void)
{
    int status;
    while (waitpid(-1, &status, 0) > 0)
        ;
}

/* Hosts of which each has that enl: "name=variable name=variable". */
static void hosts(const char *const pairs[][2], int count)
{
    char text[4096];
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s local enl=%s\n", pairs[i][0],
                                 of(pairs[i][1]));
    run_write_file("machines", text, used, 0600);
}

static void is_not_used(const char *enl, const char *cce, const char *other_enl)
{
    char want[64];
    const char *const one[][2] = {{"far", other_enl}};
    keep_orphans();
    hosts(one, 1);
    snprintf(want, sizeof want, "enlist -1 %d", bcrE_NOHOST);
    run_start(&run, of(enl), "--hosts", "machines", of(cce), "at", "far", "enlist", of(cce), "1");
    CHECK_STR(run_told_by(&run), want);
    run_ends(&run, 0, "host far cannot be used: " OTHER);
    run_check_error(&run, REMEDY);
    nothing_is_left();
}

TEST(a_host_whose_enl_is_newer_is_not_used_and_the_user_reads_what_to_do)
{
    is_not_used("BCR_ENL", "SYS_CCE", "ENL_NEWER");
}

TEST(a_host_whose_enl_is_older_is_not_used_and_the_user_reads_what_to_do)
{
    is_not_used("ENL_NEWER", "SYS_CCE_NEWER", "BCR_ENL");
}

/* The root's daemon has the first one start the second, which is not of its version. */
static void is_not_used_below(const char *enl, const char *cce, const char *other_enl)
{
    char want[64];
    const char *const two[][2] = {{"near", enl}, {"far", other_enl}};
    keep_orphans();
    hosts(two, 2);
    snprintf(want, sizeof want, "enlist -1 %d", bcrE_NOHOST);
    setenv("SYS_CHILD", "tell", 1);
    run_start(&run, of(enl), "--hosts", "machines", "--fanout", "1", of(cce), "at", "near", "enlist", of(cce),
              "1", "at", "far", "enlist", of(cce), "1");
    bool near = false, far = false;
    int ordinal, pid, group;
    while (!near || !far) {
        const char *told = run_told_by(&run);
        near = near || sscanf(told, "%d %d %d", &ordinal, &pid, &group) == 3;
        far = far || strcmp(told, want) == 0;
    }
    run_ends(&run, 0, "host far cannot be used: " OTHER);
    run_check_error(&run, REMEDY);
    nothing_is_left();
}

TEST(a_newer_host_that_another_host_starts_is_told_of_likewise)
{
    is_not_used_below("BCR_ENL", "SYS_CCE", "ENL_NEWER");
}

TEST(an_older_host_that_another_host_starts_is_told_of_likewise)
{
    is_not_used_below("ENL_NEWER", "SYS_CCE_NEWER", "BCR_ENL");
}

/* A root that is no CCE of that daemon's version. */
static void root_is_refused(const char *enl, const char *cce)
{
    keep_orphans();
    run_start(&run, of(enl), of(cce), "tell");
    run_end(&run);
    CHECK(run.status != 0);
    run_check_error(&run, "did not start: what it said by bcr_init was not understood: " OTHER
                          "; CCE and enl must come from the same installation; it exited");

    setenv("BCR_ENLISTPATH", of(enl), 1); /* without the command: bcr_init starts the daemon */
    run_start(&run, of(cce), "tell");
    run_end(&run);
    CHECK(run.status != 0);
    run_check_error(&run, OTHER "; CCE and enl must come from the same installation");
    nothing_is_left();
}

/* One that a CCE of the daemon's version enlists. */
static void enlisted_is_refused(const char *enl, const char *cce, const char *other_cce)
{
    keep_orphans();
    run_start(&run, of(enl), of(cce), "enlist", of(other_cce), "1", "cell0");
    CHECK_STR(run_told_by(&run), "enlist 0 0");
    run_ends(&run, 0, OTHER "; CCE and enl must come from the same installation; it exited");
    nothing_is_left();
}

TEST(an_older_daemon_and_a_newer_CCE_part_with_a_sentence)
{
    root_is_refused("BCR_ENL", "SYS_CCE_NEWER");
    enlisted_is_refused("BCR_ENL", "SYS_CCE", "SYS_CCE_NEWER");
}

TEST(a_newer_daemon_and_an_older_CCE_part_with_a_sentence)
{
    root_is_refused("ENL_NEWER", "SYS_CCE");
    enlisted_is_refused("ENL_NEWER", "SYS_CCE_NEWER", "SYS_CCE");
}

/* A command of another version than the daemon's says so, and changes nothing. */
static void commands_part(const char *enl, const char *cce, const char *other_enl, const char *other_cce)
{
    static const char *const words[] = {"ps", "why", "audit", "kill", "cells", "stacks", "stats"};
    int ordinal;
    pid_t pid;
    char program[256];
    keep_orphans();
    run_start(&run, of(enl), of(cce), "tell", "wait");
    run_told_pid(&ordinal, &pid);
    snprintf(program, sizeof program, "%s", run_program());
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        run_start(&command, of(other_enl), words[i], program);
        run_end(&command);
        if (command.status == 0 || strstr(command.error, OTHER) == NULL)
            FAIL("%s: status %d, stdout: %s, stderr: %s", words[i], command.status, command.text,
                 command.error);
    }
    run_start(&command, of(other_enl), "ps"); /* of all programs, of which others may be running */
    run_end(&command);
    CHECK_INT(command.status, 1);
    const char *row = strstr(command.text, program);
    CHECK(row != NULL &&
          strncmp(row + strlen(program) + strspn(row + strlen(program), " "), OTHER, strlen(OTHER)) == 0);
    run_start(&command, of(other_enl), "--join", program, of(other_cce));
    run_end(&command);
    CHECK(command.status != 0);
    run_check_error(&command, "enl has not taken this process: the program has ended, or its log says why");
    run_wait_for_text("bcr.", "message of a client (pid");
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    nothing_is_left();
}

TEST(commands_of_a_newer_version_part_with_a_sentence)
{
    commands_part("BCR_ENL", "SYS_CCE", "ENL_NEWER", "SYS_CCE_NEWER");
}

TEST(commands_of_an_older_version_part_with_a_sentence)
{
    commands_part("ENL_NEWER", "SYS_CCE_NEWER", "BCR_ENL", "SYS_CCE");
}

TEST(enl_hosts_names_a_host_of_another_version_before_a_program_meets_it)
{
    const char *const one[][2] = {{"far", "ENL_NEWER"}};
    keep_orphans();
    hosts(one, 1);
    run_start(&command, of("BCR_ENL"), "hosts", "--hosts", "machines");
    run_end(&command);
    if (strstr(command.text,
               "speaks version 2 of the protocol, and here 1; install the same version of BCR") == NULL)
        FAIL("status %d, stdout: %s, stderr: %s", command.status, command.text, command.error);
    nothing_is_left();
}

/* Three hosts in a row and the root's, of which every other one has messages with further keys: CCEs on each, what
 * they print, births, puts between hosts, names, and the commands. */
static void work_together(const char *enl, const char *cce, const char *first, const char *second,
                          const char *far_cce)
{
    const char *const three[][2] = {{"a", first}, {"b", second}, {"c", first}};
    char words[1024];
    keep_orphans();
    hosts(three, 3);
    snprintf(words, sizeof words, "tell enlistor arch hosts out hello only 1 at b from 11 birth %s 1",
             of(far_cce));
    setenv("SYS_CHILD", words, 1);
    run_start(&run, of(enl), "--output", "--hosts", "machines", "--fanout", "1", of(cce), "at", "a", "enlist",
              of(far_cce), "1", "at", "b", "from", "2", "enlist", of(far_cce), "1", "at", "c", "from", "3",
              "enlist", of(far_cce), "1", "wait");
    int born = 0, started = 0, enlisted = 0, archs = 0, lists = 0, one, two, three_;
    char rest[64];
    while (born < 4 || started < 4 || enlisted < 4 || archs < 4 || lists < 4) {
        const char *told = run_told_by(&run);
        started += strcmp(told, "enlist 0 0") == 0;
        enlisted += sscanf(told, "enlistor %d %d %d", &one, &two, &three_) == 3;
        archs += sscanf(told, "arch 0x%60s", rest) == 1;
        lists += strcmp(told, "hosts a:1 b:1 c:1") == 0;
        born += sscanf(told, "%d %d %d", &one, &two, &three_) == 3;
    }
    char program[256];
    snprintf(program, sizeof program, "%s", run_program_by(".1.log"));
    run_start(&command, of(enl), "audit", program);
    run_ends(&command, 0, "");
    run_start(&command, of(first), "why", program);
    run_end(&command);
    CHECK_INT(command.status, 0);
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_STR(run.error, "");
    for (int ordinal = 1; ordinal <= 3; ordinal++) {
        char line[32];
        snprintf(line, sizeof line, "[%d] hello\n", ordinal);
        CHECK(strstr(run.text, line) != NULL);
    }
    CHECK(strstr(run.text, "[11] hello\n") != NULL);
    nothing_is_left();
}

TEST(hosts_whose_messages_have_further_keys_work_with_an_older_root)
{
    work_together("BCR_ENL", "SYS_CCE", "ENL_FURTHER", "BCR_ENL", "SYS_CCE_FURTHER");
}

TEST(older_hosts_work_with_a_root_whose_messages_have_further_keys)
{
    work_together("ENL_FURTHER", "SYS_CCE_FURTHER", "BCR_ENL", "ENL_FURTHER", "SYS_CCE");
}

TEST(a_host_whose_messages_have_further_keys_is_ended_by_enl_kill)
{
    const char *const two[][2] = {{"a", "ENL_FURTHER"}, {"b", "BCR_ENL"}};
    int ordinal;
    pid_t pid;
    keep_orphans();
    hosts(two, 2);
    setenv("SYS_CHILD", "tell pause", 1);
    run_start(&run, of("BCR_ENL"), "--hosts", "machines", "--fanout", "1", of("SYS_CCE"), "at", "b", "enlist",
              of("SYS_CCE"), "1", "at", "a", "from", "2", "enlist", of("SYS_CCE_FURTHER"), "1", "pause");
    for (int told = 0, started = 0; told < 2 || started < 2;) {
        int group;
        const char *line = run_told_by(&run);
        started += strcmp(line, "enlist 0 0") == 0;
        told += sscanf(line, "%d %d %d", &ordinal, &pid, &group) == 3;
    }
    char program[256];
    snprintf(program, sizeof program, "%s", run_program_by(".1.log"));
    program[strcspn(program, ":")] = '\0';
    run_start(&command, of("ENL_FURTHER"), "kill", program);
    run_ends(&command, 0, "");
    run_end(&run);
    CHECK_INT(run.status, 128 + 9);
    nothing_is_left();
}
