/* SPDX-License-Identifier: MIT */
/* See hosts_private.h. */
#include "verbs/hosts/hosts_private.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

void enl_facts_write(const struct enl_facts *facts, FILE *out)
{
    struct enl_facts copy = *facts;
    fprintf(out, "\n%s", first_line);
    for (size_t i = 0; i < FACTS; i++)
        if (all[i].size != 0)
            fprintf(out, "%s %s\n", all[i].key, text_of_fact(&copy, &all[i]));
        else if (*number_of(&copy, &all[i]) != ENL_FACT_UNKNOWN)
            fprintf(out, "%s %llu\n", all[i].key, (unsigned long long)*number_of(&copy, &all[i]));
    fputs("end\n", out);
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

/* A newline ends the value, and so what strtoull reads if that begins with a digit. Too large a number is UINT64_MAX then,
 * which is more than `most`. */
static bool take_number(uint64_t *out, uint64_t most, const char *value, size_t length)
{
    char *end = NULL;
    if (value[0] >= '0' && value[0] <= '9')
        *out = strtoull(value, &end, 10);
    return end == value + length && *out <= most;
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

long enl_facts_read(struct enl_facts *facts, const char *bytes, size_t length, const char **why_out)
{
    const char *at = memmem(bytes, length, first_line, sizeof first_line - 1), *newline;
    enl_facts_clear(facts);
    if (at == NULL)
        return 0;
    for (at += sizeof first_line - 1; (newline = memchr(at, '\n', length - (size_t)(at - bytes))) != NULL;
         at = newline + 1) {
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
    }
    return 0;
}
