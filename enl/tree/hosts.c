/* SPDX-License-Identifier: MIT */
/* See hosts.h. What is accepted becomes an argument of rshpath's program, so no word may be taken
 * for an option, or for anything by a shell: names, addresses and users are of few characters. */
#include "hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bcri/config.h"
#include "bcri/escape.h"
#include "bcri/refuse.h"
#include "bcri/trusted_file.h"

enum { WORD_MAX = 255, PLACE_MAX = 4200 };

#define LINE_FORM "NAME [local] [addr=ADDRESS] [login=USER] [enl=PATH] [slots=N] [abi=NAME]"

struct word {
    const char *start;
    size_t length;
};

static bool is_letter_or_digit(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
}

/* Whether a word is of letters, digits and `others`, and begins with a letter, a digit or one of
 * `first`. */
static bool is_of(struct word word, const char *first, const char *others)
{
    if (word.length == 0 || word.length > WORD_MAX)
        return false;
    for (size_t i = 0; i < word.length; i++) {
        const char byte = word.start[i];
        const bool good =
            is_letter_or_digit(byte) || (byte != '\0' && strchr(i == 0 ? first : others, byte) != NULL);
        if (!good)
            return false;
    }
    return true;
}

static bool is_host_name(struct word word)
{
    return is_of(word, ":", "._-:%");
}

/* A path that is absolute or begins with ~/, or a name to be looked for on PATH. */
static bool is_program(struct word word)
{
    if (word.length == 0 || word.length > 4095 || word.start[0] == '-')
        return false;
    for (size_t i = 0; i < word.length; i++)
        if ((unsigned char)word.start[i] < 0x21 || word.start[i] == 0x7f)
            return false;
    return word.start[0] == '/' || (word.length > 2 && word.start[0] == '~' && word.start[1] == '/') ||
           memchr(word.start, '/', word.length) == NULL;
}

static bool is_count(struct word word, unsigned *count_out)
{
    unsigned count = 0;
    for (size_t i = 0; i < word.length; i++) {
        if (word.start[i] < '0' || word.start[i] > '9' || count > ENL_HOST_SLOTS_MAX)
            return false;
        count = count * 10 + (unsigned)(word.start[i] - '0');
    }
    *count_out = count;
    return word.length != 0 && count >= 1 && count <= ENL_HOST_SLOTS_MAX;
}

static void free_host(struct enl_host *host)
{
    free(host->name);
    free(host->address);
    free(host->login);
    free(host->enl);
    free(host->abi);
}

void enl_hosts_free(struct enl_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++)
        free_host(&hosts->hosts[i]);
    free(hosts->hosts);
    *hosts = (struct enl_hosts){0};
}

const struct enl_host *enl_hosts_find(const struct enl_hosts *hosts, const char *name)
{
    for (size_t i = 0; i < hosts->count; i++)
        if (strcasecmp(hosts->hosts[i].name, name) == 0)
            return &hosts->hosts[i];
    return NULL;
}

/* Takes what `host` has. -1: no memory; the caller still has it. */
static int add(struct enl_hosts *hosts, const struct enl_host *host)
{
    struct enl_host *more = realloc(hosts->hosts, (hosts->count + 1) * sizeof *more);
    if (more == NULL)
        return -1;
    hosts->hosts = more;
    more[hosts->count++] = *host;
    return 0;
}

struct quote {
    char text[200];
};

static struct quote quoted(struct word word)
{
    struct quote quote;
    size_t taken;
    const size_t used = bcri_escape(word.start, word.length, quote.text, sizeof quote.text - 3, &taken);
    if (taken < word.length)
        memcpy(quote.text + used, "...", 4);
    return quote;
}

/* The next word of a line, of length 0 at its end or at a comment. */
static struct word take_word(struct word *line)
{
    size_t at = 0, end;
    while (at < line->length &&
           (line->start[at] == ' ' || (line->start[at] >= '\t' && line->start[at] <= '\r')))
        at++;
    if (at < line->length && line->start[at] == '#')
        at = line->length;
    for (end = at; end < line->length; end++)
        if (line->start[end] == ' ' || (line->start[end] >= '\t' && line->start[end] <= '\r'))
            break;
    const struct word word = {line->start + at, end - at};
    *line = (struct word){line->start + end, line->length - end};
    return word;
}

static bool is_word(struct word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.start, text, word.length) == 0;
}

/* What follows `key`= in a word. */
static bool has_key(struct word word, const char *key, struct word *value_out)
{
    const size_t length = strlen(key);
    if (word.length <= length || memcmp(word.start, key, length) != 0 || word.start[length] != '=')
        return false;
    *value_out = (struct word){word.start + length + 1, word.length - length - 1};
    return true;
}

