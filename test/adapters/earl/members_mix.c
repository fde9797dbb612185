/* SPDX-License-Identifier: MIT */
/* Programs that follow from a seed, and that no want of memory may stop. */
#include <stdbool.h>

#include "earl_members.h"

enum { OPEN = 12, ENTRIES = 60, TAGS = 1000, LONGEST = 400000 };

/* An open request of this process. */
struct open {
    unsigned char *data;
    size_t length;
    earl_request request;
    int entry;
    bool is_receive;
};

struct entry {
    int from, to, is_exact;
    unsigned context;
    size_t length;
};

static struct open open[OPEN];
static uint64_t common, own; /* random numbers: of all alike, and of this process */

static unsigned draw(uint64_t *state, unsigned below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*state >> 33) % below;
}

static size_t draw_length(void)
{
    static const unsigned below[] = {40, 1200, 8200, 20000, 70000, LONGEST};
    return draw(&common, below[draw(&common, 6)]);
}

static void is_right(const struct open *one, const struct earl_envelope *envelope)
{
    MUST(envelope->code == EARL_OK && envelope->length == (long long)one->length);
    MUST(!one->is_receive || is_filled(one->data, one->length, (unsigned)one->entry));
    free(one->data);
}

/* Ends one of the open requests, at least. */
static void end_some(void)
{
    earl_request requests[OPEN];
    struct earl_envelope envelopes[OPEN];
    int done[OPEN], which = (int)draw(&own, OPEN);
    for (int i = 0; i < OPEN; i++)
        requests[i] = open[i].request;
    if (requests[which] != 0 && draw(&own, 2) == 0) {
        MUST(earl_wait(requests[which], &envelopes[0]) == 0);
        is_right(&open[which], &envelopes[0]);
        open[which].request = 0;
        return;
    }
    const int many = earl_waitsome(OPEN, requests, draw(&own, 3) != 0, done, envelopes);
    MUST(many >= 0);
    for (int i = 0; i < many; i++) {
        is_right(&open[done[i]], &envelopes[i]);
        open[done[i]].request = 0;
    }
}

static bool is_any_open(void)
{
    for (int i = 0; i < OPEN; i++)
        if (open[i].request != 0)
            return true;
    return false;
}

static struct open *free_place(void)
{
    for (;;) {
        for (int i = 0; i < OPEN; i++)
            if (open[i].request == 0)
                return &open[i];
        end_some();
    }
}

static void keep(struct open one)
{
    MUST(one.request > 0);
    struct open *place = free_place();
    *place = one;
}

static void send_one(const struct entry *entry, int index)
{
    unsigned char *data = allocate(entry->length);
    fill(data, entry->length, (unsigned)index);
    const unsigned way = draw(&own, 6);
    if (way == 2 || way == 3) {
        const earl_request request = (way == 2 ? earl_isend : earl_issend)(entry->to, entry->context,
                                                                           index % TAGS, data, entry->length);
        keep((struct open){data, entry->length, request, index, false});
        return;
    }
    if (way == 4 && entry->length < 100000) {
        earl_buffer *buffer = earl_buffer_make(1);
        MUST(earl_pack(buffer, EARL_BYTE, data, entry->length, 1) == EARL_OK);
        MUST(earl_buffer_send(buffer, 1, &entry->to, entry->context, index % TAGS) == EARL_OK);
        earl_buffer_free(buffer);
    } else {
        MUST((way == 1 ? earl_ssend : earl_send)(entry->to, entry->context, index % TAGS, data,
                                                 entry->length) == EARL_OK);
    }
    free(data);
}

static void receive_as_buffer(const struct earl_wanted *wanted, unsigned char *data, size_t length)
{
    earl_buffer *buffer;
    MUST(earl_buffer_receive(wanted, 1, &buffer, NULL) == 1);
    MUST(earl_buffer_length(buffer) == (long long)length);
    MUST(earl_unpack(buffer, EARL_BYTE, data, length, 1) == EARL_OK);
    earl_buffer_free(buffer);
}

static void receive_one(const struct entry *entry, int index)
{
    const size_t length = entry->length;
    unsigned char *data = allocate(length);
    struct earl_envelope envelope = {entry->context, entry->from, index % TAGS, EARL_OK, (long long)length};
    const struct earl_wanted wanted = wants(entry->context, entry->is_exact ? entry->from : EARL_ANY,
                                            entry->is_exact ? EARL_ANY : index % TAGS);
    switch (draw(&own, 6)) {
    case 0:
    case 1: keep((struct open){data, length, earl_ireceive(&wanted, data, length), index, true}); return;
    case 2: MUST(earl_probe(&wanted, 1, &envelope) == 1); /* fall through */
    case 3: MUST(earl_receive(&wanted, data, length, &envelope) == EARL_OK); break;
    case 4: receive_as_buffer(&wanted, data, length); break;
    default: {
        const earl_request claim = earl_claim(&wanted, 1, &envelope);
        MUST(claim > 0);
        if (draw(&own, 2) == 0)
            end_some();
        MUST(earl_claimed(claim, data, length) == EARL_OK);
    }
    }
    MUST(envelope.source == entry->from && envelope.tag == index % TAGS);
    is_right(&(struct open){data, length, 0, index, true}, &envelope);
}

