/* SPDX-License-Identifier: MIT */
/* process.c -- another process's memory, what is mapped there, and the ways to a mapped file, by /proc; proc(5) tells who
 * may take which:
 *
 *   map_files/LOW-HIGH   is the mapped file, whatever has become of its path; for root alone
 *   exe                  the same, of the program
 *   root/PATH            what the path holds now, in the process's mount namespace: if that is the mapped file */
#include "base/last_part.h"
#include "inspect/crash/crash_private.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

bool enl_process_memory(pid_t pid, uint64_t address, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

struct mapping {
    uint64_t low, high, offset; /* offset in the file */
    uint64_t base;              /* of the file's first mapping */
    bool code;
    char range[64];  /* LOW-HIGH, as in maps and in map_files */
    char path[1024]; /* "": no file; " (deleted)" behind it tells that it holds nothing, or something else */
};

/* Reads "LOW-HIGH mode offset device inode path". */
static struct mapping read_mapping(const char *line)
{
    struct mapping mapping = {.path = ""};
    char *at;
    mapping.low = strtoull(line, &at, 16);
    mapping.high = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
    mapping.code = strlen(at) > 5 && at[3] == 'x';
    mapping.offset = strlen(at) > 5 ? strtoull(at + 5, &at, 16) : 0;
    snprintf(mapping.range, sizeof mapping.range, "%.*s", (int)strcspn(line, " "), line);
    const char *path = strchr(at, '/');
    if (path != NULL)
        snprintf(mapping.path, sizeof mapping.path, "%.*s", (int)strcspn(path, "\n"), path);
    return mapping;
}

/* The mapping of `address`. A file's mappings stand one behind the other. */
static bool mapping_of(pid_t pid, uint64_t address, struct mapping *out)
{
    char path[64], line[1200];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    FILE *file = fopen(path, "re");
    *out = (struct mapping){.path = ""};
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        struct mapping mapping = read_mapping(line);
        mapping.base = strcmp(mapping.path, out->path) == 0 ? out->base : mapping.low - mapping.offset;
        *out = mapping;
        found = address >= mapping.low && address < mapping.high;
    }
    if (file != NULL)
        fclose(file);
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
    else if (mapping.path[0] == '\0')
        printf("#%u 0x%" PRIx64 "\n", number, pc);
    else
        printf("#%u %s+0x%" PRIx64 "\n", number, enl_last_part(mapping.path), pc - mapping.base);
}

/* ---- the file of a mapping ---- */

static int open_below(pid_t thread, const char *what, const char *name)
{
    char path[1200];
    snprintf(path, sizeof path, "/proc/%ld/%s%s", (long)thread, what, name);
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool is_program(pid_t thread, const struct mapping *mapping)
{
    char link[64], path[sizeof mapping->path] = "";
    snprintf(link, sizeof link, "/proc/%ld/exe", (long)thread);
    return readlink(link, path, sizeof path - 1) > 0 && strcmp(path, mapping->path) == 0;
}

/* Whether both begin alike: in their first page stand an ELF file's headers and mostly its build ID. */
static bool is_same(pid_t thread, uint64_t base, const struct mapping *mapping, int fd)
{
    unsigned char there[4096], here[sizeof there];
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
           pread(fd, here, sizeof here, (off_t)mapping->offset) == (ssize_t)sizeof here &&
           enl_process_memory(thread, base, there, sizeof there) && memcmp(here, there, sizeof here) == 0;
}

int enl_process_open_mapped(pid_t thread, uint64_t base)
{
    struct mapping mapping;
    if (!mapping_of(thread, base, &mapping) || mapping.path[0] == '\0')
        return -1;
    int fd = open_below(thread, "map_files/", mapping.range);
    if (fd < 0 && is_program(thread, &mapping))
        fd = open_below(thread, "exe", "");
    if (fd >= 0 || (fd = open_below(thread, "root", mapping.path)) < 0)
        return fd;
    if (is_same(thread, base, &mapping, fd))
        return fd;
    close(fd);
    return -1;
}
