/* SPDX-License-Identifier: MIT */
/* hosts.c -- EXEC's hosts: those that the program was given, in their order, and behind them others on which processes have come up.
 *
 * A host is known by what its first process says of it (world.c): that is equal for those that share memory. */
#include "hosts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bcr.h>

struct host {
    char *name;
    char *said;    /* by its processes; NULL: none has come yet */
    bool is_given; /* it is on the program's list: processes may be started there */
};

static struct host *hosts;
static int count, room;
static int next = -1; /* by turns */

static struct host *add_host(const char *name)
{
    if (count == room) {
        const int larger = room == 0 ? 8 : 2 * room;
        struct host *moved = realloc(hosts, (size_t)larger * sizeof *moved);
        if (moved == NULL)
            return NULL;
        hosts = moved;
        room = larger;
    }
    struct host *host = &hosts[count];
    host->name = strdup(name);
    host->said = NULL;
    host->is_given = false;
    if (host->name == NULL)
        return NULL;
    count++;
    return host;
}

int earl_hosts_named(const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(hosts[i].name, name) == 0)
            return i;
    return -1;
}

int earl_hosts_read(void)
{
    char name[256];
    int given = 0;
    for (int i = 0; i < count; i++)
        hosts[i].is_given = false;
    for (int k = 0; bcr_host(k, name, sizeof name) > 0; k++) {
        int host = earl_hosts_named(name);
        if (host < 0 && add_host(name) != NULL)
            host = count - 1;
        if (host < 0 || hosts[host].is_given)
            continue;
        hosts[host].is_given = true;
        given++;
    }
    return given;
}

int earl_hosts_next(void)
{
    do
        next = (next + 1) % count;
    while (!hosts[next].is_given);
    return next;
}

static int host_of(const char *said)
{
    for (int i = 0; i < count; i++)
        if (hosts[i].said != NULL && strcmp(hosts[i].said, said) == 0)
            return i;
    return -1;
}

int earl_hosts_place(const char *said, int expected)
{
    int host = host_of(said);
    if (host >= 0)
        return host;
    const size_t length = strcspn(said, "\n");
    char *name = strndup(said, length);
    if (name == NULL)
        return -1;
    host = expected >= 0 && hosts[expected].said == NULL ? expected : -1;
    for (int i = 0; i < count && host < 0; i++)
        if (hosts[i].said == NULL && strcmp(hosts[i].name, name) == 0)
            host = i;
    if (host < 0 && add_host(name) != NULL)
        host = count - 1;
    free(name);
    if (host >= 0)
        hosts[host].said = strdup(said);
    return host;
}

const char *earl_hosts_name(int k)
{
    return k >= 0 && k < count ? hosts[k].name : NULL;
}
