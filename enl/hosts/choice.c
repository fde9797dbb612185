/* SPDX-License-Identifier: MIT */
/* choice.c -- which hosts of a list a job may have: those whose lines say what it asks for. */
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "base/roster.h"
#include "bcri/refuse.h"
#include "hosts/hosts.h"

/* Something that hosts have: words with + between, each behind an @ if there is one. */
struct trait {
    const char *key;
    const char *(*text)(const struct enl_host *host);
};

static const char *group_of(const struct enl_host *host)
{
    return host->group;
}

static const char *abi_of(const struct enl_host *host)
{
    return host->abi != NULL ? host->abi : enl_abi();
}

static const char *cpugen_of(const struct enl_host *host)
{
    return host->cpugen;
}

static const char *speed_of(const struct enl_host *host)
{
    return host->speed;
}

static const char *net_of(const struct enl_host *host)
{
    return host->net;
}

/* The next of words with + between, behind its @, and its length; *at_io is behind it then. NULL: there is none. */
static const char *next_word(const char **at_io, size_t *length_out)
{
    const char *word = *at_io;
    if (word == NULL)
        return NULL;
    const char *const end = word + strcspn(word, "+"), *const behind =
                                                           memchr(word, '@', (size_t)(end - word));
    *at_io = *end != '\0' ? end + 1 : NULL;
    word = behind != NULL ? behind + 1 : word;
    *length_out = (size_t)(end - word);
    return word;
}

static bool has_word(const char *text, const char *wanted, size_t wanted_length)
{
    size_t length;
    for (const char *word; (word = next_word(&text, &length)) != NULL;)
        if (length == wanted_length && memcmp(word, wanted, length) == 0)
            return true;
    return false;
}

/* Adds the words of `text` that are not there yet to a list with ", " between, as far as it has room. */
static void add_words(char *list, size_t size, const char *text)
{
    size_t length, used = strlen(list);
    for (const char *word; (word = next_word(&text, &length)) != NULL;) {
        bool is_there = false;
        for (const char *at = list; *at != '\0' && !is_there; at += strspn(at, ", ")) {
            const size_t one = strcspn(at, ",");
            is_there = one == length && memcmp(at, word, one) == 0;
            at += one;
        }
        if (is_there || used + 2 + length >= size)
            continue;
        used +=
            (size_t)snprintf(list + used, size - used, "%s%.*s", used != 0 ? ", " : "", (int)length, word);
    }
}

/* No host has that word. */
static int refuse_unknown(const struct enl_hosts *hosts, const struct trait *trait, const char *wanted,
                          size_t length, char *error, size_t error_size)
{
    char list[300] = "";
    const int shown = (int)(length < 60 ? length : 60);
    if (hosts->count == 0)
        return bcri_refuse(error, error_size, -1, "%s %.*s: there is no list of hosts", trait->key, shown,
                           wanted);
    for (size_t i = 0; i < hosts->count; i++)
        add_words(list, sizeof list, trait->text(hosts->hosts[i]));
    if (list[0] == '\0')
        return bcri_refuse(error, error_size, -1, "%s %.*s: no host has a %s (%s)", trait->key, shown, wanted,
                           trait->key, enl_hosts_source(hosts));
    return bcri_refuse(error, error_size, -1, "%s %.*s: no host has it; there is: %s (%s)", trait->key, shown,
                       wanted, list, enl_hosts_source(hosts));
}

static bool is_somewhere(const struct enl_hosts *hosts, const struct trait *trait, const char *wanted,
                         size_t length)
{
    for (size_t i = 0; i < hosts->count; i++)
        if (has_word(trait->text(hosts->hosts[i]), wanted, length))
            return true;
    return false;
}

/* Drops hosts that have not that word. Where the rest comes from, in sentences, says so, too. */
static void keep(struct enl_hosts *hosts, const struct trait *trait, const char *wanted)
{
    const size_t length = strlen(wanted), count = hosts->count, used = strlen(hosts->source);
    size_t sorted = 0;
    for (size_t i = 0; i < hosts->sorted; i++)
        if (has_word(trait->text(hosts->by_name[i]), wanted, length))
            hosts->by_name[sorted++] = hosts->by_name[i];
    hosts->sorted = sorted;
    hosts->count = 0;
    for (size_t i = 0; i < count; i++)
        if (has_word(trait->text(hosts->hosts[i]), wanted, length))
            hosts->hosts[hosts->count++] = hosts->hosts[i];
        else
            enl_host_free(hosts->hosts[i]);
    if (hosts->count != count)
        snprintf(hosts->source + used, sizeof hosts->source - used, ", %s %.60s", trait->key, wanted);
}

/* The ABI of a job whose hosts are of one. */
static const char *common_abi(const struct enl_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++)
        if (strcmp(abi_of(hosts->hosts[i]), enl_abi()) == 0)
            return enl_abi();
    return abi_of(hosts->hosts[0]);
}

int enl_hosts_choose(struct enl_hosts *hosts, const struct enl_roster_choice *choice, bool is_heterogeneous,
                     char *error, size_t error_size)
{
    static const struct trait traits[] = {{"group", group_of},
                                          {"abi", abi_of},
                                          {"cpugen", cpugen_of},
                                          {"speed", speed_of},
                                          {"network", net_of}};
    enum { ABI = 1, KINDS = 4 };
    const char *const wanted[KINDS] = {choice->group, choice->abi, choice->cpugen, choice->speed};
    const bool is_this_machine = hosts->count == 0;
    for (size_t i = 0; i < KINDS; i++) {
        if (wanted[i] == NULL || (i == ABI && is_this_machine && strcmp(wanted[i], enl_abi()) == 0))
            continue;
        if (!is_somewhere(hosts, &traits[i], wanted[i], strlen(wanted[i])))
            return refuse_unknown(hosts, &traits[i], wanted[i], strlen(wanted[i]), error, error_size);
        keep(hosts, &traits[i], wanted[i]);
    }
    if (!is_heterogeneous && !is_this_machine) {
        char abi[32]; /* what an entry says goes with it */
        snprintf(abi, sizeof abi, "%s", common_abi(hosts));
        keep(hosts, &traits[ABI], abi);
    }
    size_t length;
    const char *rest = choice->networks;
    for (const char *network; (network = next_word(&rest, &length)) != NULL;)
        if (!is_somewhere(hosts, &traits[KINDS], network, length))
            return refuse_unknown(hosts, &traits[KINDS], network, length, error, error_size);
    return 0;
}

bool enl_host_on_network(const struct enl_host *host, const char *network, size_t length,
                         char address_out[ENL_HOST_NAME_MAX + 1])
{
    size_t found;
    const char *rest = host->net, *part = rest;
    for (const char *word; (word = next_word(&rest, &found)) != NULL; part = rest)
        if (found == length && memcmp(word, network, length) == 0) {
            snprintf(address_out, ENL_HOST_NAME_MAX + 1, "%.*s", (int)strcspn(part, "@"), part);
            return true;
        }
    return false;
}
