/* SPDX-License-Identifier: MIT */
/* limits.h -- what the processes of a job may use on this host, and have used. */
#ifndef ENL_LIMITS_H
#define ENL_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/roster.h"

struct enl_here;

struct enl_limits {
    struct enl_roster_limits wanted;
    bool are_set;
    uint64_t ended_cpu_us; /* of processes that have ended */
    uv_timer_t look;       /* the next one */
};

#define ENL_LIMITS_MB UINT64_C(1048576)

/* In bytes; 0: there is none. */
static inline uint64_t enl_limits_memory(const struct enl_limits *limits)
{
    return limits->wanted.memory_mb * ENL_LIMITS_MB;
}
/* The loop begins, or ends. */
void enl_limits_open(struct enl_here *here);
void enl_limits_close(struct enl_here *here);
/* As a member's start has brought them: numbers of seconds, MB and MB. From now on this host looks each second at what is used, and tells
 * the root's daemon. What is no such text is none. */
void enl_limits_set(struct enl_here *here, const char *text);
/* A process has ended that has used so much of processors. */
static inline void enl_limits_ended(struct enl_limits *limits, uint64_t cpu_us)
{
    limits->ended_cpu_us += cpu_us;
}
/* Tells the root's daemon if the kernel has killed processes for want of memory: before it hears of their ends. */
void enl_limits_look_at_memory(struct enl_here *here);

#endif
