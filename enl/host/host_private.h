/* SPDX-License-Identifier: MIT */
/* host_private.h -- what the files of enl/host have of each other. */
#ifndef ENL_HOST_PRIVATE_H
#define ENL_HOST_PRIVATE_H

#include <limits.h>
#include <stddef.h>

/* death.c -- How CCEs end, and what follows from it. */

/* A CCE's pidfd tells that the process has ended which called bcr_init; `data` is the CCE. */
void enl_death_of_pid(void *data);

/* started.c -- The command by which a CCE is started: its program, or words put before that. */

struct enl_started {
    char path[PATH_MAX];
    char **argv; /* one block; the first word of all is the command's own name */
};

/* Makes of program `path` and its `argv` the command `before` path argv[1] argv[2] ...; `before` is a command in words
 * (bcri/words.h). Without `before` (NULL) it is the program itself. Returns 0, or a bcrE_ code with a sentence. */
int enl_started_make(struct enl_started *started, const char *before, const char *path, char *const *argv,
                     char *error, size_t error_size);
void enl_started_free(struct enl_started *started);

#endif
