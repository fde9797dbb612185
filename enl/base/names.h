/* SPDX-License-Identifier: MIT */
/* The names of this host and of the program. */
#ifndef ENL_NAMES_H
#define ENL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct ifaddrs;
struct sockaddr;

enum { ENL_ADDRESS_BYTES = 46 }; /* of the text of an IP address: INET6_ADDRSTRLEN */

/* The host's name, of letters, digits, . _ and - only, the last not first. */
void enl_host_name(char *out, size_t capacity);
/* An address of this host, for the scripts: IPv4 if there is one; the loopback's only if there is
 * no other. */
void enl_host_address(char out[ENL_ADDRESS_BYTES]);
/* An IP address as text; false: it is none. */
bool enl_address_text(const struct sockaddr *address, char out[ENL_ADDRESS_BYTES]);
/* Which machine this is, and as whom it is used: daemons with equal ones (and `abi`) can be one.
 * "": it is not known. */
void enl_host_machine_id(const char *abi, char *out, size_t capacity);
/* This build's name for `abi` in a hosts file; whether a build for some machine has that name. */
const char *enl_abi(void);
bool enl_abi_known(const char *name);
#define ENL_ABIS "x86_64, i386, s390x, aarch64, arm, ppc64, ppc, riscv64"
/* Whether `text` is an IP address, in numbers. */
bool enl_host_is_address(const char *text);
/* Whether it is one of this host. *known keeps this host's addresses for further calls: NULL before the
 * first; freeifaddrs takes it. */
bool enl_host_has_address(const char *text, struct ifaddrs **known);

#endif
