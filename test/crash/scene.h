/* SPDX-License-Identifier: MIT */
/* One operation, killed after each of its instructions.
 *
 * A scene has an owner of two cells, a peer, and a victim. Owner and peer live in the test's
 * process and survive; the victim is forked, prepares, and is then stepped through `run` and
 * killed. Afterwards it is buried, the shared memory is audited, and what owner and peer see is
 * compared with what a reader of the manual would expect: the operation is wholly there or not at
 * all. Then both go on working, and all memory must come home.
 *
 * What they see is written down as a line of words:
 *     T=5 R=- L=OWNERDEAD    the peer's waiting gets, reads and lock requests, in the order in which they were made: the
 *                            value that came, - still waiting, or the error
 *     P=in P=- P=DEAD        the peer's waiting puts
 *     s=1                    how often the owner's handlers have been requested since, where its cells are marked
 *     S=5 S=in S=- S=DEAD    what the sleeper's call returned, or that nothing was owed to it (it is woken by a put of 99,
 *                            or, in a put, by a zap, before the rest is looked at); S=s: the owner had news
 *     fd                     the first cell's descriptor is readable
 *     : 1 2 3                what is in the first cell, in order; or the error
 *     ; 4                    what is in the second cell, if anything */
#ifndef BCR_TEST_SCENE_H
#define BCR_TEST_SCENE_H

#include <bcr.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "check.h"
#include "group.h"
#include "requests.h"
#include "trace.h"

enum { SCENE_IDS = 8, SCENE_LINE = 256 };

struct scene {
    const struct scenario *scenario;
    struct group *group;
    struct bcri_ctx *owner, *peer;
    int owner_home, peer_home;         /* how each calls the CCE with the cells */
    const struct bcri_cell_shm *first; /* the first cell, as the peer maps it */
    uint32_t home_index, owner_index, peer_index, victim_index;
    pid_t victim;
    bcr_region waiter[SCENE_IDS];
    int waiters;
    struct bcri_slot_shm *put[SCENE_IDS];
    int puts;
    struct sleeper *sleeper;
    int fd;
    bool sleeps_on;
    struct requests requests;    /* of the owner */
    struct scene_shared *shared; /* with the processes that it forks */

    /* of the victim, or of whom `as_...` has made the thread */
    int home, cell, cell2;
    bcr_region id[SCENE_IDS];
    bcr_region kept; /* of the peer: freed when the dead is buried */
};

struct scenario {
    /* What there is before. */
    bool own;       /* the cells are the (first) victim's own */
    int cells;      /* 0: 2; the more, the shorter the rings: 10 cells for 40 regions have rings of 8 */
    int nrgns;      /* of all cells together; 0: 40; -1: none at all */
    bool ownerdead; /* a CCE died with the first cell's write lock; excludes the others */
    int queued;     /* regions 1, 2, ... in the first cell, made by owner and peer in turn */
    int given_back; /* regions 61, 62, ... that were taken and given back to its head */
    char
        sleeper; /* T, R, P: a CCE sleeps in a get, a read, or a put (of 99) that waits for room; H: the owner
                          * until there is news */
    const char *waiters; /* T, R, L: gets, reads, locks of the peer's that wait */
    const char *late;    /* the same for those that `arrange` has made and added to scene->waiter */
    int puts;            /* puts of 51, 52, ... of the peer's that wait for room */
    bool marked;         /* both cells bear this mark */
    int mark;
    int requests; /* so many there are before */
    bool armed;   /* the owner has a descriptor of the first cell; only where it is empty */
    bool polls;   /* the owner's own is armed, and tells of puts into the first cell; likewise */
    void (*prepare)(struct scene *scene); /* in the victim */
    void (*arrange)(struct scene *scene); /* after that, by owner and peer */

    bool cold; /* the victim has not mapped the segments of others; else it has */

    bool (*run)(struct scene *scene); /* in the victim; false: it failed, which no scenario expects */

    /* What another CCE does once, when the victim comes to `help_at`. */
    void (*help)(struct scene *scene);
    enum trace_at help_at;

    /* What must be seen: `before` if it is killed before its first instruction, `after` when it has
     * done everything, and
     * in between one of the two, or one of those that `also` lists, separated by |. */
    const char *before, *after, *also;

    /* What a second victim does, prepared in the same way (test_two.c), and what must be seen then
     * of cells that are marked: of how many regions there were requests, of those put, or taken. */
    bool (*second)(struct scene *scene);
    enum scene_sum { SCENE_ANY, SCENE_PUTS_REQUEST, SCENE_TAKES_REQUEST } sum;

    /* Another process that does this to the cell all the time; then what is seen is not
     * compared. */
    void (*contender)(struct scene *scene);
};

void scene_test(const struct scenario *scenario);

#define SCENARIO(name, ...)                                    \
    TEST_TIMEOUT(name, 900)                                    \
    {                                                          \
        static const struct scenario scenario = {__VA_ARGS__}; \
        scene_test(&scenario);                                 \
    }

/* For the hooks: the thread becomes owner or peer. */
void as_owner(struct scene *scene);
void as_peer(struct scene *scene);
bcr_region number(int value);
/* A region of `length` bytes that begins with `value`. */
bcr_region large(int value, int length_bytes);
/* What it holds; freed. */
int value_of(bcr_region rgid);

#endif