static void all_together(void)
{
    unsigned char data[3000];
    const size_t length = draw(&common, sizeof data);
    const int root = (int)draw(&common, (unsigned)count);
    if (draw(&common, 2) == 0) {
        MUST(earl_barrier(NULL) == EARL_OK);
        return;
    }
    if (self == root)
        fill(data, length, (unsigned)root);
    MUST(earl_broadcast(NULL, root, data, length) == EARL_OK && is_filled(data, length, (unsigned)root));
}

/* All processes go through one list of messages and of what they do together, each doing its part of each entry in turn, in any of
 * the ways there are. Of the entries that are not over, the first one has both its processes at it or behind it, so it goes on even
 * if no message goes before its receive is there. */
void mix(void)
{
    common = (uint64_t)number;
    own = (uint64_t)number * 1009 + (uint64_t)self;
    for (int i = 0; i < ENTRIES * count; i++) {
        struct entry entry = {.from = (int)draw(&common, (unsigned)count)};
        entry.to = (entry.from + 1 + (int)draw(&common, (unsigned)count - 1)) % count;
        entry.context = draw(&common, 2);
        entry.is_exact = draw(&common, 2) == 0;
        entry.length = draw_length();
        if (draw(&common, 40) == 0)
            all_together();
        if (entry.from == self)
            send_one(&entry, i);
        else if (entry.to == self)
            receive_one(&entry, i);
    }
    while (is_any_open())
        end_some();
}

/* ---- in any order ---- */

enum { EACH = 40 }; /* messages from each to each other */

/* The process and tag of message `index` of those for, or from, all others. */
static int process_of(int index)
{
    return (self + 1 + index % (count - 1)) % count;
}
static int tag_of(int index)
{
    return index / (count - 1);
}

static void begin_send(int index, struct open *one)
{
    one->length = draw_length();
    one->data = allocate(one->length);
    fill(one->data, one->length, (unsigned)(self * 100 + tag_of(index)));
    one->request = (draw(&own, 2) == 0 ? earl_isend : earl_issend)(process_of(index), 1, tag_of(index),
                                                                   one->data, one->length);
    MUST(one->request > 0);
}

static void receive_any_way(const struct earl_wanted *wanted)
{
    unsigned char *data = allocate(LONGEST);
    struct earl_envelope envelope;
    earl_buffer *buffer;
    switch (draw(&own, 3)) {
    case 0:
        MUST(earl_buffer_receive(wanted, 1, &buffer, &envelope) == 1);
        MUST(earl_unpack(buffer, EARL_BYTE, data, (size_t)envelope.length, 1) == EARL_OK);
        earl_buffer_free(buffer);
        break;
    case 1: MUST(earl_wait(earl_ireceive(wanted, data, LONGEST), &envelope) == 0); break;
    default: MUST(earl_receive(wanted, data, LONGEST, &envelope) == EARL_OK);
    }
    MUST(envelope.source == wanted->source && envelope.tag == wanted->tag);
    MUST(is_filled(data, (size_t)envelope.length, (unsigned)(envelope.source * 100 + envelope.tag)));
    free(data);
}

/* All send what is for others without waiting, receive in between what is there, in any order, and then the rest. */
void any_order(void)
{
    const int all = EACH * (count - 1);
    struct open *sends = calloc((size_t)all, sizeof *sends);
    int *from = calloc((size_t)all, sizeof *from), left = all, sent = 0;
    MUST(sends != NULL && from != NULL);
    common = own = (uint64_t)number * 1009 + (uint64_t)self;
    for (int i = 0; i < all; i++)
        from[i] = i;
    while (left > 0) {
        struct earl_envelope envelope;
        if (sent < all && draw(&own, 12) != 0) {
            begin_send(sent, &sends[sent]);
            sent++;
            continue;
        }
        const int which = (int)draw(&own, (unsigned)left);
        const struct earl_wanted wanted = wants(1, process_of(from[which]), tag_of(from[which]));
        if (sent < all && earl_probe(&wanted, 0, &envelope) == 0)
            continue; /* it may come only once this one has sent more */
        from[which] = from[--left];
        receive_any_way(&wanted);
    }
    for (int i = 0; i < all; i++) {
        MUST(earl_wait(sends[i].request, NULL) == 0);
        free(sends[i].data);
    }
    free(sends);
    free(from);
}

/* ---- behind what fills the memory ---- */

enum { BEFORE = 40, LAST = BEFORE };

/* 0 fills its memory by sends that do not wait, then sends in ways that wait; 1 receives what was sent last first. number: its length. */
void last_send_first(void)
{
    const size_t length = (size_t)2 << 20, last = (size_t)number;
    const int other = 1;
    unsigned char *data = allocate(length);
    earl_request sends[BEFORE];
    if (self == 0) {
        fill(data, length, 6);
        for (int k = 0; k < BEFORE; k++)
            MUST((sends[k] = earl_isend(1, 1, k, data, length)) > 0);
        MUST(earl_send(1, 1, LAST, data, last) == EARL_OK);
        MUST(earl_sendm(1, &other, 1, LAST, data, last) == EARL_OK);
        for (int k = 0; k < BEFORE; k++)
            MUST(earl_wait(sends[k], NULL) == 0);
    } else if (self == 1) {
        for (int k = BEFORE + 1; k >= 0; k--) {
            const struct earl_wanted wanted = wants(1, 0, k < LAST ? k : LAST);
            struct earl_envelope envelope;
            MUST(earl_receive(&wanted, data, length, &envelope) == EARL_OK);
            MUST(envelope.length == (long long)(k < LAST ? length : last));
            MUST(is_filled(data, (size_t)envelope.length, 6));
        }
    }
    free(data);
}
