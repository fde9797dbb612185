/* SPDX-License-Identifier: MIT */
/* networks.c -- By which networks the data of a job go: before anything starts, the root's daemon looks up what hosts are called there.
 * Introductions take it from then on (introductions.h). */
#include <ifaddrs.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bcri/refuse.h"
#include "conductor/child.h"

/* The address of that name as one of enl_addresses_write, with any port; `flags` are those of a hint. Returns 0, or -1 with what is wrong
 * with it. */
static int look_up(const char *name, int flags, uint8_t out[ENL_ONE_ADDRESS_BYTES], const char **why_out)
{
    const struct addrinfo hints = {.ai_flags = flags, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
    uint8_t bytes[BCRI_ADDRESSES_BYTES_MAX];
    struct addrinfo *found;
    uint32_t length = 0;
    const int failed = getaddrinfo(name, "1", &hints, &found);
    if (failed != 0) {
        *why_out = gai_strerror(failed);
        return -1;
    }
    for (const struct addrinfo *at = found; at != NULL && length == 0; at = at->ai_next) {
        struct bcri_link_address address = {.bytes = at->ai_addrlen};
        if (at->ai_addrlen > sizeof address.at)
            continue;
        memcpy(&address.at, at->ai_addr, at->ai_addrlen);
        length = enl_addresses_write(&address, 1, bytes);
    }
    freeaddrinfo(found);
    *why_out = "no address that others can send to";
    if (length != 0)
        memcpy(out, bytes, length);
    return length != 0 ? 0 : -1;
}

static uint32_t count_networks(const char *networks)
{
    uint32_t count = 1;
    for (const char *at = networks; (at = strchr(at, '+')) != NULL; at++)
        count++;
    return count;
}

/* Finds the addresses of one host. Returns 0, or -1 with a sentence. */
static int find_addresses(struct enl_host *host, const char *networks, uint32_t count, int flags, char *error,
                          size_t error_size)
{
    char name[ENL_HOST_NAME_MAX + 1];
    const char *why;
    if ((host->networks = calloc(count, ENL_ONE_ADDRESS_BYTES)) == NULL)
        return bcri_refuse(error, error_size, -1, "no memory");
    for (uint32_t i = 0; i < count; i++) {
        const size_t length = strcspn(networks, "+");
        if (enl_host_on_network(host, networks, length, name) &&
            look_up(name, flags, host->networks + (size_t)i * ENL_ONE_ADDRESS_BYTES, &why) != 0)
            return bcri_refuse(error, error_size, -1,
                               "host %s is %s on network %.*s (net= in the hosts file): %s", host->name, name,
                               (int)(length < 60 ? length : 60), networks, why);
        networks += length + 1;
    }
    return 0;
}

int enl_networks_find(struct enl_program *program, const char *networks, char *error, size_t error_size)
{
    struct enl_hosts *hosts = &program->hosts;
    int failed = 0;
    if (program->self.config.bindaddr != NULL)
        return bcri_refuse(error, error_size, -1,
                           "network %.60s cannot be had with bindaddr %s, which binds data to one address: "
                           "take one of the two out",
                           networks, program->self.config.bindaddr);
    hosts->networks = count_networks(networks);
    for (size_t i = 0; i < hosts->count && failed == 0; i++)
        if (hosts->hosts[i]->net != NULL)
            failed = find_addresses(hosts->hosts[i], networks, hosts->networks, 0, error, error_size);
    return failed;
}

/* Nothing is looked up any more: a server of names that is slow would hold up this daemon, and be taken for its end. */
int enl_networks_add(const struct enl_program *program, struct enl_host *host, char *error, size_t error_size)
{
    if (program->hosts.networks == 0 || host->net == NULL)
        return 0;
    return find_addresses(host, program->jobs.roster->choice.networks, program->hosts.networks,
                          AI_NUMERICHOST, error, error_size);
}

const uint8_t *enl_networks_of_root(const struct enl_program *program)
{
    const struct enl_hosts *hosts = &program->hosts;
    const uint8_t *networks = NULL;
    struct ifaddrs *known = NULL;
    for (size_t i = 0; i < hosts->count && hosts->networks != 0 && networks == NULL; i++)
        if (hosts->hosts[i]->networks != NULL &&
            enl_entry_is_here(&program->self.config, hosts->hosts[i], &known))
            networks = hosts->hosts[i]->networks;
    freeifaddrs(known);
    return networks;
}
