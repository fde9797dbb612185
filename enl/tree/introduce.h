/* SPDX-License-Identifier: MIT */
/* Introductions: how two hosts of a program get what a link between them needs.
 *
 * All of this is the loop's. */
#ifndef ENL_INTRODUCE_H
#define ENL_INTRODUCE_H

#include <stdint.h>

#include "program.h"

/* An order waits for a link to that host. What comes of it is enl_links_introduce, or
 * enl_links_lost if there is no such host. */
void enl_introduce_want(struct enl_program *program, uint32_t host);

#endif
