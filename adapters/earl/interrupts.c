/* SPDX-License-Identifier: MIT */
/* interrupts.c -- routines that are called when a request is done: at the end of a routine of Earl, or by a signal.
 *
 *    in a routine of Earl        what is done meanwhile is due; the outermost routine calls it when it is to wait, and before it
 *                                returns
 *    outside, a helper thread    waits for what comes into the inbox, and sends SIGIO; the handler takes in what has come and calls
 *                                what is due, between bcr_sigenter and bcr_sigleave, which `signal_enter` of the target are
 *    masked                      what is due stays so, until earl_mask(0) */
#include <pthread.h>
#include <stdlib.h>

#include "engine.h"
#include "interrupt.h"

/* From a packet to the first signal, and between two signals. A routine that is in Earl already serves sooner. */
enum { FIRST_USEC = 20, NEXT_USEC = 200 };

struct earl_interrupts {
    struct adapter_interrupt helper;
    struct sigaction before;
};

/* The process that the signal is for. */
static struct earl *interrupted;

void earl_interrupts_serve(struct earl *earl)
{
    while (earl_interrupts_due(earl)) {
        struct earl_open *open = earl->first_due;
        earl->first_due = open->next_due;
        if (earl->first_due == NULL)
            earl->last_due = &earl->first_due;
        const struct earl_envelope envelope = open->envelope;
        void (*then)(const struct earl_envelope *, void *) = open->then;
        void *argument = open->argument;
        earl_open_free(earl, open);
        const sig_atomic_t inside = earl->inside;
        earl->in_then = 1;
        earl->inside = 1; /* a signal leaves this alone; routines that it calls come above */
        then(&envelope, argument);
        earl->inside = inside;
        earl->in_then = 0;
    }
}

void earl_interrupts_arm(struct earl *earl)
{
    if (earl->is_armed)
        return;
    if (earl->target->descriptor(earl->self) >= 0)
        earl->is_armed = true;
}

/* Takes in what has come, and calls what is due by it, until there is nothing more. It counts as served before the look: what comes behind
 * the look has an edge, for which the helper is to send a signal. */
static void serve_all(struct earl *earl)
{
    do {
        earl->pending = 0;
        adapter_interrupt_served(&earl->interrupts->helper);
        atomic_thread_fence(memory_order_seq_cst);
        earl_look(earl);
        earl_interrupts_serve(earl);
        earl_interrupts_arm(earl);
    } while (earl->pending != 0 && earl->masked == 0);
}

void earl_leave_slowly(struct earl *earl)
{
    if (earl->inside == 1 && earl->in_then == 0 && earl->masked == 0) {
        if (earl->interrupts == NULL)
            earl_interrupts_serve(earl);
        else if (earl->pending != 0 || earl->first_due != NULL || !earl->is_armed)
            serve_all(earl);
    }
    earl->inside--;
    /* A signal that came behind the look has left its note. */
    if (earl->interrupts != NULL && earl->pending != 0 && earl->inside == 0 && earl->masked == 0)
        adapter_interrupt_kick(&earl->interrupts->helper);
}

static void on_sigio(int signal)
{
    (void)signal;
    struct earl *earl = interrupted;
    /* The signal may be anybody's, and come to any thread. */
    if (earl == NULL || earl->interrupts == NULL ||
        !pthread_equal(pthread_self(), earl->interrupts->helper.target))
        return;
    earl->pending = 1;
    if (earl->inside != 0 || earl->masked != 0 || !earl->target->signal_enter(earl->self))
        return; /* the program itself is in BCR: the helper will send another one */
    earl->inside++;
    earl->in_signal = 1;
    serve_all(earl);
    earl->in_signal = 0;
    earl->inside--;
    earl->target->signal_leave(earl->self);
}

static int begin(struct earl *earl)
{
    const struct sigaction action = {.sa_handler = on_sigio, .sa_flags = SA_RESTART};
    const int fd = earl->target->descriptor(earl->self);
    if (fd < 0) /* this target has none: routines are called within Earl alone */
        return EARL_OK;
    struct earl_interrupts *interrupts = earl_pages(sizeof *interrupts);
    if (interrupts == NULL)
        return EARL_E_MEMORY;
    interrupts->helper.fd = fd;
    interrupts->helper.first_us = FIRST_USEC;
    interrupts->helper.next_us = NEXT_USEC;
    interrupts->helper.target = pthread_self();
    interrupted = earl;
    sigaction(SIGIO, &action, &interrupts->before);
    if (adapter_interrupt_start(&interrupts->helper) != 0) {
        sigaction(SIGIO, &interrupts->before, NULL);
        interrupted = NULL;
        earl_pages_free(interrupts, sizeof *interrupts);
        return EARL_E_MEMORY;
    }
    atomic_store(&interrupts->helper.enabled, earl->masked == 0);
    earl->interrupts = interrupts;
    earl->is_armed = true;
    earl->pending = 1; /* for what was there before the descriptor */
    return EARL_OK;
}

int earl_do_then(struct earl *earl, earl_request request,
                 void (*routine)(const struct earl_envelope *envelope, void *argument), void *argument)
{
    struct earl_open *open = earl_open_of(earl, request);
    if (routine == NULL)
        return EARL_E_ARG;
    if (open == NULL || open->kind == EARL_OPEN_CLAIM || open->then != NULL || open->is_abandoned)
        return EARL_E_REQUEST;
    if (earl->interrupts == NULL) {
        const int code = begin(earl);
        if (code != EARL_OK)
            return code;
    }
    open->then = routine;
    open->argument = argument;
    if (open->is_done)
        earl_open_done(earl, open);
    return EARL_OK;
}

int earl_do_mask(struct earl *earl, int state)
{
    const int before = earl->masked;
    earl->masked = state != 0;
    if (earl->interrupts != NULL) {
        atomic_store(&earl->interrupts->helper.enabled, state == 0);
        if (state == 0)
            earl->pending = 1; /* for what came meanwhile */
    }
    return before;
}

void earl_interrupts_end(struct earl *earl)
{
    if (earl->interrupts == NULL)
        return;
    adapter_interrupt_stop(&earl->interrupts->helper);
    sigaction(SIGIO, &earl->interrupts->before, NULL);
    interrupted = NULL;
    earl_pages_free(earl->interrupts, sizeof *earl->interrupts);
    earl->interrupts = NULL;
}
