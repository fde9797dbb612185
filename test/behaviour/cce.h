/* SPDX-License-Identifier: MIT */
/* A CCE as the behaviour's one sees it: told.c, and what starts it. */
#ifndef BCR_TEST_BEHAVE_CCE_H
#define BCR_TEST_BEHAVE_CCE_H

#include <stdio.h>

#include <bcr.h>

enum { MY_MEMORY = 2000000 }; /* the area for what this CCE itself needs */

struct cce {
    bcr_cce_id name; /* how this process calls it */
    FILE *in, *out;  /* NULL: this process itself */
    bool gone;
};

#endif
