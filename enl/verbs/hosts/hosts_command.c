/* SPDX-License-Identifier: MIT */
/* See verbs.h. */
#include "verbs/verbs.h"

#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "bcri/config.h"
#include "hosts/hosts.h"
#include "verbs/hosts/hosts_private.h"
#include "verbs/options.h"

enum { NAME_WIDTH_MAX = 40, FIGURE = 16 };

struct shown {
    const struct enl_asked *all;
    size_t count;
    struct enl_facts here;
    bool json, first; /* the first finding of a machine */
    const char *name;
};

struct figure {
    char text[FIGURE * 2];
};

/* ---- a table ---- */

static struct figure figure_of(uint64_t number, uint64_t unit)
{
    struct figure figure = {.text = "-"};
    if (number != ENL_FACT_UNKNOWN)
        snprintf(figure.text, sizeof figure.text, "%llu", (unsigned long long)(number / unit));
    return figure;
}

static struct figure load_of(const struct enl_facts *facts)
{
    struct figure figure = {.text = "-"};
    if (facts->load_percent != ENL_FACT_UNKNOWN)
        snprintf(figure.text, sizeof figure.text, "%llu.%02llu",
                 (unsigned long long)facts->load_percent / 100,
                 (unsigned long long)facts->load_percent % 100);
    return figure;
}

/* What is measured from here; "-" for this machine. */
static struct figure ms_of(const struct enl_asked *asked, bool clock)
{
    struct figure figure = {.text = "-"};
    if (asked != NULL && clock)
        snprintf(figure.text, sizeof figure.text, "%+.1f", (double)asked->clock_ns / 1e6);
    else if (asked != NULL)
        snprintf(figure.text, sizeof figure.text, "%.1f", (double)asked->round_trip_ns / 1e6);
    return figure;
}

static void show_host_row(int width, const char *name, const struct enl_facts *facts,
                          const struct enl_asked *asked)
{
    printf("%-*s  %-8s %-8s %5s %6s %9s %8s %6s %9s %9s\n", width, name, facts->version, facts->abi,
           figure_of(facts->cores, 1).text, load_of(facts).text, ms_of(asked, true).text,
           ms_of(asked, false).text, figure_of(facts->mtu, 1).text, figure_of(facts->rmem_max, 1024).text,
           figure_of(facts->disk_bytes, 1 << 20).text);
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
        printf(",\"load\":%s", load_of(facts).text);
    show_number("mtu", facts->mtu);
    show_number("rmem_max", facts->rmem_max);
    show_number("disk_bytes", facts->disk_bytes);
}

/* ---- both ---- */

static void show_finding(void *data, const struct enl_finding *finding)
{
    struct shown *shown = data;
    if (!shown->json) {
        const bool names_it = strncmp(finding->text, "host ", 5) == 0;
        printf("%s%s%s\n", names_it ? "" : shown->name, names_it ? "" : ": ", finding->text);
        return;
    }
    printf("%s{\"bad\":%s", shown->first ? "" : ",", finding->bad ? "true" : "false");
    show_string(",\"text\":", finding->text);
    putchar('}');
    shown->first = false;
}

static void pass_over(void *data, const struct enl_finding *finding)
{
    (void)data;
    (void)finding;
}

static bool findings(struct shown *shown, size_t which, bool show)
{
    shown->first = true;
    shown->name = shown->all[which].host->name;
    return enl_findings(shown->all, shown->count, which, &shown->here, show ? show_finding : pass_over,
                        shown);
}

static void show_json(struct shown *shown)
{
    show_string("{\"here\":{\"name\":", shown->here.hostname);
    show_facts(&shown->here);
    printf("},\"hosts\":[");
    for (size_t i = 0; i < shown->count; i++) {
        const struct enl_asked *asked = &shown->all[i];
        show_string(i > 0 ? ",{\"name\":" : "{\"name\":", asked->host->name);
        printf(",\"slots\":%u,\"usable\":%s", asked->host->slots,
               findings(shown, i, false) ? "true" : "false");
        if (asked->failed[0] == '\0' && !asked->no_enl) {
            show_facts(&asked->facts);
            printf(",\"clock_s\":%.6f,\"round_trip_s\":%.6f", (double)asked->clock_ns / 1e9,
                   (double)asked->round_trip_ns / 1e9);
        }
        printf(",\"findings\":[");
        findings(shown, i, true);
        printf("]}");
    }
    printf("]}\n");
}

static int show_hosts(struct shown *shown)
{
    int status = 0;
    if (shown->json)
        show_json(shown);
    else
        show_table(shown);
    for (size_t i = 0; i < shown->count; i++)
        if (!findings(shown, i, !shown->json))
            status = 1;
    return status;
}

static int load(struct enl_hosts *hosts, struct bcri_config *config, const struct enl_options *options,
                const char *file, char *error, size_t error_size)
{
    struct enl_options all = *options;
    const struct enl_hosts_options wish = {options->hostfile, options->host, options->local};
    if (bcri_config_load(config, NULL, error, error_size) != 0)
        return -1;
    if (file != NULL)
        all.hosts = file;
    if (enl_options_apply(&all, config, error, error_size) != 0)
        return -1;
    return enl_hosts_load(hosts, config, &wish, error, error_size);
}

/* Each name is asked as a program would start its daemon. False: no memory. */
static bool prepare(struct enl_asked *all, const struct enl_hosts *hosts, const struct bcri_config *config)
{
    char address[600];
    struct ifaddrs *known = NULL;
    bool whole = true;
    for (size_t i = 0; i < hosts->count; i++) {
        struct enl_asked *asked = &all[i];
        asked->host = &hosts->hosts[i];
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
    char error[1024];
    struct bcri_config config = {0};
    struct enl_hosts hosts = {0};
    struct shown shown = {.json = options->json};
    struct enl_asked *all = NULL;
    int status = 2;
    if (load(&hosts, &config, options, file, error, sizeof error) != 0)
        fprintf(stderr, "enl: %s\n", error);
    else if (hosts.count == 0)
        fprintf(stderr,
                "enl: there is no list of machines: enl hosts FILE names one, or hostsfile in bcrrc\n");
    else if ((all = calloc(hosts.count, sizeof *all)) == NULL || !prepare(all, &hosts, &config))
        fprintf(stderr, "enl: not enough memory for %zu hosts\n", hosts.count);
    else {
        enl_facts_here(&config, &shown.here);
        enl_ask_all(&config, all, hosts.count);
        for (size_t i = 0; i < hosts.count && config.log != BCRI_LOG_TO_FILE; i++)
            all[i].facts.disk_bytes = ENL_FACT_UNKNOWN; /* nobody needs it */
        enl_findings_compare(all, hosts.count);
        shown.all = all;
        shown.count = hosts.count;
        status = show_hosts(&shown);
    }
    for (size_t i = 0; all != NULL && i < hosts.count; i++)
        free(all[i].address);
    free(all);
    enl_hosts_free(&hosts);
    bcri_config_fini(&config);
    return status;
}
