/* SPDX-License-Identifier: MIT */
/*
 * copy.c -- one call: its arguments, the compiled descriptor, the fast path where all of it fits,
 * and the result. */
#include <bcri/copydesc.h>

#include <limits.h>
#include <string.h>

#include <bcr/error.h>
#include <bcri/archtype.h>
#include <bcri/atomics.h>

#include "bcri/private.h"
#include "copier.h"
#include "walk.h"

/* A copy, described so that it does not matter which side is the region. */
struct job {
    const int *copydesc;
    int repl;
    struct shape shape;
    const uint8_t *source_data;
    uint8_t *destination_data;
    struct room room;
    const struct bcri_cce_codec *codec;
};

static struct bcri_copy_result failed(int ret, int error)
{
    return (struct bcri_copy_result){.ret = ret, .error = error};
}

/* How many bytes of the source are left behind `pos`, at most INT_MAX - 2. */
static int bytes_left(int64_t pos, int64_t length)
{
    int64_t left = length - pos;
    return left < 0 ? 0 : left > INT_MAX - 2 ? INT_MAX - 2 : (int)left;
}

static struct bcri_copy_result result_of(const struct walk *walk, enum stop stop)
{
    int left = bytes_left(walk->source.pos, walk->source.length_bytes);
    switch (stop) {
    case GO_ON: return (struct bcri_copy_result){.ret = left + 2};
    case STOP_DESTINATION: return (struct bcri_copy_result){.ret = left > 0 ? -left - 2 : 1};
    case STOP_SOURCE: return (struct bcri_copy_result){.ret = 1};
    default: return failed(-2, walk->error);
    }
}

/* The slow path: it is not certain that all of it fits, or there is no plan. */
static __attribute__((noinline)) struct bcri_copy_result copy_by_walking(const struct job *job,
                                                                         struct compiled *compiled,
                                                                         const struct op_tools *tools)
{
    struct walk walk = {
        .validation = &compiled->validation,
        .plan = compiled->planned ? &compiled->plan : NULL,
        .source_data = job->source_data,
        .destination_data = job->destination_data,
        .source = {job->room.source_pos, job->room.source_length},
        .destination = {job->room.destination_pos, job->room.destination_length},
        .tools = *tools,
    };
    enum stop stop = walk_run(&walk, job->repl);
    return result_of(&walk, stop);
}

static inline __attribute__((always_inline)) struct bcri_copy_result copy(const struct job *job,
                                                                          struct compiled *compiled,
                                                                          const struct op_tools *tools)
{
    int64_t source_end, destination_end;
    if (compiled_fits(compiled, job->repl, &job->room, &source_end, &destination_end)) {
        const uint8_t *source = job->source_data + job->room.source_pos;
        uint8_t *destination = job->destination_data + job->room.destination_pos;
        int error = job->repl == 1
                        ? plan_do_once(&compiled->plan, source, destination, tools) /* most often */
                        : plan_do(&compiled->plan, job->repl, source, destination, tools);
        if (error)
            return failed(-2, error);
        return (struct bcri_copy_result){.ret = bytes_left(source_end, job->room.source_length) + 2};
    }
    return copy_by_walking(job, compiled, tools);
}

static inline bool overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes)
{
    uintptr_t a_first = (uintptr_t)a,
              b_first = (uintptr_t)b; /* they overlap if one begins inside the other */
    return (b_first - a_first < (uintptr_t)a_bytes || a_first - b_first < (uintptr_t)b_bytes) &&
           a_bytes > 0 && b_bytes > 0;
}

/* Whether the bytes that are used overlap, where the two areas do. Between regions positions only
 * grow, so this is easy to tell; with a user side the answer is always true. */
static bool used_bytes_overlap(const struct job *job, const struct compiled *compiled)
{
    const struct room *room = &job->room;
    int64_t source_end, destination_end;
    if (compiled->validation.source.user || compiled->validation.destination.user ||
        !compiled_fits(compiled, job->repl, room, &source_end, &destination_end))
        return true;
    return overlap(job->source_data + room->source_pos, source_end - room->source_pos,
                   job->destination_data + room->destination_pos, destination_end - room->destination_pos);
}

/* Copies when the two areas overlap: from a copy of the source, if the bytes that are used
 * overlap. */
static __attribute__((noinline)) struct bcri_copy_result copy_set_aside(struct job *job,
                                                                        struct compiled *compiled,
                                                                        const struct op_tools *tools)
{
    if (!used_bytes_overlap(job, compiled))
        return copy(job, compiled, tools);
    uint8_t *aside = bcri_private_alloc((size_t)job->room.source_length);
    if (!aside)
        return failed(-2, bcrE_NOMEM);
    memcpy(aside, job->source_data, (size_t)job->room.source_length);
    job->source_data = aside;
    struct bcri_copy_result result = copy(job, compiled, tools);
    bcri_private_free(aside);
    return result;
}

static inline __attribute__((always_inline)) struct bcri_copy_result run(struct bcri_copier *copier,
                                                                         struct job *job)
{
    struct compiled *compiled;
    int error = copier_find(copier, job->copydesc, &job->shape, &compiled);
    if (bcri_unlikely(error != 0))
        return failed(error == bcrE_ARCH ? 0 : -2, error);
    const struct op_tools tools = {copier->reverse, job->codec};
    struct bcri_copy_result result;
    if (overlap(job->copydesc, (int64_t)compiled->key.triple_count * 3 * (int64_t)sizeof(int),
                job->destination_data, job->room.destination_length))
        result = failed(-2, bcrE_ARG); /* the copy would overwrite the descriptor itself */
    else if (overlap(job->source_data, job->room.source_length, job->destination_data,
                     job->room.destination_length))
        result = copy_set_aside(job, compiled, &tools);
    else
        result = copy(job, compiled, &tools);
    copier_done(compiled);
    return result;
}

