/* SPDX-License-Identifier: MIT */
/* fortran.c -- what Fortran programs call: names end in _, arguments come by reference, INTEGER has 32 bits. The routines are the forms
 * that end the program. fnx.h, for Fortran, declares them. */
#include "nx_private.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* Fortran's declarations are in fortran/fnx.inc */

typedef const int integer;

/* The common block of this name: info routines tell of what is stored there. */
NX_WEAK int msginfo_[8];

void nxi_tell_integers(int *integers, const long *info)
{
    for (int i = 0; i < 4; i++) {
        integers[i] = (int)info[i];
        if (integers == msginfo_)
            nxi_info[i] = info[i];
    }
}

NX_WEAK void csend_(integer *type, const void *buf, integer *count, integer *node, integer *ptype)
{
    (void)nxi_must("csend", nxi_csend(*type, buf, *count, *node, *ptype));
}

NX_WEAK int isend_(integer *type, const void *buf, integer *count, integer *node, integer *ptype)
{
    return (int)nxi_must("isend", nxi_isend(*type, buf, *count, *node, *ptype));
}

NX_WEAK void crecv_(integer *typesel, void *buf, integer *count)
{
    (void)nxi_must("crecv", nxi_crecvx(*typesel, buf, *count, -1, -1, nxi_info));
}

NX_WEAK int irecv_(integer *typesel, void *buf, integer *count)
{
    return (int)nxi_must("irecv", nxi_irecvx(*typesel, buf, *count, -1, -1, nxi_info));
}

NX_WEAK void crecvx_(integer *typesel, void *buf, integer *count, integer *nodesel, integer *ptypesel,
                     int *info)
{
    long told[8];
    (void)nxi_must("crecvx", nxi_crecvx(*typesel, buf, *count, *nodesel, *ptypesel, told));
    nxi_tell_integers(info, told);
}

NX_WEAK int irecvx_(integer *typesel, void *buf, integer *count, integer *nodesel, integer *ptypesel,
                    int *info)
{
    const int id = (int)nxi_must("irecvx", nxi_irecvx(*typesel, buf, *count, *nodesel, *ptypesel, nxi_info));
    nxi_request_of(id)->integers = info;
    return id;
}

NX_WEAK int csendrecv_(integer *type, const void *sbuf, integer *scount, integer *node, integer *ptype,
                       integer *typesel, void *rbuf, integer *rcount)
{
    return (int)nxi_must("csendrecv",
                         nxi_csendrecv(*type, sbuf, *scount, *node, *ptype, *typesel, rbuf, *rcount));
}

NX_WEAK int isendrecv_(integer *type, const void *sbuf, integer *scount, integer *node, integer *ptype,
                       integer *typesel, void *rbuf, integer *rcount)
{
    return (int)nxi_must("isendrecv",
                         nxi_isendrecv(*type, sbuf, *scount, *node, *ptype, *typesel, rbuf, *rcount));
}

/* ---- handlers: subroutines, whose arguments come by reference, too ---- */

static struct nxi_then then(const char *name, void (*handler)(void))
{
    return (struct nxi_then){.call = NXI_FORTRAN, .name = name, .routine = handler};
}

static struct nxi_then then_extended(const char *name, void (*handler)(void), int hparam)
{
    return (struct nxi_then){
        .call = NXI_FORTRAN_EXTENDED, .name = name, .routine = handler, .argument = hparam};
}

NX_WEAK void hrecv_(integer *typesel, void *buf, integer *count, void (*handler)(void))
{
    const struct nxi_then wanted = then("hrecv", handler);
    (void)nxi_must("hrecv", nxi_trap_receive(*typesel, buf, *count, -1, -1, &wanted));
}

