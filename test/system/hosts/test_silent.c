/* SPDX-License-Identifier: MIT */
/* Hosts between which UDP does not pass, from the beginning or from some moment on: run by test_silent.sh. */
#include <stdio.h>
#include <stdlib.h>

#include "../../behaviour/behave.h"

static void cut_udp(void)
{
    FILE *cable = fopen(getenv("HOSTS_CABLE"), "re+"), *answers = fopen(getenv("HOSTS_ANSWER"), "re+");
    char answer[64];
    CHECK(cable != NULL && answers != NULL);
    fprintf(cable, "* * lost=1000 udp=1\n");
    CHECK_INT(fflush(cable), 0);
    CHECK(fgets(answer, sizeof answer, answers) != NULL);
    CHECK_STR(answer, "ok\n");
    fclose(cable);
    fclose(answers);
}

/* The cable is cut before the program begins. */
BEHAVIOUR_FROM_AFAR(orders_are_carried_out_where_no_packet_passes)
{
    const int cell = grow(1, 200, 4096);
    for (int i = 0; i < 200; i++)
        CHECK_INT(bcr_enq(number(i), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    for (int i = 0; i < 200; i++)
        CHECK_INT(take(cell), i);
    CHECK_INT(bcr_celllen(there, cell), 0);
}

BEHAVIOUR_FROM_AFAR(a_region_arrives_though_the_cable_is_cut_in_its_midst)
{
    const int length = getenv("BCR_TEST_FULL") != NULL ? 100 << 20 : 20 << 20,
              cell = grow(1, 2, length + 4096);
    CHECK_INT(put(cell, 1), 0);
    CHECK_INT(take(cell), 1);
    bcr_region region = bcr_rgalloc(length, 0);
    CHECK(region != NULL);
    for (int i = 0; i < length; i++)
        (*(unsigned char **)region)[i] = (unsigned char)(i % 251);
    CHECK_INT(bcr_enq(region, there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(20), 0);
    cut_udp();
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK((region = bcr_deq(there, cell, bcr_BLOCK)) != NULL);
    CHECK_INT(bcr_rglen(region, NULL), length);
    for (int i = 0; i < length; i++)
        if ((*(unsigned char **)region)[i] != i % 251)
            FAIL("byte %d is wrong", i);
    CHECK_INT(bcr_rgfree(region), 0);
}
