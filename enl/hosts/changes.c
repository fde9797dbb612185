/* SPDX-License-Identifier: MIT */
/* See hosts.h. A list of some 10,000 hosts to which they are added one by one is not sorted anew for each. */
#include "hosts/hosts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"

enum { SIZE = sizeof(struct enl_host *) };

/* Where a host of that name is in by_name, or would be. */
static size_t place_of_name(const struct enl_hosts *hosts, const char *name)
{
    size_t low = 0, high = hosts->sorted;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcasecmp(hosts->by_name[middle]->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool enl_hosts_insert(struct enl_hosts *hosts, struct enl_host *host)
{
    if (!enl_grow(&hosts->hosts, &hosts->room, hosts->count + 1, SIZE) ||
        !enl_grow(&hosts->by_name, &hosts->names_room, hosts->count + 1, SIZE))
        return false;
    const size_t at = place_of_name(hosts, host->name);
    memmove(hosts->by_name + at + 1, hosts->by_name + at, (hosts->sorted - at) * SIZE);
    hosts->by_name[at] = host;
    hosts->sorted++;
    host->rank = ++hosts->last_rank;
    hosts->hosts[hosts->count++] = host;
    return true;
}

void enl_hosts_take_out(struct enl_hosts *hosts, struct enl_host *host)
{
    const size_t name_at = place_of_name(hosts, host->name);
    size_t at = 0;
    while (hosts->hosts[at] != host)
        at++;
    hosts->count--;
    hosts->sorted--;
    memmove(hosts->hosts + at, hosts->hosts + at + 1, (hosts->count - at) * SIZE);
    memmove(hosts->by_name + name_at, hosts->by_name + name_at + 1, (hosts->sorted - name_at) * SIZE);
    host->next = hosts->former;
    hosts->former = host;
}
