/* SPDX-License-Identifier: MIT */
/* A target: what carries packets from process to process. Everything else (matching, long messages, requests, groups) stands
 * above this table, once for all targets. targets/bcr.c is the one on BCR's cells; tests have one within a process.
 *
 * A packet is known by an address whose first word is the address of its bytes, as a BCR region is. */
#ifndef EARL_TARGET_H
#define EARL_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "earl.h"

typedef void **earl_packet;

/* How far a routine goes if it can't be served at once. */
enum earl_patience {
    EARL_NOW,  /* not at all */
    EARL_GROW, /* it may take more memory of the system, up to EARL_MEMORY */
    EARL_MUST, /* and beyond: a few bytes, without which others could not go on */
    EARL_WAIT, /* it waits; of the processes of a target, only in `later` */
    EARL_PART /* the same, for memory that the others leave: for a part of a message that is being received */
};

/* How long `take` waits, in place of milliseconds; and what it says when they are over. */
enum { EARL_TAKE_NOW = 0, EARL_TAKE_WAITS = -1, EARL_TAKE_LATE = 1 };
/* No part is longer than that, its head included. */
enum { EARL_PART_MOST = 65536 };

enum earl_put {
    EARL_PUT_DONE,  /* the packet is the receiver's, or shared with it */
    EARL_PUT_FULL,  /* there is no room now */
    EARL_PUT_ENDED, /* the receiver has ended */
    EARL_PUT_FAILED /* target->sentence says why */
};

struct earl_target {
    const char *name;
    /* Starts a process: its number and how many there are, and the bytes of packets that it may have out. Returns EARL_OK or a code. */
    int (*begin)(void *self, int *process, int *count);
    /* What was put has arrived, as far as that is known: before the end. */
    void (*end)(void *self);
    /* A number that is equal for processes that share memory. */
    int (*host)(void *self, int process);
    int (*watch)(void *self, int process);

    /* NULL: there is no room, or (EARL_WAIT) no packet can be so long. */
    earl_packet (*allocate)(void *self, size_t length, enum earl_patience patience);
    void (*release)(void *self, earl_packet packet);
    size_t (*length)(void *self, earl_packet packet);
    /* Makes a packet shorter that nobody else holds; whether anybody else does. */
    void (*shorten)(void *self, earl_packet packet, size_t length);
    bool (*is_shared)(void *self, earl_packet packet);
    /* In order for each receiver. keep: the packet stays the caller's, too, and is not written any more. */
    enum earl_put (*put)(void *self, int process, earl_packet packet, bool keep, enum earl_patience patience);
    /* The next packet that has come. It waits for one `msec` milliseconds, or EARL_TAKE_WAITS until there is one, or until `wake`:
     * NULL then, or if there is none, or after a failure, which *code tells; else *code is EARL_OK, or EARL_TAKE_LATE if a time
     * above 0 is over. */
    earl_packet (*take)(void *self, int msec, int *code);
    /* Which process's end a packet of take tells of; -1: it is none such. */
    int (*ended)(void *self, earl_packet packet);

    /* Runs work(argument) beside the process, while that waits in `take` or calls `pause`: work may use EARL_WAIT, and waits
     * there without holding up others. Returns whether that is possible now. */
    bool (*later)(void *self, void (*work)(void *argument), void *argument);
    /* Says what the process waits for, and which process alone can end that, -1: not known; NULL: it waits no more. */
    void (*note)(void *self, const char *text, int process);
    /* Ends the wait of `take`. */
    void (*wake)(void *self);
    /* Lets what `later` has begun go on. */
    void (*pause)(void *self);
    /* A signal handler begins to call these routines, if nobody is in one; and ends. */
    bool (*signal_enter)(void *self);
    void (*signal_leave)(void *self);
    /* What has failed last. */
    const char *(*sentence)(void *self);
    /* A descriptor that becomes readable when a packet comes after the call, which arms it anew; -1: there is none. */
    int (*descriptor)(void *self);
};

#endif
