/* SPDX-License-Identifier: MIT */
/* See debug.h. */
#include "debug/debug.h"

#include <string.h>

#include "bcri/refuse.h"

int enl_where_parse(const char *text, enum enl_where *where_out, const char **value_out, char *error,
                    size_t error_size)
{
    *value_out = "";
    if (strncmp(text, "batch:", 6) == 0 && text[6] != '\0') {
        *where_out = ENL_WHERE_BATCH;
        *value_out = text + 6;
    } else if (strcmp(text, "tmux") == 0) {
        *where_out = ENL_WHERE_TMUX;
    } else if (strcmp(text, "server") == 0) {
        *where_out = ENL_WHERE_SERVER;
    } else if (strncmp(text, "batch", 5) != 0 && strchr(text, ':') != NULL) {
        *where_out = ENL_WHERE_DISPLAY;
        *value_out = text;
    } else {
        return bcri_refuse(error, error_size, -1,
                           "-D takes an X display such as :0, tmux, server, or batch:FILE, not %s", text);
    }
    return 0;
}
