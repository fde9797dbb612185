/* SPDX-License-Identifier: MIT */
/* See verbs.h. */
#include "verbs/verbs.h"

#include <ifaddrs.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "bcri/config.h"
#include "hosts/hosts.h"
#include "verbs/hosts/hosts_private.h"

enum { NAME_WIDTH_MAX = 40 };

/* What is shown. */
struct shown {
    const struct enl_asked *all;
    size_t count;
    struct enl_facts here;
};

/* ---- a table ---- */

static double figure_of(uint64_t number, uint64_t unit)
{
    const uint64_t whole = number / unit;
    return number != ENL_FACT_UNKNOWN ? (double)whole : NAN;
}

static void show_figure(int width, int decimals, double figure)
{
    if (isnan(figure))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, decimals, figure);
}

/* `asked` NULL: this machine, for which nothing is measured. */
static void show_host_row(int width, const char *name, const struct enl_facts *facts,
                          const struct enl_asked *asked)
{
    printf("%-*s  %-8s %-8s", width, name, facts->version, facts->abi);
    show_figure(5, 0, figure_of(facts->cores, 1));
    show_figure(6, 2, figure_of(facts->load_percent, 1) / 100);
    if (asked != NULL)
        printf(" %+9.1f %8.1f", (double)asked->clock_ns / 1e6, (double)asked->round_trip_ns / 1e6);
    else
        printf(" %9s %8s", "-", "-");
    show_figure(6, 0, figure_of(facts->mtu, 1));
    show_figure(9, 0, figure_of(facts->rmem_max, 1024));
    show_figure(9, 0, figure_of(facts->disk_bytes, 1 << 20));
    putchar('\n');
}

static void show_table(const struct shown *shown)
{
    int width = (int)strlen("this machine");
    for (size_t i = 0; i < shown->count; i++) {
        const int length = (int)strlen(shown->all[i].host->name);
        if (length > width)
            width = length < NAME_WIDTH_MAX ? length : NAME_WIDTH_MAX;
    }
    printf("%-*s  %-8s %-8s %5s %6s %9s %8s %6s %9s %9s\n", width, "HOST", "ENL", "ABI", "CORES", "LOAD",
           "CLOCK ms", "TRIP ms", "MTU", "RMEM KiB", "DISK MiB");
    show_host_row(width, "this machine", &shown->here, NULL);
    for (size_t i = 0; i < shown->count; i++)
        if (shown->all[i].failed[0] != '\0')
            printf("%-*s  cannot be used\n", width, shown->all[i].host->name);
        else if (shown->all[i].no_enl)
            printf("%-*s  is sent enl (push)\n", width, shown->all[i].host->name);
        else
            show_host_row(width, shown->all[i].host->name, &shown->all[i].facts, &shown->all[i]);
}

static void show_sentences(const char *name, const struct enl_findings *found)
{
    for (size_t i = 0; i < found->count; i++)
        if (strncmp(found->all[i].text, "host ", 5) == 0)
            printf("%s\n", found->all[i].text);
        else
            printf("%s: %s\n", name, found->all[i].text);
}

/* ---- JSON ---- */

static void show_string(const char *before, const char *text)
{
    fputs(before, stdout);
    enl_json_text(stdout, text);
}

static void show_number(const char *key, uint64_t number)
{
    if (number == ENL_FACT_UNKNOWN)
        printf(",\"%s\":null", key);
    else
        printf(",\"%s\":%llu", key, (unsigned long long)number);
}

static void show_facts(const struct enl_facts *facts)
{
    show_string(",\"version\":", facts->version);
    show_string(",\"abi\":", facts->abi);
    show_string(",\"hostname\":", facts->hostname);
    show_number("protocol", facts->protocol);
    show_number("cores", facts->cores);
    if (facts->load_percent == ENL_FACT_UNKNOWN)
        printf(",\"load\":null");
    else
        printf(",\"load\":%.2f", (double)facts->load_percent / 100);
    show_number("mtu", facts->mtu);
    show_number("rmem_max", facts->rmem_max);
    show_number("disk_bytes", facts->disk_bytes);
}

