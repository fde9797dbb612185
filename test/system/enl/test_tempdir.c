/* SPDX-License-Identifier: MIT */
/* bcr_tempdir: one directory for each host of a program, this user's alone, and gone with the program however that ends. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr/program.h>

#include "check.h"
#include "run.h"

enum { CCES = 3 };

static struct run run;
static char paths[CCES][PATH_MAX];

/* The CCEs that make it, and then wait for the test. */
static void start(const char *hosts, const char *last, const char *value)
{
    run_folder();
    setenv("SYS_CHILD", "tempdir pause", 1);
    run_start(&run, run_enl(), "--local", hosts, run_cce(), "enlist", run_cce(), "1", "at",
              hosts[0] == '1' ? "localhost" : "local1", "from", "2", "enlist", run_cce(), "1", "tempdir",
              "wait", last, value);
    for (int told = 0; told < CCES;) {
        int ordinal, code;
        char path[PATH_MAX];
        if (sscanf(run_told_by(&run), "tempdir %d %d %4095s", &ordinal, &code, path) != 3)
            continue;
        CHECK_INT(code, 0);
        strcpy(paths[ordinal], path);
        told++;
    }
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* A keeper may be at work yet: it is waited for, at most as long as the test may take. */
static void are_gone_soon(void)
{
    for (int i = 0; i < CCES; i++)
        while (is_there(paths[i]))
            poll(NULL, 0, 10);
}

static void are_private(bool one_host)
{
    struct stat status;
    for (int i = 0; i < CCES; i++) {
        CHECK_INT(stat(paths[i], &status), 0);
        CHECK_UINT(status.st_mode & 07777, 0700);
        CHECK_UINT(status.st_uid, geteuid());
        CHECK_INT(strncmp(paths[i], run_folder(), strlen(run_folder())), 0);
    }
    CHECK_STR(paths[0], paths[1]);
    CHECK_INT(strcmp(paths[0], paths[2]) == 0, one_host);
}

/* The process that is to remove it; 0: there is none. */
static pid_t keeper_of(const char *path)
{
    pid_t found = 0;
    DIR *const folder = opendir("/proc");
    CHECK(folder != NULL);
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char name[300], line[PATH_MAX + 64] = "";
        snprintf(name, sizeof name, "/proc/%s/cmdline", entry->d_name);
        FILE *file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(name, "re") : NULL;
        const size_t length = file != NULL ? fread(line, 1, sizeof line - 1, file) : 0;
        if (file != NULL)
            fclose(file);
        const char *const word = length > 4 ? line + strlen(line) + 1 : "";
        if (strcmp(word, "--keep-tempdir") == 0 && strcmp(word + strlen(word) + 1, path) == 0)
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(folder);
    return found;
}

TEST_TIMEOUT(it_is_gone_when_enl_has_ended_whatever_its_status, 300)
{
    static const char *const ways[] = {"0", "3"};
    for (int hosts = 1; hosts <= 2; hosts++)
        for (int i = 0; i < 2; i++) {
            start(hosts == 1 ? "1" : "2", "exit", ways[i]);
            are_private(hosts == 1);
            if (i == 0) {
                kill(run.pid, SIGTERM);
                run_end(&run);
                CHECK_INT(run.status, 128 + SIGTERM);
            } else {
                run_go();
                run_ends(&run, 3, "exited with status 3");
            }
            for (int k = 0; k < CCES; k++)
                CHECK(!is_there(paths[k]));
        }
}

TEST_TIMEOUT(it_is_gone_after_a_normal_end, 300)
{
    run_folder();
    run_start(&run, run_enl(), run_cce(), "tempdir", "wait");
    CHECK_INT(sscanf(run_told_by(&run), "tempdir 0 0 %4095s", paths[0]), 1);
    CHECK(is_there(paths[0]));
    run_go();
    run_ends(&run, 0, "");
    CHECK(!is_there(paths[0]));
}

TEST_TIMEOUT(it_is_gone_soon_if_enl_is_killed, 300)
{
    for (int hosts = 1; hosts <= 2; hosts++) {
        start(hosts == 1 ? "1" : "2", "exit", "0");
        are_private(hosts == 1);
        CHECK_INT(kill(run.pid, SIGKILL), 0);
        are_gone_soon();
        run_end(&run);
    }
}

TEST_TIMEOUT(another_keeper_takes_the_place_of_one_that_is_killed, 300)
{
    start("1", "exit", "0");
    const pid_t first = keeper_of(paths[0]);
    CHECK(first > 0);
    CHECK_INT(kill(first, SIGKILL), 0);
    pid_t second;
    while ((second = keeper_of(paths[0])) == 0 || second == first)
        poll(NULL, 0, 10);
    are_private(true);
    CHECK_INT(kill(run.pid, SIGKILL), 0);
    are_gone_soon();
    run_end(&run);
}

static int code_in(const char *tempdir)
{
    int code = -1;
    setenv("BCR_TEMPDIR", tempdir, 1);
    setenv("BCR_LOG", "none", 1);
    run_start(&run, run_enl(), run_cce(), "tempdir");
    CHECK_INT(sscanf(run_told_by(&run), "tempdir 0 %d", &code), 1);
    run_end(&run);
    return code;
}

TEST_TIMEOUT(where_no_directory_can_be_made_the_code_says_why, 300)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/none", run_folder());
    CHECK_INT(code_in(path), bcrE_NODIR);
    FILE *file = fopen("file", "w");
    CHECK(file != NULL);
    fclose(file);
    snprintf(path, sizeof path, "%s/file", run_folder());
    CHECK_INT(code_in(path), bcrE_NODIR);
    CHECK_INT(mkdir("full", 0700), 0);
    snprintf(path, sizeof path, "%s/full", run_folder());
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", path, "tmpfs", 0, "nr_inodes=1") != 0) {
        printf("  a full disk cannot be made here: %s\n", strerror(errno));
        return;
    }
    CHECK_INT(code_in(path), bcrE_NOMEM);
}
