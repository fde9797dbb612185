/* SPDX-License-Identifier: MIT */
/* See host_private.h. */
#include "host/host_private.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>

#include "base/object.h"
#include "bcri/refuse.h"
#include "bcri/words.h"

int enl_started_make(struct enl_started *started, const char *before, const char *path, char *const *argv,
                     char *error, size_t error_size)
{
    char reason[1024];
    size_t own = 0;
    const size_t words = before != NULL ? (size_t)bcri_words_count(before) : 0;
    const size_t bytes = before != NULL ? strlen(before) + 1 : 0;
    while (argv[own] != NULL)
        own++;
    snprintf(started->path, sizeof started->path, "%s", path);
    started->argv = malloc((words + own + 1) * sizeof *started->argv + bytes);
    if (started->argv == NULL)
        return bcri_refuse(error, error_size, bcrE_NOMEM, "no memory");
    if (words != 0)
        bcri_words_split(before, (char *)(started->argv + words + own + 1), started->argv);
    memcpy(started->argv + words, argv, (own + 1) * sizeof *argv);
    if (words == 0)
        return 0;
    started->argv[words] = (char *)(uintptr_t)path; /* a wrapper shall find the same file */
    if (enl_object_find(started->argv[0], started->path, reason, sizeof reason) == 0)
        return 0;
    enl_started_free(started);
    return bcri_refuse(error, error_size, bcrE_NOPROG, "%s, which is to run it: see --wrap and wrap in bcrrc",
                       reason);
}

void enl_started_free(struct enl_started *started)
{
    free(started->argv);
    started->argv = NULL;
}
