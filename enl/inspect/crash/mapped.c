/* SPDX-License-Identifier: MIT */
/* mapped.c -- the ways to a mapped file, by /proc; proc(5) has who may take which.
 *
 *   map_files/LOW-HIGH   is the mapped file, whatever has become of its path; for root alone
 *   exe                  the same, of the program
 *   root/PATH            what the path holds now, in the process's mount namespace: if that is the mapped file */
#include "inspect/crash/crash_private.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct part {
    char range[64]; /* as in maps, and in map_files */
    uint64_t offset;
    char path[1024]; /* " (deleted)" behind it tells that it holds nothing, or something else */
};

static bool find_part(pid_t thread, uint64_t base, struct part *out)
{
    char path[64], line[1200];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)thread);
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        char *at;
        const uint64_t low = strtoull(line, &at, 16);
        const uint64_t high = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
        const char *name = strchr(at, '/');
        found = base >= low && base < high && name != NULL;
        if (!found)
            continue;
        snprintf(out->range, sizeof out->range, "%.*s", (int)strcspn(line, " "), line);
        out->offset = strlen(at) > 5 ? strtoull(at + 5, NULL, 16) : 0;
        snprintf(out->path, sizeof out->path, "%.*s", (int)strcspn(name, "\n"), name);
    }
    if (file != NULL)
        fclose(file);
    return found;
}

static int open_below(pid_t thread, const char *what, const char *name)
{
    char path[1200];
    snprintf(path, sizeof path, "/proc/%ld/%s%s", (long)thread, what, name);
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool is_program(pid_t thread, const struct part *part)
{
    char link[64], path[sizeof part->path];
    snprintf(link, sizeof link, "/proc/%ld/exe", (long)thread);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    return strcmp(path, part->path) == 0;
}

/* Whether both begin alike: in their first page stand an ELF file's headers and mostly its build ID. */
static bool is_same(pid_t thread, uint64_t base, const struct part *part, int fd)
{
    unsigned char there[4096], here[sizeof there];
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
           pread(fd, here, sizeof here, (off_t)part->offset) == (ssize_t)sizeof here &&
           enl_process_memory(thread, base, there, sizeof there) && memcmp(here, there, sizeof here) == 0;
}

int enl_mapped_open(pid_t thread, uint64_t base)
{
    struct part part;
    if (!find_part(thread, base, &part))
        return -1;
    int fd = open_below(thread, "map_files/", part.range);
    if (fd < 0 && is_program(thread, &part))
        fd = open_below(thread, "exe", "");
    if (fd >= 0 || (fd = open_below(thread, "root", part.path)) < 0)
        return fd;
    if (is_same(thread, base, &part, fd))
        return fd;
    close(fd);
    return -1;
}
