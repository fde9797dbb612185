/* SPDX-License-Identifier: MIT */
/* score.h -- SCore's user level on BCR: what a program calls first, its place among the others, and the networks to
 * them. The routines are those of the manual "SCore and PM"; docs/score.md says what each one is in BCR, and what
 * differs. */
#ifndef SCORE_H
#define SCORE_H

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include <pm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set by score_initialize. A node is a member of the team, a host a group of members that share memory; both are numbered
 * from 0, hosts in the order of their first nodes. score_pmnet has score_num_pmnet network sets, and NULL behind them. A
 * program that runs without a team, or in a team of one, has no network set. */
extern int score_self_node, score_num_node;
extern int score_self_host, score_num_host;
extern int score_self_proc, score_num_proc; /* among the nodes of this host */
extern int score_num_pmnet;
extern pmContext **score_pmnet;

/* score_initialize -- become a node of the parallel program: each program calls it before anything else.
 * The manual has it without arguments, and with argc and argv, which are left alone; both compile.
 * Returns: when all nodes have called it; then every network set can be used. A second call does nothing. If the program
 *     cannot run as it is (SCORE_OPTIONS is malformed, the nodes are not what score_resource.h asked for), it ends with
 *     one sentence and status 1. */
#if defined(__cplusplus)
void score_initialize(void);
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L && \
    (defined(__clang__) || !defined(__GNUC__) || __GNUC__ >= 13) /* gcc 12 still takes C23's () as before */
void score_initialize(...);
#else
/* Not a prototype: both of the manual's forms must compile. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
void score_initialize();
#pragma GCC diagnostic pop
#endif

/* score_become_idle, score_become_busy -- say that this node only looks for messages; that it computes.
 * When all nodes are idle, and no message is under way, enl says so and ends the program, or does what its setting ondeadlock
 * says (bcrrc(5)); with the SCore option "noidle" the two do nothing. */
void score_become_idle(void);
void score_become_busy(void);

#ifdef __cplusplus
}

static inline void score_initialize(int argc, char **argv)
{
    (void)argc, (void)argv;
    score_initialize();
}
#endif

#endif
