/* SPDX-License-Identifier: MIT */
/* A program as a user writes it: installed header, installed library, nothing of ours beside. It sends a region through a cell of its own, and takes it out by a pointer to the function
 * behind a macro. It is C99 to C23. */
#include <bcr.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char text[] = "a region of my own";
    bcr_region (*const take)(bcr_cce_id, int, int) = bcr_deq;

    if (bcr_init(0, "consumer") < 0)
        return 1;
    int base = bcr_cagrow(1, 1, 0, 0, 0, 1, 1000);
    bcr_region region = base < 0 ? NULL : bcr_rgalloc(sizeof text, bcr_archtype);
    if (!region) {
        fprintf(stderr, "consumer: no cell or no region: %s\n", bcr_strerror(bcr_errno));
        return 1;
    }
    memcpy(*region, text, sizeof text);
    if (bcr_enq(region, bcr_cce, base, bcr_FREE) < 0 || !(region = take(bcr_cce, base, 0))) {
        fprintf(stderr, "consumer: not through the cell: %s\n", bcr_strerror(bcr_errno));
        return 1;
    }
    printf("%s, BCR %d.%d.%d\n", (const char *)*region, BCR_VERSION_MAJOR, BCR_VERSION_MINOR,
           BCR_VERSION_PATCH);
    return bcr_rgfree(region) < 0;
}
