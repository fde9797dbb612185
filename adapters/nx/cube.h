/* SPDX-License-Identifier: MIT */
/* cube.h -- the name that nx.h had on the iPSC/2 and iPSC/860. */
#ifndef CUBE_H
#define CUBE_H

#include <nx.h>

#endif
