/* SPDX-License-Identifier: MIT */
/* The reference of cells (reference.h) and the one of the scheduler (scheduler.h) as one: what the
 * calls of a CCE with handlers, `one`, and of others do to the cells, which handlers they request, and
 * what `one` may show next. It shares nothing with the library. */
#ifndef BCR_TEST_MODEL_JOINT_H
#define BCR_TEST_MODEL_JOINT_H

#include <stdbool.h>

#include "reference.h"
#include "scheduler.h"

/* Cells 0 to OWN - 1 are one's, in an area with room; the others are two's, with little. */
enum { CELLS = 7, OWN = 5, ROOM = 2, PLENTY = 400, PRIORITIES = 4, NONE = -1 };

enum what { PUT, GET, PUTM, RGWAIT, PRIORITY, ALLOW, INSTALL };

/* A call of `one` that may let others run, and what comes of it. */
struct call {
    enum what what;
    bool may_wait, take, write, pending, performed;
    int cell, value, id; /* of the request in `ref` */
    bool goes_to[OWN];   /* of PUTM */
    int activep, blockp; /* of PRIORITY, ALLOW, INSTALL */
    int mark;
    bool removes;
    enum ref_answer answer;
};

struct handler {
    bool installed;
    int mark, activep, blockp;
};

extern struct sched sched;
extern struct reference ref;
extern struct call call[SCHED_INVOCATIONS]; /* that each invocation is in */
extern struct handler handler[OWN];
extern int next_id;   /* of a request in `ref` */
extern int performed; /* how many calls of one's have been done by the references */

/* Nothing has happened yet. */
void joint_begin(void);

/* How many invocations there are, the main program too. */
int alive(void);

/* Whether `one` does what is done just now. */
extern bool is_own;
enum ref_answer put_by_reference(int id, int cell, int value, bool write, bool may_wait);
enum ref_answer get_by_reference(int id, int cell, bool take, bool may_wait);

/* Whether a put, a get requests the handler of its cell. */
bool put_requests(int cell, int before, int after, bool write, enum ref_answer answer);
bool get_requests(int cell, int before, bool take);

/* Goes on until something can be seen from outside: a handler starts, a call returns, or, false, no
 * invocation can run. */
bool advance(void);

/* The library has done what the references do not allow here. */
_Noreturn void disagree(const char *happened, int id);

#endif
