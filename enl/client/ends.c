/* SPDX-License-Identifier: MIT */
/* ends.c -- bcr_signal and bcr_end: what a CCE asks for other CCEs, and for the program as a whole.
 *
 * The daemon sends signals, also to CCEs of its own host: it alone knows whether a process is still the CCE. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

#include "bcri/cces.h"
#include "bcri/client.h"
#include "bcri/enter.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

/* Between the last of the old signals and the first real-time one the C library has some for itself. */
static bool is_signal(int signal)
{
    return (signal >= 0 && signal <= SIGSYS) || (signal >= SIGRTMIN && signal <= SIGRTMAX);
}

int bcr_signal(bcr_cce_id which, int signal)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    struct bcri_control request = {
        .type = BCRI_MSG_signal_cce, .present = BCRI_HAS(kind), .kind = (uint32_t)signal};
    const struct bcri_client *client = ctx->client;
    int code = !is_signal(signal)                                                ? bcrE_ARG
               : which == bcr_TEAM && (client == NULL || client->team.size == 0) ? bcrE_NOTEAM
                                                                                 : 0;
    if (which == bcr_TEAM)
        request.present |= BCRI_HAS(team);
    if (code == 0 && which != bcr_ALL && which != bcr_TEAM) {
        const struct bcri_cce *cce = bcri_cce_lookup(ctx, which);
        code = cce != NULL ? bcri_cce_check(cce) : bcrE_NOCCE;
        if (code == 0) {
            request.present |= BCRI_HAS(target);
            request.target = (struct bcri_view){(const char *)cce->identity, BCRI_IDENTITY_BYTES};
        }
    }
    if (code == 0)
        code = bcri_client_ask_long(ctx->client, &request);
    return code == 0 ? 0 : bcri_fail(code);
}

int bcr_end(int status, int which)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    if (ctx == NULL)
        return -1;
    if (status < 0 || status > 255 || (which != bcr_ALL && which != bcr_TEAM))
        return bcri_fail(bcrE_ARG);
    const struct bcri_client *client = ctx->client;
    if (which == bcr_TEAM && (client == NULL || client->team.size == 0))
        return bcri_fail(bcrE_NOTEAM);
    if (bcri_client_lost(ctx->client))
        return bcri_fail(bcrE_ENLIST);
    if (!bcri_load(&ctx->section.open)) { /* a signal handler may have interrupted one of their routines */
        fflush(stdout);
        fflush(stderr);
    }
    bcri_client_tell(
        ctx->client,
        &(const struct bcri_control){.type = BCRI_MSG_finish,
                                     .present = BCRI_HAS(status) | (which == bcr_TEAM ? BCRI_HAS(team) : 0),
                                     .status = (uint32_t)status},
        true);
    for (;;) /* until the daemon kills this process, or ends itself */
        pause();
}
