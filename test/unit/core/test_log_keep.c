/* SPDX-License-Identifier: MIT */
/* Which old logs are removed (core/system/log_keep.c). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/log.h"
#include "check.h"
#include "scratch.h"

/* A log that was written in that second. */
static void make(const char *name, long second)
{
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    scratch_write(name, "2026-03-01T12:34:56.789Z info  h/1/- it runs\n", 0600);
    CHECK_INT(utimensat(AT_FDCWD, scratch_path(name), times, AT_SYMLINK_NOFOLLOW), 0);
}

static void check_there(const char *name, bool there)
{
    struct stat st;
    if ((lstat(scratch_path(name), &st) == 0) != there)
        FAIL("%s is %s", name, there ? "gone" : "still there");
}

/* What is in front of .PID or .PID-N; 0: the name does not end so. */
TEST(a_process_at_the_end_of_a_name_is_found)
{
    static const struct {
        const char *name;
        size_t length;
    } names[] = {{"web.1", 3}, {"web.1-2", 3}, {"10.0.0.12", 6}, {"a.b.3-44", 3}, {"web", 0},
                 {"web1", 0},  {"web-1", 0},   {"web.1-2-3", 0}, {"web.-2", 0},   {"web.1-", 0},
                 {"web.", 0},  {"web_1", 0},   {"web_1-2", 0},   {".1", 0},       {"1", 0},
                 {"1-2", 0},   {"", 0}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (bcri_log_without_pid(names[i].name, strlen(names[i].name)) != names[i].length)
            FAIL("%s", names[i].name);
}

/* Locks it as the daemon does whose log it is. */
static int run_program(const char *name)
{
    const int fd = open(scratch_path(name), O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
    return fd;
}

TEST(those_written_last_stay)
{
    make("bcr.h.1.log", 100);
    make("bcr.h.2.log", 400);
    make("bcr.h.3.log", 200);
    make("bcr.h.4.log", 300);
    bcri_log_keep(scratch(), 4);
    for (int i = 1; i <= 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "bcr.h.%d.log", i);
        check_there(name, true);
    }
    bcri_log_keep(scratch(), 2);
    check_there("bcr.h.1.log", false);
    check_there("bcr.h.2.log", true);
    check_there("bcr.h.3.log", false);
    check_there("bcr.h.4.log", true);
    bcri_log_keep(scratch(), 0);
    check_there("bcr.h.2.log", false);
    check_there("bcr.h.4.log", false);
}

TEST(all_files_of_a_program_count_as_one_and_go_together)
{
    make("bcr.h.1.log", 100);
    make("bcr.h.1.log.old", 50);
    make("bcr.h.1.1.log", 300); /* the newest of them tells how old the program is */
    make("bcr.h.1.2.log.old", 60);
    make("bcr.h.2.log", 200);
    make("bcr.h.2.1.log", 150);
    make("bcr.named.log", 250);
    make("bcr.named.1.log", 90);
    bcri_log_keep(scratch(), 2);
    check_there("bcr.h.1.log", true);
    check_there("bcr.h.1.log.old", true);
    check_there("bcr.h.1.1.log", true);
    check_there("bcr.h.1.2.log.old", true);
    check_there("bcr.h.2.log", false);
    check_there("bcr.h.2.1.log", false);
    check_there("bcr.named.log", true);
    check_there("bcr.named.1.log", true);
    bcri_log_keep(scratch(), 1);
    check_there("bcr.named.log", false);
    check_there("bcr.named.1.log", false);
    check_there("bcr.h.1.2.log.old", true);
}

TEST(daemons_whose_root_is_on_another_machine_are_one_program)
{
    make("bcr.other.7.1.log", 100);
    make("bcr.other.7.2.log", 300);
    make("bcr.other.1-2.1.log", 310);
    make("bcr.other.1-2.2.log", 20);
    make("bcr.other.8.1.log", 200);
    make("bcr.here.7.log", 250);
    make("bcr.here.8.log", 220);
    bcri_log_keep(scratch(), 3);
    check_there("bcr.other.1-2.2.log", true);
    check_there("bcr.other.7.1.log", true);
    check_there("bcr.other.7.2.log", true);
    check_there("bcr.here.7.log", true);
    check_there("bcr.here.8.log", false);
    check_there("bcr.other.8.1.log", false);
}

TEST(programs_that_run_stay_and_are_not_counted)
{
    make("bcr.h.1.log", 100);
    make("bcr.h.2.log", 200);
    make("bcr.h.2.1.log", 200);
    make("bcr.h.3.log", 300);
    make("bcr.h.4.log", 400);
    const int one = run_program("bcr.h.1.log"), daemon = run_program("bcr.h.2.1.log");
    bcri_log_keep(scratch(), 1);
    check_there("bcr.h.1.log", true);
    check_there("bcr.h.2.log", true);
    check_there("bcr.h.2.1.log", true);
    check_there("bcr.h.3.log", false);
    check_there("bcr.h.4.log", true);
    close(one);
    close(daemon);
    bcri_log_keep(scratch(), 1);
    check_there("bcr.h.1.log", false);
    check_there("bcr.h.2.1.log", false);
    check_there("bcr.h.4.log", true);
}

TEST(those_that_others_look_at_meanwhile_are_removed_but_not_those_that_they_rename)
{
    make("bcr.h.1.log", 1);
    const int one = open(scratch_path("bcr.h.1.log"), O_RDONLY | O_CLOEXEC);
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    CHECK(one >= 0 && flock(one, LOCK_SH | LOCK_NB) == 0);
    CHECK_INT(fcntl(one, F_OFD_SETLK, &whole), 0);
    bcri_log_keep(scratch(), 0);
    check_there("bcr.h.1.log", true);
    whole.l_type = F_UNLCK;
    CHECK_INT(fcntl(one, F_OFD_SETLK, &whole), 0);
    bcri_log_keep(scratch(), 0);
    check_there("bcr.h.1.log", false);
    close(one);
}

TEST(what_is_no_log_of_this_user_stays)
{
    make("bcr.h.1.logs", 1);
    make("bcr..log", 1);
    make("bcr.log", 1);
    make("xbcr.h.1.log", 1);
    make("bcr.h.1.gdb", 1);
    make("elsewhere", 1);
    CHECK_INT(mkdir(scratch_path("bcr.h.2.log"), 0700), 0);
    CHECK_INT(mkfifo(scratch_path("bcr.h.3.log"), 0600), 0);
    CHECK_INT(symlink("elsewhere", scratch_path("bcr.h.4.log")), 0);
    bcri_log_keep(scratch(), 0);
    check_there("bcr.h.1.logs", true);
    check_there("bcr..log", true);
    check_there("bcr.log", true);
    check_there("xbcr.h.1.log", true);
    check_there("bcr.h.1.gdb", true);
    check_there("elsewhere", true);
    check_there("bcr.h.2.log", true);
    check_there("bcr.h.3.log", true);
    check_there("bcr.h.4.log", true);
}

TEST(a_file_that_no_daemon_wrote_stays_and_is_not_counted)
{
    static const char *const texts[] = {"cc -c a.c\n",
                                        "\n",
                                        "2026-03-01 12:34:56 made\n",
                                        "2026-03-01T12:34:56.789Z step 1\n",
                                        "2026-03-01T12:34:56.789Z information\n",
                                        "2026-03-01T12:34:56.789Z\n"};
    enum { TEXTS = sizeof texts / sizeof texts[0] };
    char name[32];
    for (int i = 0; i < TEXTS; i++) {
        snprintf(name, sizeof name, "bcr.made%d.log", i);
        scratch_write(name, texts[i], 0600);
    }
    make("bcr.h.1.log", 100);
    make("bcr.h.2.log", 200);
    bcri_log_keep(scratch(), 1);
    check_there("bcr.h.1.log", false);
    check_there("bcr.h.2.log", true);
    bcri_log_keep(scratch(), 0);
    for (int i = 0; i < TEXTS; i++) {
        snprintf(name, sizeof name, "bcr.made%d.log", i);
        check_there(name, true);
    }
}

TEST(a_log_of_any_level_and_one_in_which_a_daemon_wrote_nothing_or_half_a_line_is_removed)
{
    static const char *const texts[] = {"", "2026-03-0", "2026-03-01T12:34:56.789Z warn  h/1/2 \n",
                                        "2026-03-01T12:34:56.789Z error h/1/- x\n",
                                        "2026-03-01T12:34:56.789Z debug h/1/- x\n"};
    enum { TEXTS = sizeof texts / sizeof texts[0] };
    char name[32];
    for (int i = 0; i < TEXTS; i++) {
        snprintf(name, sizeof name, "bcr.h.%d.log", i);
        scratch_write(name, texts[i], 0600);
    }
    bcri_log_keep(scratch(), 0);
    for (int i = 0; i < TEXTS; i++) {
        snprintf(name, sizeof name, "bcr.h.%d.log", i);
        check_there(name, false);
    }
}

TEST(a_directory_that_is_not_there_or_cannot_be_read_is_nothing)
{
    bcri_log_keep(scratch_path("missing"), 0);
    make("bcr.h.1.log", 1);
    bcri_log_keep(scratch_path("bcr.h.1.log"), 0);
    check_there("bcr.h.1.log", true);
}

/* Opens its log, removes all that have ended, and looks whether its own is still there under its name. */
static int start_and_clean(int number)
{
    char name[32], file[64], error[512];
    const struct bcri_log_who me = {.host = "h", .pid = getpid(), .cce = 0};
    struct bcri_log log;
    struct stat own, there;
    snprintf(name, sizeof name, "h.%d", number);
    snprintf(file, sizeof file, "bcr.h.%d.log", number);
    for (int round = 0; round < 200; round++) {
        if (bcri_log_open(&log, scratch(), name, BCRI_LOG_INFO, &me, error, sizeof error) != 0)
            return 2;
        bcri_log_keep(scratch(), 0);
        if (fstat(log.fd, &own) != 0 || lstat(scratch_path(file), &there) != 0 || own.st_ino != there.st_ino)
            return 3;
        bcri_log_close(&log);
    }
    return 0;
}

TEST(programs_that_start_at_the_same_time_keep_their_own_logs)
{
    enum { PROGRAMS = 6 };
    pid_t pids[PROGRAMS];
    (void)scratch();
    for (int i = 0; i < PROGRAMS; i++) {
        pids[i] = fork();
        CHECK(pids[i] >= 0);
        if (pids[i] == 0)
            _exit(start_and_clean(1 + i));
    }
    for (int i = 0; i < PROGRAMS; i++) {
        int status;
        CHECK_INT(waitpid(pids[i], &status, 0), pids[i]);
        CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : 99, 0);
    }
}
