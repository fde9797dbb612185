/* SPDX-License-Identifier: MIT */
/* See hosts.h: where a program's list comes from. */
#include <stdlib.h>

#include "bcri/config.h"
#include "bcri/refuse.h"
#include "hosts/hosts.h"

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
        failed = enl_allocation_load(hosts, config, error, error_size);
    free(path);
    if (failed == 0 && options->names != NULL)
        failed = enl_hosts_select(hosts, options->names, error, error_size);
    if (failed == 0)
        failed = enl_hosts_add_local(hosts, options->local, error, error_size);
    return failed;
}
