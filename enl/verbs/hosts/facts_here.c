/* SPDX-License-Identifier: MIT */
/* See hosts_private.h. */
#include "verbs/hosts/hosts_private.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <bcr.h>

#include "base/names.h"
#include "base/write_all.h"
#include "bcri/config.h"
#include "bcri/control.h"

enum { SILENCE_SECONDS = 60 };

static uint64_t number_in(const char *path)
{
    char text[32] = "", *end = text;
    FILE *file = fopen(path, "re");
    if (file != NULL && fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    if (file != NULL)
        fclose(file);
    const unsigned long long number = strtoull(text, &end, 10);
    return end != text ? number : ENL_FACT_UNKNOWN;
}

static uint64_t mtu_of(int fd, const char *interface)
{
    struct ifreq request = {.ifr_mtu = 0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    return ioctl(fd, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0 ? (uint64_t)request.ifr_mtu
                                                                       : ENL_FACT_UNKNOWN;
}

/* Whether an interface has the address by which ssh has come here, the third word of SSH_CONNECTION. */
static bool is_way(const struct ifaddrs *one, const char *way)
{
    char text[INET6_ADDRSTRLEN] = "";
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    if (one->ifa_addr->sa_family == AF_INET) {
        memcpy(&four, one->ifa_addr, sizeof four);
        inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
    } else if (one->ifa_addr->sa_family == AF_INET6) {
        memcpy(&six, one->ifa_addr, sizeof six);
        inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
    }
    return text[0] != '\0' && strcmp(text, way) == 0;
}

/* Of the interface by which ssh has come, else the least of those that are no loopback. */
static uint64_t mtu_here(void)
{
    char way[64] = "";
    const char *connection = getenv("SSH_CONNECTION");
    struct ifaddrs *all;
    uint64_t least = ENL_FACT_UNKNOWN, by_way = ENL_FACT_UNKNOWN;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return ENL_FACT_UNKNOWN;
    if (connection == NULL || sscanf(connection, "%*s %*s %63s", way) != 1)
        way[0] = '\0';
    if (getifaddrs(&all) == 0) {
        for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
            if (one->ifa_addr == NULL || (one->ifa_flags & IFF_UP) == 0 ||
                (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6))
                continue;
            const uint64_t mtu = mtu_of(fd, one->ifa_name);
            if (is_way(one, way))
                by_way = mtu;
            if ((one->ifa_flags & IFF_LOOPBACK) == 0 && mtu < least)
                least = mtu;
        }
        freeifaddrs(all);
    }
    close(fd);
    return by_way != ENL_FACT_UNKNOWN ? by_way : least;
}

static uint64_t cores_here(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint64_t)CPU_COUNT(&set);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (uint64_t)cores : 1;
}

static bool can_log(const char *tempdir)
{
    char path[PATH_MAX];
    return (size_t)snprintf(path, sizeof path, "%s/.", tempdir) < sizeof path &&
           faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0;
}

void enl_facts_here(const struct bcri_config *config, struct enl_facts *facts_out)
{
    double load;
    struct statvfs disk;
    enl_facts_clear(facts_out);
    snprintf(facts_out->version, sizeof facts_out->version, "%d.%d.%d", BCR_VERSION_MAJOR, BCR_VERSION_MINOR,
             BCR_VERSION_PATCH);
    snprintf(facts_out->abi, sizeof facts_out->abi, "%s", enl_abi());
    enl_host_name(facts_out->hostname, sizeof facts_out->hostname);
    enl_host_machine_id(enl_abi(), facts_out->machine_id, sizeof facts_out->machine_id);
    facts_out->protocol = BCRI_CONTROL_VERSION;
    facts_out->user = geteuid();
    facts_out->cores = cores_here();
    if (getloadavg(&load, 1) == 1 && load >= 0)
        facts_out->load_percent = (uint64_t)(load * 100);
    if (!can_log(config->tempdir))
        facts_out->disk_bytes = 0;
    else if (statvfs(config->tempdir, &disk) == 0)
        facts_out->disk_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    facts_out->rmem_max = number_in("/proc/sys/net/core/rmem_max");
    facts_out->mtu = mtu_here();
}

int enl_host_facts(void)
{
    struct bcri_config config;
    struct enl_facts facts;
    char text[4096], error[1024];
    if (bcri_config_load(&config, NULL, error, sizeof error) != 0) {
        fprintf(stderr, "enl: %s\n", error);
        return 2;
    }
    enl_facts_here(&config, &facts);
    bcri_config_fini(&config);
    if (enl_write_all(1, text, enl_facts_write(&facts, text, sizeof text)) != 0)
        return 1;
    for (;;) {
        struct timespec now;
        alarm(SILENCE_SECONDS);
        const ssize_t got = read(0, text, 64);
        if (got == 0 || (got < 0 && errno != EINTR))
            return got == 0 ? 0 : 1;
        for (ssize_t i = 0; i < got; i++) {
            if (text[i] != '\n')
                continue;
            char answer[64];
            clock_gettime(CLOCK_REALTIME, &now);
            const int length =
                snprintf(answer, sizeof answer, "%lld%09ld\n", (long long)now.tv_sec, now.tv_nsec);
            if (enl_write_all(1, answer, (size_t)length) != 0)
                return 1;
        }
    }
}
