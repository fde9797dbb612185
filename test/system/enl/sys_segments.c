/* SPDX-License-Identifier: MIT */
/* A program that makes very many memory segments: `sys_segments CCES`, SYS_EACH each. The root
 * enlists one CCE after the other, each of which makes so many segments as soon as it is there, and
 * ends; with SYS_NEW=1 without asking for numbers that are free again. Then the root says what it
 * still can do. */
#include <bcr.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bcri/segment.h"
#include "bcri/self.h"

enum { FROM_CHILD = 1 };

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "sys_segments: %s: %s\n", what, bcr_strerror(bcr_errno));
    exit(3);
}

static int make_one(struct bcri_ctx *ctx)
{
    uint32_t seg;
    return bcri_segment_new(ctx, BCRI_SEG_SLOTS, 4096, 0, &seg);
}

/* Makes segments until there is no number left, gives its birth region back, and ends. */
static int child(int each)
{
    struct bcri_ctx *ctx = bcri_self();
    int fd = bcri_segment_create(4096), code = 0;
    must(fd >= 0, "segment_create");
    for (int i = 0; i < each && code == 0; i++) {
        uint32_t seg;
        if (getenv("SYS_NEW") == NULL) {
            code = make_one(ctx);
            continue;
        }
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        must(copy >= 0, "dup");
        code = ctx->upcalls->segment_add(ctx->up, copy, 4096, BCRI_SEG_SLOTS, &seg);
        if (code != 0)
            close(copy);
    }
    bcr_region birth = bcr_deq(bcr_cce, 0, bcr_BLOCK);
    must(birth != NULL && bcr_enq(birth, bcr_enlistor, FROM_CHILD, bcr_FREE) == 0,
         "give the birth region back");
    return code == 0 || code == bcrE_NOMEM ? 0 : 4;
}

int main(int argc, char **argv)
{
    must(bcr_init(0, argv[0]) >= 0, "bcr_init");
    if (bcr_enlistor >= 0)
        return child(atoi(getenv("SYS_EACH")));
    must(argc > 1 && bcr_cagrow(1, 0, 0, 0, 1, 8, 4096) == 1, "cagrow");
    for (int i = 1; i <= atoi(argv[1]); i++) {
        bcr_region birth = bcr_rgalloc(8, 0);
        must(birth != NULL && bcr_enlist(NULL, -1, i, argv[0], birth, bcr_FREE) == 0, "enlist");
        birth = bcr_deq(bcr_cce, FROM_CHILD, bcr_BLOCK);
        must(birth != NULL && bcr_rgfree(birth) == 0, "the birth region comes back");
    }
    int base = bcr_cagrow(0, 0, 0, 0, 1, 8, 1 << 25);
    printf("cagrow %d %d\n", base, base < 0 ? bcr_errno : 0);
    return 0;
}
