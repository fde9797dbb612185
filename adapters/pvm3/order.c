/* SPDX-License-Identifier: MIT */
/* order.c -- receives that choose by a routine of the program's.
 *
 * The routine is to see each message as a buffer, so all messages of the current context are taken in and kept, in the order of their
 * arrival. What is still kept when there is no routine any more has come before all that Earl has. */
#include "pvm_private.h"

int (*pvmi_chooser)(int bufid, int tid, int tag);

static struct pvmi_buffer *first, **last = &first;
static bool is_choosing; /* the program's routine runs */

bool pvmi_has_kept(void)
{
    return first != NULL;
}

int pvmi_keep_all(void)
{
    const struct earl_wanted any = {PVMI_CONTEXT + (unsigned)pvmi_process.context, EARL_ANY, EARL_ANY, NULL,
                                    NULL};
    earl_buffer *items;
    struct earl_envelope envelope;
    int code;
    while ((code = earl_buffer_receive(&any, 0, &items, &envelope)) > 0 || code == EARL_E_ENDED) {
        if (code == EARL_E_ENDED)
            continue;
        struct pvmi_buffer *buffer = pvmi_message(items, &envelope);
        if (buffer == NULL)
            return PvmNoMem;
        buffer->is_kept = true;
        *last = buffer;
        last = &buffer->next;
    }
    return pvmi_result(code);
}

/* How much the message is wanted, as a routine of pvm_recvf says it. */
static int rank_of(const struct pvmi_buffer *buffer, int tid, int tag)
{
    if (buffer->info.ctx != pvmi_process.context)
        return 0;
    if (pvmi_chooser != NULL) {
        is_choosing = true;
        const int rank = pvmi_chooser(buffer->id, tid, tag);
        is_choosing = false;
        return rank;
    }
    return (tid == -1 || tid == buffer->info.src) && (tag == -1 || tag == buffer->info.tag);
}

bool pvmi_keep_no_more(struct pvmi_buffer *buffer)
{
    if (is_choosing)
        return false;
    struct pvmi_buffer **at = &first;
    while (*at != buffer)
        at = &(*at)->next;
    *at = buffer->next;
    if (*at == NULL)
        last = at;
    buffer->next = NULL;
    buffer->is_kept = false;
    return true;
}

struct pvmi_buffer *pvmi_choose(int tid, int tag, struct pvmi_buffer **seen, bool takes, int *code)
{
    struct pvmi_buffer *best = NULL;
    int best_rank = 0;
    *code = PvmOk;
    for (struct pvmi_buffer *buffer = *seen == NULL ? first : (*seen)->next; buffer != NULL && best_rank != 1;
         buffer = buffer->next) {
        const int rank = rank_of(buffer, tid, tag);
        *seen = buffer;
        if (rank < 0) {
            *code = rank;
            return NULL;
        }
        if (rank == 1 || rank > best_rank) {
            best = buffer;
            best_rank = rank;
        }
    }
    if (best != NULL && takes)
        (void)pvmi_keep_no_more(best);
    return best;
}

int (*pvm_recvf(int (*chooser)(int bufid, int tid, int tag)))(int bufid, int tid, int tag)
{
    int (*former)(int bufid, int tid, int tag) = pvmi_chooser;
    pvmi_chooser = chooser;
    return former;
}
