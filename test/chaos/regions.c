/* SPDX-License-Identifier: MIT */
/* Regions that say whether they are whole, and calls with those that may be lost. */
#include "cce.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_LOOKED_AT = 8 };

static uint32_t word_at(uint32_t first, int length, int i)
{
    return i == 0 ? first : (first + (uint32_t)i) * 2654435761u ^ (uint32_t)length;
}

/* Lengths are whole words. The first eight words and the last are looked at. */
bcr_region region_make(int length)
{
    bcr_region rgid = bcr_rgalloc(length, 0);
    if (!worked(rgid != NULL, "rgalloc"))
        return NULL;
    uint32_t *word = *rgid;
    const uint32_t first = any(UINT32_MAX);
    const int words = length / 4;
    for (int i = 0; i < words && i < WORDS_LOOKED_AT; i++)
        word[i] = word_at(first, length, i);
    word[words - 1] = word_at(first, length, words - 1);
    return rgid;
}

void region_check(bcr_region rgid, const char *where)
{
    must(rgid != NULL, where);
    const int length = bcr_rglen(rgid, NULL), words = length / 4;
    const uint32_t *word = *rgid;
    bool whole = length >= 4;
    for (int i = 1; whole && i < words && i < WORDS_LOOKED_AT; i++)
        whole = word[i] == word_at(word[0], length, i);
    if (whole && word[words - 1] == word_at(word[0], length, words - 1))
        return;
    fprintf(stderr, "chaos: CCE %d: %s: a region of %d bytes is not what was put\n", bcr_cceord, where,
            length);
    _exit(3);
}

void region_check_and_free(bcr_region rgid, const char *where)
{
    region_check(rgid, where);
    must(bcr_rgfree(rgid) == 0, "rgfree");
}

int region_any_length(void)
{
    static const int lengths[] = {4, 8, 16, 32, 36, 64, 200, 1000, 4000};
    return lengths[any(sizeof lengths / sizeof lengths[0])];
}

int peer_at(int place)
{
    int peer = -1;
    const int came = bcr_recv(&peer, sizeof peer, bcrT_1CCE, 1, keeper, PEERS + place, 0, 0);
    return worked(came > 0, "recv a name") ? peer : -1;
}

/* Puts it, or frees it. */
static void give(bcr_region rgid, bcr_cce_id cce, int cell)
{
    if (!worked(bcr_enq(rgid, cce, cell, bcr_FREE) == 0, "enq"))
        must(bcr_rgfree(rgid) == 0, "rgfree of what was not put");
}

static void take(bcr_cce_id cce, int cell, const char *where)
{
    bcr_region rgid = bcr_deq(cce, cell, any_time());
    if (worked(rgid != NULL, "deq"))
        region_check_and_free(rgid, where);
}

void do_many(void)
{
    int cells[8], count = 1 + (int)any(4);
    bcr_region rgid = region_make(region_any_length());
    if (rgid == NULL)
        return;
    for (int i = 0; i < count; i++) {
        const int peer = any(3) == 0 ? peer_at(1 + (int)any(CHAOS_CCES - 1)) : -1;
        cells[2 * i] = peer >= 0 ? peer : keeper;
        cells[2 * i + 1] = peer >= 0 ? OWN + (int)any(OWN_CELLS) : MANY + (int)any(4);
    }
    const int kept = (int)any(2);
    (void)worked(bcr_enqm(rgid, count, cells, kept ? bcr_NOFREE : bcr_FREE) == 0, "enqm");
    if (kept)
        region_check_and_free(rgid, "what was put into many");
}

void do_share(void)
{
    const int cell = MANY + (int)any(4);
    bcr_region rgid = region_make(region_any_length());
    if (rgid != NULL && worked(bcr_enq(rgid, keeper, cell, bcr_NOFREE) == 0, "enq")) {
        if (any(2) == 0 && worked(bcr_rgmod(rgid) == 0, "rgmod"))
            memset(*rgid, 0, 4); /* nobody else sees this */
        must(bcr_rgfree(rgid) == 0, "rgfree of what was shared");
    } else if (rgid != NULL) {
        must(bcr_rgfree(rgid) == 0, "rgfree of what was not put");
    }
    take(keeper, cell, "many");
}

void do_long(void)
{
    const int cell = LONG + (int)any(3);
    atomic_store(&mine->cell, cell);
    if (any(3) == 0) {
        bcr_region rgid = region_make(4 * (1 + (int)any(30000)));
        if (rgid != NULL && !worked(bcr_write(rgid, keeper, cell, bcr_FREE) == 0, "write"))
            must(bcr_rgfree(rgid) == 0, "rgfree of what was not written");
        return;
    }
    bcr_region rgid = bcr_read(keeper, cell, any_time());
    if (worked(rgid != NULL, "read"))
        region_check_and_free(rgid, "a long one");
}

void do_handled(void)
{
    bcr_region rgid = region_make(region_any_length());
    if (rgid != NULL)
        give(rgid, keeper, HANDLED);
}

void do_peer(void)
{
    const int peer = peer_at(1 + (int)any(CHAOS_CCES - 1));
    const int cell = any(8) == 0 ? MORE : OWN + (int)any(OWN_CELLS + 1);
    if (peer < 0)
        return;
    atomic_store(&mine->cell, cell);
    bcr_region rgid = any(2) == 0 ? region_make(region_any_length()) : NULL;
    if (rgid != NULL)
        give(rgid, peer, cell);
    else if (cell != OWN_HANDLED)
        take(peer, cell, "a peer's cell");
}

void do_zap(void)
{
    const int cell = MANY + (int)any(4);
    (void)worked(bcr_celllen(keeper, cell) >= 0, "celllen");
    if (any(8) == 0)
        (void)worked(bcr_zap(keeper, cell) == 0, "zap");
}
