/* SPDX-License-Identifier: MIT */
/* The layout signature (bcri/layout.h) of all layers that share memory; this is the highest of
 * them. */
#ifndef BCRI_SIGNATURE_H
#define BCRI_SIGNATURE_H

#include <stdint.h>

/* The same in two builds if and only if their processes may share memory. */
uint32_t bcri_layout_signature(void);

#endif
