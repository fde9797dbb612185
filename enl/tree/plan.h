/* SPDX-License-Identifier: MIT */
/* Who starts whom: the order in which a program's hosts are started, by which daemons. Pure: no clock, no network,
 * no names; starting.c tells what happens, and asks what to do next.
 *
 *   wanted --> begun (its starter's login is under way) --> met (it has spoken) --> up (it starts others)
 *
 * Rules:
 *   - No daemon starts more than `fanout` others, so n hosts are up after O(log n) rounds.
 *   - No host lies deeper than is needed for as many as there are: 1,024 hosts with a fanout of 16 have 3 levels.
 *     Of those that may start one more, those nearest to the root do, by turns.
 *   - At most ENL_PLAN_AT_ONCE logins are under way by one daemon, and as many to one sshd.
 *   - A host that is `near` (of the root's machine) is started by the root or by another one that is.
 *   - The root starts more than `fanout` if nobody else can: hosts that are wanted `direct`, and any other
 *     when no daemon that might start it is on its way.
 *
 * Hosts are named by their numbers; 0 is the root's. */
#ifndef ENL_PLAN_H
#define ENL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENL_PLAN_AT_ONCE = 8, ENL_PLAN_LEVELS = 32 };

struct enl_plan_node;

struct enl_plan_list {
    uint32_t first, last; /* 0: none */
};

struct enl_plan {
    uint32_t fanout;
    struct enl_plan_node *nodes; /* by number */
    size_t room;
    uint32_t *logins;             /* under way, to each sshd that a host was wanted by */
    size_t sshds;                 /* for which there is room */
    uint32_t count;               /* hosts that are wanted, begun, met or up */
    uint32_t coming;              /* that are begun or met */
    struct enl_plan_list waiting; /* `direct` ones in front */
    uint32_t near_waiting;        /* of them, those that are near */
    /* Daemons of each level that may start one more: the first of them is the next that does. */
    struct enl_plan_list levels[ENL_PLAN_LEVELS];
};

/* What is said of a host that is wanted. */
struct enl_plan_host {
    uint32_t number;
    uint32_t sshd; /* hosts with the same are reached by one sshd */
    bool near;
    bool direct; /* the root itself is to start it */
};

/* False: no memory. */
bool enl_plan_init(struct enl_plan *plan, uint32_t fanout);
void enl_plan_fini(struct enl_plan *plan);

/* Wants that host, of a number that was not used before. False: no memory. */
bool enl_plan_want(struct enl_plan *plan, const struct enl_plan_host *host);
/* The next that is to be begun, and by whom; it is begun then. False: none, until something happens. */
bool enl_plan_next(struct enl_plan *plan, uint32_t *number_out, uint32_t *starter_out);
void enl_plan_met(struct enl_plan *plan, uint32_t number);
void enl_plan_up(struct enl_plan *plan, uint32_t number);
/* It starts no more hosts, and will be gone. */
void enl_plan_ends(struct enl_plan *plan, uint32_t number);
/* It is wanted no more, could not be started, or is lost. */
void enl_plan_gone(struct enl_plan *plan, uint32_t number);
/* That daemon could not reach another host (or could, after all): it is to start only those that are near. */
void enl_plan_distrust(struct enl_plan *plan, uint32_t number, bool distrust);
/* How many logins lie between the root and that host; 0: none, or it is not begun. */
uint32_t enl_plan_level(const struct enl_plan *plan, uint32_t number);

#endif
