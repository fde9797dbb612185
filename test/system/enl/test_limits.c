/* SPDX-License-Identifier: MIT */
/* Limits of a job, and the ends of all that its processes have started: in a control group (cgroup v2), and without one. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
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
        if (strstr(run.error, KERNELS) == NULL && strtod(strstr(run.error, " need ") + 6, NULL) < 60)
            FAIL("it needs more: %s", run.error);
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

/* ---- the kernel's limit ---- */

static char group[4096]; /* a group with the memory controller, below the one at the top */
static bool root_gave;

static bool write_to(const char *folder, const char *name, const char *text)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "we");
    const bool is_written = file != NULL && fputs(text, file) >= 0;
    return (file != NULL && fclose(file) == 0) && is_written;
}

/* Or the test is skipped. */
static void need_memory(const char *kind)
{
    char path[8192], given[1024];
    if (run_groups()[0] == '\0')
        SKIP("cgroup v2 is not mounted here");
    snprintf(path, sizeof path, "%s/cgroup.subtree_control", run_groups());
    if (access(path, R_OK | W_OK) != 0)
        SKIP("only root may limit memory by groups below the one at the top");
    given[run_read_file(path, given, sizeof given - 1)] = '\0';
    root_gave = strstr(given, "memory") != NULL;
    if (!write_to(run_groups(), "cgroup.subtree_control", "+memory"))
        SKIP("cgroup v2 has no memory controller here");
    snprintf(group, sizeof group, "%s/bcr-test-%d%s", run_groups(), (int)getpid(), kind);
    CHECK_INT(mkdir(group, 0700), 0);
    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    setenv("TEST_PROCS", path, 1);
}

/* Nothing that enl has made is left in it. Keepers of killed daemons may be at work. */
static void remove_group(bool are_killed)
{
    while (rmdir(group) != 0) {
        if (!are_killed)
            FAIL("there is something left in %s: %s", group, strerror(errno));
        poll(NULL, 0, 10);
    }
    if (!root_gave)
        (void)write_to(run_groups(), "cgroup.subtree_control", "-memory");
}

/* Starts bcr-scrun in the group: alone, or as the shell's child, which is in it too. */
#define run_in_group(alone, ...)                                         \
    run_start(&run, "sh", "-c",                                          \
              (alone) ? "echo 0 >$TEST_PROCS && exec \"$0\" \"$@\""      \
                      : "echo 0 >$TEST_PROCS && \"$0\" \"$@\"; exit $?", \
              scrun(), __VA_ARGS__)

/* And, of systemd's units, where that is delegated. */
TEST_TIMEOUT(the_kernel_limits_memory_where_only_enl_is_in_its_group, 200)
{
    static const struct {
        const char *kind;
        bool alone, is_delegated, by_kernel;
    } cases[] = {{"", true, false, true},
                 {"", false, false, false},
                 {".scope", true, false, false},
                 {".scope", true, true, true}};
    run_folder();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        need_memory(cases[i].kind);
        if (cases[i].is_delegated)
            CHECK_INT(setxattr(group, "trusted.delegate", "1", 1, 0), 0);
        run_in_group(cases[i].alone, "-nodes=2x1,memorylimit=60", "true", "::", getenv("SYS_USES"), "child",
                     "memory", "80");
        is_ended(cases[i].by_kernel ? " need more than 60.0 MB of memory, and memorylimit is 60 MB\n"
                                    : " need ");
        CHECK_INT(strstr(run.error, "more than") != NULL, cases[i].by_kernel);
        remove_group(false);
    }
}

TEST_TIMEOUT(groups_of_daemons_go_also_when_these_are_killed, 200)
{
    run_folder();
    write_member("");
    need_memory("");
    char path[8192];
    int left[2];
    pid_t daemons[2];
    run_in_group(true, "-nodes=2x1,memorylimit=60,message=quiet", run_in_folder("member"));
    for (int k = 0; k < 2; k++) {
        char *at;
        left[k] = run_watch((pid_t)strtol(run_told_by(&run), &at, 10));
        daemons[k] = (pid_t)strtol(at, &at, 10);
    }
    snprintf(path, sizeof path, "%s/bcr-daemons", group);
    CHECK_INT(access(path, F_OK), 0);
    for (int k = 0; k < 2; k++)
        kill(daemons[k], SIGKILL);
    kill(run.pid, SIGKILL);
    for (int k = 0; k < 2; k++)
        run_gone(left[k]);
    run_end(&run);
    remove_group(true);
}

TEST_TIMEOUT(memory_is_limited_also_when_the_controller_is_taken_away, 200)
{
    run_folder();
    write_member("exec \"$SYS_USES\" memory 80\n");
    need_memory("");
    run_in_group(true, "-nodes=1,memorylimit=60", run_in_folder("member"));
    (void)run_told_by(&run);
    CHECK(write_to(group, "cgroup.subtree_control", "-memory"));
    run_go();
    is_ended("its processes on a need ");
    CHECK(strstr(run.error, "more than") == NULL);
    remove_group(false);
}

TEST_TIMEOUT(what_the_kernel_kills_for_a_group_above_is_not_said_to_be_the_jobs_limit, 200)
{
    run_folder();
    need_memory("");
    CHECK(write_to(group, "memory.max", "120M"));
    (void)write_to(group, "memory.swap.max", "0");
    run_in_group(true, "-nodes=1,memorylimit=400", getenv("SYS_USES"), "memory", "300");
    run_end(&run);
    CHECK_INT(run.status, ENDED);
    CHECK(strstr(run.error, "was killed by signal 9") != NULL && strstr(run.error, "memorylimit") == NULL);
    remove_group(false);
}
