/* SPDX-License-Identifier: MIT */
/* send.c -- the active send buffer to one task or several, and items without a buffer. */
#include <limits.h>
#include <stdlib.h>

#include "pvm_private.h"

static unsigned earl_context(void)
{
    return PVMI_CONTEXT + (unsigned)pvmi_process.context;
}

int pvmi_send(int count, const int *processes, int tag)
{
    struct pvmi_buffer *buffer = pvmi_buffer_of(pvmi_send_buffer);
    earl_buffer *items;
    bool is_made;
    if (buffer == NULL)
        return PvmNoBuf;
    int code = pvmi_buffer_items(buffer, &items, &is_made);
    if (code < 0)
        return code;
    code = pvmi_result(earl_buffer_send(items, count, processes, earl_context(), tag));
    if (is_made)
        earl_buffer_free(items);
    if (!buffer->was_received) {
        buffer->info.tag = tag;
        buffer->info.ctx = pvmi_process.context;
        buffer->info.dst = count == 1 ? pvmi_tid(processes[0]) : 0;
    }
    return code < 0 ? code : pvmi_handlers_serve();
}

static int send_to_one(int tid, int tag)
{
    const int code = pvmi_need(), process = pvmi_process_of(tid);
    if (code < 0)
        return code;
    return process < 0 || tag < 0 ? PvmBadParam : pvmi_send(1, &process, tag);
}

int pvm_send(int tid, int msgtag)
{
    return pvmi_told("send", send_to_one(tid, msgtag));
}

static int send_to_several(const int *tids, int count, int tag)
{
    const int code = pvmi_need();
    if (code < 0)
        return code;
    if (tag < 0 || count < 0 || (tids == NULL && count > 0))
        return PvmBadParam;
    int *processes = malloc(((size_t)count + 1) * sizeof *processes), many = 0;
    if (processes == NULL)
        return PvmNoMem;
    bool are_tasks = true;
    for (int i = 0; i < count; i++) {
        const int process = pvmi_process_of(tids[i]);
        are_tasks = are_tasks && process >= 0;
        if (process != pvmi_process.self)
            processes[many++] = process;
    }
    const int result = are_tasks ? pvmi_send(many, processes, tag) : PvmBadParam;
    free(processes);
    return result;
}

int pvm_mcast(const int *tids, int ntask, int msgtag)
{
    return pvmi_told("mcast", send_to_several(tids, ntask, msgtag));
}

static int send_items(int tid, int tag, const void *items, int count, int datatype)
{
    enum earl_type type;
    size_t size;
    const int code = pvmi_need(), process = pvmi_process_of(tid);
    if (code < 0)
        return code;
    if (process < 0 || tag < 0 || count < 0 || (items == NULL && count > 0) ||
        !pvmi_type(datatype, &type, &size))
        return PvmBadParam;
    earl_buffer *buffer = earl_buffer_make(0);
    if (buffer == NULL)
        return PvmNoMem;
    int result = earl_pack(buffer, type, items, (size_t)count, 1);
    if (result == EARL_OK)
        result = earl_buffer_send(buffer, 1, &process, earl_context(), tag);
    earl_buffer_free(buffer);
    return result < 0 ? pvmi_result(result) : pvmi_handlers_serve();
}

int pvm_psend(int tid, int msgtag, const void *buf, int len, int datatype)
{
    return pvmi_told("psend", send_items(tid, msgtag, buf, len, datatype));
}
