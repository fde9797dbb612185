/* SPDX-License-Identifier: MIT */
/* pm_members.h -- a PM program whose members do what they are told: pm_members SCENARIO [NUMBER [WORD]]. What goes wrong ends it
 * with status 3 and a sentence. */
#ifndef PM_MEMBERS_H
#define PM_MEMBERS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pm_private.h"

#include "manual.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s: line %d, node %d: not %s\n", __FILE__, __LINE__, score_self_node, \
                    #condition);                                                                   \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)
/* The code that a routine has to return. */
#define CODE(call, wanted) must_code(__FILE__, __LINE__, #call, (call), (wanted))
#define OK(call)           CODE(call, PM_SUCCESS)
/* Calls it until it says something else than that nothing is there or done yet. */
#define AWAIT(call)                                                     \
    do {                                                                \
        int await_code;                                                 \
        while ((await_code = (call)) == ENOBUFS || await_code == EBUSY) \
            continue;                                                   \
        must_code(__FILE__, __LINE__, #call, await_code, PM_SUCCESS);   \
    } while (0)

extern pmContext *net; /* of network set 0 */
extern pmContext **nets;
extern unsigned number; /* argument */

void must_code(const char *file, int line, const char *call, int code, int wanted);
bool is_near(int node);
/* Sends and receives whole messages; what comes meanwhile is not looked at. */
void send_bytes(pmContext *pmc, int node, const void *bytes, size_t length);
/* The same between pm_lock and pm_unlock, where this process serves nobody. */
void send_locked(int node, const void *bytes, size_t length);
/* Returns the length. */
size_t receive_bytes(pmContext *pmc, void *bytes, size_t room);
/* All have come here. */
void meet(void);
/* Memory that can be locked. */
char *pages(size_t bytes);

/* pm_codes.c */
void codes(void);
void composites(void);
void codes_of_thread(void);
void one_refused(void);
void debugging(void);
/* pm_traffic.c */
void traffic(void);
void fill(void);
void blocking(void);
void threads(void);
/* pm_remote.c */
void remote(void);
void stopped(void);
void unmapped(void);
void order(void);
void order_full(void);
void handles(void);
/* pm_ends.c */
void ends(void);
void limits(void);

#endif
