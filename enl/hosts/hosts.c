/* SPDX-License-Identifier: MIT */
/* See hosts.h: the list, and what becomes of it. */
#include "hosts/hosts.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/names.h"
#include "bcri/refuse.h"

enum { FOLDERS_MAX = 1023 };

static bool is_login(const char *word)
{
    return enl_word_is_of(word, "_", "_.-");
}

/* Folders that are absolute or begin with ~/, with : between. */
static bool is_folders(const char *word)
{
    if (strlen(word) > FOLDERS_MAX)
        return false;
    for (;; word++) {
        if (word[0] != '/' && (strncmp(word, "~/", 2) != 0 || word[2] == ':' || word[2] == '\0'))
            return false;
        word += strcspn(word, ":");
        if (*word == '\0')
            return true;
    }
}

/* A path that is absolute or begins with ~/, or a name to be looked for on PATH. */
static bool is_program(const char *word)
{
    if (word[0] == '\0' || strlen(word) >= PATH_MAX || word[0] == '-')
        return false;
    for (const char *at = word; *at != '\0'; at++)
        if ((unsigned char)*at < 0x21 || *at == 0x7f)
            return false;
    return word[0] == '/' || (strncmp(word, "~/", 2) == 0 && word[2] != '\0') || strchr(word, '/') == NULL;
}

/* Names of groups or networks, and of kinds of processors: what options may have between commas and points. */
static bool is_word(const char *word)
{
    return enl_word_is_of(word, "_", "_-");
}

static bool is_text_of_parts(const char *word, bool (*good)(char *part))
{
    char *copy = strdup(word), *rest = copy;
    bool is_good = copy != NULL;
    while (is_good && rest != NULL)
        is_good = good(strsep(&rest, "+"));
    free(copy);
    return is_good;
}

static bool is_group(char *part)
{
    return is_word(part);
}

static bool is_groups(const char *word)
{
    return is_text_of_parts(word, is_group);
}

static bool is_net(char *part)
{
    const char *const address = strsep(&part, "@");
    return part != NULL && enl_is_host_name(address) && is_word(part);
}

static bool is_nets(const char *word)
{
    return is_text_of_parts(word, is_net);
}

const struct enl_host_key enl_host_keys[ENL_HOST_KEYS] = {
    {"addr", offsetof(struct enl_host, address), enl_is_host_name,
     "addr must be a host name or an IP address"},
    {"login", offsetof(struct enl_host, login), is_login, "login must be a user's name"},
    {"enl", offsetof(struct enl_host, enl), is_program,
     "enl must be an absolute path, or begin with ~/, or have no slash"},
    {"abi", offsetof(struct enl_host, abi), enl_abi_known, "abi must be one of " ENL_ABIS},
    {"path", offsetof(struct enl_host, path), is_folders,
     "path must be folders that begin with / or ~/, with : between"},
    {"net", offsetof(struct enl_host, net), is_nets,
     "net must be ADDRESS@NETWORK, with + between; a network's name is of letters, digits, _ and -"},
    {"group", offsetof(struct enl_host, group), is_groups,
     "group must be names of letters, digits, _ and -, with + between"},
    {"cpugen", offsetof(struct enl_host, cpugen), is_word, "cpugen must be of letters, digits, _ and -"},
    {"speed", offsetof(struct enl_host, speed), is_word, "speed must be of letters, digits, _ and -"},
};

void enl_host_free_texts(struct enl_host *host)
{
    for (size_t i = 0; i < ENL_HOST_KEYS; i++)
        free(*enl_host_text(host, &enl_host_keys[i]));
}

void enl_host_free(struct enl_host *host)
{
    enl_host_free_texts(host);
    free(host->networks);
    free(host->name);
    free(host);
}

void enl_hosts_free(struct enl_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++)
        enl_host_free(hosts->hosts[i]);
    for (struct enl_host *host; (host = hosts->former) != NULL;) {
        hosts->former = host->next;
        enl_host_free(host);
    }
    free(hosts->hosts);
    free(hosts->by_name);
    *hosts = (struct enl_hosts){0};
}

bool enl_hosts_add(struct enl_hosts *hosts, const struct enl_host *host, const char *name,
                   const char *address)
{
    struct enl_host *to = enl_grow(&hosts->hosts, &hosts->room, hosts->count + 1, sizeof(struct enl_host *))
                              ? malloc(sizeof *to)
                              : NULL;
    if (to == NULL)
        return false;
    *to = *host;
    to->rank = hosts->last_rank + 1;
    to->place = NULL;
    to->networks = NULL;
    bool whole = (to->name = strdup(name)) != NULL;
    for (size_t i = 0; i < ENL_HOST_KEYS; i++) {
        char **text = enl_host_text(to, &enl_host_keys[i]);
        const char *from = text == &to->address && address != NULL ? address : *text;
        *text = from != NULL ? strdup(from) : NULL;
        whole = whole && (*text != NULL) == (from != NULL);
    }
    hosts->sorted = 0;
    if (!whole) {
        enl_host_free(to);
        return false;
    }
    hosts->last_rank++;
    hosts->hosts[hosts->count++] = to;
    return true;
}

