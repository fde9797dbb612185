/* SPDX-License-Identifier: MIT */
/* receive.c -- Generic_Breceive, Generic_Breceivem, Generic_NBreceive: what a type selects, and messages into bytes or for xtract. */
#include <stdint.h>

#include "generic.h"

/* A selector: a type; -1, any; or a negative number of 32 bits, in which bits 0 to 30 are types. */
static bool is_selector(long selector)
{
    return selector >= INT32_MIN && selector <= EARL_LARGEST && selector != INT32_MIN;
}

static bool selects(long selector, int tag)
{
    if (selector >= -1)
        return selector == -1 || selector == tag;
    return tag < 31 && ((uint32_t)selector >> tag & 1) != 0;
}

static int is_of_mask(const struct earl_envelope *envelope, void *argument)
{
    return selects((long)(intptr_t)argument, envelope->tag);
}

static int is_one_of(const struct earl_envelope *envelope, void *argument)
{
    const struct generic_choice *choice = argument;
    for (int i = 0; i < choice->count; i++)
        if (selects(choice->types[i], envelope->tag))
            return 1;
    return 0;
}

int earl_generic_want(struct earl_wanted *wanted, long type)
{
    const int code = earl_generic_need();
    if (code != EARL_OK || !is_selector(type))
        return code != EARL_OK ? code : EARL_E_ARG;
    *wanted = (struct earl_wanted){GENERIC_MESSAGES, EARL_ANY, type >= -1 ? (int)type : EARL_ANY, NULL, NULL};
    if (type < -1) {
        wanted->accepts = is_of_mask;
        wanted->argument = (void *)(intptr_t)type;
    }
    return EARL_OK;
}

int earl_generic_choose(struct generic_choice *choice, const long *types, int count)
{
    const int code = earl_generic_need();
    if (code != EARL_OK)
        return code;
    if (types == NULL || count < 1)
        return EARL_E_ARG;
    for (int i = 0; i < count; i++)
        if (!is_selector(types[i]))
            return EARL_E_ARG;
    if (count == 1)
        return earl_generic_want(&choice->wanted, types[0]);
    *choice = (struct generic_choice){.types = types, .count = count};
    choice->wanted = (struct earl_wanted){GENERIC_MESSAGES, EARL_ANY, EARL_ANY, is_one_of, choice};
    return EARL_OK;
}

void earl_generic_tell(const struct earl_envelope *envelope)
{
    earl_generic.last = *envelope;
    earl_generic.has_last = true;
}

static long receive(char *buf, long bytes, const struct earl_wanted *wanted)
{
    struct earl_envelope envelope;
    if (bytes < 0 || (buf == NULL && bytes != 0))
        return EARL_E_ARG;
    int code;
    if (buf != NULL) {
        code = earl_receive(wanted, buf, (size_t)bytes, &envelope);
        if (code == EARL_E_CUT)
            earl_generic_tell(&envelope);
    } else {
        earl_buffer *buffer;
        code = earl_buffer_receive(wanted, 1, &buffer, &envelope);
        if (code == 1) {
            earl_buffer_free(earl_generic.received);
            earl_generic.received = buffer;
        }
    }
    if (code < 0)
        return code;
    earl_generic_tell(&envelope);
    return envelope.tag;
}

long Generic_Breceive(char *buf, long bytes, long msgtype)
{
    struct earl_wanted wanted;
    const int code = earl_generic_want(&wanted, msgtype);
    return code != EARL_OK ? code : receive(buf, bytes, &wanted);
}

long Generic_Breceivem(char *buf, long bytes, const long *msgtype, int num)
{
    struct generic_choice choice;
    const int code = earl_generic_choose(&choice, msgtype, num);
    return code != EARL_OK ? code : receive(buf, bytes, &choice.wanted);
}
