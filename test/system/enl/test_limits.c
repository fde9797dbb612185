/* SPDX-License-Identifier: MIT */
/* Limits of a job, and the ends of all that its processes have started: in a control group (cgroup v2), and without one. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

enum { ENDED = 128 + SIGKILL };

/* What enl says where the kernel limits memory: it gives no more. */
#define KERNELS "its processes on a need more than 60.0 MB of memory, and memorylimit is 60 MB\n"

static struct run run;

/* With two hosts. */
static const char *scrun(void)
{
    run_hosts("a local slots=2\nb local slots=2\n");
    return run_enl_as("bcr-scrun");
}

static bool are_in_group(void)
{
    run_start(&run, scrun(), "-nodes=1,message=quiet", "cat", "/proc/self/cgroup");
    run_end(&run);
    CHECK_INT(run.status, 0);
    return strstr(run.text, "/bcr-") != NULL;
}

/* Whether what follows is so on this machine. For jobs without a group what is mounted is hidden from them. */
static bool have(bool group)
{
    if (!group && run_groups()[0] != '\0' && are_in_group() &&
        (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
         mount("none", run_groups(), "tmpfs", MS_RDONLY, NULL) != 0)) {
        printf("  control groups cannot be hidden here: %s\n", strerror(errno));
        return false;
    }
    if (are_in_group() == group)
        return true;
    if (!group)
        FAIL("a job is in a control group that it cannot see");
    printf("  no control group can be made here\n");
    return false;
}

/* By one sentence. */
static void is_ended(const char *part)
{
    run_end(&run);
    if (run.status != ENDED || run_count_lines(run.error, "enl: ") != 1 || strstr(run.error, part) == NULL)
        FAIL("status %d, without \"%s\" alone: %s", run.status, part, run.error);
}

TEST_TIMEOUT(a_job_that_uses_more_than_it_may_is_ended_by_a_sentence, 200)
{
    run_folder();
    const char *const uses = getenv("SYS_USES");
    for (int group = 1; group >= 0; group--) {
        if (!have(group != 0))
            continue;
        run_start(&run, scrun(), "-nodes=4,cpulimit=2", uses, "spin");
        is_ended("enl: the job is ended: its processes have used ");
        CHECK(strstr(run.error, " s of them on ") != NULL &&
              strstr(run.error, ", and cpulimit is 2 s\n") != NULL);
        run_start(&run, scrun(), "-nodes=1,memorylimit=60", uses, "memory", "80");
        is_ended("enl: the job is ended: its processes on a need ");
        CHECK(strstr(run.error, " need 8") != NULL || strstr(run.error, KERNELS) != NULL);
        CHECK(strstr(run.error, " MB of memory, and memorylimit is 60 MB\n") != NULL);
        run_start(&run, scrun(), "-nodes=1,disklimit=3", "sh", "-c",
                  "dd if=/dev/zero of=$BCR_JOB_DIR/file bs=1M count=4 2>/dev/null; exec sleep 1000");
        is_ended("enl: the job is ended: its directory on a has 4.");
        CHECK(strstr(run.error, " MB, and disklimit is 3 MB\n") != NULL);
    }
}

/* Each of four processes uses a second. */
TEST_TIMEOUT(processors_are_counted_over_hosts_and_over_processes_that_have_ended, 200)
{
    run_folder();
    for (int group = 1; group >= 0; group--) {
        if (!have(group != 0))
            continue;
        run_start(&run, scrun(), "-nodes=2x1,cpulimit=3", getenv("SYS_USES"), "cpu", "1", "::", "sh", "-c",
                  "\"$SYS_USES\" cpu 1; exec sleep 1000");
        is_ended(" s of them on ");
        const char *figure = strstr(run.error, "have used ");
        CHECK(figure != NULL && strtod(figure + 10, NULL) >= 3);
    }
}

TEST_TIMEOUT(in_a_control_group_what_is_forked_off_counts, 200)
{
    run_folder();
    if (!have(true))
        return;
    run_start(&run, scrun(), "-nodes=1,cpulimit=1", getenv("SYS_USES"), "child", "spin");
    is_ended("cpulimit is 1 s");
    run_start(&run, scrun(), "-nodes=1,memorylimit=60", getenv("SYS_USES"), "child", "memory", "80");
    is_ended("memorylimit is 60 MB");
}

