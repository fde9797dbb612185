/* SPDX-License-Identifier: MIT */
/* names.c -- see names.h. */
#include "base/names.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

void enl_host_name(char *out, size_t capacity)
{
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0')
        strcpy(name, "localhost");
    snprintf(out, capacity, "%s", name);
    for (char *at = out; *(at += strspn(at, NAME_LETTERS)) != '\0';)
        *at = '-';
    if (out[0] == '-') /* names of programs begin with it, and no option does so */
        out[0] = '_';
}

/* The bytes of an IP address; NULL: it is none. */
static const void *address_bytes(const struct sockaddr *address)
{
    const void *at = address;
    if (address != NULL && address->sa_family == AF_INET)
        return &((const struct sockaddr_in *)at)->sin_addr;
    if (address != NULL && address->sa_family == AF_INET6)
        return &((const struct sockaddr_in6 *)at)->sin6_addr;
    return NULL;
}

bool enl_address_text(const struct sockaddr *address, char out[ENL_ADDRESS_BYTES])
{
    const void *bytes = address_bytes(address);
    return bytes != NULL && inet_ntop(address->sa_family, bytes, out, ENL_ADDRESS_BYTES) != NULL;
}

void enl_host_address(char out[ENL_ADDRESS_BYTES])
{
    static const int families[] = {AF_INET, AF_INET6};
    struct ifaddrs *all = NULL;
    bool found = false;
    if (getifaddrs(&all) != 0)
        all = NULL;
    for (size_t i = 0; i < 2 && !found; i++)
        for (const struct ifaddrs *one = all; one != NULL && !found; one = one->ifa_next)
            found = (one->ifa_flags & (IFF_LOOPBACK | IFF_UP)) == IFF_UP && one->ifa_addr != NULL &&
                    one->ifa_addr->sa_family == families[i] &&
                    !(families[i] == AF_INET6 &&
                      IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)address_bytes(one->ifa_addr))) &&
                    enl_address_text(one->ifa_addr, out);
    if (!found)
        strcpy(out, "127.0.0.1");
    freeifaddrs(all);
}

void enl_host_machine_id(const char *abi, char *out, size_t capacity)
{
    char boot[64] = "", net[64] = "";
    const ssize_t length = readlink("/proc/self/ns/net", net, sizeof net - 1);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    const bool known = file != NULL && fscanf(file, "%63s", boot) == 1 && length > 0;
    if (file != NULL)
        fclose(file);
    out[0] = '\0';
    if (known)
        snprintf(out, capacity, "%s %s %lu %s", boot, net, (unsigned long)geteuid(), abi);
}

bool enl_host_is_address(const char *text)
{
    struct in6_addr bytes;
    return inet_pton(strchr(text, ':') != NULL ? AF_INET6 : AF_INET, text, &bytes) == 1;
}

bool enl_host_has_address(const char *text, struct ifaddrs **known)
{
    struct in6_addr bytes = {0};
    const int family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
    if (inet_pton(family, text, &bytes) != 1)
        return false;
    if (family == AF_INET ? bytes.s6_addr[0] == IN_LOOPBACKNET : IN6_IS_ADDR_LOOPBACK(&bytes))
        return true;
    if (*known == NULL && getifaddrs(known) != 0)
        *known = NULL;
    bool found = false;
    for (const struct ifaddrs *one = *known; one != NULL && !found; one = one->ifa_next)
        found = one->ifa_addr != NULL && one->ifa_addr->sa_family == family &&
                memcmp(address_bytes(one->ifa_addr), &bytes, family == AF_INET ? 4 : 16) == 0;
    return found;
}

const char *enl_abi(void)
{
#if defined(__x86_64__)
    return "x86_64";
#elif defined(__i386__)
    return "i386";
#elif defined(__s390x__)
    return "s390x";
#elif defined(__aarch64__)
    return "aarch64";
#elif defined(__arm__)
    return "arm";
#elif defined(__powerpc64__)
    return "ppc64";
#elif defined(__powerpc__)
    return "ppc";
#elif defined(__riscv) && __riscv_xlen == 64
    return "riscv64";
#else
    return "other";
#endif
}

bool enl_abi_known(const char *name)
{
    static const char names[] = ENL_ABIS;
    const size_t length = strlen(name);
    for (const char *at = names; *at != '\0'; at += strspn(at, ", ")) {
        const size_t part = strcspn(at, ",");
        if (part == length && memcmp(at, name, part) == 0)
            return true;
        at += part;
    }
    return false;
}
