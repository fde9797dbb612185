/* SPDX-License-Identifier: MIT */
/* Any bytes as the file of a program: which libraries it says that it needs, and what it says of nodes of SCore. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/object.h"
#include "base/score_needs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char path[32], some[64];
    struct enl_score_needs needs;
    const int fd = memfd_create("fuzz_elf", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enl_object_needs(path, "libbcr");
    if (enl_object_section(path, ".note", some, sizeof some) > sizeof some)
        abort();
    enl_score_needs_read(path, &needs);
    for (enum enl_score_kind kind = ENL_SCORE_NODES; kind < ENL_SCORE_KINDS; kind++)
        if (needs.of[kind].is_there ? !needs.is_score : needs.of[kind].is_twice)
            abort();
    close(fd);
    return 0;
}
