/* SPDX-License-Identifier: MIT */
/*
 * copy.c -- the interpreter: does what a descriptor says, item by item.
 *
 * Slow and obvious on purpose; it is what faster ways are compared with. Two sides, each with a position that is
 * relative to its first byte; a position is aligned, checked against the side's length, and only then used. Its
 * running time is bounded by the descriptor's size times the bytes of the region: lists that move nothing there
 * are passed in closed form (glide.h).
 *
 * Other processes may change the region meanwhile (a program's bug, but not to be made worse): each item is read
 * once, and no length or position is taken from the region.
 */
#include <bcri/copydesc.h>

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include <bcr/error.h>
#include <bcr/types.h>
#include <bcri/archtype.h>

#include "glide.h"
#include "layout.h"
#include "survey.h"
#include "triple.h"

struct side {
    int64_t pos;
    int64_t length_bytes;
    const struct layout *layout;
};

struct copy {
    struct survey survey;
    const uint8_t *source_data;
    uint8_t *destination_data;
    struct side source;
    struct side destination;
    struct side *user; /* one of the two */
    const struct bcri_cce_codec *codec;
    int error; /* with STOP_ERROR */
};

enum stop {
    GO_ON,
    STOP_SOURCE,      /* the source ran out */
    STOP_DESTINATION, /* the destination is full */
    STOP_ERROR,
};

/* ---- items ---- */

static const uint8_t no_cce[BCRI_CCE_SIZE_BYTES]; /* how -1 travels */

static int encode_cce(const struct bcri_cce_codec *codec, const uint8_t *user_bytes, uint8_t *region_bytes)
{
    int id;
    uint8_t identity[BCRI_CCE_SIZE_BYTES] = {0};
    memcpy(&id, user_bytes, sizeof id);
    if (id != -1) {
        int error = codec ? codec->encode(codec->ctx, id, identity) : bcrE_NOCCE;
        if (error)
            return error;
    }
    memcpy(region_bytes, identity, sizeof identity);
    return 0;
}

static int decode_cce(const struct bcri_cce_codec *codec, const uint8_t *region_bytes, uint8_t *user_bytes)
{
    int id = -1;
    uint8_t identity[BCRI_CCE_SIZE_BYTES];
    memcpy(identity, region_bytes, sizeof identity);
    if (memcmp(identity, no_cce, sizeof identity) != 0) {
        int error = codec ? codec->decode(codec->ctx, identity, &id) : bcrE_NOCCE;
        if (error)
            return error;
    }
    memcpy(user_bytes, &id, sizeof id);
    return 0;
}

/* Both sides have the same archtype, so everything but a CCE is the same bytes on both. */
static int copy_item(const struct copy *copy, int type, const uint8_t *from, uint8_t *to)
{
    if (type != bcrT_CCE) {
        memmove(to, from,
                copy->source.layout->size_bytes[type]); /* a program may name its region as buffer */
        return 0;
    }
    return copy->user == &copy->source ? encode_cce(copy->codec, from, to)
                                       : decode_cce(copy->codec, from, to);
}

static int64_t align(const struct side *side, int type)
{
    return layout_align_up(side->pos, side->layout->align_bytes[type]);
}

/* How many items of this type come next before the side's end, at most `limit`. */
static int count_that_fit(const struct side *side, int type, int limit)
{
    int64_t room = side->length_bytes - align(side, type);
    int64_t count = room > 0 ? room / side->layout->size_bytes[type] : 0;
    return count < limit ? (int)count : limit;
}

static void advance(struct side *side, int type, int count)
{
    if (count > 0)
        side->pos = align(side, type) + (int64_t)count * side->layout->size_bytes[type];
}

static enum stop do_items(struct copy *copy, int type, int skip, int repl)
{
    struct side *source = &copy->source, *destination = &copy->destination;
    bool moves_source = skip_moves_source(skip), moves_destination = skip_moves_destination(skip);
    int there = moves_source ? count_that_fit(source, type, repl) : repl;
    int room = moves_destination ? count_that_fit(destination, type, repl) : repl;
    int count = there < room ? there : room;

    for (int i = 0; skip == 0 && i < count; i++) {
        copy->error = copy_item(copy, type, copy->source_data + align(source, type),
                                copy->destination_data + align(destination, type));
        if (copy->error)
            return STOP_ERROR;
        advance(source, type, 1);
        advance(destination, type, 1);
    }
    if (skip != 0 && moves_source)
        advance(source, type, count);
    if (skip != 0 && moves_destination)
        advance(destination, type, count);
    if (count == repl)
        return GO_ON;
    return there == count ? STOP_SOURCE : STOP_DESTINATION;
}

/* ---- lists ---- */

static enum stop do_repeats(struct copy *copy, const struct note *note, int repl);

static enum stop do_list(struct copy *copy, const struct note *note)
{
    struct triple triple = {.end = false};
    for (int idx = note->first; !triple.end; idx++) {
        copy->error = triple_read(copy->survey.copydesc, idx, &triple);
        if (copy->error)
            return STOP_ERROR;
        copy->user->pos += triple.adjust;
        if (copy->user->pos < 0 || copy->user->pos > INT_MAX) {
            copy->error = bcrE_DESC;
            return STOP_ERROR;
        }
        int skip = note->skip | triple.skip;
        enum stop stop = GO_ON;
        if (!triple.nest)
            stop = do_items(copy, triple.type, skip, triple.repl);
        else if (triple.repl > 0)
            stop = do_repeats(copy, survey_nested(&copy->survey, triple.target, skip), triple.repl);
        if (stop)
            return stop;
    }
    return GO_ON;
}

