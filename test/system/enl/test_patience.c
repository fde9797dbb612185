/* SPDX-License-Identifier: MIT */
/* How long daemons wait for each other: for one that has answered while they stood still, and for one that is still
 * starting when the program ends. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run;

/* How many bytes there are to read in the pipes of that process. The kernel opens such a pipe once more. */
static int unread_of(pid_t pid)
{
    char path[64];
    int all = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    CHECK(folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char link[64] = "";
        int bytes = 0;
        if (readlinkat(dirfd(folder), entry->d_name, link, sizeof link - 1) <= 0 ||
            strncmp(link, "pipe:", 5) != 0 || atoi(entry->d_name) <= 2)
            continue;
        const int fd = openat(dirfd(folder), entry->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && ioctl(fd, FIONREAD, &bytes) == 0)
            all += bytes;
        close(fd);
    }
    closedir(folder);
    return all;
}

/* While the root's daemon stands still, the host answers, and the time for that runs out: what has come is read
 * before anything is said about it. */
TEST(a_daemon_that_stood_still_reads_what_has_come_before_it_gives_a_host_up)
{
    static const char script[] =
        "#!/bin/sh\necho starting $$ >\"$SYS_TELL\"\nhead -c 1 <\"$SYS_GO\" >/dev/null\n"
        "exec \"$BCR_ENL\" --child\n";
    enum { CONNECT_SECONDS = 4 };
    int pid = 0;
    run_script("starter", script);
    run_write_file("machines", "far\n", 4, 0600);
    setenv("BCR_RSHPATH", run_in_folder("starter"), 1);
    setenv("BCR_CONNECTTIMEOUT", "4000", 1);
    setenv("SYS_CHILD", "pause", 1);
    run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", "far", "enlist", run_cce(), "1",
              "exit", "3");
    CHECK_INT(sscanf(run_told_by(&run), "starting %d", &pid), 1);
    CHECK_INT(kill(run.pid, SIGSTOP), 0);
    run_wait_for_state(run.pid, 'T', true);
    run_go();
    while (unread_of(run.pid) == 0)
        sched_yield();
    sleep(CONNECT_SECONDS + 1); /* the time passes while it is stopped: that is the case */
    CHECK_INT(kill(run.pid, SIGCONT), 0);
    const bool good = strcmp(run_told_by(&run), "enlist 0 0") == 0;
    run_end(&run);
    if (!good)
        FAIL("the host was not used: %s", run.error);
    CHECK_INT(run.status, 3);
}

TEST(a_host_that_is_still_starting_is_given_up_when_the_program_is_ended)
{
    static const char script[] = "#!/bin/sh\necho starting $$ >\"$SYS_TELL\"\nexec sleep 1000000\n";
    int pid = 0;
    run_script("starter", script);
    run_write_file("machines", "far\n", 4, 0600);
    setenv("BCR_RSHPATH", run_in_folder("starter"), 1);
    setenv("BCR_CONNECTTIMEOUT", "1000000", 1);
    run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", "far", "enlist", run_cce(), "1",
              "wait");
    CHECK_INT(sscanf(run_told_by(&run), "starting %d", &pid), 1);
    const int starter = run_watch(pid);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGTERM);
    run_gone(starter);
}
