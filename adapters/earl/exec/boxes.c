/* SPDX-License-Identifier: MIT */
/* boxes.c -- buffers that are kept by name and index, in that order; and who waits for one. */
#include <stdlib.h>
#include <string.h>

#include "exec.h"

struct box {
    struct box *next;
    char *name;
    int index, owner, flags;
    earl_buffer *items;
};

/* Who waits for a box. */
struct fetch {
    struct fetch *next;
    struct asker asker;
    char *name;
    int index, flags;
};

static struct box *boxes;
static struct fetch *fetches, **last_fetch = &fetches;

static bool may_change(const struct box *box, int process)
{
    return box->owner == process || (box->flags & EARL_BOX_ANYONE) != 0;
}

static void free_box(struct box **at)
{
    struct box *box = *at;
    *at = box->next;
    earl_do_buffer_free(&exec, box->items);
    free(box->name);
    free(box);
}

/* Where the box of that name and index is, or would be. */
static struct box **place_of(const char *name, int index)
{
    struct box **at = &boxes;
    for (; *at != NULL; at = &(*at)->next) {
        const int order = strcmp((*at)->name, name);
        if (order > 0 || (order == 0 && (*at)->index >= index))
            break;
    }
    return at;
}

static struct box **find(const char *name, int index, int flags)
{
    struct box **at = place_of(name, index);
    if (*at == NULL || strcmp((*at)->name, name) != 0)
        return NULL;
    return (*at)->index == index || (flags & EARL_BOX_EXACT) == 0 ? at : NULL;
}

static int free_index(const char *name)
{
    int index = 0;
    for (const struct box *box = boxes; box != NULL; box = box->next)
        if (strcmp(box->name, name) == 0 && box->index == index)
            index++;
    return index;
}

/* ---- fetches ---- */

/* Sends a box; takes it, if it is asked to and may. */
static void serve(struct asker asker, struct box **at, int flags)
{
    const struct box *box = *at;
    if ((flags & EARL_BOX_TAKE) != 0 && !may_change(box, asker.process)) {
        answer(asker, EARL_E_BUSY);
        return;
    }
    struct earl_fields out = answer_begin(box->index);
    earl_put_items(&out, box->items);
    answer_end(asker, &out);
    if ((flags & EARL_BOX_TAKE) != 0)
        free_box(at);
}

static void free_fetch(struct fetch **at)
{
    struct fetch *fetch = *at;
    *at = fetch->next;
    if (last_fetch == &fetch->next)
        last_fetch = at;
    free(fetch->name);
    free(fetch);
}

/* In the order in which they came. */
static void serve_waiting(void)
{
    for (struct fetch **at = &fetches; *at != NULL;) {
        struct box **box = find((*at)->name, (*at)->index, (*at)->flags);
        if (box == NULL) {
            at = &(*at)->next;
            continue;
        }
        serve((*at)->asker, box, (*at)->flags);
        free_fetch(at);
    }
}

void ask_fetch(struct asker asker, struct earl_fields *fields)
{
    char *name = earl_get_text(fields);
    const int index = earl_get_int(fields), flags = earl_get_int(fields);
    struct box **at = fields->code == EARL_OK ? find(name, index, flags) : NULL;
    if (at != NULL)
        serve(asker, at, flags);
    if (at != NULL || fields->code != EARL_OK || (flags & EARL_BOX_WAIT) == 0) {
        if (at == NULL)
            answer(asker, fields->code != EARL_OK ? fields->code : EARL_E_NONE);
        free(name);
        return;
    }
    struct fetch *fetch = malloc(sizeof *fetch);
    if (fetch == NULL) {
        free(name);
        answer(asker, EARL_E_MEMORY);
        return;
    }
    *fetch = (struct fetch){NULL, asker, name, index, flags};
    *last_fetch = fetch;
    last_fetch = &fetch->next;
}

/* ---- posts ---- */

/* Whether a post may take an index of that name, and which. */
static int allowed(int process, const char *name, int index, int flags)
{
    const struct box *first = *place_of(name, 0);
    if (first == NULL || strcmp(first->name, name) != 0)
        return index < 0 ? 0 : index;
    struct box **same = index < 0 ? NULL : find(name, index, EARL_BOX_EXACT);
    if (same != NULL)
        return (flags & EARL_BOX_REPLACE) != 0 && may_change(*same, process) ? index : EARL_E_BUSY;
    if ((flags & EARL_BOX_SEVERAL) == 0 || (first->flags & EARL_BOX_SEVERAL) == 0)
        return EARL_E_BUSY;
    return index < 0 ? free_index(name) : index;
}

static int post(struct asker asker, char **name, int index, int flags, earl_buffer *items)
{
    index = allowed(asker.process, *name, index, flags);
    if (index < 0)
        return index;
    struct box *box = malloc(sizeof *box);
    if (box == NULL)
        return EARL_E_MEMORY;
    struct box **at = find(*name, index, EARL_BOX_EXACT);
    struct box **before = at != NULL ? at : find(*name, 0, 0); /* whose owner LEAVE means */
    const int owner = (flags & EARL_BOX_LEAVE) != 0 && before != NULL ? (*before)->owner : asker.process;
    if (at != NULL)
        free_box(at);
    at = place_of(*name, index);
    *box = (struct box){*at, *name, index, owner, flags, items};
    *at = box;
    *name = NULL;
    return index;
}

void ask_post(struct asker asker, struct earl_fields *fields)
{
    char *name = earl_get_text(fields);
    const int index = earl_get_int(fields), flags = earl_get_int(fields);
    earl_buffer *items = earl_get_items(fields);
    const int code = fields->code == EARL_OK ? post(asker, &name, index, flags, items) : fields->code;
    if (code < 0 && items != NULL)
        earl_do_buffer_free(&exec, items);
    free(name);
    answer(asker, code);
    serve_waiting();
}

void ask_drop(struct asker asker, struct earl_fields *fields)
{
    char *name = earl_get_text(fields);
    const int index = earl_get_int(fields);
    int code = fields->code;
    struct box **at = code == EARL_OK ? find(name, index, EARL_BOX_EXACT) : NULL;
    if (code == EARL_OK)
        code = at == NULL ? EARL_E_NONE : may_change(*at, asker.process) ? EARL_OK : EARL_E_BUSY;
    if (code == EARL_OK)
        free_box(at);
    free(name);
    answer(asker, code);
}

void ask_boxes(struct asker asker, struct earl_fields *fields)
{
    char *name = earl_get_text(fields);
    int count = 0;
    struct earl_fields out = answer_begin(EARL_OK);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            earl_put_int(&out, count);
        for (const struct box *box = boxes; box != NULL; box = box->next) {
            if (name != NULL && name[0] != '\0' && strcmp(name, box->name) != 0)
                continue;
            count += pass == 0;
            if (pass == 0)
                continue;
            earl_put_int(&out, box->index);
            earl_put_int(&out, box->owner);
            earl_put_int(&out, box->flags);
            earl_put_text(&out, box->name);
        }
    }
    free(name);
    answer_end(asker, &out);
}

void boxes_ended(int process)
{
    for (struct box **at = &boxes; *at != NULL;)
        if ((*at)->owner == process && ((*at)->flags & EARL_BOX_STAYS) == 0)
            free_box(at);
        else
            at = &(*at)->next;
    for (struct fetch **at = &fetches; *at != NULL;)
        if ((*at)->asker.process == process)
            free_fetch(at);
        else
            at = &(*at)->next;
}
