/* SPDX-License-Identifier: MIT */
/* lfc.h -- LFC, a low-level messaging layer, on BCR.
 *
 * Programs that were written for LFC 2.0 on Myrinet compile with this header and run on BCR's cells: a packet is a region, a
 * launch puts it into a cell of each receiver. docs/lfc.md has what each routine and option is here, and what differs. Source
 * of all: "LFC User Guide", Bhoedjang, Ruehl, Verstoep and Bal, 1999.
 *
 * Bad input (a rank or a group that is none, a packet that is none of LFC's, a size that is too large) and the death of a member
 * end the whole program with a sentence that names the routine. Only the thread that has called lfc_init may call. Where a
 * routine may make upcalls, it calls lfc_upcall, for packets that have come. */
#ifndef LFC_H
#define LFC_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { LFC_NO_INTR, LFC_INTR } lfc_intr_t;
typedef enum { LFC_UPCALL_MCAST = 0x1 } lfc_upcall_flags_t; /* the packet was multicast or broadcast */

/* ---- the program's own ---- */

/* Gets each incoming packet once: from member src, size bytes at packet, which lie there until this returns 0. If it returns
 * another number, they lie there until lfc_packet_free, which may be called within, too. It is called in lfc_poll and in
 * routines whose upcalls_allowed is not 0; while interrupts are enabled also in a handler of SIGIO, wherever the program is.
 * Interrupts are disabled while it runs. It may call any routine of this header but lfc_init, lfc_start and lfc_exit. */
extern int lfc_upcall(unsigned src, void *packet, unsigned size, lfc_upcall_flags_t flags);

/* ---- start and end (guide, 2.1) ---- */

/* Takes the options that it knows out of *argc and argv, and with HOSTS the rank and the number of processes. The members are
 * those of enl -n, or of HOSTS or -lfc-hosts; without any, this process alone. */
void lfc_init(int *argc, char **argv);
/* Makes a group of these members, the same in all processes, before lfc_start. Returns its number. */
int lfc_group_create(unsigned *members, unsigned nr_members);
/* Waits until all members have called it. Interrupts are disabled when it returns. */
void lfc_start(void);
/* Waits until all members have called it. Packets that have come and were given to no upcall are dropped. */
void lfc_exit(void);

/* ---- configuration (2.2) ---- */

unsigned lfc_my_proc(void);
unsigned lfc_nr_procs(void);
unsigned lfc_packet_size(void); /* 1,024 */
void lfc_print_config(void);

/* ---- sending (2.3) ---- */

/* A packet of lfc_packet_size() bytes, which may be written and read. Waits until there is memory for one. */
void *lfc_send_alloc(int upcalls_allowed);
/* Sends the first `size` bytes of a packet of lfc_send_alloc, which is LFC's again: to one member, which may be the caller; to
 * all members of a group but the caller; to all but the caller. Waits while a receiver has no room. */
void lfc_ucast_launch(unsigned dest, void *packet, unsigned size, int upcalls_allowed);
void lfc_mcast_launch(int gid, void *packet, unsigned size, int upcalls_allowed);
void lfc_bcast_launch(void *packet, unsigned size, int upcalls_allowed);

/* ---- receiving (2.4) ---- */

/* Makes an upcall for each packet that has come. Does not wait. A handler of SIGIO that the program has installed before
 * lfc_intr_enable may call it, while interrupts are enabled. */
void lfc_poll(void);
void lfc_packet_free(void *packet);

/* ---- interrupts (2.5) ---- */

/* They nest; each lfc_intr_disable is undone by one lfc_intr_enable, and lfc_start is as if it had called the first one. */
void lfc_intr_disable(void);
void lfc_intr_enable(void);
int lfc_intr_status(void); /* 0: disabled */

/* ---- memory (2.6) ---- */

/* As malloc, calloc, realloc and free, of a heap of their own, which lfc_upcall may use wherever it is called. NULL: no memory. */
void *lfc_malloc(size_t size);
void *lfc_calloc(size_t nmemb, size_t size);
void *lfc_realloc(void *ptr, size_t size);
void lfc_free(void *ptr);

/* ---- the timer (2.7): microseconds ---- */

void lfc_timer_start(void);
void lfc_timer_stop(void);
double lfc_timer_elapsed(void); /* between the last start and stop */
void lfc_timer_delta(unsigned microsec);

/* ---- fetch-and-add (2.8) ---- */

/* Adds 1 to the number that member dest has, 0 at first. Returns what it was. dest takes no part. */
unsigned lfc_fetch_and_add(unsigned dest, int upcalls_allowed);

/* ---- statistics (2.9) ---- */

void lfc_stats_reset(void);         /* all members call it */
int lfc_stats_create(void);         /* likewise, in the same order: the number of a buffer at member 0 */
void lfc_stats_gather(int statbuf); /* likewise */
void lfc_stats_dump(FILE *fp, int statbuf, char *hdr, char *ftr); /* member 0 alone */

/* As memcpy, into a packet of lfc_send_alloc. */
void lfc_memcpy(void *to, const void *from, size_t bytes);
#define lfc_memcpy(to, from, bytes) ((void)memcpy((to), (from), (bytes)))

#ifdef __cplusplus
}
#endif

#endif
