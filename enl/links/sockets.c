/* SPDX-License-Identifier: MIT */
/* See links.h. */
#include "links/links.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "bcri/network.h"
#include "bcri/refuse.h"

static void set_address(struct bcri_link_address *address, const void *at, socklen_t bytes)
{
    memset(address, 0, sizeof *address);
    memcpy(&address->at, at, bytes);
    address->bytes = bytes;
}

static uint16_t *port_at(struct bcri_link_address *address)
{
    return address->at.ss_family == AF_INET6 ? &((struct sockaddr_in6 *)&address->at)->sin6_port
                                             : &((struct sockaddr_in *)&address->at)->sin_port;
}

/* An address that a socket can be bound to, and others can send to. One of a single link needs the
 * name of an interface, which means nothing elsewhere. */
static bool is_usable(const struct ifaddrs *interface)
{
    const struct sockaddr *at = interface->ifa_addr;
    if (at == NULL || (interface->ifa_flags & IFF_UP) == 0)
        return false;
    return at->sa_family == AF_INET ||
           (at->sa_family == AF_INET6 &&
            !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)at)->sin6_addr));
}

static void set_interface(struct bcri_link_address *address, const struct ifaddrs *interface)
{
    set_address(address, interface->ifa_addr,
                interface->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                                          : sizeof(struct sockaddr_in6));
}

/* The addresses to bind to, without a port, best first: this machine's address that `bindaddr` is or
 * has in its network; NULL: any. Returns how many. */
static uint32_t addresses_to_bind(const char *bindaddr, struct bcri_link_address out[2])
{
    static const struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    static const struct sockaddr_in four = {.sin_family = AF_INET};
    struct bcri_network network;
    struct ifaddrs *interfaces;
    uint32_t count = 0;
    if (bindaddr == NULL) { /* a socket of IPv6 takes IPv4 too; there may be no IPv6 */
        set_address(&out[0], &six, sizeof six);
        set_address(&out[1], &four, sizeof four);
        return 2;
    }
    if (!bcri_network_parse(bindaddr, &network) || getifaddrs(&interfaces) != 0)
        return 0;
    for (const struct ifaddrs *at = interfaces; at != NULL && count == 0; at = at->ifa_next)
        if (is_usable(at) && bcri_network_has(&network, at->ifa_addr))
            set_interface(&out[count++], at);
    freeifaddrs(interfaces);
    return count;
}

int enl_sockets_start(struct bcri_link_thread_config *config, const struct bcri_config *settings,
                      struct bcri_link_thread **out)
{
    struct bcri_link_address at[2];
    struct bcri_ports ports;
    int failed = -ENODEV;
    const uint32_t count = addresses_to_bind(settings->bindaddr, at);
    if (!bcri_ports_parse(settings->dataport, &ports))
        ports = (struct bcri_ports){0, 0};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t port = ports.first; port <= ports.last && failed != 0 && failed != -ENOMEM; port++) {
            config->bind = at[i];
            *port_at(&config->bind) = htons((uint16_t)port);
            failed = bcri_link_thread_start(config, out);
        }
    return failed;
}

void enl_sockets_refuse(const char *bindaddr, const char *dataport, int why, char *error, size_t error_size)
{
    struct bcri_ports ports = {0, 0};
    (void)bcri_ports_parse(dataport, &ports);
    const char *some = ports.first == ports.last ? "port" : "ports";
    if (why == ENODEV)
        bcri_refuse(error, error_size, 0,
                    "no interface there that is up has an address of bindaddr %s in bcrrc", bindaddr);
    else if (why == EADDRINUSE)
        bcri_refuse(
            error, error_size, 0,
            "UDP %s %s there %s in use; give dataport in bcrrc a range with a port for each program, or "
            "0 for any that is free",
            some, dataport, ports.first == ports.last ? "is" : "are");
    else
        bcri_refuse(error, error_size, 0, "UDP %s %s there (dataport in bcrrc): %s", some, dataport,
                    strerror(why));
}

uint32_t enl_sockets_reach(const struct bcri_link_address *own,
                           struct bcri_link_address out[BCRI_INTRODUCED_MAX])
{
    struct bcri_link_address bound = *own;
    struct ifaddrs *interfaces;
    uint32_t count = 0;
    const bool is_any = own->at.ss_family == AF_INET6
                            ? IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)&own->at)->sin6_addr)
                            : ((const struct sockaddr_in *)&own->at)->sin_addr.s_addr == htonl(INADDR_ANY);
    if (!is_any) {
        out[0] = bound;
        return 1;
    }
    if (getifaddrs(&interfaces) != 0)
        return 0;
    for (unsigned loopback = 0; loopback < 2; loopback++)
        for (const struct ifaddrs *at = interfaces; at != NULL && count < BCRI_INTRODUCED_MAX;
             at = at->ifa_next) {
            if (!is_usable(at) || ((at->ifa_flags & IFF_LOOPBACK) != 0) != loopback ||
                (at->ifa_addr->sa_family == AF_INET6 && own->at.ss_family != AF_INET6))
                continue;
            set_interface(&out[count], at);
            *port_at(&out[count++]) = *port_at(&bound);
        }
    freeifaddrs(interfaces);
    return count;
}

bool enl_sockets_fit(struct bcri_link_address *address, int family)
{
    if (address->at.ss_family == family)
        return true;
    if (address->at.ss_family != AF_INET || family != AF_INET6)
        return false;
    const struct sockaddr_in *four = (const struct sockaddr_in *)&address->at;
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = four->sin_port};
    six.sin6_addr.s6_addr[10] = six.sin6_addr.s6_addr[11] = 0xff;
    memcpy(&six.sin6_addr.s6_addr[12], &four->sin_addr, sizeof four->sin_addr);
    set_address(address, &six, sizeof six);
    return true;
}
