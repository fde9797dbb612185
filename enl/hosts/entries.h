/* SPDX-License-Identifier: MIT */
/* What an entry of the list of machines means: to a program, and to enl hosts, which says what a program will find. */
#ifndef ENL_ENTRIES_H
#define ENL_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

#include "hosts/hosts.h"

struct bcri_config;
struct ifaddrs;

/* The entry for `machine`, with ifacesuffix behind it if there is one of that name; else
 * `address_out` gets the entry's address with the suffix, unless that is a number; else "". NULL: there is none. */
const struct enl_host *enl_entry_for(const struct bcri_config *config, const struct enl_hosts *hosts,
                                     const char *machine, char *address_out, size_t size);

/* Whether an entry, or a name that has none, is this machine, as far as can be known without asking it. The
 * CCEs of such an entry are those of this enl; nothing else is started for them. `known`: names.h. */
bool enl_entry_is_here(const struct bcri_config *config, const struct enl_host *host, struct ifaddrs **known);
bool enl_name_is_here(const char *machine, struct ifaddrs **known);

#endif
