/* SPDX-License-Identifier: MIT */
/* See status.h. */
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/stopped.h"

bool enl_process_status(pid_t pid, struct enl_process_status *out)
{
    char path[64], line[256];
    bool known = false;
    *out = (struct enl_process_status){0};
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
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
    if (out->state == 'Z') /* perhaps of the first thread only */
        out->state = bcri_process_state((uint32_t)pid);
    return known;
}
