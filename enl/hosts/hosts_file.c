/* SPDX-License-Identifier: MIT */
/* See hosts.h: the files' form. What is accepted becomes an argument of rshpath's program, so no word may be taken
 * for an option, or for anything by a shell: names, addresses and users are of few characters. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/refuse.h"
#include "bcri/trusted_file.h"
#include "hosts/hosts.h"

enum { PLACE_MAX = 4200 };

#define LINE_FORM \
    "NAME [local] [addr=ADDRESS] [login=USER] [enl=PATH] [slots=N] [abi=NAME] [path=FOLDER[:FOLDER]]"

/* One line that is read. */
struct line {
    struct enl_hosts *hosts;
    const char *place; /* what its sentences begin with */
    struct enl_host host;
    unsigned max_slots;
    size_t count;               /* of the names that it stands for */
    struct enl_hosts addresses; /* if addr= has ranges: hosts of these names */
    size_t taken;               /* of the addresses */
    char *error;
    size_t error_size;
};

static bool is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* The next word of a line, of length 0 at its end or at a comment. */
static struct enl_word take_word(struct enl_word *line)
{
    size_t at = 0, end;
    while (at < line->length && is_space(line->start[at]))
        at++;
    if (at < line->length && line->start[at] == '#')
        at = line->length;
    for (end = at; end < line->length && !is_space(line->start[end]); end++)
        ;
    const struct enl_word word = {line->start + at, end - at};
    *line = (struct enl_word){line->start + end, line->length - end};
    return word;
}

static bool is_word(struct enl_word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.start, text, word.length) == 0;
}

/* What follows `key`= in a word. */
static bool has_key(struct enl_word word, const char *key, struct enl_word *value_out)
{
    const size_t length = strlen(key);
    if (word.length <= length || memcmp(word.start, key, length) != 0 || word.start[length] != '=')
        return false;
    *value_out = (struct enl_word){word.start + length + 1, word.length - length - 1};
    return true;
}

static int refuse_memory(const struct line *line)
{
    return bcri_refuse(line->error, line->error_size, -1, "%s: not enough memory", line->place);
}

static int refuse_twice(const struct line *line, struct enl_word word)
{
    const struct enl_quote quote = enl_quoted(word);
    return bcri_refuse(line->error, line->error_size, -1,
                       "%s: %.*s is said twice in this line; leave one of the two out", line->place,
                       (int)strcspn(quote.text, "="), quote.text);
}

/* ---- ranges ---- */

/* How many names a word stands for; 0: it was refused. */
static size_t count_names(const struct line *line, struct enl_word word)
{
    char why[256];
    const size_t count = enl_names_count(word, why, sizeof why);
    if (count == 0)
        bcri_refuse(line->error, line->error_size, 0, "%s: \"%s\" %s", line->place, enl_quoted(word).text,
                    why);
    return count;
}

static bool check_name(void *data, const char *name)
{
    const struct line *line = data;
    const struct enl_word word = {name, strlen(name)};
    return enl_is_host_name(word) ||
           bcri_refuse(
               line->error, line->error_size, false,
               "%s: \"%s\" is no host's name: letters, digits and . _ - : %% are; a line is " LINE_FORM,
               line->place, enl_quoted(word).text);
}

static bool take_address(void *data, const char *address)
{
    struct line *line = data;
    const struct enl_word word = {address, strlen(address)};
    const struct enl_host none = {0};
    if (!enl_is_host_name(word))
        return bcri_refuse(line->error, line->error_size, false, "%s: %s, not \"%s\"", line->place,
                           enl_host_keys[0].must, enl_quoted(word).text);
    return enl_hosts_add(&line->addresses, &none, address, NULL) || refuse_memory(line) == 0;
}

static int take_addresses(struct line *line, struct enl_word value)
{
    const size_t count = count_names(line, value);
    if (count == 0)
        return -1;
    if (count != line->count)
        return bcri_refuse(line->error, line->error_size, -1,
                           "%s: addr= has %zu addresses for %zu names; give it as many, or one for all",
                           line->place, count, line->count);
    return enl_names_each(value, take_address, line) ? 0 : -1;
}

static bool add_host(void *data, const char *name)
{
    struct line *line = data;
    const char *address =
        line->taken < line->addresses.count ? line->addresses.hosts[line->taken++].name : NULL;
    if (enl_host_check(&line->host, name, line->place, line->error, line->error_size) != 0)
        return false;
    return enl_hosts_add(line->hosts, &line->host, name, address) || refuse_memory(line) == 0;
}

/* ---- lines ---- */

static int take_slots(struct line *line, struct enl_word word, struct enl_word value, unsigned *slots)
{
    if (*slots != 0)
        return refuse_twice(line, word);
    return enl_word_is_count(value, ENL_HOST_SLOTS_MAX, slots)
               ? 0
               : bcri_refuse(line->error, line->error_size, -1,
                             "%s: slots must be a number from 1 to 65000, not \"%s\"", line->place,
                             enl_quoted(value).text);
}
static_assert(ENL_HOST_SLOTS_MAX == 65000, "as the sentence says");

