/* SPDX-License-Identifier: MIT */
/* Text as a JSON string, whatever its bytes are. */
#ifndef ENL_JSON_H
#define ENL_JSON_H

#include <stdio.h>

/* Writes `text` with its quotes, in ASCII alone: a terminal obeys none of it, and any reader takes it.
 * UTF-8 keeps its meaning. A byte of what is none stands as four characters, such as \xff, as in a log. */
void enl_json_text(FILE *out, const char *text);

#endif
