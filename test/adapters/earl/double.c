/* SPDX-License-Identifier: MIT */
#include "double.h"

#include <stdlib.h>

/* No failed check of a test: fuzzers, which have none, use this, too. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

static int begin(void *self, int *process, int *count)
{
    const struct double_box *box = self;
    *process = box->process;
    *count = box->world->count;
    return EARL_OK;
}

static void end(void *self)
{
    (void)self;
}

static int host(void *self, int process)
{
    (void)self, (void)process;
    return 0;
}

static int watch(void *self, int process)
{
    (void)self, (void)process;
    return EARL_E_SYSTEM;
}

static earl_packet allocate(void *self, size_t length, enum earl_patience patience)
{
    struct double_world *world = ((struct double_box *)self)->world;
    if ((patience == EARL_NOW || patience == EARL_GROW) && world->refuses != NULL &&
        world->refuses(world->data))
        return NULL;
    struct double_packet *packet = malloc(sizeof *packet);
    must(packet != NULL);
    *packet = (struct double_packet){malloc(length != 0 ? length : 1), length, 1, -1};
    must(packet->bytes != NULL);
    world->packets++;
    return (earl_packet)packet;
}

static void release(void *self, earl_packet handle)
{
    struct double_packet *packet = (struct double_packet *)handle;
    if (--packet->holds != 0)
        return;
    ((struct double_box *)self)->world->packets--;
    free(packet->bytes);
    free(packet);
}

static size_t length_of(void *self, earl_packet packet)
{
    (void)self;
    return ((struct double_packet *)packet)->length;
}

static void shorten(void *self, earl_packet packet, size_t length)
{
    (void)self;
    ((struct double_packet *)packet)->length = length;
}

static bool is_shared(void *self, earl_packet packet)
{
    (void)self;
    return ((struct double_packet *)packet)->holds > 1;
}

static enum earl_put put(void *self, int process, earl_packet handle, bool keep, enum earl_patience patience)
{
    (void)patience;
    struct double_box *box = &((struct double_box *)self)->world->boxes[process];
    struct double_item *item = malloc(sizeof *item);
    must(item != NULL);
    *item = (struct double_item){NULL, (struct double_packet *)handle};
    item->packet->holds += keep;
    *box->last = item;
    box->last = &item->next;
    return EARL_PUT_DONE;
}

static earl_packet take(void *self, int msec, int *code)
{
    struct double_box *box = self;
    struct double_item *item = box->first;
    *code = EARL_OK;
    if (item == NULL) {
        must(msec == EARL_TAKE_NOW || box->world->idle != NULL);
        if (msec != EARL_TAKE_NOW)
            box->world->idle(box->world->data);
        return NULL;
    }
    struct double_packet *packet = item->packet;
    box->first = item->next;
    if (box->first == NULL)
        box->last = &box->first;
    free(item);
    return (earl_packet)packet;
}

static int ended(void *self, earl_packet packet)
{
    (void)self;
    return ((struct double_packet *)packet)->ended;
}

static bool later(void *self, void (*work)(void *argument), void *argument)
{
    (void)self;
    work(argument);
    return true;
}

static void nothing(void *self)
{
    (void)self;
}

static void no_note(void *self, const char *text, int process)
{
    (void)self, (void)text, (void)process;
}

static bool no_signal(void *self)
{
    (void)self;
    return false;
}

static const char *sentence(void *self)
{
    (void)self;
    return "";
}

static int descriptor(void *self)
{
    (void)self;
    return -1;
}

const struct earl_target double_target = {
    .name = "double",
    .begin = begin,
    .end = end,
    .host = host,
    .watch = watch,
    .allocate = allocate,
    .release = release,
    .length = length_of,
    .shorten = shorten,
    .is_shared = is_shared,
    .put = put,
    .take = take,
    .ended = ended,
    .later = later,
    .note = no_note,
    .wake = nothing,
    .pause = nothing,
    .signal_enter = no_signal,
    .signal_leave = nothing,
    .sentence = sentence,
    .descriptor = descriptor,
};

void double_begin(struct double_world *world, int count)
{
    *world = (struct double_world){.count = count, .boxes = calloc((size_t)count, sizeof *world->boxes)};
    must(world->boxes != NULL);
    for (int i = 0; i < count; i++) {
        world->boxes[i].last = &world->boxes[i].first;
        world->boxes[i].process = i;
        world->boxes[i].world = world;
    }
}

void double_end(struct double_world *world)
{
    int code;
    for (int i = 0; i < world->count; i++)
        for (earl_packet packet; (packet = take(&world->boxes[i], EARL_TAKE_NOW, &code)) != NULL;)
            release(&world->boxes[i], packet);
    free(world->boxes);
}
