/* SPDX-License-Identifier: MIT */
/* enl -D server: each CCE starts under gdbserver, which waits until enl gdb-pipe brings a debugger. */
#ifndef ENL_SERVING_H
#define ENL_SERVING_H

#include "program.h"

#define ENL_GDBSERVER "gdbserver"

/* The words by which gdbserver starts a program and speaks by its stdin and stdout. The caller frees them; NULL: no
 * memory. */
char **enl_serving_words(const char *path, char *const *argv);
/* Writes the command file, which is for programs whose `root` waits, and, with --vscode, launch.json. Returns 0, or -1
 * with a sentence. */
int enl_serving_start(struct enl_program *program, bool root, char *error, size_t error_size);
/* Tells a person how to reach the CCE. */
void enl_serving_tell(struct enl_program *program, uint32_t ordinal, const char *object);
/* Takes the command file away. */
void enl_serving_end(struct enl_program *program);

#endif
