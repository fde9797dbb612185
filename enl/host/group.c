/* SPDX-License-Identifier: MIT */
/* See group.h. Whatever goes wrong here means that there is no group. */
#include "host/group.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/host.h"

static pid_t starter; /* this daemon's, when it made the group */

/* Where control groups are mounted. False: nowhere. */
static bool find_mount(char path[PATH_MAX])
{
    char buffer[2 * PATH_MAX];
    struct mntent entry;
    bool is_found = false;
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    while (mounts != NULL && !is_found && getmntent_r(mounts, &entry, buffer, sizeof buffer) != NULL)
        if (strcmp(entry.mnt_type, "cgroup2") == 0)
            is_found = snprintf(path, PATH_MAX, "%s", entry.mnt_dir) < PATH_MAX;
    if (mounts != NULL)
        endmntent(mounts);
    return is_found;
}

/* The daemon's own group, as a path below the mount. False: it has none that can be seen. */
static bool find_own(char path[PATH_MAX])
{
    char line[PATH_MAX + 8];
    bool is_found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && !is_found && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        is_found = strncmp(line, "0::/", 4) == 0 && strncmp(line, "0::/..", 6) != 0 &&
                   snprintf(path, PATH_MAX, "%s", line + 3) < PATH_MAX;
    }
    if (file != NULL)
        fclose(file);
    return is_found;
}

static bool join(char path[PATH_MAX], const char *folder, const char *name)
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* The number behind `key` in a file of lines with a key and a number each; 0: there is none. */
static uint64_t number_of(const struct enl_group *group, const char *name, const char *key)
{
    char path[PATH_MAX], line[128];
    const size_t length = strlen(key);
    uint64_t found = 0;
    FILE *file = group->path != NULL && join(path, group->path, name) ? fopen(path, "re") : NULL;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            found = strtoull(line + length, NULL, 10);
    if (file != NULL)
        fclose(file);
    return found;
}

/* The daemon's own group, as a folder. */
static bool find(char path[PATH_MAX])
{
    char mount[PATH_MAX], own[PATH_MAX];
    return find_own(own) && find_mount(mount) &&
           snprintf(path, PATH_MAX, "%s%s", mount, strcmp(own, "/") != 0 ? own : "") < PATH_MAX;
}

/* Returns NULL, or the step that failed, with errno. */
static const char *make(struct enl_here *here)
{
    char parent[PATH_MAX], path[PATH_MAX];
    struct enl_group *group = &here->group;
    errno = ENOENT;
    if (!find(parent))
        return "find its own (cgroup v2)";
    if (enl_group_is_of_daemons(parent))
        *strrchr(parent, '/') = '\0';
    starter = getppid();
    if (!join(path, parent, "cgroup.procs") || access(parent, W_OK | X_OK) != 0 || access(path, W_OK) != 0)
        return "make one below its own";
    const char *kept = enl_tempdir_keep_group(here, parent);
    if (kept == NULL)
        return "have a keeper";
    if (asprintf(&group->procs, "%s/cgroup.procs", kept) < 0) {
        group->procs = NULL;
        return "get memory";
    }
    if ((group->path = strdup(kept)) == NULL)
        return "get memory";
    if (mkdir(group->path, 0755) != 0)
        return "make one below its own";
    if (!join(path, group->path, "cgroup.kill") || access(path, W_OK) != 0)
        return "kill what is in it (cgroup.kill, Linux 5.14)";
    enl_group_limit_memory(here, parent);
    return NULL;
}

void enl_group_open(struct enl_here *here)
{
    if (here->group.is_tried)
        return;
    here->group.is_tried = true;
    const char *failed = make(here);
    if (failed == NULL) {
        bcri_log_write(&here->self->log, BCRI_LOG_INFO, "the job's processes here are in control group %s",
                       here->group.path);
        return;
    }
    bcri_log_write(&here->self->log, BCRI_LOG_INFO,
                   "the job's processes here are in no control group: enl could not %s: %s", failed,
                   strerror(errno));
    enl_group_forget(here);
    here->group.is_tried = true;
}

void enl_group_give_up(struct enl_here *here, int error)
{
    bcri_log_write(&here->self->log, BCRI_LOG_WARN,
                   "a process of the job could not enter control group %s: %s", here->group.path,
                   strerror(error));
    enl_group_forget(here);
    here->group.is_tried = true;
}

void enl_group_forget(struct enl_here *here)
{
    free(here->group.path);
    free(here->group.procs);
    here->group = (struct enl_group){0};
}

void enl_group_close(void)
{
    char own[PATH_MAX];
    if (find(own) && enl_group_is_of_daemons(own))
        enl_group_leave(own, starter != 0 ? starter : getppid());
}

uint64_t enl_group_cpu_us(const struct enl_here *here)
{
    return number_of(&here->group, "cpu.stat", "usage_usec");
}

bool enl_group_limits_memory(const struct enl_here *here)
{
    char path[PATH_MAX];
    return here->group.has_memory_max && join(path, here->group.path, "memory.max") &&
           access(path, F_OK) == 0;
}

/* The kernel also kills in it where the machine, or a group above, has no more memory: that is not this limit. */
bool enl_group_lacked_memory(const struct enl_here *here)
{
    return here->group.has_memory_max && number_of(&here->group, "memory.events", "oom_kill") != 0 &&
           number_of(&here->group, "memory.events.local", "oom") != 0;
}

void enl_group_walk(const struct enl_here *here, void (*each)(pid_t pid, void *data), void *data)
{
    char line[32];
    FILE *file = here->group.procs != NULL ? fopen(here->group.procs, "re") : NULL;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const long pid = strtol(line, NULL, 10);
        if (pid > 0) /* 0: it is in another pid namespace */
            each((pid_t)pid, data);
    }
    if (file != NULL)
        fclose(file);
}
