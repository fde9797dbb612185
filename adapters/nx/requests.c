/* SPDX-License-Identifier: MIT */
/* requests.c -- message IDs: one is a list of open sends and receives, which msgmerge and sends to all make longer. */
#include "nx_private.h"

static void add(struct nxi_request **list, struct nxi_request *part)
{
    if (*list == NULL) {
        *list = part;
        return;
    }
    (*list)->last->next = part;
    (*list)->last = part->last;
}

static long post_send_to(struct nxi_request **list, const struct nxi_letter *letter, int process)
{
    if (process < 0)
        return nxi_result(process);
    struct nxi_request *part = nxi_request_new();
    if (part == NULL)
        return -EQMEM;
    part->is_send = true;
    part->letter = *letter;
    part->request = earl_isend(process, NXI_CONTEXT, letter->type, letter->data, letter->length);
    part->is_done = part->request == EARL_E_ENDED;
    if (part->request < 0 && !part->is_done) {
        const long error = nxi_result(part->request);
        nxi_request_free(part);
        return error;
    }
    add(list, part);
    return 0;
}

long nxi_post_send(struct nxi_request **list, const struct nxi_letter *letter)
{
    long error = 0;
    if (letter->node >= 0)
        error = post_send_to(list, letter, letter->process);
    for (int node = 0; letter->node < 0 && error == 0 && node < nxi_process.count; node++)
        if (nxi_goes_to(letter, node))
            error = post_send_to(list, letter, nxi_process_at(node, letter->ptype));
    if (error < 0) {
        (void)nxi_leave(*list);
        *list = NULL;
    }
    return error;
}

long nxi_post_receive(struct nxi_request **list, long *info, long typesel, void *buf, long count,
                      long nodesel, long ptypesel)
{
    struct nxi_request *part = nxi_request_new();
    if (part == NULL)
        return -EQMEM;
    part->info = info;
    long error = nxi_place(&part->choice, &part->room, typesel, buf, count, nodesel, ptypesel);
    if (error == 0) {
        part->request = earl_ireceive(&part->choice.wanted, buf, part->room);
        error = part->request < 0 ? nxi_result(part->request) : 0;
    }
    if (error < 0) {
        nxi_request_free(part);
        return error;
    }
    add(list, part);
    return 0;
}

long nxi_id(struct nxi_request *list)
{
    if (list == NULL) { /* to all others, and there are none */
        list = nxi_request_new();
        if (list == NULL)
            return -EQMEM;
        list->is_send = list->is_done = true;
    }
    list->is_id = true;
    return list->id;
}

/* ---- what becomes of them ---- */

static long no_id(int mid)
{
    return nxi_bad(EQMID, "%d is no message ID, or was given back", mid);
}

/* Whether a part is done. */
static bool complete(struct nxi_request *part, bool wait)
{
    if (part->is_done)
        return true;
    const int result =
        wait ? earl_wait(part->request, &part->envelope) : earl_test(part->request, &part->envelope);
    if (!wait && result == 0)
        return false;
    part->is_done = true;
    part->result = result < 0 ? result : 0;
    return true;
}

static bool complete_all(struct nxi_request *first, bool wait)
{
    for (struct nxi_request *part = first; part != NULL; part = part->next)
        if (!complete(part, wait))
            return false;
    return true;
}

static void tell(const struct nxi_request *receive)
{
    long info[8];
    if (receive->integers == NULL) {
        nxi_tell(receive->info, &receive->envelope);
    } else {
        nxi_tell(info, &receive->envelope);
        nxi_tell_integers(receive->integers, info);
    }
}

/* Of a list that is done: tells of its messages, and gives it back. Returns 0, or the first mistake. */
static long outcome(struct nxi_request *first)
{
    long error = 0;
    for (struct nxi_request *part = first; part != NULL; part = part->next) {
        if (!part->is_send && (part->result == 0 || part->result == EARL_E_CUT))
            tell(part);
        if (error == 0 && part->result < 0)
            error = part->is_send ? nxi_result(part->result)
                                  : nxi_too_long(part->result, &part->envelope, part->room);
    }
    nxi_request_free(first);
    return error;
}

long nxi_msgdone(long mid)
{
    struct nxi_request *first = nxi_request_of(nxi_low(mid));
    if (first == NULL)
        return no_id(nxi_low(mid));
    if (!complete_all(first, false))
        return 0;
    const long error = outcome(first);
    return error < 0 ? error : 1;
}

long nxi_msgwait(long mid)
{
    struct nxi_request *first = nxi_request_of(nxi_low(mid));
    if (first == NULL)
        return no_id(nxi_low(mid));
    (void)complete_all(first, true);
    return outcome(first);
}

long nxi_msgcancel(long mid)
{
    struct nxi_request *first = nxi_request_of(nxi_low(mid));
    if (first == NULL)
        return no_id(nxi_low(mid));
    for (struct nxi_request *part = first; part != NULL; part = part->next)
        if (!part->is_done && (part->is_send || earl_cancel(part->request) != 1))
            (void)earl_wait(part->request, NULL);
    nxi_request_free(first);
    return 0;
}

long nxi_msgignore(long mid)
{
    struct nxi_request *first = nxi_request_of(nxi_low(mid));
    if (first == NULL)
        return no_id(nxi_low(mid));
    first->is_id = false;
    return nxi_leave(first);
}

long nxi_msgmerge(long mid1, long mid2)
{
    const int one = nxi_low(mid1), other = nxi_low(mid2);
    struct nxi_request *first = nxi_request_of(one), *second = nxi_request_of(other);
    if (first == NULL && one != -1)
        return no_id(one);
    if (second == NULL && other != -1)
        return no_id(other);
    if (first == NULL || second == NULL)
        return first == NULL ? other : one;
    if (first == second)
        return nxi_bad(EQMID, "%d is merged with itself", one);
    second->is_id = false;
    add(&first, second);
    return one;
}

NX_FORMS(msgdone, (long mid), (mid))
NX_VOID_FORMS(msgwait, (long mid), (mid))
NX_VOID_FORMS(msgcancel, (long mid), (mid))
NX_VOID_FORMS(msgignore, (long mid), (mid))
NX_FORMS(msgmerge, (long mid1, long mid2), (mid1, mid2))
