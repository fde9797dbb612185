/* SPDX-License-Identifier: MIT */
/* enl is killed while its CCEs run under other programs: nothing may be left of any of them.
 *
 * What belongs to a run is known by a variable in its environment, which wrappers pass on; the end
 * of each process is seen through a pidfd. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run;
static char mark[64];

static bool is_marked(pid_t pid)
{
    static char environment[1 << 17];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t length = 0;
    ssize_t got;
    while ((got = read(fd, environment + length, sizeof environment - length)) > 0)
        length += (size_t)got;
    close(fd);
    return memmem(environment, length, mark, strlen(mark)) != NULL;
}

/* A process of this run, not this one nor enl; 0 if there is none. Those that have ended have no
 * environment. */
static pid_t any_left(void)
{
    pid_t found = 0;
    DIR *entries = opendir("/proc");
    CHECK(entries != NULL);
    for (struct dirent *entry; found == 0 && (entry = readdir(entries)) != NULL;) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
        if (pid != 0 && pid != getpid() && pid != run.pid && is_marked(pid))
            found = pid;
    }
    closedir(entries);
    return found;
}

/* Nothing of the program's in the folder (which is TMPDIR too) but its log, nor in /dev/shm. */
static void check_files(void)
{
    DIR *entries = opendir(run_folder());
    CHECK(entries != NULL);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "tell") != 0 &&
            strcmp(entry->d_name, "go") != 0 && strncmp(entry->d_name, "own-", 4) != 0 &&
            strstr(entry->d_name, ".log") == NULL)
            FAIL("%s was left in %s", entry->d_name, run_folder());
    closedir(entries);
    entries = opendir("/dev/shm");
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;)
        if (strstr(entry->d_name, "bcr") != NULL)
            FAIL("/dev/shm/%s was left", entry->d_name);
    if (entries != NULL)
        closedir(entries);
}

static void mark_run(void)
{
    run_folder();
    snprintf(mark, sizeof mark, "SYS_MARK=%d-%s", (int)getpid(), strrchr(run_folder(), '-') + 1);
    putenv(mark);
    setenv("TMPDIR", run_folder(), 1);
    setenv("DEBUGINFOD_URLS", "", 1);
}

/* Waits until `count` CCEs are there, kills enl, and waits for the end of everything of the run. */
static void kill_and_look(int count)
{
    for (int seen = 0; seen < count;) {
        int ordinal, pid, group;
        seen += sscanf(run_told(), "%d %d %d", &ordinal, &pid, &group) == 3;
    }
    CHECK_INT(kill(run.pid, SIGKILL), 0);
    for (pid_t pid; (pid = any_left()) != 0;) {
        int watch = run_try_watch(pid);
        if (watch >= 0)
            run_gone(watch);
    }
    run_end(&run);
    check_files();
}

/* The root by these words, up to NULL. */
#define ROOT_UNDER(...)                          \
    do {                                         \
        mark_run();                              \
        run_start(&run, run_enl(), __VA_ARGS__); \
        kill_and_look(1);                        \
    } while (0)

/* Another CCE, by a script with this text, in which %s is the CCE's program. */
static void other_under(const char *format)
{
    char script[1024];
    mark_run();
    snprintf(script, sizeof script, format, run_cce());
    run_write_file("own-wrapper", script, strlen(script), 0700);
    setenv("SYS_CHILD", "tell spin", 1);
    run_start(&run, run_enl(), run_cce(), "tell", "enlist", "./own-wrapper", "1", "spin");
    kill_and_look(2);
}

/* Whether that tool can run a program of this build at all: it may not be installed, or be for
 * another machine. */
static void need(const char *tool, const char *command)
{
    static char line[1024], reason[128];
    snprintf(line, sizeof line, "%s %s 2>&1 | grep -qx plain", command, run_plain());
    snprintf(reason, sizeof reason, "%s is not installed, or cannot run programs of this build", tool);
    if (system(line) != 0) /* NOLINT: no words of anybody else */
        SKIP(reason);
}

static void need_gdb(void)
{
    need("gdb", "gdb --batch -nx -ex run");
}

static void need_valgrind(void)
{
    need("valgrind", "valgrind -q --vgdb=no");
}

/* The shell goes on when the CCE has been killed, which may be a moment before it is killed itself: so it starts nothing then, since that
 * would be left. */
TEST(nothing_is_left_of_a_root_under_a_shell)
{
    char command[512];
    snprintf(command, sizeof command, "%s tell spin; while :; do :; done", run_cce());
    ROOT_UNDER("/bin/sh", "-c", command);
}

TEST(nothing_is_left_of_a_root_under_env_nice_and_timeout)
{
    ROOT_UNDER("env", "nice", "timeout", "1000", run_cce(), "tell", "spin");
}

TEST(nothing_is_left_of_a_root_in_a_session_of_its_own)
{
    ROOT_UNDER("setsid", "--wait", run_cce(), "tell", "spin");
}

TEST_TIMEOUT(nothing_is_left_of_a_root_under_gdb, 120)
{
    need_gdb();
    ROOT_UNDER("gdb", "--batch", "-nx", "-ex", "run", "--args", run_cce(), "tell", "spin");
}

TEST_TIMEOUT(nothing_is_left_of_a_root_that_gdb_has_stopped, 120)
{
    int pair[2];
    need_gdb();
    CHECK_INT(pipe(pair), 0);
    dup2(pair[0], 0); /* gdb waits at its prompt */
    ROOT_UNDER("gdb", "-q", "-nx", "-ex", "handle SIGUSR1 stop nopass", "-ex", "run", "-ex",
               "shell echo 0 0 0 > $SYS_TELL", "--args", run_cce(), "kill", "10", "spin");
}

TEST_TIMEOUT(nothing_is_left_of_a_root_under_valgrind, 120)
{
    need_valgrind();
    /* Killed, it leaves its own pipes for gdb in TMPDIR, whatever it runs. */
    ROOT_UNDER("valgrind", "-q", "--vgdb=no", run_cce(), "tell", "spin");
}

TEST(nothing_is_left_of_an_enlisted_cce_under_a_shell)
{
    other_under("#!/bin/sh\n%s\nwhile :; do :; done\n");
}

TEST(nothing_is_left_of_an_enlisted_cce_that_its_shell_has_left_in_the_background)
{
    other_under("#!/bin/sh\n%s &\n");
}

TEST_TIMEOUT(nothing_is_left_of_an_enlisted_cce_under_gdb, 120)
{
    need_gdb();
    other_under("#!/bin/sh\nexec gdb --batch -nx -ex run %s\n");
}

TEST_TIMEOUT(nothing_is_left_of_an_enlisted_cce_under_gdb_under_a_shell, 120)
{
    need_gdb();
    other_under("#!/bin/sh\ngdb --batch -nx -ex run %s\n");
}

TEST_TIMEOUT(nothing_is_left_of_an_enlisted_cce_under_valgrind, 120)
{
    need_valgrind();
    other_under("#!/bin/sh\nexec valgrind -q --vgdb=no %s\n");
}
