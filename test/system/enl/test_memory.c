/* SPDX-License-Identifier: MIT */
/* A program in a control group with little memory: what does not fit is refused where it is asked
 * for, and no process is killed for it later. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr.h>

#include "check.h"
#include "run.h"

static struct run run;
static char group[PATH_MAX];

static bool write_to(const char *name, const char *text)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", group, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return written;
}

/* This process's group of the memory controller, as /proc/self/cgroup has it: `begin` is what its
 * line begins with, or has in it. "" if there is none. */
static void own_group(const char *begin, char *out, size_t capacity)
{
    char line[PATH_MAX];
    FILE *file = fopen("/proc/self/cgroup", "re");
    out[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *at = strstr(line, begin);
        if (at != NULL)
            snprintf(out, capacity, "%s", strrchr(line, ':') + 1);
    }
    if (file != NULL)
        fclose(file);
}

static bool make_group(const char *mount, const char *own, const char *limit, const char *bytes)
{
    snprintf(group, sizeof group, "%s%s/bcr-test-%d", mount, strcmp(own, "/") == 0 ? "" : own, (int)getpid());
    if (mkdir(group, 0700) != 0)
        return false;
    if (write_to(limit, bytes))
        return true;
    rmdir(group);
    return false;
}

/* A group with 64 MiB, of the unified hierarchy or the older one, or the test is skipped. */
static void need_group(void)
{
    char own[PATH_MAX / 2];
    own_group("0::", own, sizeof own);
    if (make_group("/sys/fs/cgroup", own, "memory.max", "67108864"))
        return;
    own_group(":memory:", own, sizeof own);
    if (own[0] != '\0' && make_group("/sys/fs/cgroup/memory", own, "memory.limit_in_bytes", "67108864"))
        return;
    SKIP("no control group with a memory limit can be made here (cgroup v2 or v1, writable)");
}

static void run_in_group(const char *const *words)
{
    char number[16];
    run_folder();
    need_group();
    pid_t test = getpid();
    snprintf(number, sizeof number, "%d", (int)test);
    CHECK(write_to("cgroup.procs", number)); /* what it starts is in the group too */
    run_start_words(&run, words);
}

/* The group can go when it is empty: this process leaves it for the one above. */
static void leave_group(void)
{
    char own[PATH_MAX], number[16];
    snprintf(own, sizeof own, "%s", group);
    *strrchr(group, '/') = '\0';
    snprintf(number, sizeof number, "%d", (int)getpid());
    CHECK(write_to("cgroup.procs", number));
    CHECK_INT(rmdir(own), 0);
}

TEST(an_area_beyond_the_groups_limit_is_refused_and_a_smaller_one_is_had)
{
    char want[64];
    run_in_group((const char *const[]){run_enl(), run_cce(), "grow", "268435456", "grow", "8388608", "exit",
                                       "4", NULL});
    snprintf(want, sizeof want, "grow -1 %d", bcrE_NOMEM);
    CHECK_STR(run_told(), want);
    CHECK_STR(run_told(), "grow 2 0");
    run_end(&run);
    CHECK_INT(run.status, 4);
    leave_group();
}

static void poor(const char *of_what)
{
    char want[64];
    run_folder();
    run_start(&run, run_enl(), getenv("SYS_POOR"), of_what);
    run_end(&run);
    snprintf(want, sizeof want, "bcr_init -1 %d\n", bcrE_NOMEM);
    CHECK_STR(run.text, want);
    CHECK_INT(run.status, 5);
}

TEST(bcr_init_without_address_space_is_NOMEM)
{
    if (test_is_instrumented())
        SKIP("the tool's own maps need more than any limit leaves");
    poor("memory");
}

TEST(bcr_init_without_descriptors_is_NOMEM)
{
    poor("descriptors");
}

TEST(areas_that_fill_the_group_leave_it_to_those_who_have_them)
{
    int count = 0, cell, code;
    run_in_group((const char *const[]){run_enl(), run_cce(), "grow-on", "4194304", "exit", "4", NULL});
    CHECK_INT(sscanf(run_told(), "grew %d, then %d %d", &count, &cell, &code), 3);
    CHECK(count >= 1 && count < 16); /* times 4 MiB */
    CHECK_INT(code, bcrE_NOMEM);
    run_end(&run);
    CHECK_INT(run.status, 4);
    leave_group();
}
