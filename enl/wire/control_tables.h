/* SPDX-License-Identifier: MIT */
/* The tables that writing (control.c, which has them) and reading (decode.c) share. */
#ifndef BCRI_CONTROL_TABLES_H
#define BCRI_CONTROL_TABLES_H

#include "bcri/control.h"

enum bcri_control_kind { BCRI_KIND_U32, BCRI_KIND_U64, BCRI_KIND_I32, BCRI_KIND_STR, BCRI_KIND_BIN };

struct bcri_control_key_row {
    const char *name;
    enum bcri_control_kind kind;
    uint64_t limit;
    size_t offset; /* of the field in struct bcri_control */
};

struct bcri_control_type_row {
    const char *name;
    uint64_t required, allowed; /* sets of keys */
    unsigned fds;
};

extern const struct bcri_control_key_row bcri_control_keys[BCRI_KEY_COUNT];
extern const struct bcri_control_type_row bcri_control_types[BCRI_MSG_COUNT];

#endif