int enl_host_check(const struct enl_host *host, const char *name, const char *place, char *error,
                   size_t error_size)
{
    if (strcasecmp(name, "localhost") == 0)
        return bcri_refuse(
            error, error_size, -1,
            "%s: localhost is the host on which bcr_enlist is called, and cannot be listed; give "
            "this machine its own name, or a name and \"local\"",
            place);
    if (host->local && (host->address != NULL || host->login != NULL))
        return bcri_refuse(
            error, error_size, -1,
            "%s: host %s is local, so it is started directly; leave out addr and login, or \"local\"", place,
            name);
    return 0;
}

/* ---- names ---- */

static int compare_names(const void *a, const void *b)
{
    const struct enl_host *one = *(const struct enl_host *const *)a,
                          *two = *(const struct enl_host *const *)b;
    const int order = strcasecmp(one->name, two->name);
    return order != 0 ? order : (one->rank > two->rank) - (one->rank < two->rank);
}

static bool sort_by_name(struct enl_hosts *hosts)
{
    if (!enl_grow(&hosts->by_name, &hosts->names_room, hosts->count + 1, sizeof(struct enl_host *)))
        return false;
    if (hosts->count != 0)
        memcpy(hosts->by_name, hosts->hosts, hosts->count * sizeof(struct enl_host *));
    qsort(hosts->by_name, hosts->count, sizeof(struct enl_host *), compare_names);
    hosts->sorted = hosts->count;
    return true;
}

static int compare_to_name(const void *name, const void *host)
{
    return strcasecmp(name, (*(const struct enl_host *const *)host)->name);
}

struct enl_host *enl_hosts_find(const struct enl_hosts *hosts, const char *name)
{
    if (hosts->sorted == 0)
        return NULL;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): the array is one of pointers */
    const size_t size = sizeof *hosts->by_name;
    struct enl_host *const *found = bsearch(name, hosts->by_name, hosts->sorted, size, compare_to_name);
    return found != NULL ? *found : NULL;
}

/* The first host of a sorted list whose name has come before, in `*first_out`; NULL: none. */
static const struct enl_host *find_twice(const struct enl_hosts *hosts, const struct enl_host **first_out)
{
    const struct enl_host *found = NULL;
    for (size_t i = 1; i < hosts->sorted; i++) {
        const struct enl_host *before = hosts->by_name[i - 1], *host = hosts->by_name[i];
        if (strcasecmp(before->name, host->name) == 0 && (found == NULL || host->rank < found->rank)) {
            *first_out = before;
            found = host;
        }
    }
    return found;
}

static int refuse_twice(const struct enl_host *host, const struct enl_host *first, const char *file,
                        char *error, size_t error_size)
{
    if (host->line == 0)
        return bcri_refuse(error, error_size, -1, "%s: host %s is listed twice; take one of the two out",
                           file, host->name);
    if (host->line == first->line)
        return bcri_refuse(error, error_size, -1,
                           "%s:%u: host %s is listed twice in this line; take one of the two out", file,
                           host->line, host->name);
    return bcri_refuse(error, error_size, -1,
                       "%s:%u: host %s is listed twice, first in line %u; take one of the two out, or say "
                       "slots= (a node file of PBS or Open MPI, where that is a slot more, is given by "
                       "--hostfile)",
                       file, host->line, host->name, first->line);
}

/* Whether the same is said of two hosts. */
static bool say_the_same(const struct enl_host *one, const struct enl_host *two)
{
    bool same = one->local == two->local;
    for (size_t i = 0; i < ENL_HOST_KEYS; i++) {
        const char *a = *enl_host_text(one, &enl_host_keys[i]), *b = *enl_host_text(two, &enl_host_keys[i]);
        same = same && strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0; /* no text is empty */
    }
    return same;
}

/* Gives the first of those that have one name the slots of all, and takes the others out. */
static int merge_by_name(struct enl_hosts *hosts, const char *file, char *error, size_t error_size)
{
    size_t kept = 0;
    struct enl_host *first = NULL;
    for (size_t i = 0; i < hosts->sorted; i++) {
        struct enl_host *host = hosts->by_name[i];
        if (i == 0 || strcasecmp(first->name, host->name) != 0) {
            first = host;
            continue;
        }
        if (!say_the_same(first, host))
            return bcri_refuse(error, error_size, -1,
                               "%s:%u: host %s is not what line %u says; let both lines say the same of it",
                               file, host->line, host->name, first->line);
        if (first->slots + host->slots > ENL_HOST_SLOTS_MAX)
            return bcri_refuse(error, error_size, -1,
                               "%s:%u: host %s has more than %u slots; take some of its lines out", file,
                               host->line, host->name, ENL_HOST_SLOTS_MAX);
        first->slots += host->slots;
        host->slots = 0;
    }
    for (size_t i = 0; i < hosts->count; i++)
        if (hosts->hosts[i]->slots != 0)
            hosts->hosts[kept++] = hosts->hosts[i];
        else
            enl_host_free(hosts->hosts[i]);
    hosts->count = kept;
    hosts->sorted = 0;
    return 0;
}

