/* SPDX-License-Identifier: MIT */
/* running.c -- daemons of this machine, out of /proc/net/unix. */
#include "bcri/running.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/channel.h"
#include "bcri/host.h"

bool bcri_running_is_name(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    if (length == 0 || length >= BCRI_PROGRAM_NAME_MAX)
        return false;
    const size_t digits = text[length] == ':' ? strspn(text + length + 1, "0123456789") : 0;
    return text[length + (digits != 0 ? 1 + digits : 0)] == '\0';
}

void bcri_running_each(bool (*visit)(void *data, const char *daemon), void *data)
{
    char prefix[64], line[512];
    int length = bcri_channel_prefix(geteuid(), prefix, sizeof prefix);
    FILE *file = fopen("/proc/net/unix", "re");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        char flags[24];
        line[strcspn(line, "\n")] = '\0';
        char *at = strrchr(line, ' ');
        if (at == NULL || at[1] != '@' || strncmp(at + 2, prefix, (size_t)length) != 0)
            continue;
        /* Num: RefCount Protocol Flags: only the listening socket counts, not those of clients. */
        if (sscanf(line, "%*s %*s %*s %23s", flags) != 1 || (strtoul(flags, NULL, 16) & 0x10000) == 0)
            continue;
        if (bcri_running_is_name(at + 2 + length) && !visit(data, at + 2 + length))
            break;
    }
    fclose(file);
}

struct search {
    const char *program;
    unsigned patience_ms;
    int fd; /* or -errno */
};

static bool connect_to_part(void *data, const char *daemon)
{
    struct search *search = data;
    const size_t length = strlen(search->program);
    if (strncmp(daemon, search->program, length) == 0 && daemon[length] == ':')
        search->fd = bcri_channel_connect(daemon, search->patience_ms);
    return search->fd < 0;
}

int bcri_running_connect(const char *name, unsigned patience_ms)
{
    struct search search = {name, patience_ms, bcri_channel_connect(name, patience_ms)};
    if (search.fd == -ECONNREFUSED && strchr(name, ':') == NULL)
        bcri_running_each(connect_to_part, &search);
    return search.fd;
}
