/* SPDX-License-Identifier: MIT */
/* Interrupts for an adapter: a thread that waits for what comes into a cell and sends SIGIO to another one, unless that takes
 * it in time.
 *
 * The thread moves no data and takes no part in BCR. It waits, edge-triggered, on the descriptor of the cell (bcr_fd), which the other thread arms
 * anew whenever it has emptied the cell. After an edge it waits for the delay, and sends the signal if nothing has been taken
 * meanwhile; then again and again, until something is taken or interrupts are disabled. A level-triggered wait would spin,
 * since the descriptor stays readable until it is armed again.
 *
 *   thread that takes                           helper
 *     taken + 1, arms when empty    --edge-->     seen = taken; sleeps the delay; taken == seen: SIGIO
 *     enables, or leaves work over  --kick-->     the same
 */
#ifndef ADAPTER_INTERRUPT_H
#define ADAPTER_INTERRUPT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct adapter_interrupt {
    /* Of the owner, before the start. */
    int fd;            /* of the cell */
    unsigned first_us; /* from the edge to the first signal */
    unsigned next_us;  /* between two signals */
    pthread_t target;  /* gets SIGIO */
    /* Of the owner, at any time. */
    atomic_ulong taken; /* counts what it has taken */
    atomic_bool enabled;
    /* Of the helper. */
    atomic_ulong signals; /* that it has sent */
    int kick, epoll;
    atomic_bool stops;
    pthread_t thread;
};

/* Starts the helper, with all signals blocked, on all cores of the program (bcr_threadcores). Returns 0 or an errno. */
int adapter_interrupt_start(struct adapter_interrupt *interrupt);
/* Something is there for which no edge will come: it was taken out of the cell, and is not done yet. For signal handlers, too. */
void adapter_interrupt_kick(struct adapter_interrupt *interrupt);
/* Ends the helper. */
void adapter_interrupt_stop(struct adapter_interrupt *interrupt);

#endif
