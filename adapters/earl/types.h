/* SPDX-License-Identifier: MIT */
/* Items of a type as they stand in a message: one after the other, without padding, as the packer's machine has them. The
 * message says which format that is, and who unpacks translates, if his own is another one. Pure. */
#ifndef EARL_TYPES_H
#define EARL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "earl.h"

/* A format: the order of bytes, and how many a long has. EARL_FORMAT_NONE: bytes that nobody translates. */
enum { EARL_FORMAT_NONE = 0, EARL_FORMAT_SET = 1, EARL_FORMAT_BIG = 2, EARL_FORMAT_LONG8 = 4 };

/* This machine's. */
unsigned earl_format_own(void);
/* Bytes of an item in a format; 0: no such type. */
size_t earl_type_size(enum earl_type type, unsigned format);
/* Translates `count` items at `from`, in that format, into this machine's at `to`. False: one does not fit its type here; those
 * before it are done. */
bool earl_translate(enum earl_type type, unsigned format, void *to, const void *from, size_t count);

#endif
