/* SPDX-License-Identifier: MIT */
/* A library that is preloaded, as a profiler is: notes each process that has it, by the name of the program. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void note(void)
{
    char line[32] = "";
    const char *notes = getenv("PRELOADED_NOTES");
    const int comm = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    const int fd = notes != NULL ? open(notes, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    const ssize_t length = comm >= 0 ? read(comm, line, sizeof line) : 0;
    if (fd >= 0 && length > 0)
        (void)!write(fd, line, (size_t)length);
    close(comm);
    close(fd);
}
