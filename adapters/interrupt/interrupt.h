/* SPDX-License-Identifier: MIT */
/* Interrupts for an adapter: a thread that waits for what comes into a cell and sends SIGIO to another one, unless
 * that serves it in time.
 *
 * The thread moves no data. It waits, edge-triggered, on the descriptor of the cell (bcr_fd), which the other thread
 * arms anew whenever it has found the cell empty. After an edge it waits for the delay, and sends the signal if nothing
 * has been served meanwhile; then again and again, until something is served or interrupts are disabled. To look and to
 * find nothing to do is to serve, too: an edge may come for what the other thread has just taken. A level-triggered
 * wait would spin, since the descriptor stays readable until it is armed again.
 *
 *   thread that serves                              helper
 *     serves: served + 1; arms when empty --edge-->   seen = served; sleeps the delay; served == seen: SIGIO
 *     enables, or leaves work over        --kick-->   the same
 */
#ifndef ADAPTER_INTERRUPT_H
#define ADAPTER_INTERRUPT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

struct adapter_interrupt {
    /* Of the owner, before the start. */
    int fd;            /* of the cell */
    unsigned first_us; /* from the edge to the first signal */
    unsigned next_us;  /* between two signals */
    pthread_t target;  /* gets SIGIO */
    /* Of the owner, at any time. */
    atomic_ulong served; /* adapter_interrupt_served */
    atomic_bool enabled;
    /* Of the helper. */
    int kick, epoll;
    atomic_bool stops;
    sem_t stopped; /* ends its sleep then */
    pthread_t thread;
};

/* Starts the helper, with all signals blocked, on all cores of the program. Returns 0 or an errno. */
int adapter_interrupt_start(struct adapter_interrupt *interrupt);
/* The owner has done something of what comes, or has looked and found that there is nothing to do. */
static inline void adapter_interrupt_served(struct adapter_interrupt *interrupt)
{
    const unsigned long before = atomic_load_explicit(&interrupt->served, memory_order_relaxed);
    atomic_store_explicit(&interrupt->served, before + 1, memory_order_relaxed);
}
/* Something is there for which no edge will come: it was taken out of the cell, and is not done yet. For signal
 * handlers, too. */
void adapter_interrupt_kick(struct adapter_interrupt *interrupt);
/* Ends the helper. */
void adapter_interrupt_stop(struct adapter_interrupt *interrupt);

#endif
