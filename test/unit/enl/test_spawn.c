/* SPDX-License-Identifier: MIT */
/* Finding programs, and starting them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/object.h"
#include "base/spawn.h"
#include "check.h"

extern char **environ;

static char folder[64], bin[sizeof folder + sizeof "/bin"];

static void in_new_folder(void)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    CHECK_INT(chdir(folder), 0);
    snprintf(bin, sizeof bin, "%s/bin", folder);
}

static void make_file(const char *name, const void *bytes, size_t length, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, bytes, length), (ssize_t)length);
    CHECK_INT(fchmod(fd, mode), 0);
    close(fd);
}

static int find(const char *name, const char *expect)
{
    char path[PATH_MAX] = "", error[512] = "";
    int status = enl_object_find(name, path, error, sizeof error);
    const char *got = status == 0 ? path : error;
    if (strstr(got, expect) == NULL)
        FAIL("%s: wanted \"%s\", got \"%s\"", name, expect, got);
    return status;
}

TEST(a_program_is_found_here_before_on_path)
{
    in_new_folder();
    CHECK_INT(mkdir("bin", 0700), 0);
    CHECK_INT(setenv("PATH", bin, 1), 0);
    make_file("bin/sh", "#!/bin/true\n", 12, 0700);
    CHECK_INT(find("sh", bin), 0);
    make_file("sh", "#!/bin/true\n", 12, 0700);
    char here[sizeof folder + sizeof "/sh"];
    snprintf(here, sizeof here, "%s/sh", folder);
    CHECK_INT(find("sh", here), 0);
    CHECK_INT(find("./sh", folder), 0);
}

static void find_in(const char *folders, const char *name, const char *expect)
{
    char path[PATH_MAX] = "", error[512] = "";
    const int status = enl_object_find_in(folders, folder, name, path, error, sizeof error);
    if (strcmp(status == 0 ? path : error, expect) != 0)
        FAIL("%s in %s: wanted \"%s\", got \"%s\"", name, folders, expect, status == 0 ? path : error);
}

TEST(a_hosts_folders_come_first_by_the_last_component_of_the_name)
{
    char here[PATH_MAX], both[2 * PATH_MAX];
    in_new_folder();
    CHECK_INT(mkdir("bin", 0700), 0);
    make_file("bin/sh", "#!/bin/true\n", 12, 0600);
    snprintf(both, sizeof both, "/nowhere:%s", bin);
    find_in(both, "/bin/sh", "/bin/sh"); /* it is not executable */
    make_file("bin/sh", "#!/bin/true\n", 12, 0700);
    snprintf(here, sizeof here, "%s/sh", bin);
    find_in(both, "sh", here);
    find_in(both, "/there/is/no/such/sh", here);
    find_in("/bin:~/bin", "/there/is/no/such/sh", "/bin/sh");
    find_in("~/bin:/bin", "/there/is/no/such/sh", here);
    find_in("~/bin", "/bin/cat", "/bin/cat");
    find_in("~/bin", "/bin/", "/bin/ (/bin/) is not a program but a directory");
    find_in("~/bin:/no", "no-such",
            "there is no program no-such in the working directory or on PATH; nor is there a program "
            "no-such in ~/bin:/no");
    find_in("~/bin", "/no/such",
            "there is no program /no/such; check the path; nor is there a program such in ~/bin");
    find_in("", "no-such", "there is no program no-such in the working directory or on PATH");
}

TEST(a_directory_on_path_is_no_program)
{
    char path[2 * sizeof folder + sizeof bin];
    in_new_folder();
    CHECK_INT(mkdir("bin", 0700), 0);
    CHECK_INT(mkdir("bin/sh", 0700), 0);
    CHECK_INT(mkdir("other", 0700), 0);
    make_file("other/sh", "#!/bin/true\n", 12, 0700);
    snprintf(path, sizeof path, "%s:%s/other", bin, folder);
    CHECK_INT(setenv("PATH", path, 1), 0);
    CHECK_INT(find("sh", "/other/sh"), 0);
    CHECK_INT(unlink("other/sh"), 0);
    CHECK_INT(find("sh", "in the working directory or on PATH"), 127);
    CHECK_INT(rmdir("other"), 0);
    CHECK_INT(rmdir("bin/sh"), 0);
}

