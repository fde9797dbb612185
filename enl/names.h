/* SPDX-License-Identifier: MIT */
/* Who this host is, and what the program is called. */
#ifndef ENL_NAMES_H
#define ENL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The host's name, of letters, digits, . _ and - only. */
void enl_host_name(char *out, size_t capacity);
/* An address of this host, for the scripts: IPv4 if there is one, the loopback's if there is no
 * other. */
void enl_host_address(char *out, size_t capacity);
/* Is that, in numbers, an IP address of this host? */
bool enl_host_has_address(const char *text);

#endif
