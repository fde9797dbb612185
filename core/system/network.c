/* SPDX-License-Identifier: MIT */
/* See network.h. */
#include "bcri/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* Reads a number of at most `most` up to a character of `ends`. Returns where that is; NULL: there is
 * no such number. */
static const char *number(const char *text, unsigned long most, const char *ends, unsigned long *number_out)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || (text[digits] != '\0' && strchr(ends, text[digits]) == NULL))
        return NULL;
    *number_out = strtoul(text, NULL, 10);
    return *number_out <= most ? text + digits : NULL;
}

bool bcri_ports_parse(const char *text, struct bcri_ports *ports_out)
{
    unsigned long first, last;
    const char *end = number(text, UINT16_MAX, "-", &first);
    if (end == NULL)
        return false;
    last = first;
    if (*end == '-' && (number(end + 1, UINT16_MAX, "", &last) == NULL || first == 0 || last < first))
        return false;
    *ports_out = (struct bcri_ports){(uint16_t)first, (uint16_t)last};
    return true;
}

bool bcri_network_parse(const char *text, struct bcri_network *network_out)
{
    char address[INET6_ADDRSTRLEN];
    struct bcri_network network = {.family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET};
    const size_t length = strcspn(text, "/");
    const unsigned most = network.family == AF_INET ? 32 : 128;
    unsigned long bits = most;
    if (length >= sizeof address)
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    if (inet_pton(network.family, address, network.bytes) != 1 ||
        (text[length] == '/' && number(text + length + 1, most, "", &bits) == NULL))
        return false;
    network.bits = (unsigned)bits;
    *network_out = network;
    return true;
}

bool bcri_network_has(const struct bcri_network *network, const struct sockaddr *address)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    uint8_t bytes[16];
    if (address->sa_family != network->family)
        return false;
    if (network->family == AF_INET) {
        memcpy(&four, address, sizeof four);
        memcpy(bytes, &four.sin_addr, sizeof four.sin_addr);
    } else {
        memcpy(&six, address, sizeof six);
        memcpy(bytes, &six.sin6_addr, sizeof six.sin6_addr);
    }
    const unsigned whole = network->bits / 8, rest = network->bits % 8;
    return memcmp(bytes, network->bytes, whole) == 0 &&
           (rest == 0 || (bytes[whole] ^ network->bytes[whole]) >> (8 - rest) == 0);
}