static void show_object(const struct enl_asked *asked, const struct enl_findings *found)
{
    show_string("{\"name\":", asked->host->name);
    printf(",\"slots\":%u,\"usable\":%s", asked->host->slots, found->usable ? "true" : "false");
    if (asked->failed[0] == '\0' && !asked->no_enl) {
        show_facts(&asked->facts);
        printf(",\"clock_s\":%.6f,\"round_trip_s\":%.6f", (double)asked->clock_ns / 1e9,
               (double)asked->round_trip_ns / 1e9);
    }
    printf(",\"findings\":[");
    for (size_t i = 0; i < found->count; i++) {
        printf("%s{\"bad\":%s", i > 0 ? "," : "", found->all[i].bad ? "true" : "false");
        show_string(",\"text\":", found->all[i].text);
        putchar('}');
    }
    printf("]}");
}

/* ---- both ---- */

static int show_hosts(const struct shown *shown, bool json)
{
    struct enl_findings found;
    int status = 0;
    if (json) {
        show_string("{\"here\":{\"name\":", shown->here.hostname);
        show_facts(&shown->here);
        printf("},\"hosts\":[");
    } else {
        show_table(shown);
    }
    for (size_t i = 0; i < shown->count; i++) {
        enl_findings(shown->all, i, &shown->here, &found);
        if (!found.usable)
            status = 1;
        if (json && i > 0)
            putchar(',');
        if (json)
            show_object(&shown->all[i], &found);
        else
            show_sentences(shown->all[i].host->name, &found);
    }
    if (json)
        printf("]}\n");
    return status;
}

/* The list that a program would have with these options. False: a sentence on stderr says why there is none. */
static bool load_hosts(struct enl_hosts *hosts, struct bcri_config *config, const struct enl_options *options,
                       const char *file)
{
    char error[1024];
    struct enl_options all = *options;
    const struct enl_hosts_options wish = {options->hostfile, options->host, options->local};
    if (file != NULL)
        all.hosts = file;
    if (!enl_options_config(&all, config))
        return false;
    if (enl_hosts_load(hosts, config, &wish, error, sizeof error) != 0)
        fprintf(stderr, "enl: %s\n", error);
    else if (hosts->count == 0)
        fprintf(stderr,
                "enl: there is no list of machines: enl hosts FILE names one, or hostsfile in bcrrc\n");
    else
        return true;
    return false;
}

/* Each name is asked as a program would start its daemon. False: no memory. */
static bool prepare_asked(struct enl_asked *all, const struct enl_hosts *hosts,
                          const struct bcri_config *config)
{
    char address[600];
    struct ifaddrs *known = NULL;
    bool whole = true;
    for (size_t i = 0; i < hosts->count; i++) {
        struct enl_asked *asked = &all[i];
        asked->host = hosts->hosts[i];
        asked->entry = enl_entry_for(config, hosts, asked->host->name, address, sizeof address);
        asked->is_here = enl_entry_is_here(config, asked->entry, &known);
        asked->address = address[0] != '\0' ? strdup(address) : NULL;
        whole = whole && (address[0] == '\0' || asked->address != NULL);
    }
    freeifaddrs(known);
    return whole;
}

int enl_command_hosts(const struct enl_options *options, const char *file)
{
    struct bcri_config config = {0};
    struct enl_hosts hosts = {0};
    struct enl_asked *all = NULL;
    int status = 2;
    const bool good = load_hosts(&hosts, &config, options, file);
    if (good && ((all = calloc(hosts.count, sizeof *all)) == NULL || !prepare_asked(all, &hosts, &config) ||
                 !enl_ask_all(&config, all, hosts.count)))
        fprintf(stderr, "enl: not enough memory for %zu hosts\n", hosts.count);
    else if (good) {
        struct shown shown = {.all = all, .count = hosts.count};
        enl_facts_here(&config, &shown.here);
        for (size_t i = 0; i < hosts.count && config.log != BCRI_LOG_TO_FILE; i++)
            all[i].facts.disk_bytes = ENL_FACT_UNKNOWN; /* no log is written there */
        enl_findings_compare(all, hosts.count);
        status = show_hosts(&shown, options->json);
    }
    for (size_t i = 0; all != NULL && i < hosts.count; i++)
        free(all[i].address);
    free(all);
    enl_hosts_free(&hosts);
    bcri_config_fini(&config);
    return status;
}
