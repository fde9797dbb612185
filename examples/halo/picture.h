/* SPDX-License-Identifier: MIT */
/*
 * picture.h -- a plate as a PNG file.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include "plate.h"

/* From black (0) by red and yellow to white (1).  Returns NULL, or why the file could not be written. */
const char *picture_write(const char *path, const struct plate *plate);

#endif
