/* SPDX-License-Identifier: MIT */
/* What the files of this adapter share. All of it is the thread's that has called lfc_init, and its signal handler's. */
#ifndef LFC_PRIVATE_H
#define LFC_PRIVATE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <bcr/program.h>

#include "lfc.h"
#undef lfc_memcpy

#include "interrupt.h"

/* Packets: the data, and behind them, at the end of the region, TRAILER bytes: the sender's rank, least significant byte first,
 * and flags. Machines of all byte orders read it alike. */
enum { PACKET = 1024, TRAILER = 8 };

/* The cells that each member has. */
enum { CELL_PACKETS = 1, CELL_COUNTER, CELL_STATS };

/* The options. */
struct lfc_options {
    bool verbose, no_intr, stats, use_hosts;
    unsigned ring_frames, intr_first, intr_next;
    const char *hosts, *lcp, *tree, *routes;
};

/* What each member counts: in lfc_stats_dump, in this order. */
enum lfc_count {
    COUNT_UCAST_SENT,
    COUNT_MCAST_SENT,
    COUNT_BCAST_SENT,
    COUNT_UCAST_RECEIVED,
    COUNT_MCAST_RECEIVED,
    COUNT_BY_POLL,
    COUNT_BY_INTERRUPT,
    COUNT_EMPTY_POLLS,
    COUNT_SIGNALS,
    COUNT_RETRIES,
    COUNT_FETCH_AND_ADDS,
    LFC_COUNTS
};

/* Receivers of a multicast: pairs of CCE and cell, as bcr_putm takes them; `near` ones share memory with this process. */
struct lfc_group {
    int *near, *far;
    int near_count, far_count;
};

struct lfc {
    struct lfc_options options;
    bool is_begun, is_started, is_over;
    bool is_running; /* between lfc_start and lfc_exit */
    bool has_team;
    unsigned rank, count;
    bcr_cce_id own; /* of this process, as bcr_cce */
    bcr_cce_id *members;
    bool *is_near;
    struct lfc_group all; /* but this process */
    struct lfc_group *groups;
    int group_count;
    unsigned long counts[LFC_COUNTS];

    volatile sig_atomic_t inside; /* of a routine here, and not in an upcall: a SIGIO may not make upcalls */
    volatile sig_atomic_t disabled; /* how often; 0: interrupts are enabled */
    volatile sig_atomic_t pending;  /* a SIGIO came meanwhile */
    bool has_helper, by_interrupt;
    bool is_armed; /* nothing was taken out of the cell since lfc_arm has armed its descriptor */
    struct adapter_interrupt interrupt;
};
extern struct lfc lfc_self;

/* ---- init.c ---- */

/* Ends the program: bad input, or something that cannot go on. For signal handlers, too. */
_Noreturn void lfc_fail(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The sentence of bcr_errno. */
_Noreturn void lfc_fail_bcr(const char *routine);
/* Waits until all members have called it; what comes meanwhile is taken out of the cell. */
void lfc_sync(const char *routine);

/* ---- options.c ---- */

void lfc_options_take(struct lfc_options *options, int *argc, char **argv);

/* ---- hosts.c ---- */

/* Where enl has not started this process, takes what LFC's own starters tell of the others out of the arguments and variables,
 * and leaves it where bcr_init finds it. */
void lfc_hosts_use(const struct lfc_options *options, int *argc, char **argv);

/* ---- interrupts.c ---- */

_Noreturn void lfc_fail_state(const char *routine);
void lfc_leave_interruptible(bool upcalls_allowed);
/* The cell was found empty: the helper is told of what comes from now on. */
void lfc_arm(void);
/* The helper is told whether interrupts are enabled. Not of each upcall, which disables them while it runs; but one may have
 * enabled or disabled them for what comes behind it. */
void lfc_interrupts_follow(void);
void lfc_interrupts_end(void);

/* Each routine that uses BCR begins and ends with them. leave: makes the upcalls that a SIGIO meanwhile was for, if that is
 * allowed, else has another one sent. */
static inline void lfc_enter(const char *routine)
{
    if (!lfc_self.is_running)
        lfc_fail_state(routine);
    lfc_self.inside++;
}
static inline void lfc_leave(bool upcalls_allowed)
{
    if (lfc_self.has_helper)
        lfc_leave_interruptible(upcalls_allowed);
    else
        lfc_self.inside--;
}

/* ---- receive.c ---- */

/* Whatever waits calls it over and over: serves fetch-and-adds, takes what has come out of the cell, and makes the upcalls if they
 * are allowed, else keeps the packets for later. Returns whether there was a packet. */
bool lfc_progress(bool upcalls_allowed);
/* Whether packets wait for an upcall. */
bool lfc_has_waiting(void);
/* How many upcalls are running, each within the one before. */
int lfc_upcalls_running(void);
void lfc_receive_end(void);

/* ---- send.c ---- */

void lfc_group_fill(struct lfc_group *group, const unsigned *members, unsigned count);
/* All that this process has sent has arrived. */
void lfc_send_end(void);

/* ---- packets.c: which region a pointer to packet data is of ---- */

void lfc_packets_add(void *data, bcr_region rgid, bool is_send);
/* Takes it out again. NULL: there is none. */
bcr_region lfc_packets_take(void *data, bool is_send);

/* How many there are. */
size_t lfc_packets_left(void);

/* ---- counters.c ---- */

void lfc_counter_begin(void);
/* Does what the locks are for that fetch-and-adds have got meanwhile. */
void lfc_counters_serve(void);

/* ---- memory.c ---- */

/* Pages from the kernel: a signal handler may ask for them. NULL: no memory. */
void *lfc_pages(size_t bytes);
void lfc_pages_free(void *pages, size_t bytes);

#endif
