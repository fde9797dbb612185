/* SPDX-License-Identifier: MIT */
/* Options of bcr-scrun that choose hosts. Each takes its value, which is part of the copy that scrun->variable has; returns 0, or -1
 * with a sentence. */
#ifndef ENL_SCRUN_HOSTS_H
#define ENL_SCRUN_HOSTS_H

#include <stddef.h>

struct enl_scrun;

int enl_scrun_take_nodes(struct enl_scrun *scrun, const char *value, char *error, size_t error_size);
int enl_scrun_take_network(struct enl_scrun *scrun, const char *value, char *error, size_t error_size);
int enl_scrun_take_group(struct enl_scrun *scrun, const char *value, char *error, size_t error_size);
int enl_scrun_take_heterogeneous(struct enl_scrun *scrun, const char *value, char *error, size_t error_size);

#endif
