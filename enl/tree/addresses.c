/* SPDX-License-Identifier: MIT */
/* See introductions.h. */
#include "tree/introductions.h"

#include <netinet/in.h>
#include <string.h>

/* Whether it is of one host, and means the same everywhere: a link-local one needs an interface
 * besides. */
static bool is_one_host_v4(const uint8_t *bytes)
{
    return bytes[0] != 0 && bytes[0] < 224; /* 224 and above: multicast, reserved, broadcast */
}

static bool is_one_host_v6(const uint8_t *bytes)
{
    struct in6_addr address;
    memcpy(&address, bytes, sizeof address);
    return !IN6_IS_ADDR_UNSPECIFIED(&address) && !IN6_IS_ADDR_MULTICAST(&address) &&
           !IN6_IS_ADDR_LINKLOCAL(&address) && !IN6_IS_ADDR_V4MAPPED(&address);
}

static uint32_t write_one(const struct bcri_link_address *address, uint8_t *out)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    if (address->at.ss_family == AF_INET) {
        memcpy(&four, &address->at, sizeof four);
        out[0] = 4;
        memcpy(out + 1, &four.sin_port, 2);
        memcpy(out + 3, &four.sin_addr, 4);
    } else if (address->at.ss_family == AF_INET6) {
        memcpy(&six, &address->at, sizeof six);
        const bool mapped = IN6_IS_ADDR_V4MAPPED(&six.sin6_addr);
        out[0] = mapped ? 4 : 6;
        memcpy(out + 1, &six.sin6_port, 2);
        memcpy(out + 3, six.sin6_addr.s6_addr + (mapped ? 12 : 0), mapped ? 4 : 16);
    } else {
        return 0;
    }
    if ((out[1] == 0 && out[2] == 0) || !(out[0] == 4 ? is_one_host_v4(out + 3) : is_one_host_v6(out + 3)))
        return 0;
    return out[0] == 4 ? 7 : 19;
}

uint32_t enl_addresses_write(const struct bcri_link_address *addresses, uint32_t count,
                             uint8_t out[BCRI_ADDRESSES_BYTES_MAX])
{
    uint32_t length = 0;
    for (uint32_t i = 0; i < count && i < BCRI_INTRODUCED_MAX; i++)
        length += write_one(&addresses[i], out + length);
    return length;
}

static bool is_loopback(const uint8_t *one)
{
    static const uint8_t six[16] = {[15] = 1};
    return one[0] == 4 ? one[3] == 127 : memcmp(one + 3, six, sizeof six) == 0;
}

uint32_t enl_addresses_drop_loopback(uint8_t *bytes, uint32_t length)
{
    uint32_t kept = 0;
    for (uint32_t at = 0, part; at < length; at += part) {
        part = bytes[at] == 4 ? 7 : 19;
        if (is_loopback(bytes + at))
            continue;
        memmove(bytes + kept, bytes + at, part);
        kept += part;
    }
    return kept;
}

uint32_t enl_addresses_on_network(const uint8_t *mine, const uint8_t *theirs, uint32_t networks,
                                  bool is_one_machine, uint8_t *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < networks && length != 0; i++) {
        const uint8_t *const at = theirs + (size_t)i * ENL_ONE_ADDRESS_BYTES;
        if (mine[(size_t)i * ENL_ONE_ADDRESS_BYTES] == 0 || at[0] == 0 ||
            (is_loopback(at) && !is_one_machine))
            continue;
        const uint8_t port[2] = {bytes[1], bytes[2]}; /* all have one */
        const uint32_t part = at[0] == 4 ? 7 : 19;
        memcpy(bytes, at, part);
        memcpy(bytes + 1, port, sizeof port);
        return part;
    }
    return length;
}

bool enl_addresses_read(const uint8_t *bytes, size_t length,
                        struct bcri_link_address out[BCRI_INTRODUCED_MAX], uint32_t *count_out)
{
    uint32_t count = 0;
    for (size_t at = 0, part; at < length; at += part, count++) {
        const uint8_t *one = bytes + at;
        part = one[0] == 4 ? 7 : 19;
        if ((one[0] != 4 && one[0] != 6) || length - at < part || count == BCRI_INTRODUCED_MAX ||
            (one[1] == 0 && one[2] == 0) ||
            !(one[0] == 4 ? is_one_host_v4(one + 3) : is_one_host_v6(one + 3)))
            return false;
        struct bcri_link_address *address = &out[count];
        memset(address, 0, sizeof *address);
        if (one[0] == 4) {
            struct sockaddr_in four = {.sin_family = AF_INET};
            memcpy(&four.sin_port, one + 1, 2);
            memcpy(&four.sin_addr, one + 3, 4);
            memcpy(&address->at, &four, sizeof four);
            address->bytes = sizeof four;
        } else {
            struct sockaddr_in6 six = {.sin6_family = AF_INET6};
            memcpy(&six.sin6_port, one + 1, 2);
            memcpy(&six.sin6_addr, one + 3, 16);
            memcpy(&address->at, &six, sizeof six);
            address->bytes = sizeof six;
        }
    }
    *count_out = count;
    return true;
}
