/* SPDX-License-Identifier: MIT */
/* One CCE of the program: what its files share. */
#ifndef CHAOS_CCE_H
#define CHAOS_CCE_H

#include <bcr.h>

#include "board.h"

/* The root's cells, all in/out. Each line is an area. */
enum {
    TOKENS = 1,                   /* more room than there are tokens */
    THREE = TOKENS + 4,           /* room for three */
    LOCKS = THREE + 3,            /* one region each, unless its holder died */
    LONG = LOCKS + CHAOS_LOCKS,   /* one region of any length each */
    MANY = LONG + 3,              /* whatever */
    PEERS = MANY + 4,             /* by place: who has it */
    HANDLED = PEERS + CHAOS_CCES, /* a handler takes what comes */
    SHARED_CELLS = HANDLED + 1,
};
/* Those of every other. */
enum { OWN = 1, OWN_CELLS = 2, OWN_HANDLED = OWN + OWN_CELLS, MORE = 10 };

extern struct chaos_board *board;
extern struct chaos_place *mine;
extern bcr_cce_id keeper; /* the CCE with the shared cells: the root */
extern bool far;          /* the root is on another host */

/* Ends this CCE, and with it the test, unless `holds`. */
void must(bool holds, const char *what);
/* True: the call has worked. False: it failed by a code that stands for what others do, deaths
 * among it; else as must(). */
bool worked(bool holds, const char *what);

/* The same for a put into an area whose room is never used up. One that may not wait can be refused
 * nevertheless, where another waits for its share of that room, or a stopped CCE holds what tells
 * of it: such a put is counted, and tried again. */
bool put_where_room_is(bool holds, const char *what);

unsigned any(unsigned below);
/* Milliseconds for a call to wait: 0 as often as not. */
int any_time(void);

/* regions.c: each follows from its length and first word, and says so. NULL: no room in the own
 * account. */
bcr_region region_make(int length);
void region_check(bcr_region rgid, const char *where);
void region_check_and_free(bcr_region rgid, const char *where);
int region_any_length(void);

/* A handler: takes what has come. */
void take_one(int cell);

/* Operations. In each file a few, of one kind. */
void do_token(void);   /* tokens.c: from one cell to another, perhaps by way of a pending get */
void do_pending(void); /*   several gets pending, bcr_rgwaitm */
void do_three(void);   /*   by way of the cells with room for three */
void do_many(void);    /* regions.c: one region to many cells */
void do_share(void);   /*   put, and kept */
void do_long(void);    /*   write, and read */
void do_handled(void); /*   into a cell with a handler */
void do_peer(void);    /*   into and out of the cells of one who may be dead */
void do_zap(void);     /*   zap, celllen */
void do_lock(void);    /* locks.c: a write lock, perhaps turned into a read lock */
void do_read_lock(void);
void recover_locks(void); /* the root: where the holder of one has died */
void do_area(void);       /* areas.c: bcr_cagrow, bcr_cafree */
void areas_empty(void);

/* Who has a place; -1: no CCE has told yet. */
int peer_at(int place);

/* shared.c: the root's cells, made, and looked through while all stand. */
void shared_make(void);
void shared_empty(void); /* those with what may be lost, and shared */
void shared_count(void);
void cell_empty(int cell);

#endif
