/* SPDX-License-Identifier: MIT */
/* See hosts.h. */
#include "hosts/hosts.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/escape.h"

#define DIGITS "0123456789"
enum { DIGITS_MAX = 9 };

static const char too_many[] =
    "stands for more than 150000 names, which is what a list may have; make its ranges smaller";

bool enl_word_is_of(const char *word, const char *first, const char *others)
{
    static const char letters[] = DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if (word[0] == '\0' || strlen(word) > ENL_HOST_NAME_MAX)
        return false;
    for (size_t i = 0; word[i] != '\0'; i++)
        if (strchr(letters, word[i]) == NULL && strchr(i == 0 ? first : others, word[i]) == NULL)
            return false;
    return true;
}

bool enl_is_host_name(const char *word)
{
    return enl_word_is_of(word, ":", "._-:%");
}

bool enl_word_is_count(const char *word, unsigned most, unsigned *count_out)
{
    const bool digits = word[0] != '\0' && word[strspn(word, DIGITS)] == '\0';
    const unsigned long count = digits ? strtoul(word, NULL, 10) : 0;
    *count_out = count <= most ? (unsigned)count : 0;
    return *count_out != 0;
}

struct enl_quote enl_quoted(const char *word)
{
    struct enl_quote quote = {.text = ""};
    size_t taken;
    const size_t length = strlen(word),
                 used = bcri_escape(word, length, quote.text, sizeof quote.text - 3, &taken);
    if (taken < length)
        memcpy(quote.text + used, "...", 4);
    return quote;
}

char *enl_names_next(char **list)
{
    char *word = *list, *end = word;
    for (bool within = false; *end != '\0' && (within || *end != ','); end++)
        if (*end == '[' || *end == ']')
            within = *end == '[';
    *list = *end != '\0' ? end + 1 : NULL;
    *end = '\0';
    return word;
}

bool enl_names_times(char *word, unsigned most, unsigned *times_out)
{
    char *star = strrchr(word, '*');
    *times_out = 0;
    if (star == NULL || strchr(star, ']') != NULL)
        return true;
    if (!enl_word_is_count(star + 1, most, times_out))
        return false;
    *star = '\0';
    return true;
}

struct range {
    unsigned first, last;
    int width;
};

/* Reads digits at `*at`. Returns how many there are. */
static size_t take_number(const char **at, unsigned *number_out)
{
    const size_t digits = strspn(*at, DIGITS);
    *number_out = (unsigned)strtoul(*at, NULL, 10);
    *at += digits;
    return digits;
}

/* Reads a range, behind which `*at` is at a comma or bracket then. NULL, or why it is none. */
static const char *take_range(const char **at, struct range *out)
{
    const size_t first_digits = take_number(at, &out->first);
    const char *second = *at + 1;
    size_t last_digits = first_digits;
    out->last = out->first;
    if (**at == '-') {
        ++*at;
        last_digits = take_number(at, &out->last);
    }
    if (**at == '\0')
        return "has a [ without its ]; close the range";
    if (first_digits == 0 || last_digits == 0 || (**at != ',' && **at != ']'))
        return "must have numbers in its brackets, as in node[01-16,20]";
    if (first_digits > DIGITS_MAX || last_digits > DIGITS_MAX)
        return "has a number of more than 9 digits in its brackets; put common digits before the bracket";
    if (out->last < out->first)
        return "has a range that goes down; write the smaller number first";
    if (last_digits != first_digits && *second == '0')
        return "has a range whose ends have zeros of two kinds; write both with as many digits";
    out->width = (int)first_digits;
    return NULL;
}

/* Counts the names of a word, and the letters of the longest. NULL, or why it cannot be. */
static const char *count_names(const char *word, size_t *count_out, size_t *width_out)
{
    uint64_t count = 1;
    *width_out = 0;
    while (*word != '\0') {
        uint64_t more = 0;
        size_t widest = 0;
        if (*word == ']')
            return "has a ] without its [; open the range";
        if (*word++ != '[') {
            ++*width_out;
            continue;
        }
        do {
            struct range range;
            const char *wrong = take_range(&word, &range);
            if (wrong != NULL)
                return wrong;
            const size_t width = (size_t)snprintf(NULL, 0, "%0*u", range.width, range.last);
            widest = width > widest ? width : widest;
            more += (uint64_t)(range.last - range.first) + 1;
        } while (*word++ == ',');
        *width_out += widest;
        if (more > ENL_HOSTS_MAX || (count *= more) > ENL_HOSTS_MAX)
            return too_many;
    }
    *count_out = (size_t)count;
    return *width_out > ENL_HOST_NAME_MAX ? "stands for names of more than 255 letters; shorten it" : NULL;
}
static_assert(ENL_HOST_NAME_MAX == 255 && ENL_HOSTS_MAX == 150000, "as the sentences say");

struct names {
    char **next, *text; /* where the next name goes */
    char name[ENL_HOST_NAME_MAX + 1];
};

/* Writes the names of what is left of a word, behind the `used` bytes of the name that have come. Each level writes a
 * digit at least, so there are not many. */
static void write_names(struct names *names, const char *word, size_t used)
{
    for (; *word != '\0' && *word != '['; word++)
        names->name[used++] = *word;
    names->name[used] = '\0';
    if (*word == '\0') {
        *names->next++ = names->text;
        names->text = stpcpy(names->text, names->name) + 1;
        return;
    }
    const char *behind = strchr(word, ']') + 1;
    do {
        struct range range = {0};
        word++;
        (void)take_range(&word, &range); /* which was read before */
        for (unsigned number = range.first; number <= range.last; number++)
            write_names(names, behind,
                        used + (size_t)snprintf(names->name + used, sizeof names->name - used, "%0*u",
                                                range.width, number));
    } while (*word == ',');
}

char **enl_names_of(const char *word, size_t *count_out, const char **why_out)
{
    size_t width;
    if ((*why_out = count_names(word, count_out, &width)) != NULL)
        return NULL;
    char **all = malloc(*count_out * (sizeof *all + width + 1));
    if (all == NULL) {
        *why_out = "has more names than there is memory for";
        return NULL;
    }
    struct names names = {.next = all, .text = (char *)(all + *count_out)};
    write_names(&names, word, 0);
    return all;
}