/* What `repl` repeats of an idle list do to the user position where it is now. */
static struct glide glide_from(const struct copy *copy, const struct note *note, int repl)
{
    struct glide glide = glide_nothing(copy->user->pos & (LAYOUT_PHASES - 1));
    glide_append_repeats(&glide, note->idle, repl);
    return glide;
}

/* Passes as many repeats of an idle list as stay inside; returns their number. */
static int pass_idle(struct copy *copy, const struct note *note, int repl)
{
    struct side *user = copy->user;
    int passed = 0, excess = repl, attempt = repl; /* the answer lies from passed to excess */
    while (passed < excess) {
        struct glide glide = glide_from(copy, note, attempt);
        if (glide_fits(&glide, user->pos, user->length_bytes))
            passed = attempt;
        else
            excess = attempt - 1;
        attempt = passed + (excess - passed + 1) / 2;
    }
    struct glide glide = glide_from(copy, note, passed);
    user->pos += glide.end - glide.start;
    return passed;
}

static enum stop do_repeats(struct copy *copy, const struct note *note, int repl)
{
    enum stop stop = GO_ON;
    /* If an idle list cannot be passed to the end, the next repeat finds out where it stops, and why. */
    for (int i = note->idle ? pass_idle(copy, note, repl) : 0; i < repl && !stop; i++)
        stop = do_list(copy, note);
    return stop;
}

/* ---- calls ---- */

static struct bcri_copy_result failed(int error)
{
    return (struct bcri_copy_result){.ret = -2, .error = error};
}

static struct bcri_copy_result result_of(const struct copy *copy, enum stop stop)
{
    int64_t left = copy->source.length_bytes - copy->source.pos;
    if (left < 0)
        left = 0;
    if (left > INT_MAX - 2)
        left = INT_MAX - 2;
    switch (stop) {
    case GO_ON: return (struct bcri_copy_result){.ret = (int)left + 2};
    case STOP_DESTINATION: return (struct bcri_copy_result){.ret = left > 0 ? -(int)left - 2 : 1};
    case STOP_SOURCE: return (struct bcri_copy_result){.ret = 1};
    default: return failed(copy->error);
    }
}

/* Would the copy write to the descriptor that it follows? What was surveyed must stay so. */
static bool destination_holds_descriptor(const struct copy *copy)
{
    uintptr_t desc = (uintptr_t)copy->survey.copydesc, data = (uintptr_t)copy->destination_data;
    uintptr_t desc_bytes = (uintptr_t)copy->survey.triple_count * 3 * sizeof(int);
    uintptr_t data_bytes = (uintptr_t)copy->destination.length_bytes;
    return data_bytes > 0 && desc < data + data_bytes && data < desc + desc_bytes;
}

/* The user side's address is in copy->source_data or copy->destination_data already, in `user` its length. */
static struct bcri_copy_result run(struct copy *copy, const int *copydesc, int repl,
                                   const struct bcri_copy_region *region, bool to_region, int buflen)
{
    if (!bcri_archtype_valid(region->archtype))
        return failed(bcrE_ARCH);
    const struct layout user_layout = layout_of_user(), region_layout = layout_of_region(region->archtype);
    int error = survey_init(&copy->survey, copydesc, to_region, &user_layout);
    if (error)
        return failed(error);

    struct bcri_copy_result result = {.ret = 0, .error = bcrE_ARCH};
    if (region->archtype == bcri_archtype_native()) {
        struct side user = {0, buflen, &user_layout};
        struct side other = {region->offset_bytes, region->length_bytes, &region_layout};
        copy->source = to_region ? user : other;
        copy->destination = to_region ? other : user;
        copy->user = to_region ? &copy->source : &copy->destination;
        if (destination_holds_descriptor(copy))
            result = failed(bcrE_ARG);
        else
            result = result_of(copy, do_repeats(copy, &copy->survey.root, repl));
    }
    survey_fini(&copy->survey);
    return result;
}

bool bcri_copy_arguments_good(const int *copydesc, int repl, const struct bcri_copy_region *region,
                              const void *buffer, int buflen)
{
    return copydesc && repl >= 0 && buflen >= 0 && (buffer || buflen == 0) && region->length_bytes >= 0 &&
           (region->data || region->length_bytes == 0) && region->offset_bytes >= 0 &&
           region->offset_bytes <= region->length_bytes;
}

struct bcri_copy_result bcri_copy_to_region(const int *copydesc, int repl,
                                            const struct bcri_copy_region *region, const void *buffer,
                                            int buflen, const struct bcri_cce_codec *codec)
{
    if (!bcri_copy_arguments_good(copydesc, repl, region, buffer, buflen))
        return failed(bcrE_ARG);
    struct copy copy;
    copy.source_data = buffer;
    copy.destination_data = region->data;
    copy.codec = codec;
    return run(&copy, copydesc, repl, region, true, buflen);
}

struct bcri_copy_result bcri_copy_from_region(const int *copydesc, int repl,
                                              const struct bcri_copy_region *region, void *buffer, int buflen,
                                              const struct bcri_cce_codec *codec)
{
    if (!bcri_copy_arguments_good(copydesc, repl, region, buffer, buflen))
        return failed(bcrE_ARG);
    struct copy copy;
    copy.source_data = region->data;
    copy.destination_data = buffer;
    copy.codec = codec;
    return run(&copy, copydesc, repl, region, false, buflen);
}

int bcri_copydesc_check(const int *copydesc)
{
    if (!copydesc)
        return bcrE_ARG;
    const struct layout user_layout = layout_of_user();
    struct survey survey;
    int error = survey_init(&survey, copydesc, true, &user_layout);
    if (!error)
        survey_fini(&survey);
    return error;
}
