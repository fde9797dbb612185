/* SPDX-License-Identifier: MIT */
/* See hosts.h: where a program's list comes from, the job of a batch system among others.
 *
 * Source: the manual pages sbatch(1), "OUTPUT ENVIRONMENT VARIABLES", and qsub(1B), PBS_NODEFILE. */
#include "hosts/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/config.h"
#include "bcri/refuse.h"

#define NODES "SLURM_JOB_NODELIST"

/* Gives the hosts from number `next` on the slots of a text such as 2(x3),1, which is of one node after the other. False:
 * they are not as many, or cannot be. */
static bool give_slots(struct enl_hosts *hosts, size_t next, const char *text)
{
    char *copy = strdup(text != NULL ? text : ""), *rest = copy;
    bool good = copy != NULL;
    while (good && rest != NULL && (rest == copy || *rest != '\0')) {
        char *word = enl_names_next(&rest), *times = strstr(word, "(x");
        unsigned slots, nodes = 1;
        if (times != NULL) {
            char *end = times + strlen(times) - 1;
            good = *end == ')';
            *times = *end = '\0';
            good = good && enl_word_is_count(times + 2, ENL_HOSTS_MAX, &nodes);
        }
        good = good && enl_word_is_count(word, ENL_HOST_SLOTS_MAX, &slots) && nodes <= hosts->count - next;
        for (; good && nodes > 0; nodes--)
            hosts->hosts[next++]->slots = slots;
    }
    free(copy);
    return good && next == hosts->count;
}

static int add_nodes(struct enl_hosts *hosts, const char *word, char *error, size_t error_size)
{
    static const struct enl_host host = {.slots = 1};
    size_t count;
    const char *why;
    char **names = enl_names_of(word, &count, &why);
    if (names == NULL)
        return bcri_refuse(error, error_size, -1, NODES ": \"%s\" %s", enl_quoted(word).text, why);
    const bool too_many = count + hosts->count > ENL_HOSTS_MAX;
    bool good = !too_many;
    for (size_t i = 0; good && i < count; i++)
        good = enl_is_host_name(names[i]) && enl_hosts_add(hosts, &host, names[i], NULL);
    free(names);
    if (too_many)
        return bcri_refuse(error, error_size, -1,
                           NODES " has more than %u nodes; name those to be used in a hosts file",
                           ENL_HOSTS_MAX);
    return good ? 0
                : bcri_refuse(error, error_size, -1,
                              NODES ": \"%s\" is no node's name, or there is no memory; name the nodes in a "
                                    "hosts file",
                              enl_quoted(word).text);
}

int enl_allocation_slurm(struct enl_hosts *hosts, const char *nodes, const char *tasks, const char *cpus,
                         char *error, size_t error_size)
{
    const size_t first = hosts->count;
    char *copy = strdup(nodes), *rest = copy;
    int failed = copy != NULL ? 0 : bcri_refuse(error, error_size, -1, NODES ": not enough memory");
    while (failed == 0 && rest != NULL && (rest == copy || *rest != '\0'))
        failed = add_nodes(hosts, enl_names_next(&rest), error, error_size);
    free(copy);
    if (failed != 0)
        return failed;
    if (!give_slots(hosts, first, tasks) && !give_slots(hosts, first, cpus))
        return bcri_refuse(
            error, error_size, -1,
            "neither SLURM_TASKS_PER_NODE (%s) nor SLURM_JOB_CPUS_PER_NODE (%s) is for the %zu nodes "
            "of " NODES "; name the nodes and their slots in a hosts file",
            tasks != NULL ? enl_quoted(tasks).text : "not set",
            cpus != NULL ? enl_quoted(cpus).text : "not set", hosts->count - first);
    return enl_hosts_sort(hosts, ENL_HOSTS_FILE, NODES, error, error_size);
}

static const char *value_of_variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Adds the nodes of the job, if there is one. */
static int load_allocation(struct enl_hosts *hosts, struct bcri_config *config, char *error,
                           size_t error_size)
{
    const char *job = value_of_variable("SLURM_JOB_ID"), *nodes = value_of_variable(NODES),
               *file = value_of_variable("PBS_NODEFILE");
    struct bcri_config_entry entry;
    if (job == NULL || nodes == NULL)
        return file != NULL ? enl_hosts_read(hosts, ENL_NODE_FILE, file, error, error_size) : 0;
    snprintf(hosts->source, sizeof hosts->source, "job %s of Slurm", enl_quoted(job).text);
    if (bcri_config_at(config, BCRI_CONFIG_rshpath, &entry) && strcmp(entry.origin, "default") == 0 &&
        bcri_config_set(config, "rshpath", "srun", "SLURM_JOB_ID", error, error_size) != 0)
        return -1;
    unsetenv("SLURM_LABELIO"); /* srun would put labels into what daemons say to each other */
    return enl_allocation_slurm(hosts, nodes, value_of_variable("SLURM_TASKS_PER_NODE"),
                                value_of_variable("SLURM_JOB_CPUS_PER_NODE"), error, error_size);
}

int enl_hosts_load(struct enl_hosts *hosts, struct bcri_config *config,
                   const struct enl_hosts_options *options, char *error, size_t error_size)
{
    char *path = NULL;
    int failed;
    if (config->hostsfile != NULL && bcri_config_resolve(config, config->hostsfile, &path) != 0)
        return bcri_refuse(error, error_size, -1, "hostsfile %s: there is no home directory",
                           config->hostsfile);
    if (options->hostfile != NULL)
        failed = enl_hosts_read(hosts, ENL_NODE_FILE, options->hostfile, error, error_size);
    else if (path != NULL)
        failed = enl_hosts_read(hosts, ENL_HOSTS_FILE, path, error, error_size);
    else
        failed = load_allocation(hosts, config, error, error_size);
    free(path);
    if (failed == 0 && options->names != NULL)
        failed = enl_hosts_select(hosts, options->names, error, error_size);
    if (failed == 0)
        failed = enl_hosts_add_local(hosts, options->local, error, error_size);
    return failed;
}
