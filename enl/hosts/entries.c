/* SPDX-License-Identifier: MIT */
/* See hosts.h. */
#include "hosts/hosts.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/names.h"
#include "base/object.h"
#include "bcri/config.h"

struct enl_host *enl_entry_for(const struct bcri_config *config, const struct enl_hosts *hosts,
                               const char *machine, char *address_out, size_t size)
{
    char name[600];
    address_out[0] = '\0';
    if (config->ifacesuffix == NULL)
        return enl_hosts_find(hosts, machine);
    snprintf(name, sizeof name, "%s%s", machine, config->ifacesuffix);
    struct enl_host *host = enl_hosts_find(hosts, name);
    if (host != NULL)
        return host;
    host = enl_hosts_find(hosts, machine);
    const char *plain = host == NULL ? NULL : host->address != NULL ? host->address : host->name;
    if (host != NULL && !host->local && !enl_host_is_address(plain))
        snprintf(address_out, size, "%s%s", plain, config->ifacesuffix);
    return host;
}

bool enl_name_is_here(const char *machine, struct ifaddrs **known)
{
    char own[256];
    enl_host_name(own, sizeof own);
    const size_t length = strcspn(own, ".");
    return strcasecmp(machine, own) == 0 ||
           (strlen(machine) == length && strncasecmp(machine, own, length) == 0) ||
           enl_host_has_address(machine, known);
}

static bool is_own_user(const char *login)
{
    const struct passwd *user = login != NULL ? getpwuid(geteuid()) : NULL;
    return login == NULL || (user != NULL && strcmp(user->pw_name, login) == 0);
}

/* Whether this enl is of the architecture that an entry of this machine says, or the file has that it names
 * as enl. */
static bool is_own_abi(const struct bcri_config *config, const struct enl_host *host)
{
    char *path = NULL;
    if (host->abi != NULL || host->enl == NULL || bcri_config_resolve(config, host->enl, &path) != 0)
        return host->abi == NULL || strcmp(host->abi, enl_abi()) == 0;
    const bool own = !enl_object_is_foreign(path);
    free(path);
    return own;
}

bool enl_entry_is_here(const struct bcri_config *config, const struct enl_host *host, struct ifaddrs **known)
{
    return !host->local && enl_name_is_here(host->address != NULL ? host->address : host->name, known) &&
           is_own_user(host->login) && is_own_abi(config, host);
}
