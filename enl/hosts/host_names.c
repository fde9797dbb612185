/* SPDX-License-Identifier: MIT */
/* See hosts.h. */
#include "hosts/hosts.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bcri/escape.h"
#include "bcri/refuse.h"

enum { DIGITS_MAX = 9 };

static const char too_many[] =
    "stands for more than 150000 names, which is what a list may have; make its ranges smaller";

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_letter_or_digit(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || is_digit(byte);
}

bool enl_word_is_of(struct enl_word word, const char *first, const char *others)
{
    if (word.length == 0 || word.length > ENL_HOST_NAME_MAX)
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

bool enl_is_host_name(struct enl_word word)
{
    return enl_word_is_of(word, ":", "._-:%");
}

bool enl_word_is_count(struct enl_word word, unsigned most, unsigned *count_out)
{
    unsigned count = 0;
    for (size_t i = 0; i < word.length; i++) {
        if (!is_digit(word.start[i]) || count > most)
            return false;
        count = count * 10 + (unsigned)(word.start[i] - '0');
    }
    *count_out = count;
    return word.length != 0 && count >= 1 && count <= most;
}

struct enl_quote enl_quoted(struct enl_word word)
{
    struct enl_quote quote = {.text = ""};
    size_t taken;
    const size_t used = bcri_escape(word.start, word.length, quote.text, sizeof quote.text - 3, &taken);
    if (taken < word.length)
        memcpy(quote.text + used, "...", 4);
    return quote;
}

struct enl_word enl_names_next(struct enl_word *list)
{
    size_t end = 0;
    for (bool within = false; end < list->length && (within || list->start[end] != ','); end++)
        if (list->start[end] == '[' || list->start[end] == ']')
            within = list->start[end] == '[';
    const struct enl_word next = {list->start, end};
    const size_t cut = end + (end < list->length);
    *list = (struct enl_word){list->start + cut, list->length - cut};
    return next;
}

bool enl_names_times(struct enl_word *word, unsigned most, unsigned *times_out)
{
    size_t at = word->length;
    *times_out = 0;
    while (at > 0 && word->start[at - 1] != '*' && word->start[at - 1] != ']')
        at--;
    if (at == 0 || word->start[at - 1] != '*')
        return false;
    const bool good =
        enl_word_is_count((struct enl_word){word->start + at, word->length - at}, most, times_out);
    if (!good)
        *times_out = 1;
    word->length = at - 1;
    return good;
}

struct range {
    unsigned first, last;
    int width;
};

/* Reads digits at `*at`. Returns how many there are. */
static size_t take_number(struct enl_word word, size_t *at, unsigned *number_out)
{
    const size_t start = *at;
    *number_out = 0;
    for (; *at < word.length && is_digit(word.start[*at]); ++*at)
        if (*at - start < DIGITS_MAX)
            *number_out = *number_out * 10 + (unsigned)(word.start[*at] - '0');
    return *at - start;
}

/* Reads a range, behind which `*at` is at a comma or bracket then. NULL, or why it is none. */
static const char *take_range(struct enl_word word, size_t *at, struct range *out)
{
    const size_t first_digits = take_number(word, at, &out->first), second = *at + 1;
    size_t last_digits = first_digits;
    out->last = out->first;
    if (*at < word.length && word.start[*at] == '-') {
        ++*at;
        last_digits = take_number(word, at, &out->last);
    }
    if (*at == word.length)
        return "has a [ without its ]; close the range";
    if (first_digits == 0 || last_digits == 0 || (word.start[*at] != ',' && word.start[*at] != ']'))
        return "must have numbers in its brackets, as in node[01-16,20]";
    if (first_digits > DIGITS_MAX || last_digits > DIGITS_MAX)
        return "has a number of more than 9 digits in its brackets; put common digits before the bracket";
    if (out->last < out->first)
        return "has a range that goes down; write the smaller number first";
    if (last_digits != first_digits && word.start[second] == '0')
        return "has a range whose ends have zeros of two kinds; write both with as many digits";
    out->width = (int)first_digits;
    return NULL;
}

/* Counts what is in a bracket, behind whose [ `*at` is, and whose ] it is behind then; and the digits of its
 * longest number. */
static const char *count_bracket(struct enl_word word, size_t *at, uint64_t *count_out, size_t *width_out)
{
    struct range range;
    *count_out = *width_out = 0;
    do {
        const char *wrong = take_range(word, at, &range);
        if (wrong != NULL)
            return wrong;
        *count_out += (uint64_t)(range.last - range.first) + 1;
        const size_t width = (size_t)snprintf(NULL, 0, "%0*u", range.width, range.last);
        if (width > *width_out)
            *width_out = width;
    } while (word.start[(*at)++] == ',');
    return *count_out > ENL_HOSTS_MAX ? too_many : NULL;
}

/* Counts the names of a word, and the letters of the longest. NULL, or why it cannot be. */
static const char *count_all(struct enl_word word, uint64_t *count_out, size_t *width_out)
{
    *count_out = 1;
    *width_out = 0;
    for (size_t at = 0; at < word.length;) {
        uint64_t more = 1;
        size_t width = 1;
        const char byte = word.start[at++];
        if (byte == ']')
            return "has a ] without its [; open the range";
        const char *wrong = byte == '[' ? count_bracket(word, &at, &more, &width) : NULL;
        if (wrong != NULL)
            return wrong;
        *width_out += width;
        if ((*count_out *= more) > ENL_HOSTS_MAX)
            return too_many;
    }
    return *width_out > ENL_HOST_NAME_MAX ? "stands for names of more than 255 letters; shorten it" : NULL;
}
static_assert(ENL_HOST_NAME_MAX == 255 && ENL_HOSTS_MAX == 150000, "as the sentences say");

size_t enl_names_count(struct enl_word word, char *error, size_t error_size)
{
    uint64_t count;
    size_t width;
    const char *wrong = count_all(word, &count, &width);
    if (wrong == NULL)
        return (size_t)count;
    bcri_refuse(error, error_size, 0, "%s", wrong);
    return 0;
}

struct walk {
    struct enl_word word;
    bool (*take)(void *data, const char *name);
    void *data;
    char name[ENL_HOST_NAME_MAX + 1];
};

/* Goes on behind the first `at` bytes of the word, of which `used` bytes of the name have come. Each level
 * writes a digit at least, so there are not many. */
static bool walk_on(struct walk *walk, size_t at, size_t used)
{
    struct range range;
    for (; at < walk->word.length && walk->word.start[at] != '['; at++)
        walk->name[used++] = walk->word.start[at];
    walk->name[used] = '\0';
    if (at == walk->word.length)
        return walk->take(walk->data, walk->name);
    const char *close = memchr(walk->word.start + at, ']', walk->word.length - at);
    const size_t behind = (size_t)(close - walk->word.start) + 1;
    do {
        at++;
        if (take_range(walk->word, &at, &range) != NULL)
            return false;
        for (unsigned number = range.first; number <= range.last; number++) {
            const int digits =
                snprintf(walk->name + used, sizeof walk->name - used, "%0*u", range.width, number);
            if (!walk_on(walk, behind, used + (size_t)digits))
                return false;
        }
    } while (walk->word.start[at] == ',');
    return true;
}

bool enl_names_each(struct enl_word word, bool (*take)(void *data, const char *name), void *data)
{
    struct walk walk = {.word = word, .take = take, .data = data};
    return walk_on(&walk, 0, 0);
}
