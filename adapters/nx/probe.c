/* SPDX-License-Identifier: MIT */
/* probe.c -- cprobe, iprobe, flushmsg: messages that nobody has received. */
#include "nx_private.h"

static long probe(long typesel, long nodesel, long ptypesel, long *info, int wait)
{
    struct nxi_choice choice;
    struct earl_envelope envelope;
    if (info == NULL)
        return nxi_bad(EQPBUF, "no place for what is known of the message");
    const long error = nxi_choice(&choice, typesel, nodesel, ptypesel);
    if (error < 0)
        return error;
    const int result = earl_probe(&choice.wanted, wait, &envelope);
    if (result == 1)
        nxi_tell(info, &envelope);
    return nxi_result(result);
}

long nxi_cprobex(long typesel, long nodesel, long ptypesel, long *info)
{
    const long result = probe(typesel, nodesel, ptypesel, info, 1);
    return result < 0 ? result : 0;
}

long nxi_iprobex(long typesel, long nodesel, long ptypesel, long *info)
{
    return probe(typesel, nodesel, ptypesel, info, 0);
}

static long nxi_cprobe(long typesel)
{
    return nxi_cprobex(typesel, -1, -1, nxi_info);
}

static long nxi_iprobe(long typesel)
{
    return nxi_iprobex(typesel, -1, -1, nxi_info);
}

long nxi_flushmsg(long typesel, long node, long ptype)
{
    struct nxi_choice choice;
    struct earl_envelope envelope;
    long error = nxi_choice(&choice, typesel, node,
                            ptype); /* node and ptype are of the receiver: checked, and no source */
    if (error == 0)
        error = nxi_choice(&choice, typesel, -1, -1);
    if (error < 0)
        return error;
    if ((nxi_low(node) != -1 && nxi_low(node) != nxi_process.self) ||
        (nxi_low(ptype) != -1 && nxi_low(ptype) != nxi_process.ptype))
        return 0;
    earl_request claim;
    while ((claim = earl_claim(&choice.wanted, 0, &envelope)) > 0) {
        const int result = earl_claimed(claim, NULL, 0);
        if (result < 0)
            return nxi_result(result);
    }
    return nxi_result(claim);
}

NX_VOID_FORMS(cprobe, (long typesel), (typesel))
NX_FORMS(iprobe, (long typesel), (typesel))
NX_VOID_FORMS(cprobex, (long typesel, long nodesel, long ptypesel, long *info),
              (typesel, nodesel, ptypesel, info))
NX_FORMS(iprobex, (long typesel, long nodesel, long ptypesel, long *info), (typesel, nodesel, ptypesel, info))
NX_VOID_FORMS(flushmsg, (long typesel, long node, long ptype), (typesel, node, ptype))
