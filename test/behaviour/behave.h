/* SPDX-License-Identifier: MIT */
/* What a behaviour is made of.
 *
 *     BEHAVIOUR(a_take_gives_the_first_region_and_removes_it)
 *     {
 *         const int cell = grow(1, 4, 1024);
 *         CHECK_INT(by(owner, "put 1 %d 7", cell), 0);
 *         CHECK_INT(take(cell), 7);
 *         CHECK_INT(bcr_celllen(there, cell), 0);
 *     }
 *
 * A behaviour is one promise of bcr.h, as a program that uses nothing but that header. It runs as
 * the root CCE, here called `me`, of a program of its own with a daemon of its own, once for each
 * place: a place says which CCE has the cells that the behaviour uses. That CCE is `owner`, and
 * this process calls it `there`. A failing one is named BEHAVIOUR@PLACE, and can be run alone by
 * that name.
 *
 * When a behaviour has ended, `enl audit` must find that all shared structures agree. */
#ifndef BCR_TEST_BEHAVE_H
#define BCR_TEST_BEHAVE_H

#include <bcr.h>

#include "check.h"
#include "regions.h"

/* The places. A new one is a name here and a struct place in behave.c. In behave_sim.c all CCEs are
 * threads of one process. */
#ifndef BEHAVE_SIMULATED
#define OWN_PLACES(X, behaviour)   X(own, behaviour)
#define OTHER_PLACES(X, behaviour) X(other, behaviour)
#define FAR_PLACES(X, behaviour)   X(host, behaviour)
#define TIMED_PLACES(X, behaviour) X(timed, behaviour)
#else
#define OWN_PLACES(X, behaviour)
#define OTHER_PLACES(X, behaviour)
#define FAR_PLACES(X, behaviour)   X(simulated, behaviour)
#define TIMED_PLACES(X, behaviour) X(simulated_timed, behaviour)
#endif

struct place {
    const char *name;
    bool own;         /* the cells are those of the CCE that runs the behaviour */
    const char *mach; /* else: where bcr_enlist starts their owner */
    /* On another host: a pending get waits there after it has returned. Under putwait(bcr_BLOCK) a put is done after
     * it has returned; what only the owner can decide (bcrE_NOCELL, bcrE_DEAD) does not come as the put's result
     * but, later, as an error region, and as that of the next put there. */
    bool far;
    bool timed; /* all CCEs begin with another putwait, under which the result of a put is its own */
};
extern const struct place *place;