static int take_text(struct line *line, const struct enl_host_key *key, struct enl_word word,
                     struct enl_word value)
{
    char **text = enl_host_text(&line->host, key);
    const bool ranges = key == &enl_host_keys[0] && memchr(value.start, '[', value.length) != NULL;
    if (*text != NULL || (key == &enl_host_keys[0] && line->addresses.count != 0))
        return refuse_twice(line, word);
    if (ranges)
        return take_addresses(line, value);
    if (!key->good(value))
        return bcri_refuse(line->error, line->error_size, -1, "%s: %s, not \"%s\"", line->place, key->must,
                           enl_quoted(value).text);
    *text = strndup(value.start, value.length);
    return *text != NULL ? 0 : refuse_memory(line);
}

/* Reads one word behind the name. */
static int take_option(struct line *line, struct enl_word word)
{
    struct enl_word value;
    if (is_word(word, "local")) {
        if (line->host.local)
            return refuse_twice(line, word);
        line->host.local = true;
        return 0;
    }
    if (has_key(word, "slots", &value))
        return take_slots(line, word, value, &line->host.slots);
    if (has_key(word, "max_slots", &value) || has_key(word, "max-slots", &value))
        return take_slots(line, word, value, &line->max_slots);
    for (size_t i = 0; i < ENL_HOST_KEYS; i++)
        if (has_key(word, enl_host_keys[i].key, &value))
            return take_text(line, &enl_host_keys[i], word, value);
    return bcri_refuse(line->error, line->error_size, -1, "%s: \"%s\" is not known; a line is " LINE_FORM,
                       line->place, enl_quoted(word).text);
}

/* Reads the words behind the name, and completes what they leave open. */
static int take_options(struct line *line, struct enl_word rest)
{
    for (struct enl_word word; (word = take_word(&rest)).length != 0;)
        if (take_option(line, word) != 0)
            return -1;
    if (line->host.slots == 0)
        line->host.slots = line->max_slots != 0 ? line->max_slots : 1;
    if (line->max_slots != 0 && line->host.slots > line->max_slots)
        return bcri_refuse(line->error, line->error_size, -1,
                           "%s: there are %u slots, and at most %u; leave max_slots out, or make it larger",
                           line->place, line->host.slots, line->max_slots);
    if (line->count + line->hosts->count > ENL_HOSTS_MAX)
        return bcri_refuse(line->error, line->error_size, -1,
                           "%s: a list has at most %u hosts; take some out", line->place, ENL_HOSTS_MAX);
    return 0;
}

static int parse_line(struct line *line, struct enl_word rest)
{
    struct enl_word name = take_word(&rest);
    const struct enl_word whole = name;
    if (name.length == 0)
        return 0;
    /* From here on words become strings. */
    if (memchr(name.start, '\0', (size_t)(rest.start + rest.length - name.start)) != NULL)
        return bcri_refuse(line->error, line->error_size, -1,
                           "%s: this line has a byte that is zero; write the file as plain text (UTF-8)",
                           line->place);
    if (!enl_names_times(&name, ENL_HOST_SLOTS_MAX, &line->host.slots) && line->host.slots != 0)
        return bcri_refuse(line->error, line->error_size, -1,
                           "%s: the number behind * is the slots, from 1 to 65000, not as in \"%s\"",
                           line->place, enl_quoted(whole).text);
    line->count = count_names(line, name);
    int failed = line->count == 0 || !enl_names_each(name, check_name, line) ? -1 : take_options(line, rest);
    if (failed == 0 && !enl_names_each(name, add_host, line))
        failed = -1;
    enl_hosts_free(&line->addresses);
    enl_host_free(&line->host);
    return failed;
}

int enl_hosts_parse(struct enl_hosts *hosts, enum enl_hosts_form form, const char *file, const char *bytes,
                    size_t length, char *error, size_t error_size)
{
    int failed = 0;
    size_t start = 0;
    for (unsigned number = 1; start < length && failed == 0; number++) {
        const char *newline = memchr(bytes + start, '\n', length - start);
        const size_t end = newline != NULL ? (size_t)(newline - bytes) : length;
        char place[PLACE_MAX];
        snprintf(place, sizeof place, "%s:%u", file, number);
        struct line line = {
            .hosts = hosts, .place = place, .host.line = number, .error = error, .error_size = error_size};
        failed = parse_line(&line, (struct enl_word){bytes + start, end - start});
        start = end + 1;
    }
    return failed != 0 ? failed : enl_hosts_sort(hosts, form, file, error, error_size);
}

int enl_hosts_read(struct enl_hosts *hosts, enum enl_hosts_form form, const char *path, char *error,
                   size_t error_size)
{
    char *bytes;
    size_t length;
    if (bcri_trusted_read(path, true, &bytes, &length, error, error_size) != 0)
        return -1;
    const int failed = enl_hosts_parse(hosts, form, path, bytes, length, error, error_size);
    snprintf(hosts->source, sizeof hosts->source, "%s", path);
    free(bytes);
    return failed;
}
