/* SPDX-License-Identifier: MIT */
/* send.c -- Generic_BBsend, Generic_NBNBsend, Generic_Sync_send: of bytes, or of what was built. */
#include <stdlib.h>

#include "generic.h"

enum how { BUFFERED, UNBUFFERED, SYNCHRONOUS };

struct letter {
    enum how how;
    const char *data; /* NULL: what was built */
    size_t length;
    int type;
};

static int send_built(const struct generic_to *to, int type)
{
    if (earl_generic.sending == NULL)
        earl_generic.sending = earl_buffer_make(0);
    if (earl_generic.sending == NULL)
        return EARL_E_MEMORY;
    return earl_buffer_send(earl_generic.sending, to->count, generic_list(to), GENERIC_MESSAGES, type);
}

static int send_one(const struct letter *letter, const struct generic_to *to)
{
    const int code = earl_generic_introduce(to->one);
    if (code != EARL_OK)
        return code;
    if (letter->data == NULL)
        return send_built(to, letter->type);
    switch (letter->how) {
    case UNBUFFERED: return earl_isend(to->one, GENERIC_MESSAGES, letter->type, letter->data, letter->length);
    case SYNCHRONOUS:
        return earl_ssend(to->one, GENERIC_MESSAGES, letter->type, letter->data, letter->length);
    default: return earl_send(to->one, GENERIC_MESSAGES, letter->type, letter->data, letter->length);
    }
}

/* To all at once: each need not be received before the next one is sent. */
static int send_synchronously(const struct letter *letter, const struct generic_to *to)
{
    earl_request *requests = malloc(((size_t)to->count + 1) * sizeof *requests);
    if (requests == NULL)
        return EARL_E_MEMORY;
    int code = EARL_OK;
    for (int i = 0; i < to->count; i++) {
        requests[i] = earl_issend(to->list[i], GENERIC_MESSAGES, letter->type, letter->data, letter->length);
        if (requests[i] < 0 && requests[i] != EARL_E_ENDED && code == EARL_OK)
            code = requests[i];
    }
    for (int i = 0; i < to->count; i++) {
        const int sent = requests[i] > 0 ? earl_wait(requests[i], NULL) : EARL_OK;
        if (sent < 0 && sent != EARL_E_ENDED && code == EARL_OK)
            code = sent;
    }
    free(requests);
    return code;
}

/* Those that have ended meanwhile are passed over. */
static int send_many(const struct letter *letter, const struct generic_to *to)
{
    for (int i = 0; i < to->count; i++) {
        const int code = earl_generic_introduce(to->list[i]);
        if (code != EARL_OK && code != EARL_E_ENDED)
            return code;
    }
    int code;
    if (letter->data == NULL)
        code = send_built(to, letter->type);
    else if (letter->how == SYNCHRONOUS)
        code = send_synchronously(letter, to);
    else
        code = earl_sendm(to->count, to->list, GENERIC_MESSAGES, letter->type, letter->data, letter->length);
    return code == EARL_E_ENDED ? EARL_OK : code;
}

static long send(enum how how, const char *buf, const char *component, long bytes, long mtype, long inst,
                 long pid, long node)
{
    struct generic_to to;
    const struct letter letter = {how, buf, (size_t)bytes, (int)mtype};
    int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    if (mtype < 0 || mtype > EARL_LARGEST || bytes < 0 || (buf == NULL && (bytes != 0 || how == SYNCHRONOUS)))
        return EARL_E_ARG;
    code = earl_generic_find(&to, component, inst, node, pid, false);
    if (code != EARL_OK)
        return code;
    if (to.list != NULL) {
        code = send_many(&letter, &to);
        earl_generic_to_free(&to);
        return code;
    }
    code = send_one(&letter, &to);
    const int before = to.one;
    /* Another process may have become that instance. */
    if (code == EARL_E_ENDED && generic_has_name(component) &&
        (code = earl_generic_find(&to, component, inst, node, pid, true)) == EARL_OK)
        code = to.one == before ? EARL_E_ENDED : send_one(&letter, &to);
    return code;
}

long Generic_BBsend(const char *buf, const char *component, long bytes, long mtype, long inst, long pid,
                    long node)
{
    return send(BUFFERED, buf, component, bytes, mtype, inst, pid, node);
}

long Generic_NBNBsend(const char *buf, const char *component, long bytes, long mtype, long inst, long pid,
                      long node)
{
    return send(UNBUFFERED, buf, component, bytes, mtype, inst, pid, node);
}

long Generic_Sync_send(const char *buf, const char *component, long bytes, long mtype, long inst, long pid,
                       long node)
{
    return send(SYNCHRONOUS, buf, component, bytes, mtype, inst, pid, node);
}