static int store(char **field, struct word value, const char *place, char *error, size_t error_size)
{
    *field = strndup(value.start, value.length);
    if (*field != NULL)
        return 0;
    bcri_refuse(error, error_size, -1, "%s: not enough memory", place);
    return -1;
}

/* Reads one word behind the name. */
static int take_option(struct enl_host *host, struct word word, const char *place, char *error,
                       size_t error_size)
{
    struct word value;
    const char *must = NULL;
    char **field = NULL;
    bool twice = false;
    if (is_word(word, "local")) {
        twice = host->local;
        host->local = true;
    } else if (has_key(word, "addr", &value)) {
        field = &host->address;
        must = is_host_name(value) ? NULL : "addr must be a host name or an IP address";
    } else if (has_key(word, "login", &value)) {
        field = &host->login;
        must = is_of(value, "_", "_.-") ? NULL : "login must be a user's name";
    } else if (has_key(word, "enl", &value)) {
        field = &host->enl;
        must = is_program(value) ? NULL : "enl must be an absolute path, or begin with ~/, or have no slash";
    } else if (has_key(word, "abi", &value)) {
        field = &host->abi;
        must = is_of(value, "", "_") ? NULL : "abi must be the name of an architecture, as x86_64";
    } else if (has_key(word, "slots", &value)) {
        twice = host->slots != 0;
        must = is_count(value, &host->slots) ? NULL : "slots must be a number from 1 to 65000";
    } else {
        return bcri_refuse(error, error_size, -1, "%s: \"%s\" is not known; a line is " LINE_FORM, place,
                           quoted(word).text);
    }
    if (twice || (field != NULL && *field != NULL))
        return bcri_refuse(error, error_size, -1,
                           "%s: %.*s is said twice in this line; leave one of the two out", place,
                           (int)strcspn(quoted(word).text, "="), quoted(word).text);
    if (must != NULL)
        return bcri_refuse(error, error_size, -1, "%s: %s, not \"%s\"", place, must, quoted(value).text);
    return field == NULL ? 0 : store(field, value, place, error, error_size);
}

static int check_whole(const struct enl_host *host, const char *place, char *error, size_t error_size)
{
    if (strcasecmp(host->name, "localhost") == 0)
        return bcri_refuse(
            error, error_size, -1,
            "%s: localhost is the host on which bcr_enlist is called, and cannot be listed; give "
            "this machine its own name, or a name and \"local\"",
            place);
    if (host->local && (host->address != NULL || host->login != NULL))
        return bcri_refuse(
            error, error_size, -1,
            "%s: host %s is local, so it is started directly; leave out addr and login, or \"local\"", place,
            host->name);
    return 0;
}

static int parse_line(struct enl_hosts *hosts, const char *place, struct word line, char *error,
                      size_t error_size)
{
    const struct word name = take_word(&line);
    if (name.length == 0)
        return 0;
    if (!is_host_name(name))
        return bcri_refuse(
            error, error_size, -1,
            "%s: \"%s\" is no host's name: letters, digits and . _ - : %% are; a line is " LINE_FORM, place,
            quoted(name).text);
    struct enl_host host = {0};
    int failed = store(&host.name, name, place, error, error_size);
    for (struct word word; failed == 0 && (word = take_word(&line)).length != 0;)
        failed = take_option(&host, word, place, error, error_size);
    if (host.slots == 0)
        host.slots = 1;
    if (failed == 0)
        failed = check_whole(&host, place, error, error_size);
    if (failed == 0 && add(hosts, &host) == 0)
        return 0;
    if (failed == 0)
        bcri_refuse(error, error_size, -1, "%s: not enough memory", place);
    free_host(&host);
    return -1;
}

static int compare_names(const void *a, const void *b)
{
    const struct enl_host *one = *(const struct enl_host *const *)a,
                          *two = *(const struct enl_host *const *)b;
    const int order = strcasecmp(one->name, two->name);
    return order != 0 ? order : (one > two) - (one < two);
}

/* The first host of a list whose name has come before; NULL: none. *failed_out: no memory. */
static const struct enl_host *find_twice(const struct enl_hosts *hosts, bool *failed_out)
{
    const struct enl_host *found = NULL, **sorted = calloc(hosts->count + 1, sizeof(const struct enl_host *));
    *failed_out = sorted == NULL;
    for (size_t i = 0; sorted != NULL && i < hosts->count; i++)
        sorted[i] = &hosts->hosts[i];
    if (sorted != NULL)
        qsort(sorted, hosts->count, sizeof(const struct enl_host *), compare_names);
    for (size_t i = 1; sorted != NULL && i < hosts->count; i++)
        if (strcasecmp(sorted[i - 1]->name, sorted[i]->name) == 0 && (found == NULL || sorted[i] < found))
            found = sorted[i];
    free(sorted);
    return found;
}

