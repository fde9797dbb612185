/* SPDX-License-Identifier: MIT */
/* handlers.c -- what happens when an operation is done that nobody waits for: a program's handler, or nothing.
 *
 * Earl calls `part_done` wherever the process is; see nx_private.h. The list is given back before the program's handler runs, which may
 * post the next of its kind. */
#include <errno.h>
#include <string.h>

#include "nx_private.h"

/* Messages by which a process tells itself that a handler is due. */
enum { DUE_CONTEXT = NXI_CONTEXT + 1 };

bool nxi_in_handler;

/* With what is known of the message, as nxi_tell has it. */
static void call(const struct nxi_then *then, const long *told)
{
    long info[8];
    const int type = (int)told[0], count = (int)told[1], node = (int)told[2], ptype = (int)told[3];
    const int argument = (int)then->argument;
    memcpy(info, nxi_info, sizeof info);
    memcpy(nxi_info, told, sizeof info);
    switch (then->call) {
    case NXI_PLAIN: ((void (*)(long, long, long, long))then->routine)(type, count, node, ptype); break;
    case NXI_EXTENDED: ((void (*)(long))then->routine)(then->argument); break;
    case NXI_FORTRAN:
        ((void (*)(const int *, const int *, const int *, const int *))then->routine)(&type, &count, &node,
                                                                                      &ptype);
        break;
    case NXI_FORTRAN_EXTENDED: ((void (*)(const int *))then->routine)(&argument); break;
    }
    memcpy(nxi_info, info, sizeof info);
}

/* Of the last part that is done. */
static void list_done(struct nxi_request *first, const struct earl_envelope *envelope)
{
    const struct nxi_then then = first->then;
    long told[8] = {0};
    if (first->is_send) { /* what was sent, and not to which of several nodes */
        told[0] = first->letter.type;
        told[1] = (long)first->letter.length;
        told[2] = first->letter.node;
        told[3] = first->letter.ptype;
    } else {
        if (envelope->code == EARL_E_CUT)
            (void)nxi_must(then.name, nxi_too_long(envelope->code, envelope, first->room));
        nxi_tell(told, envelope);
    }
    nxi_request_free(first);
    if (then.routine != NULL)
        call(&then, told);
}

static void part_done(const struct earl_envelope *envelope, void *argument)
{
    struct nxi_request *first = ((struct nxi_request *)argument)->first;
    const int error = errno;
    nxi_in_handler = true;
    if (--first->open == 0)
        list_done(first, envelope);
    nxi_in_handler = false;
    errno = error;
}

/* A handler is due at once, but it runs when handlers may. */
static long call_soon(struct nxi_request *first)
{
    const struct earl_wanted wanted = {.context = DUE_CONTEXT, .source = earl_process(), .tag = first->id};
    first->request = earl_ireceive(&wanted, NULL, 0);
    if (first->request < 0)
        return nxi_result(first->request);
    first->open = 1;
    const int result = earl_send(earl_process(), DUE_CONTEXT, first->id, NULL, 0);
    return nxi_result(result < 0 ? result : earl_then(first->request, part_done, first));
}

/* Has `then` called at the end of a list that has at least one part. The last part that is begun may end the list, whose memory is another's
 * then: it is not looked at any more. */
static long leave_with(struct nxi_request *first, const struct nxi_then *then)
{
    int open = 0;
    first->then = *then;
    for (struct nxi_request *part = first; part != NULL; part = part->next) {
        part->first = first;
        open += !part->is_done;
    }
    if (open == 0)
        return call_soon(first);
    first->open = open;
    for (struct nxi_request *part = first, *next; open > 0; part = next) {
        next = part->next;
        if (part->is_done)
            continue;
        open--;
        const long result = nxi_result(earl_then(part->request, part_done, part));
        if (result < 0)
            return result;
    }
    return 0;
}

long nxi_leave(struct nxi_request *list)
{
    static const struct nxi_then nothing = {.name = "msgignore"};
    for (struct nxi_request *next; list != NULL; list = next) {
        next = list->next;
        list->next = NULL;
        if (list->is_done) {
            nxi_request_free(list);
            continue;
        }
        const long result = leave_with(list, &nothing);
        if (result < 0)
            return result;
    }
    return 0;
}

static long no_handler(void)
{
    return nxi_bad(EQHND, "no handler");
}

long nxi_trap_receive(long typesel, void *buf, long count, long nodesel, long ptypesel,
                      const struct nxi_then *then)
{
    struct nxi_request *list = NULL;
    if (then->routine == NULL)
        return no_handler();
    const long error = nxi_post_receive(&list, nxi_info, typesel, buf, count, nodesel, ptypesel);
    return list == NULL ? error : leave_with(list, then);
}

long nxi_trap_send(long type, const void *buf, long count, long node, long ptype, const struct nxi_then *then)
{
    struct nxi_letter letter;
    struct nxi_request *list = NULL;
    if (then->routine == NULL)
        return no_handler();
    long error = nxi_letter(&letter, type, buf, count, node, ptype);
    if (error == 0)
        error = nxi_post_send(&list, &letter);
    if (error < 0)
        return error;
    if (list == NULL) { /* to all others, and there are none */
        list = nxi_request_new();
        if (list == NULL)
            return -EQMEM;
        list->is_send = list->is_done = true;
        list->letter = letter;
    }
    return leave_with(list, then);
}

long nxi_trap_exchange(long type, const void *sbuf, long scount, long node, long ptype, long typesel,
                       void *rbuf, long rcount, const struct nxi_then *then)
{
    struct nxi_letter letter;
    struct nxi_request *receive = NULL, *send = NULL;
    if (then->routine == NULL)
        return no_handler();
    long error = nxi_letter(&letter, type, sbuf, scount, node, ptype);
    if (error == 0)
        error = nxi_post_receive(&receive, nxi_info, typesel, rbuf, rcount, -1, -1);
    if (receive == NULL)
        return error;
    error = nxi_post_send(&send, &letter);
    if (error < 0) {
        if (earl_cancel(receive->request) == 0)
            (void)earl_wait(receive->request, NULL);
        nxi_request_free(receive);
        return error;
    }
    error = nxi_leave(send);
    return error < 0 ? error : leave_with(receive, then);
}

long nxi_masktrap(long state)
{
    nxi_need();
    const int wanted = nxi_low(state);
    if (wanted != 0 && wanted != 1)
        return nxi_bad(EQPARAM, "a state of %d is neither 0 nor 1", wanted);
    return nxi_result(earl_mask(wanted));
}

NX_FORMS(masktrap, (long state), (state))
