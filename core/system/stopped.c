/* SPDX-License-Identifier: MIT */
/* What the kernel says about a process: stopped.h. */
#include "bcri/stopped.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_file.h"

static char state_in(const char *path)
{
    char text[512];
    if (!bcri_kernel_file(path, text, sizeof text))
        return 0;
    const char *name_end = strrchr(text, ')'); /* the program's name may have any character in it */
    if (name_end == NULL || name_end[1] != ' ')
        return 0;
    return name_end[2];
}

/* A thread that has not ended, and its state; 0: there is none. */
static char state_of_threads(uint32_t pid, uint32_t *thread_out)
{
    char path[64];
    char state = 0;
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (state == 0 || state == 'Z' || state == 'X') &&
           (entry = readdir(folder)) != NULL) {
        const uint32_t thread = (uint32_t)strtoul(entry->d_name, NULL, 10);
        snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, thread);
        state = 0;
        if (thread != 0)
            state = state_in(path);
        *thread_out = thread;
    }
    if (folder != NULL)
        closedir(folder);
    if (state == 'X' || state == 'Z')
        return 0;
    return state;
}

/* The first thread's. */
static char state_of_first(uint32_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    return state_in(path);
}

char bcri_process_state(uint32_t pid)
{
    uint32_t thread;
    const char state = state_of_first(pid);
    if (state != 'Z')
        return state;
    const char other = state_of_threads(pid, &thread);
    if (other == 0)
        return state;
    return other;
}

uint32_t bcri_process_thread(uint32_t pid)
{
    uint32_t thread;
    return state_of_first(pid) == 'Z' && state_of_threads(pid, &thread) != 0 ? thread : pid;
}

bool bcri_process_stopped(uint32_t pid)
{
    const char state = bcri_process_state(pid);
    return state == 'T' || state == 't';
}
