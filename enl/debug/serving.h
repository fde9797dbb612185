/* SPDX-License-Identifier: MIT */
/* enl -D server: each CCE starts under gdbserver, which waits until enl gdb-pipe brings a debugger. */
#ifndef ENL_SERVING_H
#define ENL_SERVING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct enl_self;

#define ENL_GDBSERVER "gdbserver"

/* The words by which gdbserver starts a program and speaks by its stdin and stdout. The caller frees them; NULL: no
 * memory. */
char **enl_serving_words(const char *path, char *const *argv);
/* Writes the command file, which is for programs whose `root` waits. Returns 0, or -1 with a sentence. */
int enl_serving_start(struct enl_self *self, bool root, char *error, size_t error_size);
/* --vscode: writes launch.json for the program whose file is `root_path`. Returns the same. */
int enl_serving_vscode(struct enl_self *self, const char *root_path, char *error, size_t error_size);
/* Tells a person how to reach the CCE. */
void enl_serving_tell(struct enl_self *self, uint32_t ordinal, const char *object);
/* Takes the command file away. */
void enl_serving_end(struct enl_self *self);

#endif
