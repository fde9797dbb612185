/* SPDX-License-Identifier: MIT */
/* traps.c -- hrecv, hsend, hsendrecv and their forms with x, as C has them. */
#include "nx_private.h"

static struct nxi_then plain(const char *name, nx_handler *handler)
{
    return (struct nxi_then){.call = NXI_PLAIN, .name = name, .routine = (void (*)(void))handler};
}

static struct nxi_then extended(const char *name, nx_xhandler *handler, long hparam)
{
    return (struct nxi_then){
        .call = NXI_EXTENDED, .name = name, .routine = (void (*)(void))handler, .argument = hparam};
}

static long nxi_hrecv(long typesel, void *buf, long count, nx_handler *handler)
{
    const struct nxi_then then = plain("hrecv", handler);
    return nxi_trap_receive(typesel, buf, count, -1, -1, &then);
}

static long nxi_hrecvx(long typesel, void *buf, long count, long nodesel, long ptypesel,
                       nx_xhandler *xhandler, long hparam)
{
    const struct nxi_then then = extended("hrecvx", xhandler, hparam);
    return nxi_trap_receive(typesel, buf, count, nodesel, ptypesel, &then);
}

static long nxi_hsend(long type, const void *buf, long count, long node, long ptype, nx_handler *handler)
{
    const struct nxi_then then = plain("hsend", handler);
    return nxi_trap_send(type, buf, count, node, ptype, &then);
}

static long nxi_hsendx(long type, const void *buf, long count, long node, long ptype, nx_xhandler *xhandler,
                       long hparam)
{
    const struct nxi_then then = extended("hsendx", xhandler, hparam);
    return nxi_trap_send(type, buf, count, node, ptype, &then);
}

static long nxi_hsendrecv(long type, const void *sbuf, long scount, long node, long ptype, long typesel,
                          void *rbuf, long rcount, nx_handler *handler)
{
    const struct nxi_then then = plain("hsendrecv", handler);
    return nxi_trap_exchange(type, sbuf, scount, node, ptype, typesel, rbuf, rcount, &then);
}

NX_VOID_FORMS(hrecv, (long typesel, void *buf, long count, nx_handler *handler),
              (typesel, buf, count, handler))
NX_VOID_FORMS(hrecvx,
              (long typesel, void *buf, long count, long nodesel, long ptypesel, nx_xhandler *xhandler,
               long hparam),
              (typesel, buf, count, nodesel, ptypesel, xhandler, hparam))
NX_VOID_FORMS(hsend, (long type, const void *buf, long count, long node, long ptype, nx_handler *handler),
              (type, buf, count, node, ptype, handler))
NX_VOID_FORMS(hsendx,
              (long type, const void *buf, long count, long node, long ptype, nx_xhandler *xhandler,
               long hparam),
              (type, buf, count, node, ptype, xhandler, hparam))
NX_VOID_FORMS(hsendrecv,
              (long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf,
               long rcount, nx_handler *handler),
              (type, sbuf, scount, node, ptype, typesel, rbuf, rcount, handler))
