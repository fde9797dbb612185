/* SPDX-License-Identifier: MIT */
/*
 * walk.c -- follows a descriptor triple by triple (walk.h).
 *
 * Each of the two sides has a position. The walk aligns a position, checks it against the side's
 * length, and only then uses it. It does as many repeats of a nested list at once as fit, and
 * descends only into the repeat that does not fit. It also passes what copies nothing at once. So
 * the time is bounded by the descriptor's size and, for each item that is copied, by the levels of
 * nesting above it.
 *
 * Other processes may change the region meanwhile. That is a bug of the program, but it must do no
 * harm here: the walk takes no length or position from the region. */
#include "walk.h"

#include <limits.h>

#include <bcr/error.h>

#include "triple.h"

/* Fewer repeats than PLAN_REPEATS_MIN are not worth a plan of their own. The work for such plans is
 * limited to PLANS_WORK_MAX in all, plus the number of bytes that the copy has passed. So these
 * plans, which serve only once, do not change what the time of a copy depends on. */
enum { PLAN_REPEATS_MIN = 8, PLANS_WORK_MAX = 1 << 20 };

static int64_t align(const struct side *side, const struct layout *layout, int type)
{
    return layout_align_up(side->pos, layout->align_bytes[type]);
}

/* How many items of this type fit before the side's end, at most `limit`. */
static int count_that_fit(const struct side *side, const struct layout *layout, int type, int limit)
{
    int64_t room = side->length_bytes - align(side, layout, type);
    int64_t count = room > 0 ? room / layout->size_bytes[type] : 0;
    return count < limit ? (int)count : limit;
}

static void advance(struct side *side, const struct layout *layout, int type, int count)
{
    if (count > 0)
        side->pos = align(side, layout, type) + (int64_t)count * layout->size_bytes[type];
}

static enum stop do_items(struct walk *walk, int type, int skip, int repl)
{
    struct side *source = &walk->source, *destination = &walk->destination;
    const struct layout *from = &walk->validation->source, *to = &walk->validation->destination;
    bool moves_source = skip_moves_source(skip), moves_destination = skip_moves_destination(skip);
    int there = moves_source ? count_that_fit(source, from, type, repl) : repl;
    int room = moves_destination ? count_that_fit(destination, to, type, repl) : repl;
    int count = there < room ? there : room;

    if (skip == 0 && count > 0 && !walk->dry) {
        struct op op = op_for(from, to, type, count, align(source, from, type), align(destination, to, type));
        walk->error = op_do(&op, walk->source_data, walk->destination_data, &walk->tools);
        if (walk->error)
            return STOP_ERROR;
    }
    if (moves_source)
        advance(source, from, type, count);
    if (moves_destination)
        advance(destination, to, type, count);
    if (count == repl)
        return GO_ON;
    return there == count ? STOP_SOURCE : STOP_DESTINATION;
}

static enum stop do_repeats(struct walk *walk, struct note *note, int repl);

static enum stop do_triple(struct walk *walk, int list_skip, const struct triple *triple)
{
    struct side *user = walk->validation->source.user        ? &walk->source
                        : walk->validation->destination.user ? &walk->destination
                                                             : NULL;
    if (user) {
        user->pos += triple->adjust;
        if (user->pos < 0 || user->pos > INT_MAX) {
            walk->error = bcrE_DESC;
            return STOP_ERROR;
        }
    }
    int skip = list_skip | triple->skip;
    if (!triple->nest)
        return do_items(walk, triple->type, skip, triple->repl);
    if (triple->repl == 0)
        return GO_ON;
    return do_repeats(walk, validate_nested(walk->validation, triple->target, skip), triple->repl);
}

/* Does triples one by one, up to `end` or the END. */
static enum stop do_triples(struct walk *walk, int list_skip, int first, int end)
{
    struct triple triple = {.end = false};
    enum stop stop = GO_ON;
    for (int idx = first; idx < end && !triple.end && !stop; idx++) {
        triple = triple_known(walk->validation->triples, idx);
        stop = do_triple(walk, list_skip, &triple);
    }
    return stop;
}

