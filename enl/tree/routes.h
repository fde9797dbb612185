/* SPDX-License-Identifier: MIT */
/* Which neighbour leads to which host: the table of a daemon that passes frames on. Pure. It has a row for each
 * host below this one, and nothing for others. Hosts' numbers rise, so a new row is nearly always the last. */
#ifndef ENL_ROUTES_H
#define ENL_ROUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct enl_route {
    uint32_t host;
    uint32_t
        neighbour; /* the host whose pipe leads there: itself, or the one above it that this daemon has begun */
};

struct enl_routes {
    struct enl_route *rows; /* by host */
    size_t count, room;
};

/* False: no memory. */
bool enl_routes_add(struct enl_routes *routes, uint32_t host, uint32_t neighbour);
/* The neighbour that leads to `host`; 0: none. */
uint32_t enl_routes_find(const struct enl_routes *routes, uint32_t host);
/* That neighbour is gone, and with it the way to all hosts below it. */
void enl_routes_drop(struct enl_routes *routes, uint32_t neighbour);
void enl_routes_free(struct enl_routes *routes);

#endif
