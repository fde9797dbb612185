/* SPDX-License-Identifier: MIT */
/* The nodes that a batch system has given to the job in which this process runs: Slurm tells them in its
 * variables, PBS in a file. */
#ifndef ENL_ALLOCATION_H
#define ENL_ALLOCATION_H

#include <stddef.h>

#include "hosts/hosts.h"

struct bcri_config;

/* Adds the nodes of the job, if there is one. rshpath becomes srun in a job of Slurm, unless it was set.
 * Returns 0, or -1 with a sentence. */
int enl_allocation_load(struct enl_hosts *hosts, struct bcri_config *config, char *error, size_t error_size);

/* Adds the nodes of a Slurm job: `nodes` as in SLURM_JOB_NODELIST; their slots are those of `tasks`, as in
 * SLURM_TASKS_PER_NODE, if these are as many, else of `cpus`, as in SLURM_JOB_CPUS_PER_NODE; either may be
 * NULL. The same. */
int enl_allocation_slurm(struct enl_hosts *hosts, const char *nodes, const char *tasks, const char *cpus,
                         char *error, size_t error_size);

#endif
