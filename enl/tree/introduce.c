/* SPDX-License-Identifier: MIT */
/* See introduce.h. No host is introduced yet. */
#include "introduce.h"

#include "links.h"

void enl_introduce_want(struct enl_program *program, uint32_t host)
{
    enl_links_lost(program, host);
}
