/* SPDX-License-Identifier: MIT */
/* A directory for one test (scratch.h). */
#include "scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

/* What has been handed out stays reachable, so that a leak checker has nothing to say about it. */
struct kept {
    struct kept *next;
    char text[];
};
static struct kept *all_kept;

static char *keep(size_t size)
{
    struct kept *kept = malloc(sizeof *kept + size);

    CHECK(kept != NULL);
    kept->next = all_kept;
    all_kept = kept;
    return kept->text;
}

const char *scratch(void)
{
    return test_folder();
}

const char *scratch_path(const char *name)
{
    size_t size = strlen(scratch()) + strlen(name) + 2;
    char *path = keep(size);

    snprintf(path, size, "%s/%s", scratch(), name);
    return path;
}

char *scratch_read(const char *name)
{
    struct stat st;
    FILE *file = fopen(scratch_path(name), "rb");

    if (!file)
        FAIL("cannot open %s", name);
    CHECK_INT(fstat(fileno(file), &st), 0);

    char *text = keep((size_t)st.st_size + 1);

    CHECK_UINT(fread(text, 1, (size_t)st.st_size, file), (size_t)st.st_size);
    fclose(file);
    text[st.st_size] = '\0';
    return text;
}

size_t scratch_lines(const char *name)
{
    size_t count = 0;

    for (const char *c = scratch_read(name); *c; c++)
        count += *c == '\n';
    return count;
}

void scratch_write_bytes(const char *name, const void *bytes, size_t length, mode_t mode)
{
    int fd = open(scratch_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    CHECK_INT(write(fd, bytes, length), (ssize_t)length);
    CHECK_INT(fchmod(fd, mode), 0);
    close(fd);
}

void scratch_write(const char *name, const char *text, mode_t mode)
{
    scratch_write_bytes(name, text, strlen(text), mode);
}

int scratch_create(const char *name)
{
    int fd = open(scratch_path(name), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    return fd;
}
