/* SPDX-License-Identifier: MIT */
/* What happens between the hosts of a program: hosts that share this machine's network, or those of
 * ../system/hosts/with_hosts.sh, which are joined by a cable of which the killer has the end. */
#ifndef CHAOS_NETWORK_H
#define CHAOS_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { NETWORK_TIMEOUT_MSEC = 6000 }; /* hosttimeout, where there is a cable */

/* Whether there is a cable. To be asked first, with the seed's state. */
bool network_begin(uint64_t *random);
/* UDP is lost, doubled, held up and spoilt at random, or nothing is. */
void network_weather(bool bad);
/* Cuts all lines of a host for less than hosttimeout, or stops its daemon as long. */
void network_interrupt(int host, pid_t daemon);
/* Makes that the host is lost, in one of all ways; network_mend when its CCEs have ended. Returns which. */
const char *network_lose(int host, pid_t daemon, pid_t root);
void network_mend(void);

#endif
