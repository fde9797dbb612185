/* SPDX-License-Identifier: MIT */
/* receive.c -- crecv, irecv and their forms with x. */
#include "nx_private.h"

static long no_info(void)
{
    return nxi_bad(EQPBUF, "no place for what is known of the message");
}

long nxi_crecvx(long typesel, void *buf, long count, long nodesel, long ptypesel, long *info)
{
    struct nxi_choice choice;
    struct earl_envelope envelope;
    size_t room;
    if (info == NULL)
        return no_info();
    const long error = nxi_place(&choice, &room, typesel, buf, count, nodesel, ptypesel);
    if (error < 0)
        return error;
    const int result = earl_receive(&choice.wanted, buf, room, &envelope);
    if (result == 0 || result == EARL_E_CUT)
        nxi_tell(info, &envelope);
    return result == 0 ? 0 : nxi_too_long(result, &envelope, room);
}

long nxi_irecvx(long typesel, void *buf, long count, long nodesel, long ptypesel, long *info)
{
    struct nxi_request *list = NULL;
    if (info == NULL)
        return no_info();
    const long error = nxi_post_receive(&list, info, typesel, buf, count, nodesel, ptypesel);
    return error < 0 ? error : nxi_id(list);
}

static long nxi_crecv(long typesel, void *buf, long count)
{
    return nxi_crecvx(typesel, buf, count, -1, -1, nxi_info);
}

static long nxi_irecv(long typesel, void *buf, long count)
{
    return nxi_irecvx(typesel, buf, count, -1, -1, nxi_info);
}

NX_VOID_FORMS(crecv, (long typesel, void *buf, long count), (typesel, buf, count))
NX_FORMS(irecv, (long typesel, void *buf, long count), (typesel, buf, count))
NX_VOID_FORMS(crecvx, (long typesel, void *buf, long count, long nodesel, long ptypesel, long *info),
              (typesel, buf, count, nodesel, ptypesel, info))
NX_FORMS(irecvx, (long typesel, void *buf, long count, long nodesel, long ptypesel, long *info),
         (typesel, buf, count, nodesel, ptypesel, info))
