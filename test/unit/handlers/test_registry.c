/* SPDX-License-Identifier: MIT */
/* Handlers by cell number. */
#include <limits.h>

#include "bcri/private.h"
#include "bcri/registry.h"
#include "check.h"

static struct bcri_registry registry;

static struct bcri_handler *add(int cell)
{
    struct bcri_handler *handler = bcri_private_zeroed(1, sizeof *handler);
    CHECK(handler != NULL);
    handler->cell = cell;
    CHECK(bcri_registry_reserve(&registry));
    bcri_registry_add(&registry, handler);
    return handler;
}

TEST(an_empty_registry_finds_nobody)
{
    CHECK_PTR(bcri_registry_find(&registry, 0), NULL);
    CHECK_PTR(bcri_registry_find(&registry, INT_MAX), NULL);
    struct bcri_handler *one = add(0);
    CHECK_PTR(bcri_registry_find(&registry, 0), one);
    CHECK_PTR(bcri_registry_find(&registry, 1), NULL);
    bcri_registry_remove(&registry, one);
    CHECK_PTR(bcri_registry_find(&registry, 0), NULL);
    bcri_private_free(one);
    bcri_registry_fini(&registry);
}

TEST(all_handlers_are_found_while_others_come_and_go)
{
    enum { CELLS = 5000 };
    static struct bcri_handler *there[CELLS];
    uint64_t seed = test_seed();
    size_t count = 0;
    for (int round = 0; round < 60000; round++) {
        int i = (int)test_rand_below(&seed, CELLS);
        int cell = i * 429496; /* far apart: collisions are by chance */
        if (there[i] == NULL) {
            there[i] = add(cell);
            count++;
        } else {
            bcri_registry_remove(&registry, there[i]);
            bcri_private_free(there[i]);
            there[i] = NULL;
            count--;
        }
        CHECK_UINT(registry.count, count);
        CHECK_PTR(bcri_registry_find(&registry, cell), there[i]);
        if (round % 10000 == 0)
            for (int j = 0; j < CELLS; j++)
                CHECK_PTR(bcri_registry_find(&registry, j * 429496), there[j]);
    }
    bcri_registry_fini(&registry);
}
