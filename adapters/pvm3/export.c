/* SPDX-License-Identifier: MIT */
/* export.c -- PVM_EXPORT: names of variables, with colons between them. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pvm_private.h"

static const char variable[] = "PVM_EXPORT";

/* Writes the names of `list` but `name` to `into`, which has room for all. */
static void copy_without(char *into, const char *list, const char *name)
{
    const size_t length = strlen(name);
    char *end = into;
    while (*list != '\0') {
        const size_t many = strcspn(list, ":");
        if (many > 0 && (many != length || strncmp(list, name, many) != 0)) {
            if (end != into)
                *end++ = ':';
            memcpy(end, list, many);
            end += many;
        }
        list += many + (list[many] == ':');
    }
    *end = '\0';
}

static int change(const char *name, bool adds)
{
    if (name == NULL || *name == '\0' || strchr(name, ':') != NULL || strchr(name, '=') != NULL)
        return PvmBadParam;
    const char *list = getenv(variable);
    if (list == NULL)
        list = "";
    char *wanted = malloc(strlen(list) + strlen(name) + 2);
    if (wanted == NULL)
        return PvmNoMem;
    copy_without(wanted, list, name);
    if (adds) {
        if (*wanted != '\0')
            strcat(wanted, ":");
        strcat(wanted, name);
    }
    const int failed = setenv(variable, wanted, 1);
    free(wanted);
    return failed != 0 ? PvmNoMem : PvmOk;
}

int pvm_export(const char *name)
{
    return pvmi_told("export", change(name, true));
}

int pvm_unexport(const char *name)
{
    return pvmi_told("unexport", change(name, false));
}
