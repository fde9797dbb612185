/* SPDX-License-Identifier: MIT */
/* What control groups and affinity leave: kernel files of several shapes, made up in a folder. */
#include "bcri/machine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "check.h"
#include "scratch.h"

/* Writes root/path, with its folders. */
static void put_file(const char *root, const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "we");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

#define MEMINFO "MemTotal:       4000 kB\nMemFree:        1000 kB\nMemAvailable:   2000 kB\n"

TEST(without_control_groups_the_kernel_decides)
{
    const char *root = scratch();
    put_file(root, "proc/meminfo", MEMINFO);
    CHECK_UINT(bcri_machine_memory_left(root), 2000 * 1024);
    CHECK_UINT(bcri_machine_cpu_quota(root), UINT32_MAX);
}

TEST(where_nothing_can_be_read_nothing_is_said)
{
    CHECK_UINT(bcri_machine_memory_left("/nowhere"), UINT64_MAX);
    CHECK_UINT(bcri_machine_cpu_quota("/nowhere"), UINT32_MAX);
}

TEST(the_narrowest_group_above_counts)
{
    const char *root = scratch();
    put_file(root, "proc/meminfo", MEMINFO);
    put_file(root, "proc/self/cgroup", "0::/a/b/c\n");
    put_file(root, "sys/fs/cgroup/a/b/c/memory.max", "max\n");
    put_file(root, "sys/fs/cgroup/a/b/c/memory.current", "500\n");
    put_file(root, "sys/fs/cgroup/a/b/memory.max", "90000\n");
    put_file(root, "sys/fs/cgroup/a/b/memory.current", "30000\n");
    put_file(root, "sys/fs/cgroup/a/memory.max", "100000\n");
    put_file(root, "sys/fs/cgroup/a/memory.current", "90000\n");
    put_file(root, "sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
    put_file(root, "sys/fs/cgroup/a/b/cpu.max", "250000 100000\n");
    put_file(root, "sys/fs/cgroup/a/cpu.max", "800000 100000\n");
    CHECK_UINT(bcri_machine_memory_left(root), 10000);
    CHECK_UINT(bcri_machine_cpu_quota(root), 3);
    put_file(root, "sys/fs/cgroup/a/b/memory.max", "20000\n"); /* lowered below what is used */
    CHECK_UINT(bcri_machine_memory_left(root), 0);
    put_file(root, "sys/fs/cgroup/a/b/c/cpu.max", "5000 100000\n");
    CHECK_UINT(bcri_machine_cpu_quota(root), 1);
}

TEST(version_1_has_a_tree_for_each_controller)
{
    const char *root = scratch();
    put_file(root, "proc/self/cgroup",
             "9:name=systemd:/\n5:memory:/m/n\n4:cpuset:/s\n3:cpu,cpuacct:/p\n2:cpu_rma:/q\n0::/\n");
    put_file(root, "sys/fs/cgroup/memory/m/n/memory.limit_in_bytes", "7000\n");
    put_file(root, "sys/fs/cgroup/memory/m/n/memory.usage_in_bytes", "3000\n");
    put_file(root, "sys/fs/cgroup/cpu/p/cpu.cfs_quota_us", "150000\n");
    put_file(root, "sys/fs/cgroup/cpu/p/cpu.cfs_period_us", "100000\n");
    put_file(root, "sys/fs/cgroup/cpu/q/cpu.cfs_quota_us", "1\n");
    put_file(root, "sys/fs/cgroup/cpu/q/cpu.cfs_period_us", "100000\n");
    CHECK_UINT(bcri_machine_memory_left(root), 4000);
    CHECK_UINT(bcri_machine_cpu_quota(root), 2);
    put_file(root, "sys/fs/cgroup/cpu/p/cpu.cfs_quota_us", "-1\n");
    CHECK_UINT(bcri_machine_cpu_quota(root), UINT32_MAX);
}

TEST(nonsense_in_the_files_is_no_limit)
{
    const char *root = scratch();
    put_file(root, "proc/self/cgroup", "\n:\n0:\n0::\n0::/g\nmemory:/h\n");
    put_file(root, "sys/fs/cgroup/g/cpu.max", "100000 0\n");
    put_file(root, "sys/fs/cgroup/g/memory.max", "much\n");
    put_file(root, "sys/fs/cgroup/g/memory.current", "1\n");
    put_file(root, "sys/fs/cgroup/cpu.max", "\n");
    CHECK_UINT(bcri_machine_cpu_quota(root), UINT32_MAX);
    CHECK_UINT(bcri_machine_memory_left(root), UINT64_MAX);
}

TEST(who_may_run_on_one_processor_only_has_one)
{
    cpu_set_t allowed, one;
    CHECK_INT(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    uint32_t cpus = bcri_machine_cpus();
    CHECK(cpus >= 1 && cpus <= (uint32_t)CPU_COUNT(&allowed));
    size_t first = 0;
    while (!CPU_ISSET(first, &allowed))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_UINT(bcri_machine_cpus(), 1);
}

TEST(space_is_what_the_limits_leave)
{
    struct rlimit limit;
    CHECK_INT(getrlimit(RLIMIT_AS, &limit), 0);
    if (limit.rlim_cur == RLIM_INFINITY)
        CHECK_UINT(bcri_machine_space_left(), UINT64_MAX);
    limit.rlim_cur = (rlim_t)1 << 46;
    if (sizeof limit.rlim_cur < 8 || setrlimit(RLIMIT_AS, &limit) != 0)
        SKIP("no such limit can be set");
    const uint64_t left = bcri_machine_space_left();
    CHECK(left < UINT64_C(1) << 46 && left > UINT64_C(1) << 45);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 12345678;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_UINT(bcri_machine_space_left(), 12345678);
}
