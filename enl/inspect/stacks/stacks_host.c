/* SPDX-License-Identifier: MIT */
/* See stacks.h. Each CCE is looked at by a process of its own, since debug information may hold anything, and libdw's
 * state is the process's. The threads of a CCE are stopped one after the other, each while its frames are found. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number_list.h"
#include "bcri/record.h"
#include "inspect/crash/crash.h"
#include "inspect/look/look_private.h"
#include "inspect/stacks/stacks.h"

enum { SECONDS_MAX = 8 }; /* the command waits for ten (enl/inspect/look/gather.c) */

static void look_at_cce(const struct bcri_record_shm *record)
{
    const pid_t pid = (pid_t)bcri_load(&record->id.pid);
    int status = 0;
    printf("=%u %ld\n", record->id.ordinal, (long)pid);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_MAX);
        enl_trace_running(pid);
        _exit(fflush(stdout) == 0 ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        printf("! what is not shown could not be read in %d s\n", SECONDS_MAX);
}

int enl_stacks_host(int count, char **words)
{
    static struct look_memory memory;
    const int status = look_memory_open(&memory, "--stacks-host is for enl itself; enl stacks shows stacks");
    if (status != 0 || count != 2)
        return status != 0 ? status : 2;
    printf("@%.*s\n", (int)BCRI_HOST_NAME_MAX - 1, memory.host->name);
    const uint32_t records = bcri_host_records(memory.host);
    for (uint32_t index = 1; index < records && !ferror(stdout); index++) {
        const struct bcri_record_shm *record = look_record(&memory, index);
        if (record != NULL && bcri_load_acquire(&record->id.state) == BCRI_CCE_ALIVE &&
            enl_number_list_has(words[1][0] != '\0' ? words[1] : NULL, record->id.ordinal))
            look_at_cce(record);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
