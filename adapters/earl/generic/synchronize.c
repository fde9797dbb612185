/* SPDX-License-Identifier: MIT */
/* synchronize.c -- Generic_barrsync, Generic_readysig, Generic_waitsignal. An event is a box of EXEC's that stays, without contents. */
#include <stdio.h>
#include <string.h>

#include "generic.h"

#define EVENT "event/"

int Generic_barrsync(const char *barrname, int num)
{
    const int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    if (!earl_generic.is_team)
        return earl_exec_barrier(barrname, num);
    return barrname == NULL || num != earl_generic.count ? EARL_E_ARG : earl_barrier(NULL);
}

/* What the box of an event is called. */
static int box_of(const char *event, char *box, size_t room)
{
    const int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    if (event == NULL || event[0] == '\0' || strlen(EVENT) + strlen(event) >= room)
        return EARL_E_ARG;
    snprintf(box, room, EVENT "%s", event);
    return EARL_OK;
}

void Generic_readysig(const char *event)
{
    char box[EARL_COMPONENT];
    int code = box_of(event, box, sizeof box);
    earl_buffer *nothing = code == EARL_OK ? earl_buffer_make(0) : NULL;
    if (code == EARL_OK && nothing == NULL)
        code = EARL_E_MEMORY;
    if (code == EARL_OK)
        code = earl_exec_post(box, 0, EARL_BOX_STAYS | EARL_BOX_ANYONE | EARL_BOX_REPLACE, nothing);
    earl_buffer_free(nothing);
    earl_generic_must("Generic_readysig", code);
}

void Generic_waitsignal(const char *event)
{
    char box[EARL_COMPONENT];
    earl_buffer *nothing = NULL;
    int code = box_of(event, box, sizeof box);
    if (code == EARL_OK)
        code = earl_exec_fetch(box, 0, EARL_BOX_WAIT, &nothing);
    earl_buffer_free(nothing);
    earl_generic_must("Generic_waitsignal", code);
}
