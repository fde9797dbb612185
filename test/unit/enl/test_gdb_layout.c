/* SPDX-License-Identifier: MIT */
/* The offsets in enl/debug/bcr-gdb.py are those of the headers. The script is for 64-bit programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/cell.h"
#include "bcri/ctx.h"
#include "bcri/host.h"
#include "bcri/record.h"
#include "bcri/region.h"
#include "bcri/scheduler.h"
#include "check.h"
#include "chunk.h"

#define AT(name, type, field)       \
    {                               \
        name, offsetof(type, field) \
    }
#define RECORD(name, field) AT("record." name, struct bcri_record_shm, field)
#define AREA(field)         AT("area." #field, struct bcri_area_shm, field)
#define CELL(name, field)   AT("cell." name, struct bcri_cell_shm, field)
#define SLOT(field)         AT("slot." #field, struct bcri_slot_shm, field)
#define REGION(field)       AT("region." #field, struct bcri_region_shm, field)
#define CHUNK(field)        AT("chunk." #field, struct bcri_stack_chunk, field)

static const struct {
    const char *name;
    size_t offset;
} wanted[] = {
    {"record.bytes", BCRI_RECORD_BYTES},
    RECORD("state", id.state),
    RECORD("version", id.version),
    RECORD("first_area", id.first_area),
    RECORD("identity", id.identity),
    RECORD("index", id.index),
    RECORD("pid", id.pid),
    RECORD("ordinal", id.ordinal),
    RECORD("sleeping", bell.sleeping),
    RECORD("waits_on", bell.waits_on),
    RECORD("journal", journal),
    RECORD("slots", slots),
    RECORD("note", note),
    RECORD("slot_chunk", slot_chunk),
    RECORD("since_ns", sleep.since_ns),
    RECORD("waits_for", sleep.waits_for),
    AT("host.magic", struct bcri_host_shm, magic),
    AT("host.enl_pid", struct bcri_host_shm, enl_pid),
    AT("host.record_count", struct bcri_host_shm, record_count),
    AT("host.program", struct bcri_host_shm, program),
    AT("host.record_seg", struct bcri_host_shm, record_seg),
    AREA(next),
    AREA(cells),
    AREA(rings),
    AREA(base),
    AREA(kinds),
    AREA(nrgns),
    AREA(ring_log2),
    AREA(owner),
    {"area.bytes", sizeof(struct bcri_area_shm)},
    CELL("head_lock", h.lock),
    CELL("head", h.head),
    CELL("waiter", h.waiter),
    CELL("state", h.state),
    CELL("tail_lock", t.lock),
    CELL("tail", t.tail),
    CELL("watermark", t.watermark),
    CELL("requests", t.requests),
    CELL("list_first", c.list_first),
    CELL("first", c.first),
    CELL("front", c.front),
    CELL("back_first", c.back_first),
    CELL("area", i.area),
    {"cell.bytes", sizeof(struct bcri_cell_shm)},
    AT("node.next", struct bcri_node_shm, next),
    AT("node.region", struct bcri_node_shm, region),
    SLOT(word),
    SLOT(cell),
    SLOT(next),
    SLOT(kind),
    {"slot.bytes", sizeof(struct bcri_slot_shm)},
    REGION(count),
    REGION(length),
    REGION(data_16),
    REGION(archtype),
    REGION(home),
    REGION(kind),
    AT("ctx.map", struct bcri_ctx, map),
    AT("ctx.sched", struct bcri_ctx, handlers.sched),
    AT("sched.current", struct bcri_scheduler, current),
    AT("sched.chunks", struct bcri_scheduler, stacks.chunks),
    AT("sched.main", struct bcri_scheduler, main),
    CHUNK(next),
    CHUNK(count),
    CHUNK(element_bytes),
    CHUNK(elements),
    AT("invocation.handler", struct bcri_invocation, handler),
    AT("invocation.cell", struct bcri_invocation, cell),
    AT("invocation.context", struct bcri_invocation, co.context),
};

TEST(each_offset_of_the_script_is_that_of_the_headers)
{
    static char text[1 << 16];
    if (sizeof(void *) != 8)
        SKIP("bcr-gdb.py reads 64-bit programs only");
    FILE *file = fopen(GDB_SCRIPT, "re");
    CHECK(file != NULL);
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    CHECK(length < sizeof text - 1);
    unsigned in_script = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        char key[64];
        snprintf(key, sizeof key, "\"%s\": ", wanted[i].name);
        const char *found = strstr(text, key);
        if (found == NULL)
            FAIL("no %s in the script", wanted[i].name);
        if (strtoul(found + strlen(key), NULL, 10) != wanted[i].offset)
            FAIL("%s is %zu", wanted[i].name, wanted[i].offset);
    }
    const char *end = strstr(text, "\n}\n");
    for (const char *at = strstr(text, "LAYOUT = {"); (at = strstr(at, "\": ")) != NULL && at < end; at++)
        in_script++;
    CHECK_INT(in_script, sizeof wanted / sizeof wanted[0]);
    CHECK_INT(offsetof(struct bcri_record_shm, journal), 128); /* by these two words the context is found */
    CHECK_INT(offsetof(struct bcri_ctx, record), 0);
    CHECK_INT(offsetof(struct bcri_ctx, journal), sizeof(void *));
}
