/* SPDX-License-Identifier: MIT */
/* Numbers and ranges of them, separated by commas, such as 0,3-5: the ordinals of CCEs that a person names. */
#ifndef ENL_NUMBER_LIST_H
#define ENL_NUMBER_LIST_H

#include <stdbool.h>
#include <stdint.h>

bool enl_number_list_ok(const char *list);
/* Whether `number` is in `list`; NULL: all are. */
bool enl_number_list_has(const char *list, uint32_t number);

#endif
