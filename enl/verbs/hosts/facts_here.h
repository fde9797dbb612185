/* SPDX-License-Identifier: MIT */
/* enl --host-facts: this machine, as enl hosts on another one wants to know it. */
#ifndef ENL_FACTS_HERE_H
#define ENL_FACTS_HERE_H

#include "verbs/hosts/facts.h"

struct bcri_config;

void enl_facts_here(const struct bcri_config *config, struct enl_facts *facts_out);
/* Tells them on stdout, and the time for each line of stdin. Returns the exit status. */
int enl_host_facts(void);

#endif
