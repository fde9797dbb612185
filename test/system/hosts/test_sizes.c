/* SPDX-License-Identifier: MIT */
/* Hosts between which small packets pass and large ones do not: run by test_sizes.sh, which says by SIZES_THEN what
 * happens to the path in the midst, and by SIZES_WHY what enl why is to say of it in the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../behaviour/behave.h"

enum { BYTES = 300000, REGIONS = 4 };

static void send_and_get_back(int cell)
{
    for (int i = 0; i < REGIONS; i++) {
        bcr_region region = bcr_rgalloc(BYTES, 0);
        CHECK(region != NULL);
        for (int byte = 0; byte < BYTES; byte++)
            (*(unsigned char **)region)[byte] = (unsigned char)((byte + i) % 251);
        CHECK_INT(bcr_enq(region, there, cell, bcr_FREE), 0);
    }
    for (int i = 0; i < REGIONS; i++) {
        bcr_region region = bcr_deq(there, cell, bcr_BLOCK);
        CHECK(region != NULL);
        CHECK_INT(bcr_rglen(region, NULL), BYTES);
        for (int byte = 0; byte < BYTES; byte++)
            if ((*(unsigned char **)region)[byte] != (byte + i) % 251)
                FAIL("byte %d of region %d is wrong", byte, i);
        CHECK_INT(bcr_rgfree(region), 0);
    }
}

/* What is wanted is a part of what enl why says, both hosts asked; one asks until it does. */
static void expect_why(const char *wanted)
{
    char command[512], said[8192];
    const char *enl = getenv("BCR_ENL");
    CHECK(enl != NULL);
    snprintf(command, sizeof command, "\"%s\" why", enl);
    do {
        FILE *why = popen(command, "re");
        CHECK(why != NULL);
        said[fread(said, 1, sizeof said - 1, why)] = '\0';
        pclose(why);
    } while (strstr(said, wanted) == NULL);
}

BEHAVIOUR_FROM_AFAR(regions_arrive_whatever_size_of_packets_passes)
{
    const char *then = getenv("SIZES_THEN"), *wanted = getenv("SIZES_WHY");
    const int cell = grow(1, REGIONS, REGIONS * (BYTES + 64));
    CHECK(then != NULL && wanted != NULL);
    send_and_get_back(cell);
    CHECK_INT(system(then), 0); /* NOLINT(cert-env33-c): the test's own */
    send_and_get_back(cell);
    expect_why(wanted);
}
