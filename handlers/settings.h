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

/* Reads the settings now, and keeps them for bcri_settings(): bcr_init does, since reading them needs
 * malloc (private.h). */
void bcri_settings_keep(void);
/* Those that are kept; in a process without bcr_init (tests), those that are set now. If they cannot be
 * read, the defaults; enl has reported the failure when the program started. */
struct bcri_settings bcri_settings(void);

#endif