TEST(a_missing_program_gives_127_and_others_126)
{
    in_new_folder();
    CHECK_INT(find("no-such-program", "in the working directory or on PATH"), 127);
    CHECK_INT(find("/no/such/program", "check the path"), 127);
    CHECK_INT(find("", "cannot be empty"), 127);
    CHECK_INT(find("/tmp", "directory"), 126);
    make_file("plain", "x", 1, 0600);
    CHECK_INT(find("./plain", "chmod +x"), 126);
}

TEST(a_program_of_another_architecture_is_refused_with_both_names)
{
    unsigned char head[64] = {0};
    in_new_folder();
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CHECK_INT(read(fd, head, sizeof head), sizeof head);
    close(fd);
    make_file("same", head, sizeof head, 0700);
    CHECK_INT(find("./same", folder), 0);
    head[18] = 22; /* e_machine: s390 */
    head[19] = 0;
    make_file("other", head, sizeof head, 0700);
    CHECK_INT(find("./other", "s390"), 126);
    head[4] = head[4] == 1 ? 2 : 1;
    make_file("bits", head, sizeof head, 0700);
    CHECK_INT(find("./bits", "built for"), 126);
}

TEST(a_program_of_the_machine_is_found_by_an_enl_of_any_kind)
{
    CHECK_INT(find("/bin/sh", "/bin/sh"), 0);
}

static struct enl_inherited inherited;

static pid_t start_as(const char *program, char *const *argv, bool no_core_file, const char **step)
{
    getrlimit(RLIMIT_NOFILE, &inherited.files);
    struct enl_spawn spawn = {.path = program,
                              .argv = argv,
                              .environment = environ,
                              .in = -1,
                              .out = -1,
                              .err = -1,
                              .keep = -1,
                              .core = -1,
                              .own_group = true,
                              .no_core_file = no_core_file,
                              .inherited = &inherited};
    return enl_spawn(&spawn, step);
}

static pid_t start(const char *program, char *const *argv, const char **step)
{
    return start_as(program, argv, false, step);
}

TEST(a_started_program_runs_in_a_group_of_its_own)
{
    char *argv[] = {(char *)"sleep", (char *)"100", NULL};
    const char *step;
    pid_t pid = start("/bin/sleep", argv, &step);
    CHECK(pid > 0);
    CHECK_INT(getpgid(pid), pid);
    CHECK_INT(kill(-pid, SIGKILL), 0);
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(WTERMSIG(status), SIGKILL);
}

TEST(a_program_through_which_secrets_go_leaves_no_core_file)
{
    struct rlimit own, limit;
    CHECK_INT(getrlimit(RLIMIT_CORE, &own), 0);
    for (int without = 0; without < 2; without++) {
        char *argv[] = {(char *)"sleep", (char *)"100", NULL};
        const char *step;
        const pid_t pid = start_as("/bin/sleep", argv, without, &step);
        CHECK(pid > 0);
        CHECK_INT(prlimit(pid, RLIMIT_CORE, NULL, &limit), 0);
        CHECK_UINT(limit.rlim_max, without ? 0 : own.rlim_max);
        CHECK_INT(kill(pid, SIGKILL), 0);
        CHECK_INT(waitpid(pid, NULL, 0), pid);
    }
}

TEST(a_program_that_cannot_be_executed_says_why_and_leaves_no_process)
{
    char *argv[] = {(char *)"none", NULL};
    const char *step = NULL;
    CHECK_INT(start("/no/such/program", argv, &step), -ENOENT);
    CHECK_STR(step, "be executed");
    in_new_folder();
    make_file("text", "just text\n", 10, 0700);
    CHECK_INT(start("./text", argv, &step), -ENOEXEC);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_INT(errno, ECHILD);
}

TEST(a_variable_is_taken_out_of_the_environment_or_put_in)
{
    char *const environment[] = {(char *)"A=1", (char *)"BCRI_SOCKET=9", (char *)"BCRI_SOCKETS=2", NULL};
    char **with = enl_environment_with(environment, "BCRI_SOCKET", "17");
    CHECK_STR(with[0], "A=1");
    CHECK_STR(with[1], "BCRI_SOCKETS=2");
    CHECK_STR(with[2], "BCRI_SOCKET=17");
    CHECK_PTR(with[3], NULL);
    char **without = enl_environment_with(environment, "BCRI_SOCKET", NULL);
    CHECK_STR(without[1], "BCRI_SOCKETS=2");
    CHECK_PTR(without[2], NULL);
    free(with);
    free(without);
}

