/* SPDX-License-Identifier: MIT */
/* See key_search.h. /proc/PID/smaps tells of each mapping whether core files have it: its flag "dd"
 * says that they do not (proc(5)). */
#include "key_search.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

/* AddressSanitizer's shadow, of terabytes, is larger, and nothing of a daemon's own. */
#define LARGE (1ul << 30)

struct mapping {
    unsigned long start, end;
    bool readable;
};

/* In pieces, each of which begins with the end of the one before. */
static bool in_mapping(int memory, const struct mapping *mapping, const void *key, size_t length)
{
    enum { PIECE = 1 << 20 };
    static char bytes[PIECE];
    for (unsigned long at = mapping->start; at < mapping->end; at += PIECE - length) {
        const size_t rest = mapping->end - at, want = rest < PIECE ? rest : PIECE;
        const ssize_t got = pread(memory, bytes, want, (off_t)at);
        if (got > 0 && memmem(bytes, (size_t)got, key, length) != NULL)
            return true;
        if (rest <= PIECE)
            break;
    }
    return false;
}

bool key_found(pid_t pid, const void *key, size_t length, bool excluded)
{
    char path[64], line[4352];
    struct mapping mapping = {0};
    bool found = false, told = false;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    const int memory = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (memory < 0 || maps == NULL)
        SKIP("the memory of another process cannot be read here");
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        char *at;
        const unsigned long start = strtoul(line, &at, 16);
        if (*at == '-') {
            const unsigned long end = strtoul(at + 1, &at, 16);
            mapping = (struct mapping){start, end, strncmp(at, " r", 2) == 0};
        } else if (strncmp(line, "VmFlags:", 8) == 0) {
            told = true;
            if (mapping.readable && mapping.end - mapping.start < LARGE &&
                (strstr(line, " dd") != NULL) == excluded)
                found = in_mapping(memory, &mapping, key, length);
        }
    }
    fclose(maps);
    close(memory);
    if (!told)
        SKIP("this kernel does not say what core files leave out");
    return found;
}
