/* SPDX-License-Identifier: MIT */
/* The table of keywords, and what each kind of value must look like. No I/O. */
#include "config_row.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/escape.h"
#include "bcri/log.h"
#include "bcri/network.h"
#include "bcri/words.h"

/* A word that is two typing slips away is taken for the keyword, one if that is short; no two keywords are that
 * close. */
#define NEAR_MAX   2
#define SHORT_NAME 4

const struct bcri_config_row bcri_config_rows[BCRI_CONFIG_COUNT] = {
#define ROW(keyword, kind, fallback, allowed, about) \
    {#keyword, BCRI_CONFIG_KIND_##kind, fallback, allowed, about, offsetof(struct bcri_config, keyword)},
    BCRI_CONFIG_MAP(ROW)
#undef ROW
};

const struct bcri_config_row *bcri_config_row_find(const char *keyword, size_t length)
{
    for (size_t i = 0; i < BCRI_CONFIG_COUNT; i++) {
        const char *name = bcri_config_rows[i].keyword;

        if (strlen(name) == length && memcmp(name, keyword, length) == 0)
            return &bcri_config_rows[i];
    }
    return NULL;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance between `name` and `word`, which is not longer than BCRI_CONFIG_WORD_MAX;
 * case is ignored. */
static size_t distance(const char *name, const char *word, size_t length)
{
    size_t row[BCRI_CONFIG_WORD_MAX + 1];

    for (size_t i = 0; i <= length; i++)
        row[i] = i;
    for (size_t n = 0; name[n]; n++) {
        size_t diagonal = row[0];

        row[0] = n + 1;
        for (size_t i = 0; i < length; i++) {
            size_t change = diagonal + (tolower((unsigned char)word[i]) != name[n]);

            diagonal = row[i + 1];
            row[i + 1] = least(change, least(row[i], diagonal) + 1);
        }
    }
    return row[length];
}

const struct bcri_config_row *bcri_config_row_near(const char *keyword, size_t length)
{
    const struct bcri_config_row *nearest = NULL;
    size_t best = NEAR_MAX + 1;

    if (length > BCRI_CONFIG_WORD_MAX)
        return NULL;
    for (size_t i = 0; i < BCRI_CONFIG_COUNT; i++) {
        const char *name = bcri_config_rows[i].keyword;
        size_t far = distance(name, keyword, length);

        if (far < best && far <= (strlen(name) <= SHORT_NAME ? 1 : NEAR_MAX)) {
            best = far;
            nearest = &bcri_config_rows[i];
        }
    }
    return nearest;
}

bool bcri_config_value_none(const struct bcri_config_row *row, const char *text)
{
    return strcmp(text, "*") == 0 &&
           (row->kind == BCRI_CONFIG_KIND_PROGRAM || row->kind == BCRI_CONFIG_KIND_FILE ||
            row->kind == BCRI_CONFIG_KIND_NAME || row->kind == BCRI_CONFIG_KIND_SUFFIX ||
            row->kind == BCRI_CONFIG_KIND_NETWORK || row->kind == BCRI_CONFIG_KIND_COMMAND);
}

/* Reads "low..high" of a COUNT's row. */
static void range(const struct bcri_config_row *row, long *low_out, long *high_out)
{
    char *end;

    *low_out = strtol(row->allowed, &end, 10);
    *high_out = strtol(end + 2, NULL, 10);
}

static bool count_ok(const struct bcri_config_row *row, const char *text, int *number_out)
{
    long low, high, number;
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 9 || text[digits]) /* nine digits fit an int and a long everywhere */
        return false;
    number = strtol(text, NULL, 10);
    range(row, &low, &high);
    if (number < low || number > high)
        return false;
    *number_out = (int)number;
    return true;
}

static bool choice_ok(const struct bcri_config_row *row, const char *text, int *number_out)
{
    size_t length = strlen(text);
    int number = 0;

    for (const char *word = row->allowed; word; number++) {
        const char *bar = strchr(word, '|');
        size_t word_length = bar ? (size_t)(bar - word) : strlen(word);

        if (word_length == length && memcmp(word, text, length) == 0) {
            *number_out = number;
            return true;
        }
        word = bar ? bar + 1 : NULL;
    }
    return false;
}

/* "ring.1" would be the log of host 1 of a program "ring" by its name, or a name that enl has made, as "ring.1-2". */
static bool name_ok(const char *text)
{
    const size_t length = strlen(text);

    return length <= BCRI_CONFIG_NAME_MAX && !strchr(".-", text[0]) &&
           bcri_log_without_pid(text, length) == 0 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == length;
}

static bool suffix_ok(const char *text)
{
    size_t length = strlen(text);

    /* 253 bytes are a whole domain name. The characters are those of names and of IPv6 zones. None
     * of them means anything to a shell, and none can begin an option, since the suffix never
     * stands first. */
    return length <= 253 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_%") == length;
}

/* No control character, not even a tab: values are shown to people and passed to programs. No space
 * at either end: a file cannot give one, and a person does not see one in a variable. */
static bool printable(const char *text)
{
    size_t length = strlen(text);

    if (length == 0 || text[0] == ' ' || text[length - 1] == ' ')
        return false;
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

bool bcri_config_value_ok(const struct bcri_config_row *row, const char *text, int *number_out)
{
    struct bcri_ports ports;
    struct bcri_network network;
    if (!printable(text))
        return false;
    switch (row->kind) {
    case BCRI_CONFIG_KIND_PROGRAM: return strlen(text) <= BCRI_CONFIG_PROGRAM_MAX && !strchr("=\"'", text[0]);
    case BCRI_CONFIG_KIND_FOLDER: return strlen(text) < PATH_MAX && text[0] == '/';
    case BCRI_CONFIG_KIND_FILE:
        return strlen(text) < PATH_MAX && (text[0] == '/' || (text[0] == '~' && text[1] == '/'));
    case BCRI_CONFIG_KIND_NAME: return name_ok(text);
    case BCRI_CONFIG_KIND_SUFFIX: return suffix_ok(text);
    case BCRI_CONFIG_KIND_PORTS: return bcri_ports_parse(text, &ports);
    case BCRI_CONFIG_KIND_NETWORK: return bcri_network_parse(text, &network);
    case BCRI_CONFIG_KIND_COMMAND: return strlen(text) <= BCRI_WORDS_MAX && bcri_words_count(text) > 0;
    case BCRI_CONFIG_KIND_COUNT: return count_ok(row, text, number_out);
    case BCRI_CONFIG_KIND_CHOICE: return choice_ok(row, text, number_out);
    }
    return false;
}

void bcri_config_allowed(size_t idx, char *text, size_t capacity)
{
    const struct bcri_config_row *row = &bcri_config_rows[idx];
    long low, high;

    switch (row->kind) {
    case BCRI_CONFIG_KIND_PROGRAM:
        snprintf(text, capacity, "the path of a program, without quotes, of at most %d bytes, or * for none",
                 BCRI_CONFIG_PROGRAM_MAX);
        break;
    case BCRI_CONFIG_KIND_FOLDER: snprintf(text, capacity, "the absolute path of a directory"); break;
    case BCRI_CONFIG_KIND_FILE:
        snprintf(text, capacity, "a path that begins with / or ~/, or * for none");
        break;
    case BCRI_CONFIG_KIND_NAME:
        snprintf(text, capacity,
                 "up to %d letters, digits and . _ -, without . or - first or .NUMBER or .NUMBER-NUMBER "
                 "last, or * for none",
                 BCRI_CONFIG_NAME_MAX);
        break;
    case BCRI_CONFIG_KIND_SUFFIX:
        snprintf(text, capacity, "letters, digits and . - _ %%, or * for none");
        break;
    case BCRI_CONFIG_KIND_PORTS:
        snprintf(text, capacity, "a port, a range of ports FIRST-LAST, or 0 for any");
        break;
    case BCRI_CONFIG_KIND_NETWORK:
        snprintf(text, capacity, "an IP address, a network ADDRESS/BITS, or * for none");
        break;
    case BCRI_CONFIG_KIND_COMMAND:
        snprintf(text, capacity, "a command of up to %d bytes, its quotes closed, or * for none",
                 BCRI_WORDS_MAX);
        break;
    case BCRI_CONFIG_KIND_COUNT:
        range(row, &low, &high);
        snprintf(text, capacity, "a whole number from %ld to %ld", low, high);
        break;
    case BCRI_CONFIG_KIND_CHOICE: {
        size_t used = (size_t)snprintf(text, capacity, "one of ");

        /* Each bar becomes ", ". */
        for (const char *c = row->allowed; *c && used + 2 < capacity; c++)
            used += (size_t)snprintf(text + used, capacity - used, *c == '|' ? ", " : "%c", *c);
        break;
    }
    }
}

struct bcri_config_quote bcri_config_quoted(const char *text, size_t length)
{
    struct bcri_config_quote quote;
    size_t taken;
    size_t used = bcri_escape(text, length, quote.text, sizeof quote.text - 3, &taken);

    if (taken < length)
        memcpy(quote.text + used, "...", 4);
    return quote;
}
