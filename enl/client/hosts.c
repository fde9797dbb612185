/* SPDX-License-Identifier: MIT */
/* hosts.c -- the list of machines that the program may use, which the root's daemon has: bcr_host, bcr_hostinfo,
 * bcr_hostadd and bcr_hostdel; and bcr_hostof, as identities have it. */
#include <stddef.h>
#include <string.h>

#include <bcr.h>
#include <bcr/program.h>

#include "bcri/archtype.h"
#include "bcri/cces.h"
#include "bcri/client.h"
#include "bcri/enter.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

/* What the daemon tells of the host at place `k`, in which count is 0 if there is none. The views are good until the next call of
 * the client. Returns 0 or a code. */
static int ask_listed(struct bcri_ctx *ctx, int k, struct bcri_incoming *in)
{
    struct bcri_control request = {
        .type = BCRI_MSG_host_name, .present = BCRI_HAS(index), .index = (uint32_t)k};
    return ctx->client != NULL ? bcri_client_ask(ctx->client, &request, -1, in) : bcrE_ENLIST;
}

int bcr_host(int k, char *name, int length)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    struct bcri_incoming in;
    if (ctx == NULL)
        return -1;
    if (k < 0 || length < 0 || (name == NULL && length != 0))
        return bcri_fail(bcrE_ARG);
    if (k > (int)BCRI_CCE_MAX)
        return 0;
    int code = ask_listed(ctx, k, &in);
    if (code == 0 && in.message.count != 0 && length != 0 &&
        !bcri_view_copy(in.message.text, name, (size_t)length))
        code = bcrE_ARG;
    return code == 0 ? (int)in.message.count : bcri_fail(code);
}

int bcr_hostinfo(int k, struct bcr_hostentry *entry)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    struct bcri_incoming in;
    if (ctx == NULL)
        return -1;
    if (k < 0 || entry == NULL || entry->size != sizeof *entry)
        return bcri_fail(bcrE_ARG);
    if (k > (int)BCRI_CCE_MAX)
        return 0;
    const int code = ask_listed(ctx, k, &in);
    if (code != 0)
        return bcri_fail(code);
    if (in.message.count == 0)
        return 0;
    const bool is_up = (in.message.present & BCRI_HAS(host)) != 0;
    *entry = (struct bcr_hostentry){.size = sizeof *entry,
                                    .number = is_up ? (int)in.message.host : -1,
                                    .slots = (int)in.message.count,
                                    .archtype = (int)in.message.archtype};
    bcri_view_copy(in.message.text, entry->name, sizeof entry->name);
    bcri_view_copy(in.message.machine, entry->arch, sizeof entry->arch);
    return 1;
}

int bcr_hostof(bcr_cce_id cce)
{
    BCRI_CALL;
    uint8_t identity[BCRI_IDENTITY_BYTES];
    struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    const int code = cce < 0 ? bcrE_NOCCE : bcri_cce_encode(ctx, cce, identity);
    return code == 0 ? (int)bcri_identity_host(identity) : bcri_fail(code);
}

/* Asks for a change of the list, and waits until it is made. */
static int change(enum bcri_control_type type, const char *text)
{
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    if (text == NULL || strnlen(text, BCRI_CONTROL_TEXT_MAX + 1) > BCRI_CONTROL_TEXT_MAX)
        return bcri_fail(bcrE_ARG);
    if (ctx->client == NULL)
        return bcri_fail(bcrE_ENLIST);
    struct bcri_control request = {.type = type, .present = BCRI_HAS(text), .text = bcri_view_of(text)};
    const int code = bcri_client_ask_long(ctx->client, &request);
    return code == 0 ? 0 : bcri_fail(code);
}

int bcr_hostadd(const char *host)
{
    BCRI_CALL;
    return change(BCRI_MSG_host_add, host);
}

int bcr_hostdel(const char *host)
{
    BCRI_CALL;
    return change(BCRI_MSG_host_del, host);
}
