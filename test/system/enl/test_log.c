/* SPDX-License-Identifier: MIT */
/* Where the log goes, that none is needed, and which old ones stay: log, logkeep, tempdir. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run;

/* How many logs there are in the folder. */
static int logs(void)
{
    int count = 0;
    DIR *folder = opendir(run_folder());
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += strncmp(entry->d_name, "bcr.", 4) == 0;
    closedir(folder);
    return count;
}

static void start_at(const char *host)
{
    run_start(&run, run_enl(), "--local", "1", run_cce(), "at", host, "enlist", run_cce(), "1");
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(a_program_runs_where_no_log_can_be_created_and_says_so_once)
{
    static const char *const folders[] = {"/there/is/none", "/proc"};
    setenv("SYS_CHILD", "out hello", 1);
    for (int i = 0; i < 2; i++) {
        run_folder();
        setenv("BCR_TEMPDIR", folders[i], 1);
        start_at("localhost");
        CHECK_STR(run.text, "hello\n");
        CHECK_INT(run_count(run.error, "\n"), 1);
        CHECK(strstr(run.error, folders[i]) != NULL);
        run_check_error(&run, "; this program runs without a log on ");
    }
}

TEST(a_host_where_no_log_can_be_created_says_so_too)
{
    run_folder();
    setenv("BCR_TEMPDIR", "/there/is/none", 1);
    setenv("SYS_CHILD", "out hello", 1);
    start_at("local1");
    CHECK_STR(run.text, "hello\n");
    CHECK_INT(run_count(run.error, "; this program runs without a log on "), 2);
    run_check_error(&run, "; this program runs without a log on local1\n");
}

/* In a mount namespace of its own, with a directory on which the command of a shell does something. */
static bool start_on(const char *mounts)
{
    char line[1024];
    run_folder();
    snprintf(line, sizeof line,
             "unshare -m true 2>/dev/null || set -- -r; mkdir -p small && "
             "exec unshare \"$@\" -m sh -c '%s || exit 77; BCR_TEMPDIR=$PWD/small exec \"$BCR_ENL\" "
             "\"$SYS_CCE\" out hello'",
             mounts);
    run_start(&run, "/bin/sh", "-c", line);
    run_end(&run);
    if (run.status == 77 || strstr(run.error, "unshare: ") != NULL)
        printf("no mount namespaces here\n");
    return run.status != 77 && strstr(run.error, "unshare: ") == NULL;
}

TEST(a_program_runs_on_a_read_only_file_system)
{
    if (!start_on("mount -t tmpfs none small && mount -o remount,ro small"))
        return;
    CHECK_INT(run.status, 0);
    CHECK_STR(run.text, "hello\n");
    run_check_error(&run, "small/bcr.");
    run_check_error(&run, ".log: Read-only file system; ");
    run_check_error(&run, "; this program runs without a log on ");
}

TEST(a_program_runs_on_a_full_disk)
{
    if (!start_on("mount -t tmpfs -o nr_inodes=1 none small"))
        return;
    CHECK_INT(run.status, 0);
    CHECK_STR(run.text, "hello\n");
    run_check_error(&run, ".log: No space left on device; ");
}

TEST(a_program_runs_where_its_log_has_no_room_for_a_line)
{
    if (!start_on("mount -t tmpfs -o size=4k none small && head -c 4096 /dev/zero >small/fill"))
        return;
    CHECK_INT(run.status, 0);
    CHECK_STR(run.text, "hello\n");
    run_check_error(&run, " lines could not be written into the log on ");
    CHECK_INT(run_count(run.error, "\n"), 1);
}

TEST(log_stderr_shows_the_lines_of_all_hosts_and_says_nothing_twice)
{
    static const char *const hosts[] = {"localhost", "local1"};
    setenv("BCR_LOG", "stderr", 1);
    setenv("SYS_CHILD", "out for-the-log exit 3", 1);
    for (int i = 0; i < 2; i++) {
        run_folder();
        run_start(&run, run_enl(), "--onfail", "isolate", "--output=none", "--local", "1", run_cce(), "at",
                  hosts[i], "enlist", run_cce(), "1");
        run_end(&run);
        CHECK_INT(run.status, 0);
        CHECK_STR(run.text, "");
        CHECK_INT(run_count(run.error, "/1 for-the-log\n"), 1);
        CHECK_INT(run_count(run.error, "exited with status 3"), 1);
        CHECK(run_count(run.error, "Z info  ") >= 2);
        run_check_error(&run, " has ended with status 0\n");
        CHECK_INT(logs(), 0);
    }
}

TEST(log_none_writes_none_on_any_host)
{
    setenv("BCR_LOG", "none", 1);
    setenv("BCR_TEMPDIR", "/there/is/none", 1);
    setenv("SYS_CHILD", "out hello", 1);
    run_folder();
    start_at("local1");
    CHECK_STR(run.text, "hello\n");
    CHECK_STR(run.error, "");
    CHECK_INT(logs(), 0);
    run_start(&run, run_enl(), "logs");
    run_ends(&run, 1, "with these settings (log none) programs write none");
}

TEST(a_stderr_that_takes_log_lines_slowly_loses_no_host)
{
    static char text[1 << 20];
    run_folder();
    setenv("BCR_LOG", "stderr", 1);
    setenv("SYS_CHILD", "flood 200000", 1);
    run_start(&run, "/bin/sh", "-c",
              "exec \"$BCR_ENL\" --output=none --local 1 \"$SYS_CCE\" at local1 enlist \"$SYS_CCE\" 1 2>&1 | "
              "tail -n 40 >last");
    run_end(&run);
    run_read_file("last", text, sizeof text);
    CHECK(strstr(text, " has ended with status 0\n") != NULL);
}

TEST(logdir_needs_logs)
{
    run_folder();
    setenv("BCR_LOG", "none", 1);
    run_start(&run, run_enl(), "--log-dir", "logs", run_cce(), "out", "never");
    run_ends(&run, 2, "logs is to get the logs of all hosts (logdir), and there are none (log none)");
    CHECK_STR(run.text, "");
}

TEST(logdir_gets_the_logs_of_the_hosts_that_have_one)
{
    char text[1024];
    run_folder();
    snprintf(text, sizeof text, "#!/bin/sh\nBCR_TEMPDIR=/there/is/none exec %s \"$@\"\n", run_enl());
    run_write_file("without", text, strlen(text), 0700);
    snprintf(text, sizeof text, "n1 local enl=%s/without\n", run_folder());
    run_write_file("machines", text, strlen(text), 0600);
    run_start(&run, run_enl(), "--log-dir", "brought", "--hosts", "machines", run_cce(), "at", "n1", "enlist",
              run_cce(), "1");
    run_ends(&run, 0, "; this program runs without a log on n1\n");
    CHECK_INT(run_count(run.error, "\n"), 1);
    snprintf(text, sizeof text, "brought/bcr.%s.log", run_program());
    CHECK_INT(access(text, F_OK), 0);
}

TEST(logs_of_ended_programs_are_kept_by_number)
{
    int ordinal;
    pid_t pid;
    static struct run others;
    run_folder();
    setenv("BCR_LOGKEEP", "2", 1);
    run_start(&run, run_enl(), run_cce(), "tell", "wait");
    run_told_pid(&ordinal, &pid);
    for (int i = 0; i < 5; i++) {
        run_start(&others, run_enl(), "--local", "1", run_cce(), "at", "local1", "enlist", run_cce(), "1");
        run_ends(&others, 0, "");
    }
    CHECK_INT(logs(), 1 + 2 * 3); /* that which runs, two that had ended when the last began, and that */
    run_go();
    run_ends(&run, 0, "");
}
