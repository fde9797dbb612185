/* SPDX-License-Identifier: MIT */
/* See links.h. No daemon starts the thread yet. */
#include "links.h"

#include "bcri/refuse.h"

bool enl_links_begin(struct enl_program *program, char *error, size_t error_size)
{
    (void)program;
    return bcri_refuse(error, error_size, false, "hosts have no links");
}

void enl_links_stop(struct enl_program *program)
{
    (void)program;
}

uint32_t enl_links_addresses(const struct enl_program *program,
                             struct bcri_link_address out[BCRI_INTRODUCED_MAX])
{
    (void)program;
    (void)out;
    return 0;
}

bool enl_links_introduce(struct enl_program *program, struct bcri_link_introduction *introduction)
{
    (void)program;
    bcri_seal_wipe(introduction, sizeof *introduction);
    return false;
}

void enl_links_lost(struct enl_program *program, uint32_t host)
{
    (void)program;
    (void)host;
}

bool enl_links_outbox(struct enl_program *program, uint32_t index, bcri_ref outbox)
{
    (void)program;
    (void)index;
    (void)outbox;
    return false;
}

bool enl_links_forget(struct enl_program *program, uint32_t index)
{
    (void)program;
    (void)index;
    return false;
}