/* Passes a stretch that copies nothing. False: it does not fit. */
static bool pass_stretch(struct walk *walk, const struct part *part)
{
    struct side *from = &walk->source, *to = &walk->destination;
    struct extent source = extent_of_repeats(&part->source, from->pos, 1);
    struct extent destination = extent_of_repeats(&part->destination, to->pos, 1);
    if (!walk->sure && (!extent_fits(&source, from->pos, from->length_bytes) ||
                        !extent_fits(&destination, to->pos, to->length_bytes)))
        return false;
    from->pos += source.end - source.start;
    to->pos += destination.end - destination.start;
    return true;
}

static enum stop do_list(struct walk *walk, const struct note *note)
{
    if (!note->copies)
        return do_triples(walk, note->skip, note->first, INT_MAX);
    int from = 0;
    for (const struct note *here = note; here; from = here->rest_from, here = here->rest)
        for (int i = from; i < here->part_count; i++) {
            const struct part *part = &here->parts[i];
            bool stretch = part_is_stretch(part);
            if (stretch && pass_stretch(walk, part))
                continue;
            enum stop stop = do_triples(walk, note->skip, part->first, stretch ? INT_MAX : part->end);
            if (stop || stretch)
                return stop;
        }
    return GO_ON;
}

/* Passes repeats that are known to fit. */
static void pass(struct walk *walk, const struct note *note, int repl)
{
    struct extent source = extent_of_repeats(&note->source, walk->source.pos, repl);
    struct extent destination = extent_of_repeats(&note->destination, walk->destination.pos, repl);
    walk->source.pos += source.end - source.start;
    walk->destination.pos += destination.end - destination.start;
}

/* Does repeats that are known to fit by `plan`. */
static int do_planned(struct walk *walk, const struct plan *plan, const struct note *note, int repl)
{
    int error = plan_do(plan, repl, walk->source_data + walk->source.pos,
                        walk->destination_data + walk->destination.pos, &walk->tools);
    if (!error)
        pass(walk, note, repl);
    return error;
}

static int do_with_own_plan(struct walk *walk, struct note *note, int repl)
{
    const struct side *region = walk->validation->source.user ? &walk->destination : &walk->source;
    if (repl < PLAN_REPEATS_MIN || walk->plan_work > PLANS_WORK_MAX + region->pos)
        return PLAN_DECLINED;
    struct plan plan;
    int work;
    int error = plan_make(&plan, walk->validation, note, (int)(walk->source.pos & (LAYOUT_PHASES - 1)),
                          (int)(walk->destination.pos & (LAYOUT_PHASES - 1)), &work);
    walk->plan_work += work;
    if (error) /* without memory the walk goes on, item by item */
        return PLAN_DECLINED;
    error = do_planned(walk, &plan, note, repl);
    plan_free(&plan);
    return error;
}

/* Does repeats that are known to fit. */
static enum stop do_whole(struct walk *walk, struct note *note, int repl)
{
    if (walk->dry || !note->copies) {
        pass(walk, note, repl);
        return GO_ON;
    }
    const struct plan *plan = walk->plan;
    walk->plan = NULL;
    walk->error = plan ? do_planned(walk, plan, note, repl) : do_with_own_plan(walk, note, repl);
    if (walk->error != PLAN_DECLINED)
        return walk->error ? STOP_ERROR : GO_ON;
    bool was_sure = walk->sure;
    enum stop stop = GO_ON;
    walk->sure = true;
    for (int i = 0; i < repl && !stop; i++)
        stop = do_list(walk, note);
    walk->sure = was_sure;
    return stop;
}

static enum stop do_repeats(struct walk *walk, struct note *note, int repl)
{
    if (walk->sure)
        return do_whole(walk, note, repl);
    enum stop stop = GO_ON;
    int whole = validation_that_fit(note, repl, walk->source.pos, walk->source.length_bytes,
                                    walk->destination.pos, walk->destination.length_bytes);
    if (whole > 0)
        stop = do_whole(walk, note, whole);
    walk->plan = NULL;
    /* The next repeat finds out where it stops, and why. */
    if (!stop && whole < repl)
        stop = do_list(walk, note);
    return stop;
}

enum stop walk_run(struct walk *walk, int repl)
{
    walk->error = 0;
    return do_repeats(walk, &walk->validation->root, repl);
}
