/* SPDX-License-Identifier: MIT */
/* See routes.h. */
#include "tree/routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* The first row whose host is not below `host`. */
static size_t row_of_host(const struct enl_routes *routes, uint32_t host)
{
    size_t low = 0, high = routes->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (routes->rows[middle].host < host)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool enl_routes_add(struct enl_routes *routes, uint32_t host, uint32_t neighbour)
{
    const size_t at = row_of_host(routes, host);
    if (at < routes->count && routes->rows[at].host == host) {
        routes->rows[at].neighbour = neighbour;
        return true;
    }
    if (!enl_grow(&routes->rows, &routes->room, routes->count + 1, sizeof *routes->rows))
        return false;
    memmove(routes->rows + at + 1, routes->rows + at, (routes->count - at) * sizeof *routes->rows);
    routes->rows[at] = (struct enl_route){host, neighbour};
    routes->count++;
    return true;
}

uint32_t enl_routes_find(const struct enl_routes *routes, uint32_t host)
{
    const size_t at = row_of_host(routes, host);
    return at < routes->count && routes->rows[at].host == host ? routes->rows[at].neighbour : 0;
}

void enl_routes_drop(struct enl_routes *routes, uint32_t neighbour)
{
    size_t kept = 0;
    for (size_t i = 0; i < routes->count; i++)
        if (routes->rows[i].neighbour != neighbour)
            routes->rows[kept++] = routes->rows[i];
    routes->count = kept;
}

void enl_routes_free(struct enl_routes *routes)
{
    free(routes->rows);
    *routes = (struct enl_routes){0};
}
