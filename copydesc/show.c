/* SPDX-License-Identifier: MIT */
/*
 * show.c -- shows a descriptor as text: each triple with the positions of its first repeat on both
 * sides, as in a copy into a region.
 *
 * Each triple is written out where it occurs first; later the text only gives its number. So the
 * length of the text is bounded by the size of the descriptor. */
#include <bcri/copydesc.h>

#include <stdarg.h>
#include <stdio.h>

#include <bcr/error.h>

#include "bcri/private.h"
#include "key.h"
#include "triple.h"
#include "validation.h"

static const char *const type_names[] = {"",         "CHAR",  "SHORT",  "INT", "LONG",
                                         "LONGLONG", "FLOAT", "DOUBLE", "CCE"};

struct text {
    char *bytes;
    int size;
    int64_t length; /* of the whole text, also of what did not fit */
};

struct shower {
    struct validation validation;
    struct text text;
    bool *shown; /* by triple */
};

static __attribute__((format(printf, 2, 3))) void say(struct text *text, const char *format, ...)
{
    int64_t room = text->length < text->size ? text->size - text->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(room > 0 ? text->bytes + text->length : NULL, (size_t)room, format, arguments);
    va_end(arguments);
    text->length += length > 0 ? length : 0;
}

/* "from-to" of items, "-" where there are none. */
static void say_place(struct text *text, bool moves, int64_t from, int64_t bytes)
{
    const int64_t end = from + bytes;
    char place[48];
    if (moves)
        snprintf(place, sizeof place, "%lld-%lld", (long long)from, (long long)end);
    else
        snprintf(place, sizeof place, "-");
    say(text, "  %-17s", place);
}

static void say_head(struct text *text, int idx, int depth, const struct triple *triple)
{
    char name[96];
    if (triple->nest)
        snprintf(name, sizeof name, "nested, triple %d", triple->target);
    else
        snprintf(name, sizeof name, "%s", type_names[triple->type]);
    say(text, "%6d %+11d  %*s%-*s %11d", idx, triple->adjust, 2 * depth, "",
        24 - 2 * depth > 8 ? 24 - 2 * depth : 8, name, triple->repl);
}

static void say_skips(struct text *text, int skip)
{
    if (skip == TRIPLE_SKIP_MASK)
        say(text, "  skipped on both sides");
    else if (skip != 0)
        say(text, "  %s", skip == bcrT_SKIP_FM ? "skipped in the source" : "skipped in the destination");
    say(text, "\n");
}

static void say_list(struct shower *shower, const struct note *note, int depth, int64_t user, int64_t region);

static void say_nested(struct shower *shower, const struct triple *triple, int skip, int depth, int64_t *user,
                       int64_t *region)
{
    const struct note *below = validate_nested(&shower->validation, triple->target, skip);
    if (triple->repl > 0 && !shower->shown[triple->target])
        say_list(shower, below, depth + 1, *user, *region);
    struct extent on_user = extent_of_repeats(&below->source, *user, triple->repl);
    struct extent in_region = extent_of_repeats(&below->destination, *region, triple->repl);
    *user += on_user.end - on_user.start;
    *region += in_region.end - in_region.start;
}

static void say_list(struct shower *shower, const struct note *note, int depth, int64_t user, int64_t region)
{
    const struct layout *from = &shower->validation.source, *to = &shower->validation.destination;
    struct triple triple = {.end = false};
    for (int idx = note->first; !triple.end; idx++) {
        if (shower->shown[idx]) {
            say(&shower->text, "%6s %11s  %*sthen as from triple %d\n", "", "", 2 * depth, "", idx);
            return;
        }
        shower->shown[idx] = true;
        triple = triple_known(shower->validation.triples, idx);
        int skip = note->skip | triple.skip, type = triple.type;
        user += triple.adjust;
        say_head(&shower->text, idx, depth, &triple);
        if (triple.nest) {
            say_skips(&shower->text, triple.skip);
            say_nested(shower, &triple, skip, depth, &user, &region);
            continue;
        }
        bool on_user = triple.repl > 0 && skip_moves_source(skip);
        bool in_region = triple.repl > 0 && skip_moves_destination(skip);
        int64_t user_bytes = (int64_t)triple.repl * from->size_bytes[type];
        int64_t region_bytes = (int64_t)triple.repl * to->size_bytes[type];
        if (on_user)
            user = layout_align_up(user, from->align_bytes[type]);
        if (in_region)
            region = layout_align_up(region, to->align_bytes[type]);
        say_place(&shower->text, on_user, user, user_bytes);
        say_place(&shower->text, in_region, region, region_bytes);
        say_skips(&shower->text, skip);
        user += on_user ? user_bytes : 0;
        region += in_region ? region_bytes : 0;
    }
}

static void say_side(struct text *text, const char *name, const struct extent_table *table)
{
    struct extent extent = extent_of_repeats(table, 0, 1);
    if (extent.wild)
        say(text, "%s: further than any buffer is long\n", name);
    else
        say(text, "%s: %lld bytes once\n", name, (long long)extent.end);
}

static void say_archtype(struct text *text, int archtype)
{
    say(text, "region of archtype 0x%08x, %s byte first; bytes/alignment:", (unsigned)archtype,
        bcri_archtype_bigendian(archtype) ? "most significant" : "least significant");
    for (int type = bcrT_CHAR; type <= bcrT_CCE; type++)
        say(text, " %s %d/%d", type_names[type], bcri_archtype_size(archtype, type),
            bcri_archtype_align(archtype, type));
    say(text, "\n");
}

int bcri_copydesc_show(const int *copydesc, int archtype, char *text, int size)
{
    if (!copydesc || size < 0 || (!text && size > 0))
        return -bcrE_ARG;
    if (!bcri_archtype_valid(archtype))
        return -bcrE_ARCH;
    struct key key;
    int error = key_read(&key, copydesc);
    if (error)
        return -error;
    struct shower shower = {.text = {.size = size}};
    shower.text.bytes = text;
    const struct layout user = layout_of_user(), region = layout_of_region(archtype);
    error = validation_init(&shower.validation, &key, &user, &region);
    if (error)
        goto free_key;
    shower.shown = bcri_private_zeroed((size_t)key.triple_count, sizeof(bool));
    if (!shower.shown) {
        error = bcrE_NOMEM;
        goto fini_validation;
    }
    say_archtype(&shower.text, archtype);
    say(&shower.text, "%6s %11s  %-24s %11s  %-17s  %s\n", "triple", "adjust", "type", "repl", "user",
        "region");
    say_list(&shower, &shower.validation.root, 0, 0, 0);
    say_side(&shower.text, "user", &shower.validation.root.source);
    say_side(&shower.text, "region", &shower.validation.root.destination);
    bcri_private_free(shower.shown);
fini_validation:
    validation_fini(&shower.validation);
free_key:
    key_free(&key);
    return error ? -error : (int)shower.text.length;
}
