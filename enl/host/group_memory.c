/* SPDX-License-Identifier: MIT */
/* group_memory.c -- the kernel's limit of a job's memory, and where the daemon must be for it.
 *
 * A group that gives the memory controller to those below may have no processes of its own, unless it is the root group. So where nobody
 * but enl is in the daemon's group, as in a scope of systemd's that was made for a command, all of them go into a group below it, beside
 * those of jobs:
 *
 *     the daemon's own group, as it was      cgroup.subtree_control: memory
 *     |-- bcr-daemons                        the daemons of this machine, and what else they have started
 *     `-- bcr-PROGRAM-LETTERS                a job's processes: memory.max
 *
 * Who leaves last makes it as it was. Where others are in that group, such as a shell, enl leaves them alone; and root's units of systemd
 * without Delegate=yes, for systemd may end a unit in which the kernel has killed something, unless that says that others make groups there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "host/host.h"

#define DAEMONS "bcr-daemons"

enum {
    PROCESSES_MAX = 4096,
    ROUNDS = 20, /* what is started meanwhile is moved by the next one */
    VAIN_ROUNDS = 100,
    PAUSE_NS = 20000000
};

struct list {
    pid_t pids[PROCESSES_MAX];
    size_t count;
};

bool enl_group_write(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    const int fd =
        snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    const bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    const int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return is_written;
}

/* False: there are too many. */
static bool read_list(const char *folder, struct list *list)
{
    char path[PATH_MAX], line[32];
    FILE *file = snprintf(path, PATH_MAX, "%s/cgroup.procs", folder) < PATH_MAX ? fopen(path, "re") : NULL;
    list->count = 0;
    while (file != NULL && list->count < PROCESSES_MAX && fgets(line, sizeof line, file) != NULL)
        list->pids[list->count++] = (pid_t)strtol(line, NULL, 10);
    if (file != NULL)
        fclose(file);
    return file != NULL && list->count < PROCESSES_MAX;
}

static bool has(const struct list *list, pid_t pid)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->pids[i] == pid)
            return true;
    return false;
}

static bool is_enl(pid_t pid)
{
    char path[64];
    struct stat own, its;
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    return stat("/proc/self/exe", &own) == 0 && stat(path, &its) == 0 && own.st_dev == its.st_dev &&
           own.st_ino == its.st_ino;
}

/* Whether it is enl, or descends from one by processes of the list. One that has gone meanwhile is nobody's. */
static bool is_ours(const struct list *list, pid_t pid)
{
    enum { PARENT = 4 };
    while (has(list, pid) && !is_enl(pid)) {
        const pid_t parent = (pid_t)enl_process_stat(pid, PARENT);
        if (parent == 0)
            return kill(pid, 0) != 0 && errno == ESRCH;
        pid = parent;
    }
    return has(list, pid);
}

/* What systemd has marked so, or what is not its unit. A user's own systemd, up to 252 at least, marks nothing. */
static bool is_free(const char *parent)
{
    char value[8] = "";
    const char *const kind = strrchr(parent, '.');
    return geteuid() != 0 || kind == NULL || (strcmp(kind, ".scope") != 0 && strcmp(kind, ".service") != 0) ||
           (getxattr(parent, "trusted.delegate", value, sizeof value) > 0 && value[0] == '1');
}

/* Moves all that are in the group into the one for daemons. False: one of them is not enl's. */
static bool make_way(const char *parent)
{
    static struct list list; /* the loop's thread alone is here */
    char path[PATH_MAX], pid[16];
    if (!read_list(parent, &list) || snprintf(path, PATH_MAX, "%s/" DAEMONS, parent) >= PATH_MAX)
        return false;
    for (size_t i = 0; i < list.count; i++)
        if (!is_ours(&list, list.pids[i]))
            return false;
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return false;
    for (size_t i = 0; i < list.count; i++) {
        snprintf(pid, sizeof pid, "%ld", (long)list.pids[i]);
        (void)enl_group_write(path, "cgroup.procs", pid); /* it may have gone */
    }
    return true;
}

static bool give_memory(const char *parent)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (enl_group_write(parent, "cgroup.subtree_control", "+memory"))
            return true;
        if (errno != EBUSY)
            return false;
        if (!is_free(parent) || !make_way(parent))
            break;
    }
    errno = EBUSY;
    return false;
}

void enl_group_limit_memory(struct enl_here *here, const char *parent)
{
    char bytes[24];
    struct enl_group *group = &here->group;
    const uint64_t limit = enl_limits_memory(&here->limits);
    snprintf(bytes, sizeof bytes, "%" PRIu64, limit);
    if (limit == 0)
        return;
    group->has_memory_max = give_memory(parent) && enl_group_write(group->path, "memory.max", bytes);
    if (!group->has_memory_max) {
        bcri_log_write(&here->self->log, BCRI_LOG_INFO,
                       "the kernel does not limit the job's memory here, so enl looks at it: %s",
                       strerror(errno));
        return;
    }
    (void)enl_group_write(group->path, "memory.swap.max", "0"); /* else it would swap, for ever */
    (void)enl_group_write(group->path, "memory.oom.group", "1");
}

bool enl_group_is_of_daemons(const char *own)
{
    const char *const last = strrchr(own, '/');
    return last != NULL && strcmp(last + 1, DAEMONS) == 0;
}

/* Whether there is a job's group below. */
static bool has_jobs(const char *parent)
{
    bool any = false;
    DIR *folder = opendir(parent);
    for (const struct dirent *entry; folder != NULL && !any && (entry = readdir(folder)) != NULL;)
        any = strncmp(entry->d_name, "bcr-", 4) == 0 && strcmp(entry->d_name, DAEMONS) != 0;
    if (folder != NULL)
        closedir(folder);
    return any;
}

/* What is moved out of the daemons' group is this process alone. False: there are others in it, or a job has one beside it. */
static bool leave(const char *parent, const char *daemons)
{
    if (access(daemons, F_OK) != 0)
        return true;
    if (has_jobs(parent))
        return false;
    (void)enl_group_write(parent, "cgroup.subtree_control", "-memory");
    (void)enl_group_write(parent, "cgroup.procs", "0");
    return rmdir(daemons) == 0 || errno == ENOENT;
}

void enl_group_leave(const char *beside, pid_t starter)
{
    char parent[PATH_MAX], daemons[PATH_MAX];
    snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(beside, '/') - beside), beside);
    if (snprintf(daemons, PATH_MAX, "%s/" DAEMONS, parent) >= PATH_MAX)
        return;
    for (int vain = 0; !leave(parent, daemons) && getppid() != starter && vain < VAIN_ROUNDS; vain++)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}
