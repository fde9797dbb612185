/* SPDX-License-Identifier: MIT */
/* See hosts.h.
 *
 * Source: the manual pages sbatch(1), "OUTPUT ENVIRONMENT VARIABLES", and qsub(1B), PBS_NODEFILE. */
#include "hosts/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/config.h"
#include "bcri/refuse.h"

#define NODES "SLURM_JOB_NODELIST"

/* Numbers for one node after the other, as in 2(x3),1. */
struct per_node {
    struct enl_word rest;
    unsigned number, times; /* `number` for `times` nodes more */
};

/* The next node's number; 0: there is none, or it is none that can be. */
static unsigned next_number(struct per_node *all)
{
    if (all->times == 0) {
        struct enl_word word = enl_names_next(&all->rest), times = {"1", 1};
        const char *open = memchr(word.start, '(', word.length);
        if (open != NULL && word.length >= 4 && open[1] == 'x' && word.start[word.length - 1] == ')') {
            times = (struct enl_word){open + 2, (size_t)(word.start + word.length - 1 - (open + 2))};
            word.length = (size_t)(open - word.start);
        }
        if (!enl_word_is_count(word, ENL_HOST_SLOTS_MAX, &all->number) ||
            !enl_word_is_count(times, ENL_HOSTS_MAX, &all->times)) {
            all->times = 0;
            return 0;
        }
    }
    all->times--;
    return all->number;
}

/* Gives the hosts from number `first` on those slots. False: they are not as many. */
static bool give_slots(struct enl_hosts *hosts, size_t first, const char *text)
{
    struct per_node all = {.rest = {"", 0}};
    if (text != NULL)
        all.rest = (struct enl_word){text, strlen(text)};
    for (size_t i = first; i < hosts->count; i++)
        if ((hosts->hosts[i].slots = next_number(&all)) == 0)
            return false;
    return all.times == 0 && all.rest.length == 0;
}

static bool add_node(void *data, const char *name)
{
    const struct enl_host host = {.slots = 1};
    return enl_is_host_name((struct enl_word){name, strlen(name)}) && enl_hosts_add(data, &host, name, NULL);
}

int enl_allocation_slurm(struct enl_hosts *hosts, const char *nodes, const char *tasks, const char *cpus,
                         char *error, size_t error_size)
{
    const size_t first = hosts->count;
    for (struct enl_word rest = {nodes, strlen(nodes)}; rest.length != 0;) {
        char why[256];
        const struct enl_word word = enl_names_next(&rest);
        const size_t count = enl_names_count(word, why, sizeof why);
        if (count == 0)
            return bcri_refuse(error, error_size, -1, NODES ": \"%s\" %s", enl_quoted(word).text, why);
        if (count + hosts->count > ENL_HOSTS_MAX)
            return bcri_refuse(error, error_size, -1,
                               NODES " has more than %u nodes; name those to be used in a hosts file",
                               ENL_HOSTS_MAX);
        if (!enl_names_each(word, add_node, hosts))
            return bcri_refuse(error, error_size, -1,
                               NODES ": \"%s\" is no node's name, or there is no memory; name the nodes in a "
                                     "hosts file",
                               enl_quoted(word).text);
    }
    if (!give_slots(hosts, first, tasks) && !give_slots(hosts, first, cpus))
        return bcri_refuse(
            error, error_size, -1,
            "neither SLURM_TASKS_PER_NODE (%s) nor SLURM_JOB_CPUS_PER_NODE (%s) is for the %zu nodes "
            "of " NODES "; name the nodes and their slots in a hosts file",
            tasks != NULL ? enl_quoted((struct enl_word){tasks, strlen(tasks)}).text : "not set",
            cpus != NULL ? enl_quoted((struct enl_word){cpus, strlen(cpus)}).text : "not set",
            hosts->count - first);
    return enl_hosts_sort(hosts, ENL_HOSTS_FILE, NODES, error, error_size);
}

static bool is_default(const struct bcri_config *config, enum bcri_config_idx idx)
{
    struct bcri_config_entry entry;
    return bcri_config_at(config, idx, &entry) && strcmp(entry.origin, "default") == 0;
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

int enl_allocation_load(struct enl_hosts *hosts, struct bcri_config *config, char *error, size_t error_size)
{
    const char *job = variable("SLURM_JOB_ID"), *nodes = variable(NODES), *file = variable("PBS_NODEFILE");
    if (job != NULL && nodes != NULL) {
        snprintf(hosts->source, sizeof hosts->source, "job %s of Slurm",
                 enl_quoted((struct enl_word){job, strlen(job)}).text);
        if (is_default(config, BCRI_CONFIG_rshpath) &&
            bcri_config_set(config, "rshpath", "srun", "SLURM_JOB_ID", error, error_size) != 0)
            return -1;
        unsetenv("SLURM_LABELIO"); /* srun would put labels into what daemons say to each other */
        return enl_allocation_slurm(hosts, nodes, variable("SLURM_TASKS_PER_NODE"),
                                    variable("SLURM_JOB_CPUS_PER_NODE"), error, error_size);
    }
    return file != NULL ? enl_hosts_read(hosts, ENL_NODE_FILE, file, error, error_size) : 0;
}
