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

void enl_own_escape(char *out, size_t size, const char *text, const char *special)
{
    size_t used = 0;
    for (; *text != '\0' && used + 3 <= size; text++) {
        if (strchr(special, *text) != NULL)
            out[used++] = '\\';
        out[used++] = *text;
    }
    out[used] = '\0';
}

void enl_own_apostrophes(char *out, size_t size, const char *text)
{
    size_t used = 0;
    for (; *text != '\0' && used + 5 <= size; text++) {
        const char *const piece = *text == '\'' ? "'\\''" : (const char[]){*text, '\0'};
        used += (size_t)snprintf(out + used, size - used, "%s", piece);
    }
    out[used] = '\0';
}

void enl_own_word(char out[ENL_OWN_MAX], bool bare)
{
    char path[PATH_MAX];
    if (bare && is_on_path()) {
        strcpy(out, "enl");
        return;
    }
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    if (strpbrk(path, " \t\n'\"\\$`&|;<>()*?[]#~!{}") == NULL) {
        strcpy(out, path);
        return;
    }
    out[0] = '"';
    enl_own_escape(out + 1, ENL_OWN_MAX - 2, path, "\"\\$`");
    strcat(out, "\"");
}
