/* SPDX-License-Identifier: MIT */
/* What the user has set for handlers: keywords handlerstack and handlermost of bcrrc(5). */
#ifndef BCRI_SETTINGS_H
#define BCRI_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

struct bcri_settings {
    size_t stack_bytes;
    uint64_t most; /* invocations of handlers at one time */
};

/* Read now; where that fails, which enl has told of when the program started, what holds without
 * settings. */
struct bcri_settings bcri_settings(void);

#endif
