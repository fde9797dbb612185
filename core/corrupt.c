/* SPDX-License-Identifier: MIT */
/* The end of a CCE that has met corrupt memory: corrupt.h. The process may be in any state, so
 * nothing is allocated, and stdio is left alone. */
#include "bcri/corrupt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bcri/ctx.h"

void bcri_corrupt(struct bcri_ctx *ctx, const char *what, bcri_ref ref)
{
    char line[448], who[BCRI_CCE_TEXT_MAX];
    if (ctx->daemon.parks) {
        ctx->daemon.corrupt = true;
        return;
    }
    const int length = snprintf(
        line, sizeof line,
        "bcr: %.64s: shared memory is corrupt: %.64s, at segment %u, offset %#llx; "
        "a wild write has been there, or two threads of this CCE were in BCR at once; %s ends\n",
        program_invocation_short_name, what, bcri_ref_seg(ref), (unsigned long long)bcri_ref_offset(ref),
        bcri_record_text(ctx, ctx->record, ctx->index, who));
    const ssize_t written = length > 0 ? write(STDERR_FILENO, line, (size_t)length) : 0;
    (void)written; /* the end says it, too, where the sentence cannot be written */
    abort();
}

void bcri_corrupt_at(struct bcri_ctx *ctx, const char *what, const void *at)
{
    bcri_ref ref = BCRI_REF_NONE;
    for (uint32_t seg = 0; seg < BCRI_SEG_MAX; seg++) {
        const uintptr_t offset = (uintptr_t)at - (uintptr_t)ctx->map[seg].base;
        if (offset < ctx->map[seg].units * BCRI_REF_UNIT)
            ref = bcri_ref_make(seg, offset);
    }
    bcri_corrupt(ctx, what, ref);
}