NX_WEAK void hrecvx_(integer *typesel, void *buf, integer *count, integer *nodesel, integer *ptypesel,
                     void (*handler)(void), integer *hparam)
{
    const struct nxi_then wanted = then_extended("hrecvx", handler, *hparam);
    (void)nxi_must("hrecvx", nxi_trap_receive(*typesel, buf, *count, *nodesel, *ptypesel, &wanted));
}

NX_WEAK void hsend_(integer *type, const void *buf, integer *count, integer *node, integer *ptype,
                    void (*handler)(void))
{
    const struct nxi_then wanted = then("hsend", handler);
    (void)nxi_must("hsend", nxi_trap_send(*type, buf, *count, *node, *ptype, &wanted));
}

NX_WEAK void hsendx_(integer *type, const void *buf, integer *count, integer *node, integer *ptype,
                     void (*handler)(void), integer *hparam)
{
    const struct nxi_then wanted = then_extended("hsendx", handler, *hparam);
    (void)nxi_must("hsendx", nxi_trap_send(*type, buf, *count, *node, *ptype, &wanted));
}

NX_WEAK void hsendrecv_(integer *type, const void *sbuf, integer *scount, integer *node, integer *ptype,
                        integer *typesel, void *rbuf, integer *rcount, void (*handler)(void))
{
    const struct nxi_then wanted = then("hsendrecv", handler);
    (void)nxi_must("hsendrecv",
                   nxi_trap_exchange(*type, sbuf, *scount, *node, *ptype, *typesel, rbuf, *rcount, &wanted));
}

NX_WEAK int masktrap_(integer *state)
{
    return (int)nxi_must("masktrap", nxi_masktrap(*state));
}

/* ---- probes, IDs ---- */

NX_WEAK void cprobe_(integer *typesel)
{
    (void)nxi_must("cprobe", nxi_cprobex(*typesel, -1, -1, nxi_info));
}

NX_WEAK int iprobe_(integer *typesel)
{
    return (int)nxi_must("iprobe", nxi_iprobex(*typesel, -1, -1, nxi_info));
}

NX_WEAK void cprobex_(integer *typesel, integer *nodesel, integer *ptypesel, int *info)
{
    long told[8];
    (void)nxi_must("cprobex", nxi_cprobex(*typesel, *nodesel, *ptypesel, told));
    nxi_tell_integers(info, told);
}

NX_WEAK int iprobex_(integer *typesel, integer *nodesel, integer *ptypesel, int *info)
{
    long told[8];
    const int is_there = (int)nxi_must("iprobex", nxi_iprobex(*typesel, *nodesel, *ptypesel, told));
    if (is_there)
        nxi_tell_integers(info, told);
    return is_there;
}

NX_WEAK void flushmsg_(integer *typesel, integer *node, integer *ptype)
{
    (void)nxi_must("flushmsg", nxi_flushmsg(*typesel, *node, *ptype));
}

NX_WEAK int msgdone_(integer *mid)
{
    return (int)nxi_must("msgdone", nxi_msgdone(*mid));
}

NX_WEAK void msgwait_(integer *mid)
{
    (void)nxi_must("msgwait", nxi_msgwait(*mid));
}

NX_WEAK void msgcancel_(integer *mid)
{
    (void)nxi_must("msgcancel", nxi_msgcancel(*mid));
}

NX_WEAK void msgignore_(integer *mid)
{
    (void)nxi_must("msgignore", nxi_msgignore(*mid));
}

NX_WEAK int msgmerge_(integer *mid1, integer *mid2)
{
    return (int)nxi_must("msgmerge", nxi_msgmerge(*mid1, *mid2));
}

NX_WEAK int infotype_(void)
{
    return (int)nxi_info[0];
}

NX_WEAK int infocount_(void)
{
    return (int)nxi_info[1];
}

NX_WEAK int infonode_(void)
{
    return (int)nxi_info[2];
}

NX_WEAK int infoptype_(void)
{
    return (int)nxi_info[3];
}

NX_WEAK int infopid_(void)
{
    return (int)nxi_info[3];
}
