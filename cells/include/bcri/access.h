/* SPDX-License-Identifier: MIT */
/* What each kind of cell allows to its owner and to other CCEs. */
#ifndef BCRI_ACCESS_H
#define BCRI_ACCESS_H

#include "bcri/lookup.h"

/* 0 or bcrE_ACCESS. */
enum bcri_use { BCRI_USE_ADD, BCRI_USE_TAKE, BCRI_USE_LOCK };
int bcri_access(const struct bcri_resolved *resolved, enum bcri_use use);

#endif
