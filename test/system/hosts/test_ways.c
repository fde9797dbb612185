/* SPDX-License-Identifier: MIT */
/* A host that has two interfaces, one of which goes away: run by test_ways.sh. */
#include <stdio.h>
#include <stdlib.h>

#include "../../behaviour/behave.h"

static void orders_are_carried_out(int cell, int count)
{
    for (int i = 0; i < count; i++)
        CHECK_INT(bcr_enq(number(i), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    for (int i = 0; i < count; i++)
        CHECK_INT(take(cell), i);
    CHECK_INT(bcr_celllen(there, cell), 0);
}

BEHAVIOUR_FROM_AFAR(orders_go_on_when_an_interface_goes_away)
{
    const int cell = grow(1, 100, 4096);
    orders_are_carried_out(cell, 100);
    CHECK_INT(system(getenv("WAYS_DOWN")), 0); /* NOLINT(cert-env33-c): the test's own script */
    orders_are_carried_out(cell, 100);
}

/* Twice at once, on the same hosts. */
BEHAVIOUR_FROM_AFAR(a_program_has_its_hosts_beside_another)
{
    orders_are_carried_out(grow(1, 100, 4096), 100);
    CHECK_INT(system(getenv("WAYS_MEET")), 0); /* NOLINT(cert-env33-c): the test's own script */
    orders_are_carried_out(grow(1, 100, 4096), 100);
}