/* Refuses a list in which two hosts have one name. */
static int check_names(const struct enl_hosts *hosts, const char *file, char *error, size_t error_size)
{
    bool failed;
    const struct enl_host *twice = find_twice(hosts, &failed);
    if (failed)
        return bcri_refuse(error, error_size, -1, "%s: not enough memory", file);
    if (twice == NULL)
        return 0;
    char place[PLACE_MAX];
    snprintf(place, sizeof place, twice->line != 0 ? "%s:%u" : "%s", file, twice->line);
    return bcri_refuse(error, error_size, -1, "%s: host %s is listed twice; take one of the two out", place,
                       twice->name);
}

int enl_hosts_parse(struct enl_hosts *hosts, const char *file, const char *bytes, size_t length, char *error,
                    size_t error_size)
{
    int failed = 0;
    size_t start = 0;
    for (unsigned number = 1; start < length && failed == 0; number++) {
        const char *newline = memchr(bytes + start, '\n', length - start);
        const size_t end = newline != NULL ? (size_t)(newline - bytes) : length;
        char place[PLACE_MAX];
        snprintf(place, sizeof place, "%s:%u", file, number);
        const size_t before = hosts->count;
        failed = parse_line(hosts, place, (struct word){bytes + start, end - start}, error, error_size);
        if (hosts->count > before)
            hosts->hosts[before].line = number;
        start = end + 1;
    }
    return failed != 0 ? failed : check_names(hosts, file, error, error_size);
}

int enl_hosts_read(struct enl_hosts *hosts, const char *path, char *error, size_t error_size)
{
    char *bytes;
    size_t length;
    if (bcri_trusted_read(path, true, &bytes, &length, error, error_size) != 0)
        return -1;
    const int failed = enl_hosts_parse(hosts, path, bytes, length, error, error_size);
    free(bytes);
    return failed;
}

static char *copy_of(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

/* Adds the host of that name to `chosen`: the entry of `hosts`, or a new one. */
static int choose(struct enl_hosts *chosen, const struct enl_hosts *hosts, struct word name, char *error,
                  size_t error_size)
{
    if (!is_host_name(name))
        return bcri_refuse(error, error_size, -1,
                           "--host: \"%s\" is no host's name; names are separated by commas",
                           quoted(name).text);
    struct enl_host host = {.slots = 1, .name = strndup(name.start, name.length)};
    if (host.name == NULL) {
        bcri_refuse(error, error_size, -1, "--host: not enough memory");
        return -1;
    }
    const struct enl_host *entry = enl_hosts_find(hosts, host.name);
    if (entry != NULL) {
        host.local = entry->local;
        host.slots = entry->slots;
        host.address = copy_of(entry->address);
        host.login = copy_of(entry->login);
        host.enl = copy_of(entry->enl);
        host.abi = copy_of(entry->abi);
    }
    const int failed = check_whole(&host, "--host", error, error_size);
    if (failed == 0 && add(chosen, &host) == 0)
        return 0;
    if (failed == 0)
        bcri_refuse(error, error_size, -1, "--host: not enough memory");
    free_host(&host);
    return -1;
}

int enl_hosts_select(struct enl_hosts *hosts, const char *names, char *error, size_t error_size)
{
    struct enl_hosts chosen = {0};
    for (;;) {
        const size_t length = strcspn(names, ",");
        if (choose(&chosen, hosts, (struct word){names, length}, error, error_size) != 0 ||
            (names[length] == '\0' && check_names(&chosen, "--host", error, error_size) != 0)) {
            enl_hosts_free(&chosen);
            return -1;
        }
        if (names[length] == '\0')
            break;
        names += length + 1;
    }
    enl_hosts_free(hosts);
    *hosts = chosen;
    return 0;
}

int enl_hosts_add_local(struct enl_hosts *hosts, int count, char *error, size_t error_size)
{
    for (int i = 1; i <= count; i++) {
        char line[64];
        const int length = snprintf(line, sizeof line, "local%d local", i);
        if (parse_line(hosts, "--local", (struct word){line, (size_t)length}, error, error_size) != 0)
            return -1;
    }
    return count > 0 ? check_names(hosts, "--local", error, error_size) : 0;
}

int enl_hosts_load(struct enl_hosts *hosts, const struct bcri_config *config, const char *names, int local,
                   char *error, size_t error_size)
{
    char *path = NULL;
    int failed = 0;
    if (config->hostsfile != NULL && bcri_config_resolve(config, config->hostsfile, &path) != 0)
        return bcri_refuse(error, error_size, -1, "hostsfile %s: there is no home directory",
                           config->hostsfile);
    if (path != NULL)
        failed = enl_hosts_read(hosts, path, error, error_size);
    free(path);
    if (failed == 0 && names != NULL)
        failed = enl_hosts_select(hosts, names, error, error_size);
    if (failed == 0)
        failed = enl_hosts_add_local(hosts, local, error, error_size);
    return failed;
}
