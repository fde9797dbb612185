/* SPDX-License-Identifier: MIT */
/* process.c -- another process's memory, and what is mapped there. */
#include "inspect/crash/crash_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

bool enl_process_memory(pid_t pid, uint64_t address, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

struct mapping {
    uint64_t low, base; /* of the mapping; of the file's first one */
    bool code;
    char name[512];
};

const char *enl_process_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Reads "low-high mode offset device inode name". */
static struct mapping read_mapping(const char *line, uint64_t *high_out, uint64_t *offset_out)
{
    struct mapping mapping = {.name = ""};
    char *at;
    mapping.low = strtoull(line, &at, 16);
    *high_out = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
    mapping.code = strlen(at) > 5 && at[3] == 'x';
    *offset_out = strlen(at) > 5 ? strtoull(at + 5, &at, 16) : 0;
    const char *name = strchr(at, '/');
    if (name != NULL)
        snprintf(mapping.name, sizeof mapping.name, "%.*s", (int)strcspn(name, "\n"), name);
    return mapping;
}

/* The mapping of `address`, by /proc. A file's mappings stand one behind the other. */
static bool mapping_of(pid_t pid, uint64_t address, struct mapping *out)
{
    char path[64], line[1024];
    struct mapping last = {.name = ""};
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        uint64_t high, offset;
        struct mapping mapping = read_mapping(line, &high, &offset);
        mapping.base = strcmp(mapping.name, last.name) == 0 ? last.base : mapping.low - offset;
        last = mapping;
        found = address >= mapping.low && address < high;
    }
    if (file != NULL)
        fclose(file);
    *out = last;
    return found;
}

bool enl_process_is_code(pid_t pid, uint64_t address)
{
    struct mapping mapping;
    return mapping_of(pid, address, &mapping) && mapping.code;
}

void enl_process_print(pid_t pid, unsigned number, uint64_t pc)
{
    struct mapping mapping;
    if (!mapping_of(pid, pc, &mapping))
        printf("#%u 0x%" PRIx64 ", where no code is\n", number, pc);
    else if (mapping.name[0] == '\0')
        printf("#%u 0x%" PRIx64 "\n", number, pc);
    else
        printf("#%u %s+0x%" PRIx64 "\n", number, enl_process_base(mapping.name), pc - mapping.base);
}
