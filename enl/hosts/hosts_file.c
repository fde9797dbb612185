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

#define SPACE " \t\n\v\f\r"

#define LINE_FORM                                                                                      \
    "NAME [local] [addr=ADDRESS] [login=USER] [enl=PATH] [slots=N] [abi=NAME] [path=FOLDER[:FOLDER]] " \
    "[net=ADDRESS@NETWORK[+...]] [group=NAME[+...]] [cpugen=WORD] [speed=WORD]"

/* One line that is read. */
struct line {
    struct enl_hosts *hosts;
    const char *place; /* what its sentences begin with */
    struct enl_host host;
    unsigned max_slots;
    size_t count;     /* of the names that it stands for */
    char **addresses; /* as many, if addr= has ranges */
    char *error;
    size_t error_size;
};

/* Cuts off the next word of a line: "" at its end or at a comment. */
static char *take_word(char **line)
{
    char *word = *line + strspn(*line, SPACE);
    const size_t length = *word != '#' ? strcspn(word, SPACE) : 0;
    *line = word + length + (length != 0 && word[length] != '\0');
    word[length] = '\0';
    return word;
}

/* What follows `key`= in a word; NULL: it is no such word. */
static const char *value_of(const char *word, const char *key)
{
    const size_t length = strlen(key);
    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static int refuse_memory(const struct line *line)
{
    return bcri_refuse(line->error, line->error_size, -1, "%s: not enough memory", line->place);
}

static int refuse_twice(const struct line *line, const char *word)
{
    const struct enl_quote quote = enl_quoted(word);
    return bcri_refuse(line->error, line->error_size, -1,
                       "%s: %.*s is said twice in this line; leave one of the two out", line->place,
                       (int)strcspn(quote.text, "="), quote.text);
}

/* The names that a word stands for; NULL: it was refused. */
static char **list_names(const struct line *line, const char *word, size_t *count_out)
{
    const char *why;
    char **names = enl_names_of(word, count_out, &why);
    if (names == NULL)
        bcri_refuse(line->error, line->error_size, -1, "%s: \"%s\" %s", line->place, enl_quoted(word).text,
                    why);
    return names;
}

static int take_slots(struct line *line, const char *word, const char *value, unsigned *slots)
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

static int take_text(struct line *line, const struct enl_host_key *key, const char *word, const char *value)
{
    char **text = enl_host_text(&line->host, key);
    const bool is_address = key == &enl_host_keys[0], ranges = is_address && strchr(value, '[') != NULL;
    size_t count = 1;
    const char *wrong = NULL;
    if (*text != NULL || (is_address && line->addresses != NULL))
        return refuse_twice(line, word);
    if (text == &line->host.net && line->count > 1)
        return bcri_refuse(
            line->error, line->error_size, -1,
            "%s: net= has the addresses of one host, and this line names %zu; give each a line", line->place,
            line->count);
    if (ranges && (line->addresses = list_names(line, value, &count)) == NULL)
        return -1;
    if (ranges && count != line->count)
        return bcri_refuse(line->error, line->error_size, -1,
                           "%s: addr= has %zu addresses for %zu names; give it as many, or one for all",
                           line->place, count, line->count);
    for (size_t i = count; i-- > 0;)
        if (!key->good(ranges ? line->addresses[i] : value))
            wrong = ranges ? line->addresses[i] : value;
    if (wrong != NULL)
        return bcri_refuse(line->error, line->error_size, -1, "%s: %s, not \"%s\"", line->place, key->must,
                           enl_quoted(wrong).text);
    return ranges || (*text = strdup(value)) != NULL ? 0 : refuse_memory(line);
}

/* Reads one word behind the name. */
static int take_option(struct line *line, const char *word)
{
    const char *value;
    if (strcmp(word, "local") == 0) {
        if (line->host.local)
            return refuse_twice(line, word);
        line->host.local = true;
        return 0;
    }
    if ((value = value_of(word, "slots")) != NULL)
        return take_slots(line, word, value, &line->host.slots);
    if ((value = value_of(word, "max_slots")) != NULL || (value = value_of(word, "max-slots")) != NULL)
        return take_slots(line, word, value, &line->max_slots);
    for (size_t i = 0; i < ENL_HOST_KEYS; i++)
        if ((value = value_of(word, enl_host_keys[i].key)) != NULL)
            return take_text(line, &enl_host_keys[i], word, value);
    return bcri_refuse(line->error, line->error_size, -1, "%s: \"%s\" is not known; a line is " LINE_FORM,
                       line->place, enl_quoted(word).text);
}

/* Reads the words behind the name, and completes what they leave open. */
static int take_options(struct line *line, char *rest)
{
    for (const char *word; *(word = take_word(&rest)) != '\0';)
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

static int add_hosts(struct line *line, char **names, char *rest)
{
    for (size_t i = 0; i < line->count; i++)
        if (!enl_is_host_name(names[i]))
            return bcri_refuse(
                line->error, line->error_size, -1,
                "%s: \"%s\" is no host's name: letters, digits and . _ - : %% are; a line is " LINE_FORM,
                line->place, enl_quoted(names[i]).text);
    if (take_options(line, rest) != 0)
        return -1;
    for (size_t i = 0; i < line->count; i++) {
        if (enl_host_check(&line->host, names[i], line->place, line->error, line->error_size) != 0)
            return -1;
        if (!enl_hosts_add(line->hosts, &line->host, names[i],
                           line->addresses != NULL ? line->addresses[i] : NULL))
            return refuse_memory(line);
    }
    return 0;
}

/* Cuts `text` into words. It goes on behind its end if that is not `whole`. */
static int parse_line(struct line *line, char *text, bool whole)
{
    const bool is_comment = text[strspn(text, SPACE)] == '#';
    char *rest = text, *name = take_word(&rest), **names;
    if (is_comment || (whole && name[0] == '\0'))
        return 0;
    if (!whole)
        return bcri_refuse(line->error, line->error_size, -1,
                           "%s: this line has a byte that is zero; write the file as plain text (UTF-8)",
                           line->place);
    if (!enl_names_times(name, ENL_HOST_SLOTS_MAX, &line->host.slots))
        return bcri_refuse(line->error, line->error_size, -1,
                           "%s: the number behind * is the slots, from 1 to 65000, not as in \"%s\"",
                           line->place, enl_quoted(name).text);
    if ((names = list_names(line, name, &line->count)) == NULL)
        return -1;
    const int failed = add_hosts(line, names, rest);
    free(names);
    free(line->addresses);
    enl_host_free_texts(&line->host);
    return failed;
}

struct enl_host *enl_host_of_line(const char *text, const char *place, char *error, size_t error_size)
{
    struct enl_hosts one = {0};
    struct enl_host *host = NULL;
    char *copy = strdup(text);
    struct line line = {.hosts = &one, .place = place, .error = error, .error_size = error_size};
    const int failed = copy != NULL ? parse_line(&line, copy, true) : refuse_memory(&line);
    free(copy);
    if (failed == 0 && one.count == 1) {
        host = one.hosts[0];
        one.count = 0; /* it is the caller's */
    } else if (failed == 0) {
        bcri_refuse(error, error_size, 0,
                    "%s: this names %zu hosts; give one line of a hosts file, with one name", place,
                    one.count);
    }
    enl_hosts_free(&one);
    return host;
}

int enl_hosts_parse(struct enl_hosts *hosts, enum enl_hosts_form form, const char *file, const char *bytes,
                    size_t length, char *error, size_t error_size)
{
    int failed = 0;
    size_t start = 0;
    for (unsigned number = 1; start < length && failed == 0; number++) {
        const char *newline = memchr(bytes + start, '\n', length - start);
        const size_t end = newline != NULL ? (size_t)(newline - bytes) : length;
        char place[PLACE_MAX], *text = strndup(bytes + start, end - start);
        snprintf(place, sizeof place, "%s:%u", file, number);
        struct line line = {
            .hosts = hosts, .place = place, .host.line = number, .error = error, .error_size = error_size};
        if (text == NULL)
            return refuse_memory(&line);
        failed = parse_line(&line, text, strlen(text) == end - start);
        free(text);
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
