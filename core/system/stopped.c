/* SPDX-License-Identifier: MIT */
/* What the kernel says about a process: stopped.h. */
#include "bcri/stopped.h"

#include <stdio.h>
#include <string.h>

#include "kernel_file.h"

bool bcri_process_stopped(uint32_t pid)
{
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    if (!bcri_kernel_file(path, text, sizeof text))
        return false;
    const char *name_end = strrchr(text, ')'); /* the program's name may have any character in it */
    return name_end != NULL && name_end[1] == ' ' && (name_end[2] == 'T' || name_end[2] == 't');
}
