/* SPDX-License-Identifier: MIT */
/* Finding programs, and starting them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "object.h"
#include "spawn.h"

extern char **environ;

static char folder[] = "/tmp/bcr-test-XXXXXX";
static char bin[sizeof folder + sizeof "/bin"];

static void in_new_folder(void)
{
    CHECK(mkdtemp(folder) != NULL);
    CHECK_INT(chdir(folder), 0);
    snprintf(bin, sizeof bin, "%s/bin", folder);
}

static void remove_folder(void)
{
    static const char *const names[] = {"bin/sh", "sh", "plain", "same", "other", "bits", "text"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(names[i]);
    rmdir("bin");
    CHECK_INT(rmdir(folder), 0);
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
    remove_folder();
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
    remove_folder();
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
    remove_folder();
}

TEST(a_program_of_the_machine_is_found_by_an_enl_of_any_kind)
{
    CHECK_INT(find("/bin/sh", "/bin/sh"), 0);
}

static struct enl_inherited inherited;

static pid_t start(const char *program, char *const *argv, const char **step)
{
    enl_inherited_take(&inherited);
    struct enl_spawn spawn = {.path = program,
                              .argv = argv,
                              .environment = environ,
                              .in = -1,
                              .out = -1,
                              .err = -1,
                              .keep = -1,
                              .core = -1,
                              .own_group = true,
                              .inherited = &inherited};
    return enl_spawn(&spawn, step);
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
    remove_folder();
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
