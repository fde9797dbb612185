/* SPDX-License-Identifier: MIT */
/* See hosts_private.h. */
#include "verbs/hosts/hosts_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/link.h"

enum {
    MIB = 1 << 20,
    DISK_LOW = 100,                        /* MiB: as large as a log may grow (logsize) */
    RMEM_WANTED = 4 << 20,                 /* what a daemon asks for */
    MTU_USUAL = 1280,                      /* every link has so much for IPv6 */
    MTU_LEAST = BCRI_LINK_PACKET_MIN + 28, /* with the heads of UDP and IPv4 */
    CLOCK_FAR_MS = 1000,
};

static void add_finding(struct enl_findings *found, bool bad, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add_finding(struct enl_findings *found, bool bad, const char *format, ...)
{
    struct enl_finding *finding = &found->all[found->count++];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
    finding->bad = bad;
    found->usable = found->usable && !bad;
}

/* Another version of BCR, or another machine than the list says. */
static void look_at_enl(struct enl_findings *found, const struct enl_asked *asked,
                        const struct enl_facts *here)
{
    const struct enl_facts *facts = &asked->facts;
    if (facts->protocol != here->protocol)
        add_finding(
            found, true,
            "enl there speaks version %llu of the protocol, and here %llu; install the same version of BCR "
            "there",
            (unsigned long long)facts->protocol, (unsigned long long)here->protocol);
    else if (strcmp(facts->version, here->version) != 0)
        add_finding(found, false,
                    "enl there is version %s, and here %s; install the same version of BCR there",
                    facts->version, here->version);
    if (asked->host->abi != NULL && strcmp(asked->host->abi, facts->abi) != 0)
        add_finding(
            found, true,
            "the hosts file says abi=%s, and enl there is for %s; let enl= name another one there, or take "
            "abi= out",
            asked->host->abi, facts->abi);
}

static void look_at_clock(struct enl_findings *found, const struct enl_asked *asked)
{
    const long long ms = asked->clock_ns / 1000000, far = ms < 0 ? -ms : ms;
    if (far >= CLOCK_FAR_MS && (uint64_t)far * 1000000 > asked->round_trip_ns)
        add_finding(
            found, false,
            "its clock is %lld.%lld s %s this machine's, so the times in logs do not fit; let chrony or ntpd "
            "set it",
            far / 1000, far % 1000 / 100, ms < 0 ? "behind" : "ahead of");
}

static void look_at_means(struct enl_findings *found, const struct enl_asked *asked)
{
    const struct enl_facts *facts = &asked->facts;
    const uint64_t mib = facts->disk_bytes / MIB;
    if (mib == 0)
        add_finding(
            found, false,
            "its tempdir cannot be written, or its disk is full, so there will be no log; free some, let "
            "tempdir in bcrrc there name another directory, or say log stderr or log none");
    else if (facts->disk_bytes != ENL_FACT_UNKNOWN && mib < DISK_LOW)
        add_finding(
            found, false,
            "its disk has only %llu MiB free for logs; free some, or let tempdir in bcrrc there name another "
            "directory",
            (unsigned long long)mib);
    if (facts->rmem_max < RMEM_WANTED && facts->user != 0)
        add_finding(
            found, false,
            "it keeps at most %llu KiB of packets that come (rmem_max), and loses more than that; as root "
            "there: "
            "sysctl -w net.core.rmem_max=%d",
            (unsigned long long)facts->rmem_max / 1024, RMEM_WANTED);
    if (facts->load_percent != ENL_FACT_UNKNOWN && facts->load_percent / 100 > facts->cores)
        add_finding(found, false,
                    "it is busy: %llu processes want its %llu cores; wait, or take it out of the list",
                    (unsigned long long)facts->load_percent / 100, (unsigned long long)facts->cores);
    if (asked->host->slots > facts->cores)
        add_finding(
            found, false,
            "it has %u slots for %llu cores; CCEs that wait by polling hinder each other: lower slots=",
            asked->host->slots, (unsigned long long)facts->cores);
}

static void look_at_net(struct enl_findings *found, const struct enl_asked *all, size_t which)
{
    const uint64_t mtu = all[which].facts.mtu;
    size_t other = 0;
    while (other < which && (all[other].failed[0] != '\0' || all[other].no_enl || all[other].host->local))
        other++;
    if (mtu < MTU_LEAST)
        add_finding(found, false,
                    "its MTU of %llu is too small for links, so what it says to other hosts goes over the "
                    "connections between "
                    "daemons, which is slow; raise it to 1500",
                    (unsigned long long)mtu);
    else if (mtu < MTU_USUAL)
        add_finding(found, false, "its MTU of %llu makes many small packets of a region; raise it to 1500",
                    (unsigned long long)mtu);
    else if (mtu != ENL_FACT_UNKNOWN && other < which && all[other].facts.mtu != ENL_FACT_UNKNOWN &&
             all[other].facts.mtu != mtu)
        add_finding(
            found, false,
            "its MTU is %llu, and that of %s %llu: large packets may be lost between them; give all machines "
            "the same",
            (unsigned long long)mtu, all[other].host->name, (unsigned long long)all[other].facts.mtu);
}

static int compare_machine_ids(const void *a, const void *b)
{
    const struct enl_asked *one = *(const struct enl_asked *const *)a,
                           *two = *(const struct enl_asked *const *)b;
    const int order = strcmp(one->facts.machine_id, two->facts.machine_id);
    return order != 0 ? order : (one > two) - (one < two);
}

void enl_findings_compare(struct enl_asked *all, size_t count)
{
    struct enl_asked **sorted = calloc(count + 1, sizeof(struct enl_asked *));
    size_t used = 0;
    for (size_t i = 0; sorted != NULL && i < count; i++)
        if (all[i].failed[0] == '\0' && !all[i].no_enl && !all[i].host->local &&
            all[i].facts.machine_id[0] != '\0')
            sorted[used++] = &all[i];
    if (used != 0)
        qsort(sorted, used, sizeof(struct enl_asked *), compare_machine_ids);
    for (size_t i = 1; i < used; i++)
        if (strcmp(sorted[i]->facts.machine_id, sorted[i - 1]->facts.machine_id) == 0)
            sorted[i]->same = sorted[i - 1]->same != NULL ? sorted[i - 1]->same : sorted[i - 1];
    free(sorted);
}

void enl_findings(const struct enl_asked *all, size_t which, const struct enl_facts *here,
                  struct enl_findings *found)
{
    const struct enl_asked *asked = &all[which];
    found->usable = true;
    found->count = 0;
    if (asked->failed[0] != '\0')
        add_finding(found, true, "%s", asked->failed);
    else if (asked->no_enl)
        add_finding(found, false, "it has no enl; push sends it one with each program");
    if (asked->failed[0] != '\0' || asked->no_enl)
        return;
    if (!asked->pushed)
        look_at_enl(found, asked, here);
    if (asked->same != NULL)
        add_finding(found, false,
                    "it is the same machine as %s, and shares its daemon; list it once, with slots=",
                    asked->same->host->name);
    look_at_clock(found, asked);
    look_at_means(found, asked);
    look_at_net(found, all, which);
}
