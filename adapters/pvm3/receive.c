/* SPDX-License-Identifier: MIT */
/* receive.c -- receives and probes.
 *
 * Without handlers and a routine of pvm_recvf a receive is one of Earl's. Else it looks in turn: messages for handlers are given to
 * them; what is kept for the routine to choose from (order.c) comes before what Earl has; then it waits for news of either. */
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include "pvm_private.h"

static struct earl_wanted wanted_of(int tid, int tag)
{
    return (struct earl_wanted){PVMI_CONTEXT + (unsigned)pvmi_process.context,
                                tid == -1 ? EARL_ANY : pvmi_process_of(tid), tag, NULL, NULL};
}

struct pvmi_buffer *pvmi_message(earl_buffer *items, const struct earl_envelope *envelope)
{
    struct pvmi_buffer *buffer = pvmi_buffer_new();
    if (buffer == NULL) {
        earl_buffer_free(items);
        return NULL;
    }
    buffer->items = items;
    pvmi_tell(buffer, envelope);
    buffer->encoding = earl_buffer_is_raw(items) == 1 ? PvmDataRaw : PvmDataDefault;
    return buffer;
}

/* Receives a message of Earl's: its buffer's ID, or 0, or an error. */
static int receive(const struct earl_wanted *wanted, bool waits)
{
    earl_buffer *items;
    struct earl_envelope envelope;
    const int code = earl_buffer_receive(wanted, waits, &items, &envelope);
    if (code <= 0)
        return code == EARL_E_ENDED ? 0 : pvmi_result(code);
    struct pvmi_buffer *buffer = pvmi_message(items, &envelope);
    return buffer == NULL ? PvmNoMem : buffer->id;
}

static int check(int tid, int tag)
{
    const int code = pvmi_need();
    if (code < 0)
        return code;
    return (tid != -1 && pvmi_process_of(tid) < 0) || tag < -1 ? PvmBadParam : PvmOk;
}

int64_t pvmi_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits for a message for this receive or for a handler. */
static int wait_for_news(const struct earl_wanted *wanted, int msec)
{
    const int handlers = pvmi_handlers();
    struct earl_envelope envelope;
    if (handlers == 0)
        return pvmi_result(earl_await(1, wanted, msec, &envelope));
    struct earl_wanted *all = malloc(((size_t)handlers + 1) * sizeof *all);
    if (all == NULL)
        return PvmNoMem;
    all[0] = *wanted;
    pvmi_handlers_wanted(all + 1);
    const int code = pvmi_result(earl_await(handlers + 1, all, msec, &envelope));
    free(all);
    return code;
}

/* One look: handlers, what is kept, what Earl has. */
static int look(int tid, int tag, const struct earl_wanted *wanted, struct pvmi_buffer **seen, bool takes)
{
    struct earl_envelope envelope;
    int code = pvmi_handlers_serve();
    if (code == PvmOk && pvmi_chooser != NULL)
        code = pvmi_keep_all();
    if (code < 0)
        return code;
    if (pvmi_has_kept()) {
        const struct pvmi_buffer *chosen = pvmi_choose(tid, tag, seen, takes, &code);
        if (chosen != NULL || code < 0)
            return chosen == NULL ? code : chosen->id;
    }
    if (pvmi_chooser != NULL)
        return 0;
    if (takes)
        return receive(wanted, false);
    code = earl_probe(wanted, 0, &envelope);
    if (code <= 0)
        return pvmi_result(code);
    const struct pvmi_buffer *told = pvmi_told_of(&envelope);
    return told == NULL ? PvmNoMem : told->id;
}

/* There is nothing but Earl's messages to look at. */
static bool is_plain(void)
{
    return pvmi_chooser == NULL && !pvmi_has_kept() && pvmi_handlers() == 0;
}

/* The same as pvmi_take, of arguments that are right. */
static int take(int tid, int tag, int msec)
{
    int code;
    const struct earl_wanted wanted = wanted_of(tid, tag);
    struct earl_wanted news = wanted;
    struct pvmi_buffer *seen = NULL;
    const int64_t end_ms = msec > 0 ? pvmi_now_ms() + msec + 1 : 0;
    for (int left = msec;; left = msec > 0 ? (int)(end_ms - pvmi_now_ms()) : msec) {
        if (msec < 0 && is_plain() && (code = receive(&wanted, true)) != 0)
            return code;
        code = look(tid, tag, &wanted, &seen, true);
        if (code != 0 || msec == 0 || (msec > 0 && left <= 0)) {
            if (code == 0)
                pvmi_descriptor_arm();
            return code;
        }
        if (pvmi_chooser != NULL)
            news.source = news.tag = EARL_ANY;
        code = wait_for_news(&news, left);
        if (code < 0)
            return code;
    }
}

