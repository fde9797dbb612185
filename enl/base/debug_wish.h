/* SPDX-License-Identifier: MIT */
/* What the command line says of debuggers; a daemon that another has started is told the same. */
#ifndef ENL_DEBUG_WISH_H
#define ENL_DEBUG_WISH_H

#include <stdbool.h>

struct enl_debug_wish {
    const char *debugger; /* -d: a command */
    const char *where;    /* -D */
    const char *ccs;      /* --debug-ccs: ordinals; NULL: all */
    bool vscode;
};

#endif