#define BEHAVIOUR_AT(at, behaviour)                                                                        \
    static void behaviour##_at_##at(void)                                                                  \
    {                                                                                                      \
        extern const struct place place_##at;                                                              \
        behave(&place_##at, behaviour);                                                                    \
    }                                                                                                      \
    static struct check_test check_entry_##behaviour##_at_##at = {#behaviour "@" #at, behaviour##_at_##at, \
                                                                  60, NULL};                               \
    __attribute__((constructor)) static void check_register_##behaviour##_at_##at(void)                    \
    {                                                                                                      \
        check_register(&check_entry_##behaviour##_at_##at);                                                \
    }

/* Where a program has none of a behaviour's places, the behaviour is not used. */
#define BEHAVIOUR_DECLARED(behaviour) __attribute__((unused)) static void behaviour(void)

/* Promised wherever the cells are; of a CCE's own cells, or of routines that know of no other CCE;
 * of other CCEs' cells. WITHIN: only where CCEs share regions, which between hosts are sent. */
#define BEHAVIOUR(behaviour)              \
    BEHAVIOUR_DECLARED(behaviour);        \
    OWN_PLACES(BEHAVIOUR_AT, behaviour)   \
    OTHER_PLACES(BEHAVIOUR_AT, behaviour) \
    FAR_PLACES(BEHAVIOUR_AT, behaviour)   \
    TIMED_PLACES(BEHAVIOUR_AT, behaviour) static void behaviour(void)
#define BEHAVIOUR_WITHIN(behaviour)     \
    BEHAVIOUR_DECLARED(behaviour);      \
    OWN_PLACES(BEHAVIOUR_AT, behaviour) \
    OTHER_PLACES(BEHAVIOUR_AT, behaviour) static void behaviour(void)
#define BEHAVIOUR_OF_OWN(behaviour) \
    BEHAVIOUR_DECLARED(behaviour);  \
    OWN_PLACES(BEHAVIOUR_AT, behaviour) static void behaviour(void)
#define BEHAVIOUR_OF_OTHERS(behaviour)    \
    BEHAVIOUR_DECLARED(behaviour);        \
    OTHER_PLACES(BEHAVIOUR_AT, behaviour) \
    FAR_PLACES(BEHAVIOUR_AT, behaviour)   \
    TIMED_PLACES(BEHAVIOUR_AT, behaviour) static void behaviour(void)
#define BEHAVIOUR_OF_OTHERS_WITHIN(behaviour) \
    BEHAVIOUR_DECLARED(behaviour);            \
    OTHER_PLACES(BEHAVIOUR_AT, behaviour) static void behaviour(void)

#define BEHAVIOUR_FROM_AFAR(behaviour) \
    BEHAVIOUR_DECLARED(behaviour);     \
    FAR_PLACES(BEHAVIOUR_AT, behaviour) static void behaviour(void)

void behave(const struct place *at, void (*behaviour)(void));

/* ---- the CCEs of a behaviour ---- */

struct cce;
extern struct cce *me, *owner;
extern bcr_cce_id there; /* how this CCE names the owner */

/* A CCE that is neither `me` nor the owner, on this host; started when it is first asked for. */
struct cce *another(void);
struct cce *third(void);
/* How this CCE names it. */
bcr_cce_id name_of(struct cce *cce);

/* What a CCE is to do: a verb of verbs.c and its numbers. `by` does it in this process if `who` is
 * `me`, else in the other one, and returns the verb's result; the code of one that failed is in
 * bcr_errno then. `begin` does not wait for the result, `result_of` does. */
int by(struct cce *who, const char *format, ...) __attribute__((format(printf, 2, 3)));
void begin(struct cce *who, const char *format, ...) __attribute__((format(printf, 2, 3)));
int result_of(struct cce *who);

/* The CCE ends with status 0. */
void leave(struct cce *who);
/* The owner's host is lost; has been lost by other means. */
void lose_host(void);
void have_lost_host(void);
/* From now on the verbs of `who` are for this CCE's cells. */
void turn_round(struct cce *who);

/* ---- shorthands ---- */

/* `cells` in/out cells of the owner that hold `nrgns` regions together, and `nbytes` of memory for
 * this CCE, which expects to have as many regions. */
int grow(int cells, int nrgns, int nbytes);

/* bcr_putwait, which must succeed. */
void putwait(int msec);
/* What CCEs of a timed place begin with: longer than any behaviour. */
enum { TIMED_MSEC = 1000000 };

/* Puts and takes numbers at the owner's cells. put: it is there when this returns; take: the first
 * one, which must be there. */
int put(int cell, int value);
int take(int cell);

/* What this CCE has ordered at the owner's cells is done, or waits there: for a pending get that is to
 * be there before others come. The verbs of other CCEs do so by themselves. */
void arrive(void);

/* A put of `rgid`, or what is made of one, at the owner's `cell` must fail with `code`, which only
 * the owner can know: -1, the region being held as before, or, from afar under putwait(bcr_BLOCK), success and
 * an error region. Then the region is freed. */
#define REFUSED(call, rgid, cell, code)                              \
    do {                                                             \
        bcr_errno = -77;                                             \
        refused(__FILE__, __LINE__, (call), (rgid), (cell), (code)); \
    } while (0)
void refused(const char *file, int line, int returned, bcr_region rgid, int cell, int code);

/* A get at the owner's cell must fail with `code`, which only the owner can know: so a pending one may
 * tell so when it is waited for. */
#define GET_FAILS(call, code)                          \
    do {                                               \
        bcr_errno = -77;                               \
        get_fails(__FILE__, __LINE__, (call), (code)); \
    } while (0)
void get_fails(const char *file, int line, bcr_region returned, int code);

/* Takes the next error region of this CCE's cell 0 and checks what it tells. */
void error_is(int code, int operation, bcr_cce_id cce, int cell);

/* Of the monotonic clock. */
int64_t clock_ns(void);

#endif
