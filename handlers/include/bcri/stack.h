/* SPDX-License-Identifier: MIT */
/* Stacks for coroutines, in pools: many are made at a time, and one that is given back is kept for
 * the next user.
 *
 *   low                                                       low + bytes
 *    | guard |                 bytes of stack               |  next one's guard ...
 *
 * A stack is memory that the system gives page by page as it is touched, so that many large ones
 * cost little. A handler that uses too much of its stack must not reach what lies below it:
 *   GUARD     pages that fault, by MADV_GUARD_INSTALL, which costs no mapping (Linux 6.13)
 *   PROTECT   pages that fault, by mprotect. Each is a mapping of its own, so only for as many
 *             stacks as keep the process within half of vm.max_map_count
 *   CANARY    beyond that: a pattern at the lower end, compared whenever the stack stops running
 * A fault in a guard ends the process with a message (bcri_stacks_watch), and so does a spoilt
 * canary. A function whose own frame is larger than a guard steps over it. If that function then
 * faults, or calls BCR while its frame is in no stack, the process ends in the same way. But what
 * it stores meanwhile into other memory is not noticed.
 *
 * Memory that is no longer needed goes back to the system: at each look back
 * (bcri_stacks_look_back) half of what was not needed since the last one. A stack that is taken and
 * given back all the time keeps its memory.
 *
 * Each stack is the first member of what its user keeps beside it (`element_bytes`), which is never
 * moved and zeroed once. Pools share nothing; one thread at a time uses a pool. */
#ifndef BCRI_STACK_H
#define BCRI_STACK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bcri_stack_guard { BCRI_STACK_GUARD, BCRI_STACK_PROTECT, BCRI_STACK_CANARY };

struct bcri_stack {
    unsigned char *low;
    size_t bytes; /* less for some, so that not all stacks begin at the same place of a cache */
    struct bcri_stack *next_free;
    enum bcri_stack_guard guard;
    _Atomic int cell; /* whose handler runs on it, for the message */
};

struct bcri_stack_chunk;

struct bcri_stacks {
    struct bcri_stack *free;    /* used before; the one given back last is first */
    struct bcri_stack *surplus; /* used before; their memory is to go back */
    struct bcri_stack *clean;   /* without memory: never used, or their memory has gone back */
    uint64_t out, peak;         /* taken now; most at once since the last look back */
    uint64_t touched;           /* all that are not clean */
    struct bcri_stack_chunk *chunks;
    size_t element_bytes;
    size_t stack_bytes; /* whole pages, without the guard */
    uint64_t count, most;
    enum bcri_stack_guard guard; /* of those that will be made next */
    uint64_t protect_most;       /* how many may be guarded by mprotect */
};

/* An empty pool of at most `most` stacks, of at least `stack_bytes` each. */
void bcri_stacks_init(struct bcri_stacks *stacks, size_t element_bytes, size_t stack_bytes, uint64_t most);
/* Gives all memory back. `visit`, if not NULL, is called for each stack ever taken before. */
void bcri_stacks_fini(struct bcri_stacks *stacks, void (*visit)(struct bcri_stack *stack));

/* Makes more stacks, if `most` and the system allow. */
bool bcri_stacks_grow(struct bcri_stacks *stacks);

/* So many stacks that have been used always keep their memory. */
#define BCRI_STACKS_KEPT 16u

struct bcri_stack *bcri_stacks_take_other(struct bcri_stacks *stacks);
/* A stack, the one given back last if there is any; NULL: there are no more. */
static inline struct bcri_stack *bcri_stacks_take(struct bcri_stacks *stacks)
{
    struct bcri_stack *stack = stacks->free;
    if (stack != NULL)
        stacks->free = stack->next_free;
    else if ((stack = bcri_stacks_take_other(stacks)) == NULL)
        return NULL;
    if (++stacks->out > stacks->peak)
        stacks->peak = stacks->out;
    return stack;
}
static inline void bcri_stacks_give(struct bcri_stacks *stacks, struct bcri_stack *stack)
{
    stack->next_free = stacks->free;
    stacks->free = stack;
    stacks->out--;
}

/* Whether there is memory that may have to go back later. */
static inline bool bcri_stacks_may_shrink(const struct bcri_stacks *stacks)
{
    return stacks->touched > stacks->out + BCRI_STACKS_KEPT;
}
/* Half of the stacks that were not needed since the last look back become surplus. */
void bcri_stacks_look_back(struct bcri_stacks *stacks);
/* Takes the memory from a surplus stack, and with it what lay there. NULL: there is none. */
struct bcri_stack *bcri_stacks_clean_one(struct bcri_stacks *stacks);

/* An invocation that stops running on a stack calls this. Does not return if the canary is
 * spoilt. */
void bcri_stack_check_canary(const struct bcri_stack *stack);
static inline void bcri_stack_check(const struct bcri_stack *stack)
{
    if (stack->guard == BCRI_STACK_CANARY)
        bcri_stack_check_canary(stack);
}

/* The stack of any pool of this process to which `address`, or the guard below it, belongs; NULL:
 * none. */
const struct bcri_stack *bcri_stack_around(uintptr_t address);
/* A stack pointer at most so far below a stack's low end is taken for one that has stepped over the
 * guard. */
#define BCRI_STACK_STEP_MOST ((uintptr_t)64 << 20)
/* Ends the process with the message: the caller runs on a stack that is too small. */
_Noreturn void bcri_stack_end(const struct bcri_stack *stack);

/* What ends the process after the message, in place of the signal's default action; it must not return
 * before it has seen to that. To be called before bcri_stacks_watch. */
typedef void bcri_stack_end_action(int number, siginfo_t *info, void *context);
void bcri_stacks_end_by(bcri_stack_end_action *action);

/* Makes faults in the guards of this process's pools end the process with a message that names the
 * handler's cell. Called once for the process (all other faults go where they went before) and once
 * for each thread that will run on such stacks: a thread without an alternate signal stack gets
 * one. */
void bcri_stacks_watch(void);
/* To be called early: the later its key is made, the more keys there are, and pthread_setspecific needs malloc for
 * those after the first 32 (private.h). */
void bcri_stacks_prepare(void);

#endif