/* ---- arguments ---- */

static bool region_good(const struct bcri_copy_region *region)
{
    return region->length_bytes >= 0 && (region->data || region->length_bytes == 0) &&
           region->offset_bytes >= 0 && region->offset_bytes <= region->length_bytes;
}

static inline bool arguments_good(const int *copydesc, int repl, const struct bcri_copy_region *region,
                                  const void *buffer, int buflen)
{
    return copydesc && (repl | buflen) >= 0 && (buffer || buflen == 0) && region_good(region);
}

bool bcri_copy_arguments_good(const int *copydesc, int repl, const struct bcri_copy_region *region,
                              const void *buffer, int buflen)
{
    return arguments_good(copydesc, repl, region, buffer, buflen);
}

/* The result where an archtype allows no compiled descriptor: nothing was copied. */
static struct bcri_copy_result untranslated(struct bcri_copier *copier, const int *copydesc, int bad)
{
    int error = bcri_copydesc_check(copier, copydesc);
    return error ? failed(bad, error) : failed(0, bcrE_ARCH);
}

struct bcri_copy_result bcri_copy_to_region(struct bcri_copier *copier, const int *copydesc, int repl,
                                            const struct bcri_copy_region *region, const void *buffer,
                                            int buflen, const struct bcri_cce_codec *codec)
{
    if (bcri_unlikely(!arguments_good(copydesc, repl, region, buffer, buflen)))
        return failed(-2, bcrE_ARG);
    if (bcri_unlikely(region->archtype <= 0))
        return untranslated(copier, copydesc, -2);
    struct job job = {
        copydesc, repl,         shape_of(LAYOUT_USER, 0, region->archtype, region->offset_bytes),
        buffer,   region->data, {0, buflen, region->offset_bytes, region->length_bytes},
        codec};
    return run(copier, &job);
}

struct bcri_copy_result bcri_copy_from_region(struct bcri_copier *copier, const int *copydesc, int repl,
                                              const struct bcri_copy_region *region, void *buffer, int buflen,
                                              const struct bcri_cce_codec *codec)
{
    if (bcri_unlikely(!arguments_good(copydesc, repl, region, buffer, buflen)))
        return failed(-2, bcrE_ARG);
    if (bcri_unlikely(region->archtype <= 0))
        return untranslated(copier, copydesc, -2);
    struct job job = {copydesc,     repl,   shape_of(region->archtype, region->offset_bytes, LAYOUT_USER, 0),
                      region->data, buffer, {region->offset_bytes, region->length_bytes, 0, buflen},
                      codec};
    return run(copier, &job);
}

struct bcri_copy_result bcri_copy_between(struct bcri_copier *copier, const int *copydesc, int repl,
                                          const struct bcri_copy_region *to,
                                          const struct bcri_copy_region *from)
{
    if (!copydesc || repl < 0 || !region_good(to) || !region_good(from))
        return failed(-2, bcrE_ARG);
    if (to->archtype <= 0 || from->archtype <= 0)
        return untranslated(copier, copydesc, -2);
    struct job job = {
        copydesc,   repl,     shape_of(from->archtype, from->offset_bytes, to->archtype, to->offset_bytes),
        from->data, to->data, {from->offset_bytes, from->length_bytes, to->offset_bytes, to->length_bytes},
        NULL};
    return run(copier, &job);
}

struct bcri_copy_result bcri_copy_size(struct bcri_copier *copier, const int *copydesc, int repl,
                                       int archtype, int offset, int buflen)
{
    if (!copydesc || repl < 0 || offset < 0 || buflen < 0)
        return failed(-1, bcrE_ARG);
    if (archtype <= 0)
        return untranslated(copier, copydesc, -1);
    const struct shape shape = shape_of(LAYOUT_USER, 0, archtype, offset);
    struct compiled *compiled;
    int error = copier_find(copier, copydesc, &shape, &compiled);
    if (error)
        return failed(error == bcrE_ARCH ? 0 : -1, error);
    const struct room room = {0, buflen, offset, INT_MAX};
    int64_t source_end, end;
    enum stop stop = GO_ON;
    if (!compiled_fits(compiled, repl, &room, &source_end, &end)) {
        struct walk walk = {.validation = &compiled->validation,
                            .source = {0, buflen},
                            .destination = {offset, INT_MAX},
                            .dry = true};
        stop = walk_run(&walk, repl);
        end = walk.destination.pos;
        error = walk.error;
    }
    copier_done(compiled);
    if (stop == STOP_ERROR)
        return failed(-1, error);
    if (stop == STOP_DESTINATION || end > INT_MAX - 2)
        return failed(-1, bcrE_ARG);
    return (struct bcri_copy_result){.ret = stop == GO_ON ? (int)end + 2 : -(int)end - 2};
}

int bcri_copydesc_check(struct bcri_copier *copier, const int *copydesc)
{
    if (!copydesc)
        return bcrE_ARG;
    const struct shape shape = shape_of(LAYOUT_USER, 0, bcri_archtype_native(), 0);
    struct compiled *compiled;
    int error = copier_find(copier, copydesc, &shape, &compiled);
    if (!error)
        copier_done(compiled);
    return error;
}