int pvmi_take(int tid, int tag, int msec)
{
    int id = check(tid, tag);
    if (id == PvmOk)
        id = take(tid, tag, msec);
    if (id > 0)
        pvmi_told_of_end();
    return id;
}

int pvmi_activate(int id)
{
    struct pvmi_buffer *former = pvmi_buffer_of(pvmi_receive_buffer);
    if (id <= 0)
        return id;
    if (former != NULL && former->id != id)
        pvmi_buffer_free(former);
    return pvmi_receive_buffer = id;
}

/* The former message is over when the next one has come. What waits for that without a limit, and calls nothing of the program's
 * meanwhile, lets go of it before: so that is done, and its sender has the memory again, when the next one comes. */
static int receive_next(int tid, int tag)
{
    const int code = check(tid, tag);
    if (code < 0)
        return code;
    struct pvmi_buffer *former = is_plain() ? pvmi_buffer_of(pvmi_receive_buffer) : NULL;
    if (former != NULL)
        pvmi_buffer_free(former);
    return pvmi_activate(pvmi_take(tid, tag, -1));
}

int pvm_recv(int tid, int msgtag)
{
    return pvmi_told("recv", receive_next(tid, msgtag));
}

int pvm_nrecv(int tid, int msgtag)
{
    return pvmi_told("nrecv", pvmi_activate(pvmi_take(tid, msgtag, 0)));
}

/* Rounded up; a time that an int can't hold is without limit. */
static int msec_of(const struct timeval *time)
{
    if (time->tv_sec >= INT_MAX / 1000 - 1)
        return -1;
    return (int)time->tv_sec * 1000 + (int)((time->tv_usec + 999) / 1000);
}

int pvm_trecv(int tid, int msgtag, const struct timeval *tmout)
{
    if (tmout != NULL && (tmout->tv_sec < 0 || tmout->tv_usec < 0 || tmout->tv_usec >= 1000000))
        return pvmi_told("trecv", PvmBadParam);
    return pvmi_told("trecv", pvmi_activate(pvmi_take(tid, msgtag, tmout == NULL ? -1 : msec_of(tmout))));
}

int pvm_probe(int tid, int msgtag)
{
    struct pvmi_buffer *seen = NULL;
    int code = check(tid, msgtag);
    if (code == PvmOk) {
        const struct earl_wanted wanted = wanted_of(tid, msgtag);
        code = look(tid, msgtag, &wanted, &seen, false);
        if (code == 0)
            pvmi_descriptor_arm();
    }
    return pvmi_told("probe", code);
}

/* The first items of a message, `most` at most. What a long has there is not known: 4 or 8 bytes. */
static int unpack_items(const struct pvmi_buffer *buffer, void *items, int most, int datatype)
{
    enum earl_type type;
    size_t size;
    (void)pvmi_type(datatype, &type, &size);
    const long long whole = earl_buffer_length(buffer->items) / (long long)size;
    int many = whole > most ? most : (int)whole;
    int code = earl_unpack(buffer->items, type, items, (size_t)many, 1);
    if (code == EARL_E_END) { /* longs of twice the size */
        many = whole / 2 > most ? most : (int)(whole / 2);
        code = earl_unpack(buffer->items, type, items, (size_t)many, 1);
    }
    /* Longs of half the size: there are more. */
    for (; code == EARL_OK && many < most && (type == EARL_LONG || type == EARL_ULONG); many++)
        code = earl_unpack(buffer->items, type, (char *)items + (size_t)many * size, 1, 1);
    return code == EARL_E_END ? PvmOk : pvmi_result(code);
}

static int receive_items(int tid, int tag, void *items, int most, int datatype, int *atid, int *atag,
                         int *alen)
{
    enum earl_type type;
    size_t size;
    if (most < 0 || (items == NULL && most > 0) || !pvmi_type(datatype, &type, &size))
        return PvmBadParam;
    const int id = pvmi_take(tid, tag, -1);
    if (id < 0)
        return id;
    struct pvmi_buffer *buffer = pvmi_buffer_of(id);
    const int code = unpack_items(buffer, items, most, datatype);
    if (atid != NULL)
        *atid = buffer->info.src;
    if (atag != NULL)
        *atag = buffer->info.tag;
    if (alen != NULL)
        *alen = buffer->info.len;
    pvmi_buffer_free(buffer);
    return code;
}

int pvm_precv(int tid, int msgtag, void *buf, int len, int datatype, int *atid, int *atag, int *alen)
{
    return pvmi_told("precv", receive_items(tid, msgtag, buf, len, datatype, atid, atag, alen));
}