/* The limit of processors ends each job, after at least one look at the others: within the first second four seconds cannot be used by
 * two processes, nor two by one. */
TEST_TIMEOUT(what_is_shared_counts_once_and_a_link_leads_nowhere, 200)
{
    run_folder();
    run_script("linked",
               "#!/bin/sh\nmkdir -p far\ndd if=/dev/zero of=far/file bs=1M count=4 2>/dev/null\nln -s "
               "$PWD/far $PWD/far/file $BCR_JOB_DIR\nexec \"$SYS_USES\" spin\n");
    for (int group = 1; group >= 0; group--) {
        if (!have(group != 0))
            continue;
        run_start(&run, scrun(), "-nodes=1x2,cpulimit=4,memorylimit=60", getenv("SYS_USES"), "shared", "40",
                  run_in_folder("shared"));
        is_ended("cpulimit is 4 s");
        run_start(&run, scrun(), "-nodes=1,cpulimit=2,disklimit=3", run_in_folder("linked"));
        is_ended("cpulimit is 2 s");
    }
}

/* A member that leaves a process of another session; ` then` follows. */
static void write_member(const char *then)
{
    char text[1024];
    snprintf(text, sizeof text,
             "#!/bin/sh\nsetsid sleep 1000 &\necho $! $PPID $(sed -n s/^0:://p /proc/self/cgroup) "
             ">\"$SYS_TELL\"\ndd bs=1 count=1 <\"$SYS_GO\" >/dev/null 2>&1\n%s",
             then);
    run_script("member", text);
}

TEST_TIMEOUT(nothing_that_a_job_has_started_outlives_it, 200)
{
    run_folder();
    write_member("exit 3\n");
    for (int group = 1; group >= 0; group--) {
        if (!have(group != 0))
            continue;
        for (int i = 0; i < 2; i++) {
            int left[2];
            run_start(&run, scrun(), "-nodes=2x1,message=quiet", run_in_folder("member"));
            for (int k = 0; k < 2; k++)
                left[k] = run_watch((pid_t)strtol(run_told_by(&run), NULL, 10));
            if (i == 0) {
                run_go();
                run_go();
            } else {
                kill(run.pid, SIGTERM);
            }
            run_end(&run);
            CHECK_INT(run.status, i == 0 ? 3 : 128 + SIGTERM);
            for (int k = 0; k < 2; k++)
                run_gone(left[k]);
        }
    }
}

/* Without a group there would be nobody to end it. */
TEST_TIMEOUT(in_a_control_group_it_is_gone_also_when_a_daemon_is_killed, 200)
{
    run_folder();
    write_member("");
    if (!have(true))
        return;
    for (int i = 0; i < 2; i++) {
        char groups[2][4096], path[8192];
        int left[2];
        pid_t daemons[2];
        run_start(&run, scrun(), "-nodes=2x1,message=quiet", run_in_folder("member"));
        for (int k = 0; k < 2; k++) {
            char *at;
            left[k] = run_watch((pid_t)strtol(run_told_by(&run), &at, 10));
            daemons[k] = (pid_t)strtol(at, &at, 10);
            const char *const group = at + 1;
            snprintf(groups[k], sizeof groups[k], "%s%s", run_groups(), group);
            CHECK_INT(access(groups[k], F_OK), 0);
            snprintf(path, sizeof path, "/proc/%ld/cgroup", (long)daemons[k]);
            char text[4096];
            text[run_read_file(path, text, sizeof text - 1)] = '\0';
            CHECK(text[0] != '\0' && strstr(text, group) == NULL); /* the daemon is outside */
        }
        kill(i == 0 ? run.pid : daemons[0], SIGKILL);
        if (i == 1)
            kill(daemons[1], SIGKILL);
        for (int k = 0; k < 2; k++)
            run_gone(left[k]);
        run_end(&run);
        run_groups_gone(run.pid);
        for (int k = 0; k < 2; k++)
            CHECK(access(groups[k], F_OK) != 0);
    }
}
