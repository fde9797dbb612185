/* SPDX-License-Identifier: MIT */
/* See look.h. */
#include "inspect/look/look.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/bell.h"
#include "bcri/clock.h"
#include "bcri/record.h"
#include "bcri/stopped.h"
#include "bcri/trace.h"
#include "inspect/look/look_private.h"
#include "wire/wire.h"

static const void *map_for_look(void *data, uint32_t seg, size_t *size_out)
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

/* Where a process sleeps that is outside BCR, by the kernel's name of the place, if it tells that. */
static uint64_t outside_of(uint32_t pid)
{
    char path[64], place[64] = "";
    snprintf(path, sizeof path, "/proc/%u/wchan", pid);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        place[fread(place, 1, sizeof place - 1, file)] = '\0';
        fclose(file);
    }
    return strstr(place, "poll") != NULL || strstr(place, "select") != NULL ? LOOK_OUTSIDE_POLLS
                                                                            : LOOK_OUTSIDE_SLEEPS;
}

static void look_at_host(struct look *look)
{
    const struct bcri_host_shm *host = look->memory.host;
    struct look_row row = {.kind = LOOK_KIND_HOST};
    row.host.version = LOOK_VERSION;
    row.host.pid = host->enl_pid;
    row.host.records = bcri_host_records(host);
    row.host.segments = bcri_host_segments(host);
    row.host.now_ns = bcri_clock_ns();
    row.host.start_ns = bcri_load(&host->start_ns);
    row.host.ended = bcri_load(&host->ended);
    row.host.failed = bcri_load(&host->failed);
    row.host.crashed = bcri_load(&host->crashed);
    memcpy(row.host.program, host->program, LOOK_TEXT_MAX);
    row.host.program[LOOK_TEXT_MAX - 1] = '\0';
    memcpy(row.host.hostname, host->name, sizeof host->name);
    row.host.hostname[sizeof host->name - 1] = '\0';
    look_say(look, &row);
}
static_assert(LOOK_TEXT_MAX == BCRI_PROGRAM_NAME_MAX && LOOK_TEXT_MAX >= BCRI_HOST_NAME_MAX,
              "names are copied as they are");

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
    cce->process = cce->pid != 0 ? (uint64_t)(unsigned char)bcri_process_state((uint32_t)cce->pid) : 0;
    cce->asleep = bcri_load_acquire(&record->bell.sleeping);
    if (cce->asleep == BCRI_AWAKE && cce->process == 'S')
        cce->outside = outside_of((uint32_t)cce->pid);
    cce->bell = bcri_load(&record->bell.bell);
    cce->holder = bcri_load(&record->bell.waits_on);
    cce->call = bcri_load(&record->journal.op);
    cce->slept = bcri_load_acquire(&record->sleep.sleeps);
    cce->since_ns = bcri_load(&record->sleep.since_ns);
    cce->deadline_ns = bcri_load(&record->sleep.deadline_ns);
    cce->waiting_for = bcri_load(&record->sleep.waits_for) >> BCRI_REF_BITS;
    cce->news = bcri_load(&record->requests.news);
    uint64_t *const counters = &cce->allocs;
    for (unsigned i = 0; i <= BCRI_COUNT_UNTOLD; i++)
        counters[i] = bcri_load(&record->counters[i]);
    cce->limit = look_at_areas(look, index, record);
    look_at_ids(look, cce, record);
    look_at_trace(look, record, cce);
    if (look->names)
        enl_far_end_name(look->socket, index, cce->name, sizeof cce->name);
    look->cces[look->cce_count++] = row;
}
static_assert(offsetof(struct look_cce, untold) - offsetof(struct look_cce, allocs) ==
                  BCRI_COUNT_UNTOLD * sizeof(uint64_t),
              "a CCE's row has its counters in trace.h's order");

/* The rows that are known when all else was looked at. */
static void say_sums(struct look *look)
{
    const struct look_sum *sum;
    for (size_t i = 0; i < look->cce_count; i++) {
        look->cces[i].cce.used = look->regions.used[look->cces[i].cce.index];
        look_say(look, &look->cces[i]);
    }
    for (size_t at = 0; (sum = look_regions_next(&look->regions, &at)) != NULL;) {
        struct look_row row = {.kind = LOOK_KIND_HOLD};
        row.hold.holder = sum->key >> 17;
        row.hold.in_cells = sum->key >> 16 & 1;
        row.hold.home = sum->key & 0xffffu;
        row.hold.regions = sum->count;
        row.hold.bytes = sum->bytes;
        look_say(look, &row);
    }
}

static void look_at_ways(struct look *look)
{
    struct look_row row = {.kind = LOOK_KIND_WAY};
    for (uint64_t peer = 0; enl_far_end_way(look->socket, peer, &row.way.peer, &row.way.way, &row.way.bytes);
         peer = row.way.peer + 1)
        look_say(look, &row);
}

int enl_look_host(const char *what)
{
    static struct look look;
    look.socket = enl_far_end_socket();
    look.memory.map = map_for_look;
    look.memory.data = &look;
    signal(SIGPIPE, SIG_IGN);
    if (look.socket < 0) {
        fprintf(stderr, "enl: --look-host is for enl itself; enl ps shows a program\n");
        return 2;
    }
    if (look_memory_open(&look.memory) != NULL)
        return 1;
    look.host = look.memory.host->number;
    look.names = strcmp(what, "names") == 0;
    const uint32_t records = bcri_host_records(look.memory.host);
    look.cces = calloc(records, sizeof *look.cces);
    if (look.cces == NULL)
        return 1;
    look_at_host(&look);
    for (uint32_t index = 1; index < records && look_step(&look); index++) {
        const struct bcri_record_shm *record = look_record(&look.memory, index);
        if (record == NULL ||
            bcri_load(&record->id.pid) == look.memory.host->enl_pid) /* the agent is no CCE */
            continue;
        const uint32_t state = bcri_load_acquire(&record->id.state);
        if (state != BCRI_CCE_FREE)
            look_at_cce(&look, index, record);
        if (state == BCRI_CCE_FREE || state == BCRI_CCE_DYING || state == BCRI_CCE_DEAD)
            look_at_ended(&look, index, record);
    }
    say_sums(&look);
    look_at_ways(&look);
    struct look_row end = {.kind = LOOK_KIND_END};
    end.end.rows = look.rows;
    end.end.cut = look.cut;
    look_say(&look, &end);
    free(look.cces);
    look_regions_fini(&look.regions);
    return fflush(stdout) == 0 && !look.gone ? 0 : 1;
}
