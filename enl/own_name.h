/* SPDX-License-Identifier: MIT */
/* The names of a daemon: its program's, its address's and its log's. */
#ifndef ENL_OWN_NAME_H
#define ENL_OWN_NAME_H

#include <stddef.h>

struct enl_program;

/* Takes names that nobody else has here, binds the address and opens the log. Comes before there is a loop; the root's
 * daemon names the program, too. Returns 0, or enl's exit status with a sentence. */
int enl_own_name_take(struct enl_program *program, char *error, size_t error_size);

#endif
