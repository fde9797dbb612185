/* SPDX-License-Identifier: MIT */
/* What each kind of cell allows to other CCEs than its owner. Cell 0 is take-only, for its own
 * CCE. */
#include "bcri/access.h"

#include "bcri/cell.h"
#include "bcri/lookup.h"

bool bcri_access(const struct bcri_resolved *resolved, enum bcri_use use)
{
    if (resolved->number == 0)
        return resolved->own && use == BCRI_USE_TAKE;
    if (resolved->own)
        return true;
    switch (resolved->kind) {
    case BCRI_CELL_PRIVATE: return false;
    case BCRI_CELL_IN: return use == BCRI_USE_ADD;
    case BCRI_CELL_OUT: return use == BCRI_USE_TAKE;
    case BCRI_CELL_INOUT: return true;
    }
    return false;
}
