/* SPDX-License-Identifier: MIT */
/* See hosts_private.h. */
#include "verbs/hosts/hosts_private.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <bcr.h>

#include "base/names.h"
#include "bcri/config.h"
#include "bcri/control.h"
#include "verbs/verbs.h"

enum { SILENCE_SECONDS = 60 };

static uint64_t number_in(const char *path)
{
    char text[32] = "", *end = text;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return ENL_FACT_UNKNOWN;
    const uint64_t number = fgets(text, sizeof text, file) != NULL ? strtoull(text, &end, 10) : 0;
    fclose(file);
    return end != text ? number : ENL_FACT_UNKNOWN;
}

static uint64_t mtu_of(int fd, const char *interface)
{
    struct ifreq request = {.ifr_mtu = 0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    return ioctl(fd, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0 ? (uint64_t)request.ifr_mtu
                                                                       : ENL_FACT_UNKNOWN;
}

/* Of the interface by which ssh has come, else the least of those that are no loopback. */
static uint64_t mtu_here(void)
{
    char way[64] = "", text[ENL_ADDRESS_BYTES];
    const char *connection = getenv("SSH_CONNECTION");
    struct ifaddrs *all;
    uint64_t least = ENL_FACT_UNKNOWN, by_way = ENL_FACT_UNKNOWN;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return ENL_FACT_UNKNOWN;
    if (connection != NULL) /* its third word is the address by which ssh has come */
        (void)sscanf(connection, "%*s %*s %63s", way);
    if (getifaddrs(&all) == 0) {
        for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
            if ((one->ifa_flags & IFF_UP) == 0 || !enl_address_text(one->ifa_addr, text))
                continue;
            const uint64_t mtu = mtu_of(fd, one->ifa_name);
            if (strcmp(text, way) == 0)
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
    if (eaccess(config->tempdir, W_OK | X_OK) != 0)
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
    if (!enl_options_config(NULL, &config))
        return 2;
    enl_facts_here(&config, &facts);
    bcri_config_fini(&config);
    enl_facts_write(&facts, stdout);
    for (;;) {
        struct timespec now;
        alarm(SILENCE_SECONDS);
        if (fflush(stdout) != 0)
            return 1;
        const int byte = getchar();
        if (byte == EOF)
            return ferror(stdin) ? 1 : 0;
        clock_gettime(CLOCK_REALTIME, &now);
        if (byte == '\n')
            printf("%lld%09ld\n", (long long)now.tv_sec, now.tv_nsec);
    }
}
