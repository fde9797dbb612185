/* SPDX-License-Identifier: MIT */
/* See score_needs.h. The file is any user's: its numbers are kept as they are, and whoever uses them looks at them. */
#include "base/score_needs.h"

#include <string.h>

#include "base/object.h"

/* As struct score_rsrc_record has it; test_needs_of_score reads programs that were compiled with that. */
struct record {
    uint32_t magic, kind;
    int32_t low, high;
};
#define MAGIC UINT32_C(0x53435273)

/* A program has a few, and none that is behind these is missed by itself. */
enum { RECORDS_MAX = 1024 };

const char *enl_score_macro(enum enl_score_kind kind)
{
    static const char *const macros[ENL_SCORE_KINDS] = {
        [ENL_SCORE_NODES] = "SCORE_RSRC_NUM_NODES",    [ENL_SCORE_PROCS] = "SCORE_RSRC_NUM_PROCS",
        [ENL_SCORE_NETS] = "SCORE_RSRC_NUM_NETS",      [ENL_SCORE_ZEROCOPY] = "SCORE_RSRC_ZEROCOPY",
        [ENL_SCORE_MIXED] = "SCORE_RSRC_HETERO_NODES", [ENL_SCORE_NOCKPT] = "SCORE_RSRC_NOCKPT",
        [ENL_SCORE_PROGRAM] = "score_initialize"};
    return macros[kind];
}

void enl_score_needs_of(const void *bytes, size_t length, struct enl_score_needs *needs_out)
{
    struct record record;
    *needs_out = (struct enl_score_needs){0};
    for (size_t at = 0; length - at >= sizeof record; at += sizeof record) {
        memcpy(&record, (const char *)bytes + at, sizeof record);
        if (record.magic != MAGIC || record.kind == 0 || record.kind >= ENL_SCORE_KINDS)
            continue;
        struct enl_score_need *const need = &needs_out->of[record.kind];
        need->is_twice =
            need->is_twice || (need->is_there && (need->low != record.low || need->high != record.high));
        need->is_there = true;
        need->low = record.low;
        need->high = record.high;
        needs_out->is_score = true;
    }
}

void enl_score_needs_read(const char *path, struct enl_score_needs *needs_out)
{
    struct record records[RECORDS_MAX];
    const size_t length = enl_object_section(path, "score_rsrc", records, sizeof records);
    enl_score_needs_of(records, length, needs_out);
}