TEST(added_variables_take_the_places_of_those_that_have_their_names)
{
    char *const environment[] = {(char *)"A=1",
                                 (char *)"AB=2",
                                 (char *)"BCRI_KEPT_LD_PRELOAD=kept",
                                 (char *)"C=3",
                                 (char *)"BCRI_KEPT_LD_AUDIT=kept too",
                                 NULL};
    char *const added[] = {(char *)"AB=", (char *)"LD_PRELOAD=mine", (char *)"D=4=5", (char *)"C", NULL};
    const char *const wanted[] = {"A=1", "C=3", "LD_AUDIT=kept too", "AB=", "LD_PRELOAD=mine", "D=4=5", "C"};
    char **joined = enl_environment_joined(environment, added);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        CHECK_STR(joined[i], wanted[i]);
    CHECK_PTR(joined[sizeof wanted / sizeof wanted[0]], NULL);
    CHECK_STR(environment[2], "BCRI_KEPT_LD_PRELOAD=kept"); /* that one stays as it is */
    free(joined);
    char *const none[] = {NULL};
    joined = enl_environment_joined(none, none);
    CHECK_PTR(joined[0], NULL);
    free(joined);
}

/* One of the lines of signals in /proc/PID/status: a bit for each signal, the lowest for signal 1. */
static uint64_t signals_of(pid_t pid, const char *line)
{
    char path[64], text[4096] = "";
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    CHECK(file != NULL);
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    CHECK(length != 0);
    const char *at = strstr(text, line);
    CHECK(at != NULL);
    return strtoull(at + strlen(line), NULL, 16);
}

static uint64_t bit_of(int signal)
{
    return UINT64_C(1) << (signal - 1);
}

/* How many descriptors it has that this process would not pass on. */
static int further_files_of(pid_t pid)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *files = opendir(path);
    CHECK(files != NULL);
    for (const struct dirent *entry; (entry = readdir(files)) != NULL;) {
        const int fd = atoi(entry->d_name);
        const int flags = fd > 2 ? fcntl(fd, F_GETFD) : 0;
        count += flags < 0 || (flags & FD_CLOEXEC) != 0;
    }
    closedir(files);
    return count;
}

/* Whoever has started the daemon ignored all signals and blocked them, SIGHUP perhaps. */
static void start_and_compare(bool many_descriptors)
{
    for (int hangup = 0; hangup < 2; hangup++) {
        sigset_t all;
        for (int signal = 1; signal <= SIGRTMAX; signal++) {
            const bool ignores =
                signal != SIGCHLD && (signal != SIGHUP || hangup != 0); /* waitpid needs SIGCHLD */
            (void)sigaction(signal, &(struct sigaction){.sa_handler = ignores ? SIG_IGN : SIG_DFL}, NULL);
        }
        sigfillset(&all);
        CHECK_INT(sigprocmask(SIG_SETMASK, &all, NULL), 0);
        getrlimit(RLIMIT_NOFILE, &inherited.files);

        char *argv[] = {(char *)"sleep", (char *)"100", NULL};
        const char *step = NULL;
        const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
        struct enl_spawn spawn = {.path = "/bin/sleep",
                                  .argv = argv,
                                  .environment = environ,
                                  .in = in,
                                  .out = -1,
                                  .err = -1,
                                  .keep = -1,
                                  .core = -1,
                                  .inherited = &inherited};
        int fds[300];
        for (int i = 0; many_descriptors && i < 300; i++)
            fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        const pid_t pid = enl_spawn(&spawn, &step);
        for (int i = 0; many_descriptors && i < 300; i++)
            close(fds[i]);
        CHECK(pid > 0);
        while (further_files_of(pid) != 0) /* while it looks for its libraries it has some */
            sched_yield();
        close(in);
        CHECK_UINT(signals_of(pid, "SigBlk:"), 0);
        CHECK_UINT(signals_of(pid, "SigCgt:"), 0);
        CHECK_UINT(signals_of(pid, "SigIgn:"), hangup != 0 ? bit_of(SIGHUP) : 0);
        CHECK_INT(kill(pid, SIGKILL), 0);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
}

TEST(a_started_program_blocks_and_ignores_no_signal_but_an_ignored_SIGHUP)
{
    start_and_compare(false);
}

/* The numbers that the daemon lends are taken when it starts the first one. */
TEST(a_program_started_by_a_daemon_of_many_descriptors_does_not_either)
{
    start_and_compare(false);
    start_and_compare(true);
}
