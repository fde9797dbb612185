/* SPDX-License-Identifier: MIT */
/* How much memory and how many processors the machine and this process's control groups leave to
 * it. Each call reads small kernel files anew.
 *
 * `root` is put before the paths of these files: "" for the machine's own files, a folder in
 * tests. */
#ifndef BCRI_MACHINE_H
#define BCRI_MACHINE_H

#include <stdint.h>

/* Bytes that may still be allocated: the least of what the kernel calls available and what the
 * limits of the control groups leave. UINT64_MAX: no file says. */
uint64_t bcri_machine_memory_left(const char *root);

/* Bytes that a segment of this process can have at most: of address space (ulimit -v) what is left, of
 * a file (ulimit -f) all; UINT64_MAX: no limit. */
uint64_t bcri_machine_space_left(void);

/* Processors' worth of time that the control groups give, rounded up; UINT32_MAX: no limit. */
uint32_t bcri_machine_cpu_quota(const char *root);

/* On how many processors this process, and those that it starts, can run at the same time: its
 * affinity, within the quota. At least 1. */
uint32_t bcri_machine_cpus(void);

#endif
