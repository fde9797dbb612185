/* SPDX-License-Identifier: MIT */
/* bcrrc files and BCR_<KEYWORD> variables: bytes that another user may have written. */
#include "config_row.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/refuse.h"
#include "bcri/trusted_file.h"

/* Enough for "file:line" of the longest path. */
#define PLACE_MAX 4160

static bool blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* A piece of a line. */
struct span {
    const char *start;
    size_t length;
};

static struct span trimmed(struct span span)
{
    while (span.length > 0 && blank(span.start[0]))
        span.start++, span.length--;
    while (span.length > 0 && blank(span.start[span.length - 1]))
        span.length--;
    return span;
}

/* The line up to a # that begins it or follows white space. */
static struct span without_comment(struct span line)
{
    for (size_t i = 0; i < line.length; i++)
        if (line.start[i] == '#' && (i == 0 || blank(line.start[i - 1])))
            line.length = i;
    return line;
}

static int refuse_keyword(const char *place, struct span keyword, char *error, size_t error_size)
{
    const struct bcri_config_row *meant = bcri_config_row_near(keyword.start, keyword.length);
    struct bcri_config_quote quote = bcri_config_quoted(keyword.start, keyword.length);
    char known[256];
    size_t used = 0;

    if (meant)
        return bcri_refuse(error, error_size, -EINVAL, "%s: unknown keyword \"%s\"; did you mean \"%s\"?",
                           place, quote.text, meant->keyword);
    if (memchr(keyword.start, '=', keyword.length))
        return bcri_refuse(error, error_size, -EINVAL,
                           "%s: unknown keyword \"%s\"; a line is a keyword, a space and a value, without =",
                           place, quote.text);
    for (size_t i = 0; i < BCRI_CONFIG_COUNT && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                 bcri_config_rows[i].keyword);
    return bcri_refuse(error, error_size, -EINVAL, "%s: unknown keyword \"%s\"; the keywords are %s", place,
                       quote.text, known);
}

static int parse_line(struct bcri_config *config, const char *place, struct span line, char *error,
                      size_t error_size)
{
    char value[BCRI_CONFIG_LINE_MAX + 1];
    struct span keyword, rest;

    if (memchr(line.start, '\0', line.length))
        return bcri_refuse(error, error_size, -EINVAL, "%s: the line holds a NUL byte; is this a text file?",
                           place);
    if (line.length > BCRI_CONFIG_LINE_MAX)
        return bcri_refuse(error, error_size, -EINVAL, "%s: the line is longer than %d bytes", place,
                           BCRI_CONFIG_LINE_MAX);
    line = trimmed(without_comment(line));
    if (line.length == 0)
        return 0;

    keyword = (struct span){line.start, 0};
    while (keyword.length < line.length && !blank(keyword.start[keyword.length]))
        keyword.length++;
    rest = trimmed((struct span){line.start + keyword.length, line.length - keyword.length});

    const struct bcri_config_row *row = bcri_config_row_find(keyword.start, keyword.length);

    if (!row)
        return refuse_keyword(place, keyword, error, error_size);
    if (rest.length == 0) {
        char allowed[128];

        bcri_config_allowed((size_t)(row - bcri_config_rows), allowed, sizeof allowed);
        return bcri_refuse(error, error_size, -EINVAL, "%s: %s has no value; it must be %s", place,
                           row->keyword, allowed);
    }
    memcpy(value, rest.start, rest.length);
    value[rest.length] = '\0';
    return bcri_config_store(config, row, value, place, place, error, error_size);
}

int bcri_config_parse(struct bcri_config *config, const char *name, const char *bytes, size_t length,
                      char *error, size_t error_size)
{
    size_t start = 0;
    int status = 0;

    /* Some editors put a byte order mark in front. */
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        start = 3;
    for (unsigned number = 1; start < length && status == 0; number++) {
        const char *newline = memchr(bytes + start, '\n', length - start);
        size_t end = newline ? (size_t)(newline - bytes) : length;
        char place[PLACE_MAX];

        snprintf(place, sizeof place, "%s:%u", name, number);
        status = parse_line(config, place, (struct span){bytes + start, end - start}, error, error_size);
        start = end + 1;
    }
    return status;
}

int bcri_config_read(struct bcri_config *config, const char *path, bool personal, char *error,
                     size_t error_size)
{
    char *bytes = NULL;
    size_t length = 0;
    int status = bcri_trusted_read(path, personal, &bytes, &length, error, error_size);

    if (status < 0)
        return status == -ENOENT ? 0 : status;
    status = bcri_config_parse(config, path, bytes, length, error, error_size);
    free(bytes);
    return status;
}

/* A BCR_ variable that names no keyword. Other programs may own such names, as CMake owns BCR_ROOT,
 * so only a name close to a keyword is an error: it is probably misspelt. */
static int stray_variable(const char *place, struct span keyword, char *error, size_t error_size)
{
    const struct bcri_config_row *meant = bcri_config_row_near(keyword.start, keyword.length);
    char wanted[BCRI_CONFIG_WORD_MAX + 1];
    size_t length = 0;

    if (!meant)
        return 0;
    for (; meant->keyword[length] && length < BCRI_CONFIG_WORD_MAX; length++)
        wanted[length] = (char)toupper((unsigned char)meant->keyword[length]);
    wanted[length] = '\0';
    return bcri_refuse(error, error_size, -EINVAL, "%s: is not known; did you mean BCR_%s?", place, wanted);
}

static int apply_variable(struct bcri_config *config, const char *variable, size_t name_length, char *error,
                          size_t error_size)
{
    struct bcri_config_quote name = bcri_config_quoted(variable, name_length);
    struct span keyword = {variable + 4, name_length - 4};
    const char *value = variable + name_length + 1;
    const struct bcri_config_row *row = NULL;
    char place[sizeof name + 32], lower[BCRI_CONFIG_WORD_MAX];

    snprintf(place, sizeof place, "environment variable %s", name.text);
    if (keyword.length <= sizeof lower) {
        bool upper = true;

        for (size_t i = 0; i < keyword.length; i++) {
            upper = upper && !islower((unsigned char)keyword.start[i]);
            lower[i] = (char)tolower((unsigned char)keyword.start[i]);
        }
        if (upper)
            row = bcri_config_row_find(lower, keyword.length);
    }
    if (!row)
        return stray_variable(place, keyword, error, error_size);
    /* An empty variable counts as unset: that is how shells take one back. */
    return *value ? bcri_config_store(config, row, value, name.text, place, error, error_size) : 0;
}

int bcri_config_environment(struct bcri_config *config, char *const *environment, char *error,
                            size_t error_size)
{
    int status = 0;

    for (; *environment && status == 0; environment++) {
        const char *equals = strchr(*environment, '=');

        if (equals && strncmp(*environment, "BCR_", 4) == 0)
            status = apply_variable(config, *environment, (size_t)(equals - *environment), error, error_size);
    }
    return status;
}
