/* SPDX-License-Identifier: MIT */
/* See status.h. */
#include "base/status.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/stopped.h"

static bool status_of(pid_t thread, struct enl_process_status *out)
{
    char path[64], line[256];
    bool known = false;
    *out = (struct enl_process_status){0};
    snprintf(path, sizeof path, "/proc/%ld/status", (long)thread);
    FILE *file = fopen(path, "re");
    while (file != NULL && !known && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "State:", 6) == 0)
            out->state = line[6 + strspn(line + 6, " \t")];
        known = strncmp(line, "TracerPid:", 10) == 0; /* it comes after the state */
        if (known)
            out->tracer = strtol(line + 10, NULL, 10);
    }
    if (file != NULL)
        fclose(file);
    return known;
}

bool enl_process_status(pid_t pid, struct enl_process_status *out)
{
    const bool known = status_of(pid, out);
    if (out->state != 'Z')
        return known;
    /* Perhaps of the first thread only, which then has no tracer any more. */
    const pid_t thread = (pid_t)bcri_process_thread((uint32_t)pid);
    return thread != pid ? status_of(thread, out) : known;
}

/* Fields are counted from the last ')', since the name may hold anything. */
uint64_t enl_process_stat(pid_t pid, int number)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < number; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}
