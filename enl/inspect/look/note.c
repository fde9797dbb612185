/* SPDX-License-Identifier: MIT */
/* note.c -- what CCEs say themselves of their waits (bcr_note), and which CCE they name. The text may come from
 * another machine: it is escaped. */
#include <inttypes.h>

#include "bcri/record.h"
#include "inspect/look/look.h"
#include "inspect/look/look_private.h"

/* An identity begins with the numbers of its host, and of its record there (record.h). */
static uint64_t host_of(const struct look_note *note)
{
    return note->identity0 >> 48;
}

enum look_named look_note_named(const struct look_view *view, const struct look_note *note,
                                const struct look_cce **cce_out)
{
    *cce_out = NULL;
    if ((note->identity0 | note->identity1) == 0)
        return LOOK_NAMED_NONE;
    if (look_view_host(view, host_of(note)) == NULL)
        return LOOK_NAMED_UNSEEN;
    const struct look_cce *cce = look_view_cce(view, host_of(note), note->identity0 >> 32 & 0xffffu);
    if (cce == NULL || cce->identity0 != note->identity0 || cce->identity1 != note->identity1 ||
        (cce->state != BCRI_CCE_ALIVE && cce->state != BCRI_CCE_STARTING))
        return LOOK_NAMED_ENDED;
    *cce_out = cce;
    return LOOK_NAMED_CCE;
}

const char *look_say_note(const struct look_view *view, const struct look_note *note)
{
    const struct look_cce *cce;
    const char *text = look_say_name(note->text);
    switch (look_note_named(view, note, &cce)) {
    case LOOK_NAMED_CCE:
        return look_text("waits for %s: %s", look_say_cce(view, cce->host, cce->index), text);
    case LOOK_NAMED_ENDED: return look_text("waits for a CCE that has ended: %s", text);
    case LOOK_NAMED_UNSEEN: return look_text("waits for a CCE of host %" PRIu64 ": %s", host_of(note), text);
    default: return look_text("waits: %s", text);
    }
}
