/* SPDX-License-Identifier: MIT */
/* What is true of every routine: without a CCE, in a fork, with an ID of no CCE. Each shows its
 * code, and that nothing has changed. */
#include <limits.h>
#include <unistd.h>

#include "behave.h"

BEHAVIOUR_OF_OWN(an_ID_that_was_never_given_out_is_NOCCE)
{
    const int never[] = {0, -1, -2, 3, 1000, INT_MAX, INT_MIN};
    const int msecs[] = {0, 1, bcr_BLOCK, bcr_PENDING, INT_MIN, INT_MAX};
    grow(1, 9, 1024);
    bcr_region rgid = number(1);
    void *data = *rgid;
    for (int i = 0; i < 7; i++) {
        const int nobody = never[i], cells[2] = {nobody, 1};
        FAILS(bcr_enq(rgid, nobody, 1, bcr_FREE), bcrE_NOCCE);
        FAILS(bcr_write(rgid, nobody, 1, bcr_NOFREE), bcrE_NOCCE);
        FAILS(bcr_enqm(rgid, 1, cells, bcr_NOFREE), bcrE_NOCCE);
        error_is(bcrE_NOCCE, bcr_op_putm, -1, 1);
        FAILS(bcr_rlswl(rgid, nobody, 1), bcrE_NOCCE);
        FAILS(bcr_wl2rl(rgid, nobody, 1), bcrE_NOCCE);
        for (int k = 0; k < 6; k++) {
            FAILS_NULL(bcr_deq(nobody, 1, msecs[k]), bcrE_NOCCE);
            FAILS_NULL(bcr_read(nobody, 1, msecs[k]), bcrE_NOCCE);
            FAILS_NULL(bcr_acqwl(nobody, 1, msecs[k]), bcrE_NOCCE);
            FAILS_NULL(bcr_acqrl(nobody, 1, msecs[k]), bcrE_NOCCE);
        }
        FAILS(bcr_zap(nobody, 1), bcrE_NOCCE);
        FAILS(bcr_celllen(nobody, 1), bcrE_NOCCE);
        FAILS(bcr_arch(nobody), bcrE_NOCCE);
    }
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK_PTR(*rgid, data); /* no other CCE got a share */
    CHECK_INT(value_of(rgid), 1);
}

BEHAVIOUR(IDs_are_small_and_the_globals_tell_of_this_CCE)
{
    CHECK(bcr_cce >= 1 && bcr_cce < 100);
    CHECK(there >= 1 && there < 100);
    CHECK_INT(there == bcr_cce, place->own);
    CHECK(name_of(another()) != there && name_of(another()) != bcr_cce);
    CHECK_INT(bcr_enlistor, -1); /* the root */
    CHECK_INT(bcr_cceord, 0);
    CHECK(bcr_archtype > 0);
    CHECK_INT(bcr_arch(bcr_cce), bcr_archtype);
    CHECK(bcr_arch(there) > 0);
}

BEHAVIOUR_OF_OWN(a_second_init_is_BUSY_and_harms_nothing)
{
    const int cell = grow(1, 1, NUMBER_BYTES);
    FAILS(bcr_init(0, NULL), bcrE_BUSY);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(take(cell), 1);
}
