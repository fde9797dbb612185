/* SPDX-License-Identifier: MIT */
/* See machine.h. Control groups of version 2 and 1: cgroups(7),
 * Documentation/admin-guide/cgroup-v2.rst of Linux. */
#include "bcri/machine.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel_file.h"

enum { PATH_ROOM = 4400, GROUP_ROOM = 4096 };

/* The first number behind `key` in a small kernel file (the whole file's number for key ""), in
 * units of one; UINT64_MAX if there is none ("max", "-1", a missing file). */
static uint64_t kernel_number(const char *path, const char *key)
{
    char text[8192];
    if (!bcri_kernel_file(path, text, sizeof text))
        return UINT64_MAX;
    const char *at = *key != '\0' ? strstr(text, key) : text;
    if (at == NULL)
        return UINT64_MAX;
    at += strlen(key);
    char *end = NULL;
    unsigned long long value = strtoull(at, &end, 10);
    return end == at || strchr(at, '-') == at ? UINT64_MAX : value;
}

/* A group's files: where a controller of this kind is mounted, and its folder there. */
struct group_at {
    const char *root, *mount, *group;
};

static uint64_t group_number(const struct group_at *at, const char *file, const char *key)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s/%s", at->root, at->mount, at->group, file);
    return kernel_number(path, key);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t memory_in(const struct group_at *at, bool is_unified)
{
    uint64_t limit = group_number(at, is_unified ? "memory.max" : "memory.limit_in_bytes", "");
    uint64_t used = group_number(at, is_unified ? "memory.current" : "memory.usage_in_bytes", "");
    if (limit == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    return limit > used ? limit - used : 0;
}

static uint64_t cpus_in(const struct group_at *at, bool is_unified)
{
    uint64_t quota = group_number(at, is_unified ? "cpu.max" : "cpu.cfs_quota_us", "");
    uint64_t period =
        is_unified ? group_number(at, "cpu.max", " ") : group_number(at, "cpu.cfs_period_us", "");
    if (quota == UINT64_MAX || period == UINT64_MAX || period == 0)
        return UINT64_MAX;
    return quota / period + (quota % period != 0);
}

/* The least that any of this process's groups, and of the groups above them, gives. `controller`
 * names it as version 1 does. */
static uint64_t least(const char *root, const char *controller,
                      uint64_t (*given)(const struct group_at *at, bool is_unified))
{
    char line[GROUP_ROOM], path[PATH_ROOM];
    uint64_t left = UINT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    struct bcri_kernel_lines lines;
    if (!bcri_kernel_lines_open(&lines, path))
        return left;
    while (bcri_kernel_line(&lines, line, sizeof line)) {
        /* number:controller,controller:/group */
        char *names = strchr(line, ':'), *group = names != NULL ? strchr(names + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *names++ = '\0';
        *group++ = '\0';
        const bool is_unified = strcmp(line, "0") == 0 && *names == '\0';
        bool has = is_unified;
        for (char *rest = names, *name; !has && (name = strsep(&rest, ",")) != NULL;)
            has = strcmp(name, controller) == 0;
        if (!has)
            continue;
        if (strcmp(group, "/") == 0)
            *group = '\0';
        char mount[32] = "";
        if (!is_unified)
            snprintf(mount, sizeof mount, "/%s", controller);
        for (char *parent;; *parent = '\0') {
            left = smaller(left, given(&(struct group_at){root, mount, group}, is_unified));
            parent = strrchr(group, '/');
            if (parent == NULL)
                break;
        }
    }
    bcri_kernel_lines_close(&lines);
    return left;
}

uint64_t bcri_machine_memory_left(const char *root)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    uint64_t kib = kernel_number(path, "MemAvailable:");
    return smaller(kib <= UINT64_MAX / 1024 ? kib * 1024 : UINT64_MAX, least(root, "memory", memory_in));
}

uint64_t bcri_machine_space_left(void)
{
    struct rlimit limit;
    uint64_t most = UINT64_MAX;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        most = limit.rlim_cur;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return most;
    const uint64_t pages = kernel_number("/proc/self/statm", "");
    const uint64_t used = pages != UINT64_MAX ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    return smaller(most, limit.rlim_cur > used ? limit.rlim_cur - used : 0);
}

uint32_t bcri_machine_cpu_quota(const char *root)
{
    uint64_t cpus = least(root, "cpu", cpus_in);
    return cpus < UINT32_MAX ? (uint32_t)cpus : UINT32_MAX;
}

/* If there are more processors than fit into one cpu_set_t, that many are enough: callers only need
 * to know whether there are at least two. */
uint32_t bcri_machine_cpus(void)
{
    cpu_set_t allowed;
    long cpus = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed)
                                                                    : sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t quota = bcri_machine_cpu_quota(""), most = cpus > 0 ? (uint32_t)cpus : 1;
    most = quota < most ? quota : most;
    return most != 0 ? most : 1;
}
