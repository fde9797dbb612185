/* SPDX-License-Identifier: MIT */
/*
 * cells_meet.c -- two CCEs as a pair: the root (side 0) enlists its partner (side 1) and tells it
 * in its birth region where the shared page of the floors is. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench_cells.h"

/* The birth region of the partner. */
struct birth {
    int32_t pid, fd, core[2], tiny;
};

void cells_check(bool good, const char *what)
{
    if (good)
        return;
    errno = 0;
    bench_fail("%s: %s", what, bcr_strerror(bcr_errno));
}

void cells_grow(int cell, int region_max, int heap_bytes)
{
    int base = bcr_cagrow(cell, 0, 0, 0, 1, region_max, heap_bytes);
    cells_check(base >= 0, "bcr_cagrow");
    if (base != cell)
        bench_fail("asked for cell %d, was given %d", cell, base);
}

void cells_birthcry(bcr_cce_id cce, int cell)
{
    int self = bcr_cce;
    bcr_region region = bcr_rgalloc(16, 0);
    cells_check(region != NULL, "bcr_rgalloc");
    cells_check(bcr_copyto(bcrT_1CCE, 1, region, 0, &self, sizeof self) >= 2, "bcr_copyto");
    cells_check(bcr_enq(region, cce, cell, bcr_FREE) == 0, "bcr_enq");
}

int cells_hear_birthcry(int cell)
{
    int other = 0;
    bcr_region region = bcr_deq(bcr_cce, cell, bcr_BLOCK);
    cells_check(region != NULL, "bcr_deq");
    cells_check(bcr_copyfm(bcrT_1CCE, 1, region, 0, &other, sizeof other) >= 2, "bcr_copyfm");
    cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");
    return other;
}

void cells_enlist_partner(struct bench_pair *pair, const struct bench_options *options,
                          struct cells_user *user)
{
    pair->core[0] = options->core[0];
    pair->core[1] = options->core[1];
    int fd = bench_pair_create(pair, FLOOR_AREA_BYTES, sizeof(struct floor_area_shm));
    struct birth birth = {.pid = getpid(), .fd = fd, .core = {pair->core[0], pair->core[1]}};
    birth.tiny = options->tiny;

    bcr_region region = bcr_rgalloc(sizeof birth, 0);
    cells_check(region != NULL, "bcr_rgalloc");
    memcpy(*region, &birth, sizeof birth);
    const char *machine = user->machine != NULL ? user->machine : "";
    const int core = user->machine != NULL ? -1 : pair->core[1];
    cells_check(bcr_enlist(machine, core, ORDINAL_PARTNER, user->executable, region, bcr_FREE) == 0,
                "bcr_enlist");
    user->own = user->root = bcr_cce;
    user->other = cells_hear_birthcry(CELL_CRY);
    pair->user = user;
    close(fd);
}

bool cells_be_partner(struct bench_pair *pair, struct cells_user *user)
{
    struct birth birth;
    *user = (struct cells_user){.own = bcr_cce, .other = bcr_enlistor, .root = bcr_enlistor};
    bcr_region region = bcr_deq(bcr_cce, 0, bcr_BLOCK);
    cells_check(region != NULL, "bcr_deq of the birth region");
    memcpy(&birth, *region, sizeof birth);
    cells_check(bcr_rgfree(region) == 0, "bcr_rgfree");

    pair->core[0] = birth.core[0];
    pair->core[1] = birth.core[1];
    pair->user = user;
    bench_pair_join(pair, birth.pid, birth.fd, FLOOR_AREA_BYTES, sizeof(struct floor_area_shm));
    return birth.tiny != 0;
}
