/* SPDX-License-Identifier: MIT */
/* What each kind of cell allows to its owner and to other CCEs. */
#ifndef BCRI_ACCESS_H
#define BCRI_ACCESS_H

#include "bcr/error.h"
#include "bcri/lookup.h"

enum bcri_use { BCRI_USE_ADD, BCRI_USE_TAKE, BCRI_USE_LOCK };
bool bcri_access(const struct bcri_resolved *resolved, enum bcri_use use);
/* The code of a call that is not allowed. */
static inline int bcri_access_denied(const struct bcri_resolved *resolved)
{
    return resolved->number == 0 ? bcrE_RESERVED : bcrE_ACCESS;
}

#endif
