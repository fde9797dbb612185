/* SPDX-License-Identifier: MIT */
/* How people are told of a CCE. Nothing is allocated, mapped or locked here: the process may be in any state. */
#include "bcri/ctx.h"

#include <stdio.h>
#include <string.h>

const char *bcri_record_text(const struct bcri_ctx *ctx, const struct bcri_record_shm *record, uint32_t index,
                             char out[BCRI_CCE_TEXT_MAX])
{
    const uint32_t agent = bcri_load_acquire(&ctx->host->agent),
                   pid = record != NULL ? bcri_load(&record->id.pid) : 0;
    char process[24] = "";
    if (pid != 0)
        snprintf(process, sizeof process, " (pid %u)", pid);
    if (index == BCRI_ENL_INDEX)
        snprintf(out, BCRI_CCE_TEXT_MAX, "enl");
    else if (index == agent)
        snprintf(out, BCRI_CCE_TEXT_MAX, "the agent");
    else if (record == NULL)
        snprintf(out, BCRI_CCE_TEXT_MAX, "no CCE (record %u)", index);
    else
        snprintf(out, BCRI_CCE_TEXT_MAX, "CCE %u%s", record->id.ordinal, process);
    const size_t used = strlen(out);
    if (agent != 0)
        snprintf(out + used, BCRI_CCE_TEXT_MAX - used, " on %.*s", (int)BCRI_HOST_NAME_MAX - 1,
                 ctx->host->name);
    return out;
}
