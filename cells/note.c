/* SPDX-License-Identifier: MIT */
/* bcr_note. bcr/program.h is its manual, and note.h tells how it is read meanwhile.
 *
 * It is called around each wait of an interface, so it is no more than some stores into the CCE's own record: it runs no
 * handlers, and looks at nothing of others. */
#include "bcri/note.h"

#include <bcr/program.h>

#include "bcri/cces.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"

static_assert(bcr_NOTE_MAX == BCRI_NOTE_BYTES, "what program.h promises has room");

/* How much of a text is kept: no UTF-8 character is cut. */
static size_t length_of(const char *text)
{
    enum { CONTINUATIONS_MAX = 3 };
    size_t length = strnlen(text, bcr_NOTE_MAX + 1);
    if (length <= bcr_NOTE_MAX)
        return length;
    length = bcr_NOTE_MAX;
    while (length > bcr_NOTE_MAX - CONTINUATIONS_MAX && ((unsigned char)text[length] & 0xc0u) == 0x80u)
        length--;
    return length;
}

int bcr_note(const char *text, bcr_cce_id cce)
{
    static const struct bcri_cce none;
    BCRI_CALL;
    struct bcri_ctx *const ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    if (text == NULL || text[0] == '\0') {
        bcri_note_clear(&ctx->record->note);
        return 0;
    }
    const struct bcri_cce *const named = cce != -1 ? bcri_cce_lookup(ctx, cce) : &none;
    if (named == NULL)
        return bcri_fail(bcrE_NOCCE);
    bcri_note_set(&ctx->record->note, text, length_of(text), named->identity);
    return 0;
}
