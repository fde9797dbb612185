/* SPDX-License-Identifier: MIT */
/* What the files of nx_classic have in common. */
#ifndef NX_CLASSIC_H
#define NX_CLASSIC_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nx.h>

extern long me, nodes;
extern int number; /* how large it is */

void *memory(size_t bytes);

void fft(void);
void cholesky(void);

#endif
