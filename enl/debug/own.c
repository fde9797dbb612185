/* SPDX-License-Identifier: MIT */
/* See own.h. */
#include "debug/debug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a shell that is told enl finds this one. */
static bool is_on_path(void)
{
    struct stat own, found;
    char file[PATH_MAX];
    const char *at = getenv("PATH");
    if (at == NULL || stat("/proc/self/exe", &own) != 0)
        return false;
    for (;; at++) {
        const size_t length = strcspn(at, ":");
        snprintf(file, sizeof file, "%.*s/enl", (int)length, at);
        if (*at == '/' && access(file, X_OK) == 0)
            return stat(file, &found) == 0 && found.st_dev == own.st_dev && found.st_ino == own.st_ino;
        at += length;
        if (*at == '\0')
            return false;
    }
}

static void put_before_each(char *out, size_t size, const char *text, const char *special, const char *before)
{
    size_t used = 0;
    for (; *text != '\0' && used + 5 <= size; text++)
        used += (size_t)snprintf(out + used, size - used, "%s%c",
                                 strchr(special, *text) != NULL ? before : "", *text);
    out[used] = '\0';
}

void enl_own_word(char *out, size_t size, bool bare, const char *special, const char *before)
{
    char path[PATH_MAX], word[2 * PATH_MAX + 3] = "enl";
    const bool found = bare && is_on_path();
    const ssize_t length = found ? 0 : readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    if (!found && strpbrk(path, " \t\n'\"\\$`&|;<>()*?[]#~!{}") == NULL) {
        strcpy(word, path);
    } else if (!found) {
        word[0] = '"';
        put_before_each(word + 1, sizeof word - 2, path, "\"\\$`", "\\");
        strcat(word, "\"");
    }
    put_before_each(out, size, word, special, before);
}
