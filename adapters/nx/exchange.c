/* SPDX-License-Identifier: MIT */
/* exchange.c -- csendrecv, isendrecv: a message, and the answer to it. The receive is posted first: the answer finds it. */
#include "nx_private.h"

long nxi_csendrecv(long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf,
                   long rcount)
{
    struct nxi_letter letter;
    struct nxi_choice choice;
    struct earl_envelope envelope;
    size_t room = 0;
    long error = nxi_letter(&letter, type, sbuf, scount, node, ptype);
    if (error == 0)
        error = nxi_place(&choice, &room, typesel, rbuf, rcount, -1, -1);
    if (error < 0)
        return error;
    const earl_request receive = earl_ireceive(&choice.wanted, rbuf, room);
    if (receive < 0)
        return nxi_result(receive);
    error = nxi_csend(type, sbuf, scount, node, ptype);
    if (error < 0) {
        if (earl_cancel(receive) == 0) /* it has a message already, and writes to rbuf */
            (void)earl_wait(receive, NULL);
        return error;
    }
    const int result = earl_wait(receive, &envelope);
    if (result == 0 || result == EARL_E_CUT)
        nxi_tell(nxi_info, &envelope);
    return result == 0 ? (long)envelope.length : nxi_too_long(result, &envelope, room);
}

long nxi_isendrecv(long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf,
                   long rcount)
{
    struct nxi_letter letter;
    struct nxi_request *list = NULL;
    long error = nxi_letter(&letter, type, sbuf, scount, node, ptype);
    if (error == 0)
        error = nxi_post_receive(&list, nxi_info, typesel, rbuf, rcount, -1, -1);
    if (error == 0)
        error = nxi_post_send(&list, &letter);
    return error < 0 ? error : nxi_id(list);
}

#define PARAMETERS \
    (long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf, long rcount)
#define ARGUMENTS (type, sbuf, scount, node, ptype, typesel, rbuf, rcount)

NX_FORMS(csendrecv, PARAMETERS, ARGUMENTS)
NX_FORMS(isendrecv, PARAMETERS, ARGUMENTS)
