/* SPDX-License-Identifier: MIT */
/* The partner of ../bench/bench_unlike.c: gets structs in its own representation, changes them, and gives them back. */
#include <stdio.h>
#include <stdlib.h>

#include <bcr.h>

#include "copy.h"

enum { WORK = 1, CRY = 2 };

static const int record_desc[] = {
    bcrD_STRUCT(struct record, (CHAR, tag), (INT, id), (DOUBLE, at), (SHORT, rest))};

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "unlike_far: %s: %s\n", what, bcr_strerror(bcr_errno));
    exit(1);
}

int main(void)
{
    int count, archtype;
    check(bcr_init(bcr_inorder, NULL) == 0, "bcr_init");
    check(bcr_cagrow(WORK, 0, 2, 0, 0, 4, 1 << 20) == WORK, "bcr_cagrow");
    check(bcr_send(&bcr_cce, sizeof bcr_cce, bcrT_1CCE, 1, bcr_enlistor, CRY, 1, 0) == 2, "bcr_send");
    check(bcr_recv(&count, sizeof count, bcrT_1INT, 1, bcr_cce, CRY, 1, bcr_BLOCK) == 2, "bcr_recv");
    const int bytes = count * (int)sizeof(struct record);
    struct record *records = malloc((size_t)bytes);
    check(records != NULL && bcr_cagrow(0, 0, 0, 0, 0, 0, 2 * bytes) > 0, "memory");
    for (;;) {
        bcr_region region = bcr_deq(bcr_cce, WORK, bcr_BLOCK);
        check(region != NULL, "bcr_deq");
        if (bcr_rglen(region, &archtype) == 0)
            break;
        check(archtype == bcr_archtype, "a region in this machine's representation");
        check(bcr_rgmod(region) == 0, "bcr_rgmod");
        check(bcr_copyfm(record_desc, count, region, 0, records, bytes) >= 2, "bcr_copyfm");
        for (int i = 0; i < count; i++) {
            records[i].id++;
            records[i].at = -records[i].at;
        }
        check(bcr_copyto(record_desc, count, region, 0, records, bytes) >= 2, "bcr_copyto");
        check(bcr_enq(region, bcr_enlistor, WORK, bcr_FREE) == 0, "bcr_enq");
    }
    free(records);
    return 0;
}
