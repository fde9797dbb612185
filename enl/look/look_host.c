/* SPDX-License-Identifier: MIT */
/* See look_host.h. */
#include "look_host.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/clock.h"
#include "bcri/record.h"
#include "bcri/trace.h"
#include "far_end.h"
#include "memory.h"
#include "snapshot.h"

struct look {
    struct look_memory memory;
    int socket;
    uint64_t rows;
    bool gone; /* nobody reads the snapshot any more */
};

static void say(struct look *look, const struct look_row *row)
{
    look->rows++;
    look->gone = look->gone || !look_write(stdout, row);
}

static const void *map(void *data, uint32_t seg, size_t *size_out)
{
    const struct look *look = data;
    return enl_far_end_map(look->socket, seg, size_out);
}

static uint64_t half(const uint8_t *bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | bytes[i];
    return number;
}

/* The letter behind the name in /proc/PID/stat; 0: there is no such process. */
static uint64_t process_state(uint32_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *at = strrchr(text, ')');
    return at != NULL && at[1] == ' ' ? (uint64_t)(unsigned char)at[2] : 0;
}

static void look_at_host(struct look *look)
{
    const struct bcri_host_shm *host = look->memory.host;
    struct look_row row = {.kind = LOOK_KIND_HOST};
    row.host.version = LOOK_VERSION;
    row.host.number = host->number;
    row.host.pid = host->enl_pid;
    row.host.records = bcri_host_records(host);
    row.host.segments = bcri_host_segments(host);
    row.host.now_ns = bcri_clock_ns();
    memcpy(row.host.program, host->program, LOOK_TEXT_MAX);
    row.host.program[LOOK_TEXT_MAX - 1] = '\0';
    gethostname(row.host.hostname, sizeof row.host.hostname - 1);
    say(look, &row);
}

static void look_at_cce(struct look *look, uint32_t index, const struct bcri_record_shm *record)
{
    struct look_row row = {.kind = LOOK_KIND_CCE};
    struct look_cce *cce = &row.cce;
    cce->index = index;
    cce->identity0 = half(record->id.identity);
    cce->identity1 = half(record->id.identity + 8);
    cce->ordinal = record->id.ordinal;
    cce->pid = bcri_load(&record->id.pid);
    cce->state = bcri_load(&record->id.state);
    cce->process = cce->pid != 0 ? process_state((uint32_t)cce->pid) : 0;
    cce->asleep = bcri_load(&record->bell.sleeping);
    cce->bell = bcri_load(&record->bell.bell);
    cce->holder = bcri_load(&record->bell.waits_on);
    cce->call = bcri_load(&record->journal.op);
    uint64_t *const counters = &cce->allocs;
    for (unsigned i = 0; i <= BCRI_COUNT_UNTOLD; i++)
        counters[i] = bcri_load(&record->counters[i]);
    say(look, &row);
}
static_assert(offsetof(struct look_cce, untold) - offsetof(struct look_cce, allocs) ==
                  BCRI_COUNT_UNTOLD * sizeof(uint64_t),
              "a CCE's row has its counters in trace.h's order");

int enl_look_host(void)
{
    static struct look look;
    look.socket = enl_far_end_socket();
    look.memory.map = map;
    look.memory.data = &look;
    signal(SIGPIPE, SIG_IGN);
    if (look.socket < 0) {
        fprintf(stderr, "enl: --look-host is for enl itself; enl ps shows a program\n");
        return 2;
    }
    if (look_memory_open(&look.memory) != NULL)
        return 1;
    look_at_host(&look);
    const uint32_t records = bcri_host_records(look.memory.host);
    for (uint32_t index = 1; index < records && !look.gone; index++) {
        const struct bcri_record_shm *record = look_record(&look.memory, index);
        if (record != NULL && bcri_load_acquire(&record->id.state) != BCRI_CCE_FREE)
            look_at_cce(&look, index, record);
    }
    struct look_row end = {.kind = LOOK_KIND_END};
    end.end.rows = look.rows;
    say(&look, &end);
    return fflush(stdout) == 0 && !look.gone ? 0 : 1;
}
