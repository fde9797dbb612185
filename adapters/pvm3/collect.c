/* SPDX-License-Identifier: MIT */
/* collect.c -- pvm_reduce, pvm_gather, pvm_scatter: items of all members of a group to one of them, or from it. */
#include <stdlib.h>
#include <string.h>

#include "pvm_private.h"

typedef void operation(int *datatype, void *x, void *y, int *num, int *info);

/* What all of a group do. */
struct call {
    int datatype, count, tag;
    enum earl_type type;
    size_t bytes;    /* of count items */
    int *processes;  /* of the group's members, EARL_ANY where there is none */
    int places, own; /* how many, and the caller's */
    int root;        /* its place */
};

static int prepare(struct call *call, const void *data, int count, int datatype, int tag, const char *group,
                   int root)
{
    size_t size;
    *call = (struct call){.datatype = datatype, .count = count, .tag = tag, .root = root};
    const int code = pvmi_need();
    if (code < 0)
        return code;
    if (count < 0 || tag < 0 || !pvmi_type(datatype, &call->type, &size) || datatype == PVM_STR ||
        (data == NULL && count > 0))
        return PvmBadParam;
    call->bytes = (size_t)count * size;
    call->places = pvmi_members(group, &call->processes);
    if (call->places < 0) {
        call->processes = NULL;
        return call->places;
    }
    call->own = pvmi_place(call->places, call->processes, pvmi_process.self);
    if (call->own < 0)
        return PvmNotInGroup;
    return root < 0 || root >= call->places || call->processes[root] == EARL_ANY ? PvmNoInst : PvmOk;
}

static int send_items(const struct call *call, int place, const void *items)
{
    earl_buffer *buffer = earl_buffer_make(0);
    int code = buffer == NULL ? EARL_E_MEMORY : earl_pack(buffer, call->type, items, (size_t)call->count, 1);
    if (code == EARL_OK)
        code = earl_buffer_send(buffer, 1, &call->processes[place], PVMI_GROUP_CONTEXT, call->tag);
    earl_buffer_free(buffer);
    return pvmi_result(code);
}

static int receive_items(const struct call *call, int place, void *items)
{
    const struct earl_wanted wanted = {PVMI_GROUP_CONTEXT, call->processes[place], call->tag, NULL, NULL};
    earl_buffer *buffer;
    char one;
    int code = earl_buffer_receive(&wanted, 1, &buffer, NULL);
    if (code != 1)
        return pvmi_result(code) < 0 ? pvmi_result(code) : PvmSysErr;
    code = earl_unpack(buffer, call->type, items, (size_t)call->count, 1);
    if (code == EARL_E_END || (code == EARL_OK && earl_unpack(buffer, EARL_BYTE, &one, 1, 1) == EARL_OK))
        code = EARL_E_CUT;
    earl_buffer_free(buffer);
    return code == EARL_E_CUT ? PvmMismatch : pvmi_result(code);
}

static bool is_other(const struct call *call, int place)
{
    return place != call->own && call->processes[place] != EARL_ANY;
}

/* ---- reduce ---- */

static int combine(const struct call *call, operation *func, void *data)
{
    void *come = malloc(call->bytes + 1);
    int datatype = call->datatype, num = call->count, code = come == NULL ? PvmNoMem : PvmOk;
    for (int place = 0; place < call->places && come != NULL; place++) {
        int info = PvmOk;
        if (!is_other(call, place))
            continue;
        const int received = receive_items(call, place, come);
        if (received == PvmOk)
            func(&datatype, data, come, &num, &info);
        if (code == PvmOk)
            code = received < 0 ? received : info < 0 ? info : PvmOk;
    }
    free(come);
    return code;
}

/* What the function says of the datatype, before anything is sent: all members get the same answer. */
static int ask_function(operation *func, int datatype)
{
    double items[4] = {0};
    int none = 0, info = PvmOk;
    func(&datatype, items, items + 2, &none, &info);
    return info < 0 ? info : PvmOk;
}

static int reduce(operation *func, void *data, int count, int datatype, int tag, const char *group, int root)
{
    struct call call;
    int code = prepare(&call, data, count, datatype, tag, group, root);
    if (code == PvmOk)
        code = func == NULL ? PvmBadParam : ask_function(func, datatype);
    if (code == PvmOk)
        code = call.own == root ? combine(&call, func, data) : send_items(&call, root, data);
    free(call.processes);
    return code;
}

int pvm_reduce(operation *func, void *data, int count, int datatype, int msgtag, const char *group,
               int rootginst)
{
    return pvmi_told("reduce", reduce(func, data, count, datatype, msgtag, group, rootginst));
}

/* ---- gather, scatter ---- */

static int gather_all(const struct call *call, char *result, const void *data)
{
    int code = PvmOk;
    memmove(result + (size_t)call->own * call->bytes, data, call->bytes);
    for (int place = 0; place < call->places; place++) {
        const int received =
            is_other(call, place) ? receive_items(call, place, result + (size_t)place * call->bytes) : PvmOk;
        code = code == PvmOk ? received : code;
    }
    return code;
}

static int gather(void *result, const void *data, int count, int datatype, int tag, const char *group,
                  int root)
{
    struct call call;
    int code = prepare(&call, data, count, datatype, tag, group, root);
    if (code == PvmOk && call.own == root && result == NULL && count > 0)
        code = PvmBadParam;
    if (code == PvmOk && count > 0)
        code = call.own == root ? gather_all(&call, result, data) : send_items(&call, root, data);
    free(call.processes);
    return code;
}

int pvm_gather(void *result, const void *data, int count, int datatype, int msgtag, const char *group,
               int rootginst)
{
    return pvmi_told("gather", gather(result, data, count, datatype, msgtag, group, rootginst));
}

static int scatter_all(const struct call *call, void *result, const char *data)
{
    int code = PvmOk;
    for (int place = 0; place < call->places; place++) {
        const int sent =
            is_other(call, place) ? send_items(call, place, data + (size_t)place * call->bytes) : PvmOk;
        code = code == PvmOk ? sent : code;
    }
    memmove(result, data + (size_t)call->own * call->bytes, call->bytes);
    return code;
}

static int scatter(void *result, const void *data, int count, int datatype, int tag, const char *group,
                   int root)
{
    struct call call;
    int code = prepare(&call, result, count, datatype, tag, group, root);
    if (code == PvmOk && call.own == root && data == NULL && count > 0)
        code = PvmBadParam;
    if (code == PvmOk && count > 0)
        code = call.own == root ? scatter_all(&call, result, data) : receive_items(&call, root, result);
    free(call.processes);
    return code;
}

int pvm_scatter(void *result, const void *data, int count, int datatype, int msgtag, const char *group,
                int rootginst)
{
    return pvmi_told("scatter", scatter(result, data, count, datatype, msgtag, group, rootginst));
}
