/* SPDX-License-Identifier: MIT */
/* pvmuser.h -- the other name of pvm.h, which programs of PVM 2.4 have. */
#include "pvm.h"
