/* SPDX-License-Identifier: MIT */
/*
 * hello -- the first program: three new CCEs greet the one that enlisted them.
 */
#include <bcr.h>
#include <stdio.h>

enum { GREETINGS = 1, NEWCOMERS = 3, BYTES = 64 };

static int failed(const char *doing)
{
    fprintf(stderr, "hello: cannot %s: %s\n", doing, bcr_strerror(bcr_errno));
    return 1;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (bcr_init(bcr_user_ca, argv[0]) != 0)
        return failed("become a CCE");
    if (bcr_cagrow(GREETINGS, 0, 1, 0, 0, NEWCOMERS, NEWCOMERS * BYTES) < 0)
        return failed("grow a cell");

    if (bcr_enlistor < 0) { /* the root, which nobody enlisted */
        if (bcr_enlist(NULL, -NEWCOMERS, 1, argv[0], NULL, bcr_FREE) < 0)
            return failed("enlist the others");
        for (int i = 0; i < NEWCOMERS; i++) {
            bcr_region region = bcr_deq(bcr_cce, GREETINGS, bcr_BLOCK);
            if (region == NULL)
                return failed("take a greeting");
            printf("%s\n", (const char *)*region);
            if (bcr_rgfree(region) < 0)
                return failed("free a greeting");
        }
    } else {
        bcr_region region = bcr_rgalloc(BYTES, 0);
        if (region == NULL)
            return failed("allocate a greeting");
        snprintf(*region, BYTES, "hello from CCE %d", bcr_cceord);
        if (bcr_enq(region, bcr_enlistor, GREETINGS, bcr_FREE) < 0)
            return failed("send a greeting");
    }
    return 0;
}
