/* SPDX-License-Identifier: MIT */
/* What each kind of cell allows to other CCEs than its owner. Cell 0 is take-only, for its own
 * CCE. */
#include "bcri/access.h"

#include "bcr/error.h"
#include "bcri/cell.h"
#include "bcri/lookup.h"

int bcri_access(const struct bcri_resolved *resolved, enum bcri_use use)
{
    if (resolved->number == 0)
        return resolved->own && use == BCRI_USE_TAKE ? 0 : bcrE_ACCESS;
    if (resolved->own)
        return 0;
    switch (resolved->kind) {
    case BCRI_CELL_PRIVATE: return bcrE_ACCESS;
    case BCRI_CELL_IN: return use == BCRI_USE_ADD ? 0 : bcrE_ACCESS;
    case BCRI_CELL_OUT: return use == BCRI_USE_TAKE ? 0 : bcrE_ACCESS;
    case BCRI_CELL_INOUT: return 0;
    }
    return bcrE_ACCESS;
}
