/* SPDX-License-Identifier: MIT */
/* A program that has next to nothing when it calls bcr_init: no address space ("memory") or no
 * descriptors ("descriptors"). It prints what bcr_init says. */
#include <bcr.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROOM_BYTES = 512 << 10 };

/* What this process has mapped. */
static rlim_t mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        return RLIM_INFINITY;
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* One more than the highest descriptor in use: those below are all there are. */
static rlim_t first_free(void)
{
    int fd = dup(0);
    close(fd);
    return (rlim_t)fd;
}

int main(int argc, char **argv)
{
    const bool memory = argc > 1 && strcmp(argv[1], "memory") == 0;
    const __rlimit_resource_t which = memory ? RLIMIT_AS : RLIMIT_NOFILE;
    struct rlimit before, poor;
    getrlimit(which, &before);
    poor = before;
    poor.rlim_cur = memory ? mapped_bytes() + ROOM_BYTES : first_free();
    if (setrlimit(which, &poor) != 0)
        return 2;
    int result = bcr_init(0, argv[0]), code = bcr_errno;
    setrlimit(which, &before);
    printf("bcr_init %d %d\n", result, code);
    return 5;
}
