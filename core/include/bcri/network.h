/* SPDX-License-Identifier: MIT */
/* Ports and networks as people write them: the values of the keywords dataport and bindaddr. */
#ifndef BCRI_NETWORK_H
#define BCRI_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* "FIRST-LAST", or "PORT", of which first and last are the same; 0: the kernel chooses one. */
struct bcri_ports {
    uint16_t first, last;
};
/* False: `text` is none of these. */
bool bcri_ports_parse(const char *text, struct bcri_ports *ports_out);

/* "ADDRESS" or "ADDRESS/BITS": the addresses that begin with these bits. */
struct bcri_network {
    int family; /* AF_INET, AF_INET6 */
    unsigned bits;
    uint8_t bytes[16];
};
/* False: `text` is none of these. */
bool bcri_network_parse(const char *text, struct bcri_network *network_out);
bool bcri_network_has(const struct bcri_network *network, const struct sockaddr *address);

#endif
