/* SPDX-License-Identifier: MIT */
/* Areas that come and go, with regions in their cells and heaps. One whose memory is still in use
 * somewhere, or into whose cells others put, stays until a later call finds it free. */
#include "cce.h"

enum { AREAS = 3 };

static struct {
    int first, cells; /* 0: none */
} area[AREAS];

void areas_empty(void)
{
    for (int i = 0; i < AREAS; i++)
        for (int cell = area[i].first; cell < area[i].first + area[i].cells; cell++)
            cell_empty(cell);
}

void do_area(void)
{
    static const int bytes[] = {0, 4096, 20000, 100000, 500000};
    const unsigned i = any(AREAS);
    if (area[i].cells == 0) {
        const int cells = 1 + (int)any(4);
        const int first = bcr_cagrow(MORE, 0, 0, 0, cells, 4, bytes[any(5)]);
        if (!worked(first > 0, "cagrow"))
            return;
        area[i].first = first;
        area[i].cells = cells;
    }
    atomic_store(&mine->cell, area[i].first);
    for (int n = 0; n < 3; n++) {
        const int cell = area[i].first + (int)any((unsigned)area[i].cells);
        bcr_region rgid = region_make(region_any_length());
        if (rgid != NULL && !worked(bcr_enq(rgid, bcr_cce, cell, bcr_FREE) == 0, "enq"))
            must(bcr_rgfree(rgid) == 0, "rgfree");
    }
    for (int cell = area[i].first; cell < area[i].first + area[i].cells; cell++)
        cell_empty(cell);
    if (bcr_cafree(area[i].first) == 0)
        area[i].cells = 0;
    else
        must(bcr_errno == bcrE_BUSY, "cafree");
}
