/* SPDX-License-Identifier: MIT */
/* See look.h. */
#include "inspect/look/look.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/bell.h"
#include "bcri/cces.h"
#include "bcri/clock.h"
#include "bcri/note.h"
#include "bcri/record.h"
#include "bcri/stopped.h"
#include "bcri/trace.h"
#include "inspect/look/look_private.h"
#include "wire/wire.h"

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
    struct look_row row = {.kind = LOOK_KIND_HOST,
                           .host = {.version = LOOK_VERSION,
                                    .pid = host->enl_pid,
                                    .records = bcri_host_records(host),
                                    .segments = bcri_host_segments(host),
                                    .now_ns = bcri_clock_ns(),
                                    .start_ns = bcri_load(&host->start_ns),
                                    .ended = bcri_load(&host->ended),
                                    .failed = bcri_load(&host->failed),
                                    .crashed = bcri_load(&host->crashed)}};
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
    memcpy(&cce->identity0, record->id.identity, sizeof cce->identity0);
    memcpy(&cce->identity1, record->id.identity + sizeof cce->identity0, sizeof cce->identity1);
    cce->identity0 = be64toh(cce->identity0);
    cce->identity1 = be64toh(cce->identity1);
    cce->ordinal = record->id.ordinal;
    cce->pid = bcri_load(&record->id.pid);
    cce->state = bcri_cce_seen_state(record);
    cce->process = cce->pid != 0 ? (uint64_t)(unsigned char)bcri_process_state((uint32_t)cce->pid) : 0;
    cce->asleep = bcri_load_acquire(&record->bell.sleeping);
    if (cce->asleep == BCRI_SLEEPS_IN_POLL) /* of its own, after which it may do anything */
        cce->asleep = BCRI_AWAKE;
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
    cce->idle = bcri_load(&record->idle.period);
    cce->server = bcri_load(&record->idle.server);
    cce->limit = look_at_areas(look, index, record);
    look_at_ids(look, cce, record);
    look_at_trace(look, record, cce);
    if (look->names)
        enl_far_end_name(look->memory.socket, index, cce->name, sizeof cce->name);
    look->cces[look->cce_count++] = row;
}
static_assert(offsetof(struct look_cce, untold) - offsetof(struct look_cce, allocs) ==
                  BCRI_COUNT_UNTOLD * sizeof(uint64_t),
              "a CCE's row has its counters in trace.h's order");

static void look_at_note(struct look *look, uint32_t index, const struct bcri_record_shm *record)
{
    struct look_row row = {.kind = LOOK_KIND_NOTE, .note = {.index = index}};
    struct bcri_note note;
    if (!bcri_note_read(&record->note, &note))
        return;
    memcpy(&row.note.identity0, note.cce, sizeof row.note.identity0);
    memcpy(&row.note.identity1, note.cce + sizeof row.note.identity0, sizeof row.note.identity1);
    row.note.identity0 = be64toh(row.note.identity0);
    row.note.identity1 = be64toh(row.note.identity1);
    memcpy(row.note.text, note.text, sizeof note.text);
    look_say(look, &row);
}
static_assert(LOOK_TEXT_MAX > BCRI_NOTE_BYTES, "notes are copied as they are");

static void look_at_ways(struct look *look)
{
    struct look_row row = {.kind = LOOK_KIND_WAY};
    for (uint64_t peer = 0;
         enl_far_end_way(look->memory.socket, peer, &row.way.peer, &row.way.way, &row.way.bytes);
         peer = row.way.peer + 1)
        look_say(look, &row);
}

int enl_look_host(const char *what)
{
    static struct look look;
    const int status =
        look_memory_open(&look.memory, "--look-host is for enl itself; enl ps shows a program");
    if (status != 0)
        return status;
    look.host = look.memory.host->number;
    look.names = strcmp(what, "names") == 0;
    const uint32_t records = bcri_host_records(look.memory.host);
    look.cces = calloc(records, sizeof *look.cces);
    if (look.cces == NULL)
        return 1;
    look_at_host(&look);
    for (uint32_t index = 1; index < records && look_step(&look); index++) {
        const struct bcri_record_shm *record = look_record(&look.memory, index);
        if (record == NULL)
            continue;
        const uint32_t state = bcri_load_acquire(&record->id.state);
        if (state != BCRI_CCE_FREE)
            look_at_cce(&look, index, record);
        if (state == BCRI_CCE_ALIVE)
            look_at_note(&look, index, record);
        if (state == BCRI_CCE_FREE || state == BCRI_CCE_DYING || state == BCRI_CCE_DEAD)
            look_at_ended(&look, index, record);
    }
    look_say_held(&look);
    look_at_ways(&look);
    struct look_row end = {.kind = LOOK_KIND_END, .end = {.rows = look.rows, .cut = look.cut}};
    look_say(&look, &end);
    free(look.cces);
    free(look.held);
    return fflush(stdout) == 0 && !look.gone ? 0 : 1;
}
