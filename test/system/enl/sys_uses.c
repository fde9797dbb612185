/* SPDX-License-Identifier: MIT */
/* A program that is no CCE and uses a lot, until it is killed unless it says otherwise:
 *
 *     spin               processors
 *     cpu SECONDS        processors for so long, and then it ends
 *     memory MB          memory of its own
 *     shared MB FILE     memory that it shares with all that have mapped that file; and processors
 *     child WORD ...     the same in a child, for which it does not wait */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void spin(const char *seconds)
{
    struct timespec used = {0};
    while (seconds == NULL || used.tv_sec < strtol(seconds, NULL, 10))
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
}

static void take(const char *mb, const char *file)
{
    const size_t bytes = (size_t)strtoul(mb, NULL, 10) << 20;
    const int fd = file != NULL ? open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file != NULL && (fd < 0 || ftruncate(fd, (off_t)bytes) != 0))
        exit(1);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        file != NULL ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
    if (memory == MAP_FAILED)
        exit(1);
    memset(memory, 1, bytes);
    if (file != NULL)
        spin(NULL);
}

int main(int argc, char **argv)
{
    const int skip = argc > 2 && strcmp(argv[1], "child") == 0 ? 1 : 0;
    const char *const what = argc > 1 + skip ? argv[1 + skip] : "",
                      *const value = argv[argc > 2 + skip ? 2 + skip : argc];
    if (skip == 0 || fork() == 0) {
        if (strcmp(what, "spin") == 0 || strcmp(what, "cpu") == 0)
            spin(value);
        else if (value != NULL)
            take(value, argv[3 + skip]);
        if (strcmp(what, "cpu") == 0)
            return 0;
    }
    for (;;)
        pause();
}
