/* SPDX-License-Identifier: MIT */
/* See hosts_private.h. */
#include "verbs/hosts/hosts_private.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char first_line[] = "bcr host facts 1\n";

/* Texts have a size, numbers a bound. */
static const struct fact {
    const char *key;
    size_t offset, size;
    uint64_t most;
} all[] = {
#define TEXT(field)                                                                        \
    {                                                                                      \
#field, offsetof(struct enl_facts, field), sizeof((struct enl_facts *)0)->field, 0 \
    }
#define NUMBER(field, most)                                  \
    {                                                        \
#field, offsetof(struct enl_facts, field), 0, (most) \
    }
    TEXT(version),
    TEXT(abi),
    TEXT(hostname),
    TEXT(machine_id),
    NUMBER(protocol, UINT32_MAX),
    NUMBER(user, UINT32_MAX),
    NUMBER(cores, 1000000),
    NUMBER(load_percent, 1000000000),
    NUMBER(disk_bytes, UINT64_MAX / 2),
    NUMBER(rmem_max, UINT64_MAX / 2),
    NUMBER(mtu, UINT32_MAX),
#undef TEXT
#undef NUMBER
};
enum { FACTS = sizeof all / sizeof all[0] };

static char *text_of_fact(struct enl_facts *facts, const struct fact *fact)
{
    return (char *)facts + fact->offset;
}

static uint64_t *number_of(struct enl_facts *facts, const struct fact *fact)
{
    return (uint64_t *)(void *)((char *)facts + fact->offset);
}

void enl_facts_clear(struct enl_facts *facts)
{
    *facts = (struct enl_facts){.version = ""};
    for (size_t i = 0; i < FACTS; i++)
        if (all[i].size == 0)
            *number_of(facts, &all[i]) = ENL_FACT_UNKNOWN;
}

size_t enl_facts_write(const struct enl_facts *facts, char *text, size_t size)
{
    struct enl_facts copy = *facts;
    size_t used = (size_t)snprintf(text, size, "\n%s", first_line);
    for (size_t i = 0; i < FACTS && used < size; i++)
        if (all[i].size != 0)
            used += (size_t)snprintf(text + used, size - used, "%s %s\n", all[i].key,
                                     text_of_fact(&copy, &all[i]));
        else if (*number_of(&copy, &all[i]) != ENL_FACT_UNKNOWN)
            used += (size_t)snprintf(text + used, size - used, "%s %llu\n", all[i].key,
                                     (unsigned long long)*number_of(&copy, &all[i]));
    if (used < size)
        used += (size_t)snprintf(text + used, size - used, "end\n");
    return used < size ? used : size - 1;
}

/* Texts are shown as they are. */
static bool take_text(char *out, size_t size, const char *value, size_t length)
{
    if (length >= size)
        return false;
    for (size_t i = 0; i < length; i++)
        if (value[i] < ' ' || value[i] > '~' || value[i] == '"' || value[i] == '\\')
            return false;
    memcpy(out, value, length);
    out[length] = '\0';
    return true;
}

static bool take_number(uint64_t *out, uint64_t most, const char *value, size_t length)
{
    uint64_t number = 0;
    if (length == 0 || length > 19)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (value[i] < '0' || value[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(value[i] - '0');
    }
    *out = number;
    return number <= most;
}

/* False: it is a fact that is known here, with a value that cannot be. */
static bool take_line(struct enl_facts *facts, const char *line, size_t length)
{
    const char *space = memchr(line, ' ', length);
    const size_t key = space != NULL ? (size_t)(space - line) : length;
    for (size_t i = 0; space != NULL && i < FACTS; i++)
        if (strlen(all[i].key) == key && memcmp(all[i].key, line, key) == 0)
            return all[i].size != 0
                       ? take_text(text_of_fact(facts, &all[i]), all[i].size, space + 1, length - key - 1)
                       : take_number(number_of(facts, &all[i]), all[i].most, space + 1, length - key - 1);
    return space != NULL;
}

/* Behind the first line; NULL: it has not come. */
static const char *find_begin(const char *bytes, size_t length)
{
    const size_t first = sizeof first_line - 1;
    for (const char *at = bytes; length - (size_t)(at - bytes) >= first;) {
        if (memcmp(at, first_line, first) == 0)
            return at + first;
        const char *newline = memchr(at, '\n', length - (size_t)(at - bytes));
        if (newline == NULL)
            break;
        at = newline + 1;
    }
    return NULL;
}

long enl_facts_read(struct enl_facts *facts, const char *bytes, size_t length, const char **why_out)
{
    const char *at = find_begin(bytes, length), *newline;
    enl_facts_clear(facts);
    while (at != NULL && (newline = memchr(at, '\n', length - (size_t)(at - bytes))) != NULL) {
        const size_t line = (size_t)(newline - at);
        if (line == 3 && memcmp(at, "end", 3) == 0) {
            const bool whole = facts->version[0] != '\0' && facts->abi[0] != '\0' &&
                               facts->protocol != ENL_FACT_UNKNOWN && facts->cores != ENL_FACT_UNKNOWN;
            *why_out = "what it says of its machine is not all; install the same version of BCR there";
            return whole ? newline + 1 - bytes : -1;
        }
        if (!take_line(facts, at, line)) {
            *why_out = "what it says of its machine makes no sense; install the same version of BCR there";
            return -1;
        }
        at = newline + 1;
    }
    *why_out = "no enl speaks there";
    return length >= ENL_FACTS_BYTES_MAX ? -1 : 0;
}
