/* SPDX-License-Identifier: MIT */
/* machine.c -- hosts and tasks: each task tells all others of itself when it begins. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pvm_private.h"

/* What a task tells of itself, in the network's byte order. */
struct card {
    uint32_t pid, signature;
    char host[64], architecture[24], program[64];
};
_Static_assert(sizeof(struct card) == 160, "it is sent to machines of other kinds");

static struct card *cards; /* of each process */
static struct pvmhostinfo *hosts;
static int host_count, architecture_count;
static int *host_of; /* the place of each process's host */

/* Equal where numbers are laid out equally. */
static uint32_t own_signature(void)
{
    const uint16_t one = 1;
    const unsigned is_little = *(const unsigned char *)&one;
    return 0x800000u | is_little << 16 | (unsigned)sizeof(long) << 8 | (unsigned)sizeof(void *);
}

/* PVM's words: LINUX64 for x86-64, LINUX for i386; else LINUX with the machine's own name. */
static void name_architecture(char *name, size_t room)
{
#if defined(__x86_64__)
    const char *machine = "64";
#elif defined(__i386__)
    const char *machine = "";
#else
    struct utsname system;
    const char *machine = uname(&system) == 0 ? system.machine : "";
#endif
    snprintf(name, room, "LINUX%.16s", machine);
    for (char *at = name; *at != '\0'; at++)
        *at = (char)toupper((unsigned char)*at);
}

static void fill_card(struct card *card)
{
    memset(card, 0, sizeof *card);
    card->pid = htonl((uint32_t)getpid());
    card->signature = htonl(own_signature());
    if (gethostname(card->host, sizeof card->host - 1) != 0)
        snprintf(card->host, sizeof card->host, "unknown");
    name_architecture(card->architecture, sizeof card->architecture);
    snprintf(card->program, sizeof card->program, "%s", program_invocation_short_name);
}

static void count_architectures(void)
{
    architecture_count = 0;
    for (int i = 0; i < host_count; i++) {
        int before = 0;
        while (strcmp(hosts[before].hi_arch, hosts[i].hi_arch) != 0)
            before++;
        architecture_count += before == i;
    }
}

/* Hosts in the order of the first task on each. */
static void find_hosts(void)
{
    host_count = 0;
    for (int process = 0; process < pvmi_process.count; process++) {
        const int number = earl_host(process);
        int earlier = 0;
        while (earlier < process && earl_host(earlier) != number)
            earlier++;
        if (earlier < process) {
            host_of[process] = host_of[earlier];
            continue;
        }
        struct card *card = &cards[process];
        hosts[host_count] = (struct pvmhostinfo){
            .hi_tid = (host_count + PVMI_HOSTS) << PVMI_HOST_SHIFT,
            .hi_name = card->host,
            .hi_arch = card->architecture,
            .hi_speed = 1000,
            .hi_dsig = (int)ntohl(card->signature),
        };
        host_of[process] = host_count++;
    }
    count_architectures();
}

int pvmi_machine_begin(void)
{
    const size_t count = (size_t)pvmi_process.count;
    struct card own;
    cards = calloc(count, sizeof *cards);
    hosts = calloc(count, sizeof *hosts);
    host_of = calloc(count, sizeof *host_of);
    size_t *lengths = malloc(count * sizeof *lengths);
    int code = cards == NULL || hosts == NULL || host_of == NULL || lengths == NULL ? PvmNoMem : PvmOk;
    if (code == PvmOk) {
        fill_card(&own);
        for (size_t i = 0; i < count; i++)
            lengths[i] = sizeof own;
        code = pvmi_result(earl_collect(NULL, &own, lengths, cards));
    }
    free(lengths);
    if (code == PvmOk)
        find_hosts();
    return code;
}

int pvmi_signature(void)
{
    return (int)own_signature();
}

/* The place of the host that hi_tid names; -1: none. */
static int host_place(int dtid)
{
    const int place = (dtid >> PVMI_HOST_SHIFT) - PVMI_HOSTS;
    const bool is_host = dtid > 0 && (dtid & (PVMI_TASKS_MOST - 1)) == 0;
    return is_host && place >= 0 && place < host_count ? place : -1;
}

int pvm_config(int *nhost, int *narch, struct pvmhostinfo **hostp)
{
    const int code = pvmi_need();
    if (code < 0)
        return pvmi_told("config", code);
    if (nhost != NULL)
        *nhost = host_count;
    if (narch != NULL)
        *narch = architecture_count;
    if (hostp != NULL)
        *hostp = hosts;
    return PvmOk;
}

static struct pvmtaskinfo task_info(int process)
{
    struct card *card = &cards[process];
    return (struct pvmtaskinfo){
        .ti_tid = pvmi_tid(process),
        .ti_ptid = 0,
        .ti_host = hosts[host_of[process]].hi_tid,
        .ti_flag = 4,
        .ti_a_out = card->program,
        .ti_pid = (int)ntohl(card->pid),
    };
}

static int tasks(int where, int *ntask, struct pvmtaskinfo **taskp)
{
    static struct pvmtaskinfo *told;
    const int code = pvmi_need();
    if (code < 0)
        return code;
    const int one = where == 0 ? -1 : pvmi_process_of(where), place = where == 0 ? -1 : host_place(where);
    if (where < 0)
        return PvmBadParam;
    if (where != 0 && one < 0 && place < 0)
        return where >> PVMI_HOST_SHIFT == PVMI_TASKS >> PVMI_HOST_SHIFT ? PvmNoTask
               : (where & (PVMI_TASKS_MOST - 1)) == 0                    ? PvmNoHost
                                                                         : PvmBadParam;
    free(told);
    told = malloc((size_t)pvmi_process.count * sizeof *told);
    if (told == NULL)
        return PvmNoMem;
    int count = 0;
    for (int process = 0; process < pvmi_process.count; process++)
        if (where == 0 || process == one || host_of[process] == place)
            told[count++] = task_info(process);
    if (ntask != NULL)
        *ntask = count;
    if (taskp != NULL)
        *taskp = told;
    return PvmOk;
}

int pvm_tasks(int where, int *ntask, struct pvmtaskinfo **taskp)
{
    return pvmi_told("tasks", tasks(where, ntask, taskp));
}

int pvm_tidtohost(int tid)
{
    const int code = pvmi_need();
    if (code < 0)
        return pvmi_told("tidtohost", code);
    const int process = pvmi_process_of(tid);
    return pvmi_told("tidtohost", process < 0 ? PvmBadParam : hosts[host_of[process]].hi_tid);
}

static int archcode(const char *arch)
{
    const int code = pvmi_need();
    if (code < 0)
        return code;
    if (arch == NULL || *arch == '\0')
        return PvmBadParam;
    for (int i = 0; i < host_count; i++)
        if (strcmp(hosts[i].hi_arch, arch) == 0)
            return hosts[i].hi_dsig;
    return PvmNotFound;
}

int pvm_archcode(const char *arch)
{
    return pvmi_told("archcode", archcode(arch));
}

static int hostsync(int host, struct timeval *clk, struct timeval *delta)
{
    const int code = pvmi_need();
    if (code < 0)
        return code;
    const int place = host_place(host);
    if (place < 0)
        return PvmNoHost;
    if (place != host_of[pvmi_process.self])
        return PvmNotImpl;
    if (clk != NULL)
        gettimeofday(clk, NULL);
    if (delta != NULL)
        *delta = (struct timeval){0, 0};
    return PvmOk;
}

int pvm_hostsync(int host, struct timeval *clk, struct timeval *delta)
{
    return pvmi_told("hostsync", hostsync(host, clk, delta));
}
