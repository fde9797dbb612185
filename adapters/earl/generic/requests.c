/* SPDX-License-Identifier: MIT */
/* requests.c -- Generic_NBreceive, Generic_msgdone, Generic_msgwait, Generic_msgcancel: open operations, by Earl's own numbers. */
#include <stdlib.h>

#include "generic.h"

/* Those that are receives: their messages are told of. */
static earl_request *receives;
static int receive_count, receive_room;

static bool has_room(void)
{
    if (receive_count < receive_room)
        return true;
    const int room = receive_room == 0 ? 16 : 2 * receive_room;
    earl_request *grown = realloc(receives, (size_t)room * sizeof *grown);
    if (grown == NULL)
        return false;
    receives = grown;
    receive_room = room;
    return true;
}

static bool was_receive(earl_request request)
{
    for (int i = receive_count; i-- > 0;)
        if (receives[i] == request) {
            receives[i] = receives[--receive_count];
            return true;
        }
    return false;
}

long Generic_NBreceive(char *buf, long bytes, long msgtype)
{
    struct earl_wanted wanted;
    const int code = earl_generic_want(&wanted, msgtype);
    if (code != EARL_OK || bytes < 0 || (buf == NULL && bytes != 0))
        return code != EARL_OK ? code : EARL_E_ARG;
    if (!has_room())
        return EARL_E_MEMORY;
    const earl_request request = earl_ireceive(&wanted, buf, (size_t)bytes);
    if (request > 0)
        receives[receive_count++] = request;
    return request;
}

/* 1: it is done. */
static int finish(long id, bool waits)
{
    struct earl_envelope envelope;
    int code = earl_generic_need();
    if (code != EARL_OK || id == 0)
        return code != EARL_OK ? code : 1;
    if (id < 0 || !generic_is_int(id))
        return EARL_E_REQUEST;
    code = waits ? earl_wait((earl_request)id, &envelope) : earl_test((earl_request)id, &envelope);
    if (code == EARL_E_REQUEST || (code == 0 && !waits))
        return code;
    if (was_receive((earl_request)id) && (code >= 0 || code == EARL_E_CUT))
        earl_generic_tell(&envelope);
    return code < 0 ? code : 1;
}

long Generic_msgdone(long id)
{
    return finish(id, false);
}

void Generic_msgwait(long id)
{
    earl_generic_must("Generic_msgwait", finish(id, true));
}

void Generic_msgcancel(long id)
{
    int code = earl_generic_need();
    if (code == EARL_OK && id != 0) {
        code = id < 0 || !generic_is_int(id) ? EARL_E_REQUEST : earl_cancel((earl_request)id);
        if (code == 0)
            code = finish(id, true);
        else if (code == 1)
            (void)was_receive((earl_request)id);
    }
    earl_generic_must("Generic_msgcancel", code == EARL_E_ENDED || code == EARL_E_CUT ? EARL_OK : code);
}
