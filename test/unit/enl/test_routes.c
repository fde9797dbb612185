/* SPDX-License-Identifier: MIT */
/* The table of a daemon that passes frames on. */
#include "check.h"
#include "tree/routes.h"

TEST(a_host_is_found_by_the_neighbour_that_leads_there_until_that_is_gone)
{
    struct enl_routes routes = {0};
    CHECK_UINT(enl_routes_find(&routes, 1), 0);
    for (uint32_t host = 1000; host > 0; host--) /* the slowest order */
        CHECK(enl_routes_add(&routes, 2 * host, host % 7 + 1));
    for (uint32_t host = 1; host <= 1000; host++) {
        CHECK_UINT(enl_routes_find(&routes, 2 * host), host % 7 + 1);
        CHECK_UINT(enl_routes_find(&routes, 2 * host + 1), 0);
    }
    enl_routes_drop(&routes, 3);
    for (uint32_t host = 1; host <= 1000; host++)
        CHECK_UINT(enl_routes_find(&routes, 2 * host), host % 7 + 1 == 3 ? 0 : host % 7 + 1);
    CHECK(enl_routes_add(&routes, 2, 5));
    CHECK_UINT(enl_routes_find(&routes, 2), 5);
    enl_routes_free(&routes);
    CHECK_UINT(enl_routes_find(&routes, 2), 0);
}
