/* SPDX-License-Identifier: MIT */
/* run_groups.c -- see run.h. */
#include <dirent.h>
#include <mntent.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "run.h"

const char *run_groups(void)
{
    static char path[4096];
    FILE *const mounts = setmntent("/proc/self/mounts", "re");
    path[0] = '\0';
    for (const struct mntent *entry; mounts != NULL && (entry = getmntent(mounts)) != NULL;)
        if (strcmp(entry->mnt_type, "cgroup2") == 0)
            snprintf(path, sizeof path, "%s", entry->mnt_dir);
    if (mounts != NULL)
        endmntent(mounts);
    return path;
}

/* The folder of this process's own. */
static const char *own_group(void)
{
    static char path[8192];
    char text[4096];
    text[run_read_file("/proc/self/cgroup", text, sizeof text - 1)] = '\0';
    const char *own = strstr(text, "0::");
    snprintf(path, sizeof path, "%s%.*s", run_groups(), own != NULL ? (int)strcspn(own + 3, "\n") : 0,
             own != NULL ? own + 3 : "");
    return path;
}

void run_groups_gone(pid_t enl)
{
    char part[32];
    snprintf(part, sizeof part, ".%ld-", (long)enl);
    for (bool any = true; any;) {
        DIR *const folder = run_groups()[0] != '\0' ? opendir(own_group()) : NULL;
        any = false;
        for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
            any |= strncmp(entry->d_name, "bcr-", 4) == 0 && strstr(entry->d_name, part) != NULL;
        if (folder != NULL)
            closedir(folder);
        if (any)
            poll(NULL, 0, 10);
    }
}