int enl_hosts_sort(struct enl_hosts *hosts, enum enl_hosts_form form, const char *file, char *error,
                   size_t error_size)
{
    const struct enl_host *first = NULL, *twice;
    if (!sort_by_name(hosts))
        return bcri_refuse(error, error_size, -1, "%s: not enough memory", file);
    if ((twice = find_twice(hosts, &first)) == NULL)
        return 0;
    if (form != ENL_NODE_FILE)
        return refuse_twice(twice, first, file, error, error_size);
    if (merge_by_name(hosts, file, error, error_size) != 0)
        return -1;
    return sort_by_name(hosts) ? 0 : bcri_refuse(error, error_size, -1, "%s: not enough memory", file);
}

/* ---- options ---- */

static int choose_host(struct enl_hosts *chosen, const struct enl_hosts *hosts, const char *name,
                       unsigned slots, char *error, size_t error_size)
{
    if (!enl_is_host_name(name))
        return bcri_refuse(error, error_size, -1,
                           "--host: \"%s\" is no host's name; names are separated by commas",
                           enl_quoted(name).text);
    const struct enl_host *entry = enl_hosts_find(hosts, name);
    struct enl_host host = entry != NULL ? *entry : (struct enl_host){.slots = 1};
    if (slots != 0)
        host.slots = slots;
    host.line = 0;
    if (enl_host_check(&host, name, "--host", error, error_size) != 0)
        return -1;
    return enl_hosts_add(chosen, &host, name, NULL)
               ? 0
               : bcri_refuse(error, error_size, -1, "--host: not enough memory");
}

/* Adds the hosts of one word between commas to those chosen. */
static int choose_hosts(struct enl_hosts *chosen, const struct enl_hosts *hosts, char *word, char *error,
                        size_t error_size)
{
    unsigned slots;
    size_t count;
    const char *why;
    const struct enl_quote quote = enl_quoted(word);
    if (!enl_names_times(word, ENL_HOST_SLOTS_MAX, &slots))
        return bcri_refuse(error, error_size, -1,
                           "--host: the number behind * is the slots, from 1 to %u, not as in \"%s\"",
                           ENL_HOST_SLOTS_MAX, quote.text);
    char **names = enl_names_of(word, &count, &why);
    if (names == NULL)
        return bcri_refuse(error, error_size, -1, "--host: \"%s\" %s", quote.text, why);
    int failed = 0;
    if (count + chosen->count > ENL_HOSTS_MAX)
        failed = bcri_refuse(error, error_size, -1, "--host: a list has at most %u hosts; name fewer",
                             ENL_HOSTS_MAX);
    for (size_t i = 0; failed == 0 && i < count; i++)
        failed = choose_host(chosen, hosts, names[i], slots, error, error_size);
    free(names);
    return failed;
}

int enl_hosts_select(struct enl_hosts *hosts, const char *names, char *error, size_t error_size)
{
    struct enl_hosts chosen = {0};
    char *list = strdup(names), *rest = list;
    int failed = list != NULL ? 0 : bcri_refuse(error, error_size, -1, "--host: not enough memory");
    while (failed == 0 && rest != NULL)
        failed = choose_hosts(&chosen, hosts, enl_names_next(&rest), error, error_size);
    free(list);
    if (failed != 0 || enl_hosts_sort(&chosen, ENL_HOSTS_FILE, "--host", error, error_size) != 0) {
        enl_hosts_free(&chosen);
        return -1;
    }
    snprintf(chosen.source, sizeof chosen.source, "--host");
    enl_hosts_free(hosts);
    *hosts = chosen;
    return 0;
}

int enl_hosts_add_local(struct enl_hosts *hosts, int count, char *error, size_t error_size)
{
    const struct enl_host host = {.local = true, .slots = 1};
    for (int i = 1; i <= count; i++) {
        char name[32];
        snprintf(name, sizeof name, "local%d", i);
        if (!enl_hosts_add(hosts, &host, name, NULL))
            return bcri_refuse(error, error_size, -1, "--local: not enough memory");
    }
    return count > 0 ? enl_hosts_sort(hosts, ENL_HOSTS_FILE, "--local", error, error_size) : 0;
}

const char *enl_hosts_source(const struct enl_hosts *hosts)
{
    return hosts->source[0] != '\0' ? hosts->source : "enl's options";
}
