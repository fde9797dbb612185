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
    bool has_team;
    unsigned rank, count;
    bcr_cce_id *members;
    bool *is_near;
    struct lfc_group all; /* but this process */
    struct lfc_group *groups;
    int group_count;
    unsigned long counts[LFC_COUNTS];

    volatile sig_atomic_t inside;   /* of a routine here: a SIGIO may not make upcalls */
    volatile sig_atomic_t disabled; /* how often; 0: interrupts are enabled */
    volatile sig_atomic_t pending;  /* a SIGIO came meanwhile */
    bool has_helper, by_interrupt;
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

/* Each routine that uses BCR begins and ends with them. leave: makes the upcalls that a SIGIO meanwhile was for, if that is
 * allowed, else has another one sent. */
void lfc_enter(const char *routine);
void lfc_leave(bool upcalls_allowed);
/* The cell is empty: tells the helper of what comes from now on. */
void lfc_arm(void);
void lfc_interrupts_end(void);

/* ---- receive.c ---- */

/* Takes what has come out of the cell. */
void lfc_drain(void);
/* Makes the upcalls for what was taken, if that is allowed. */
void lfc_upcalls(bool allowed);
/* Whether packets wait for an upcall. */
bool lfc_has_waiting(void);
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
