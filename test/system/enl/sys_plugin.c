/* SPDX-License-Identifier: MIT */
/* A plugin that is a CCE, for sys_unload. It is built twice: with libbcr.so, and with libbcr.a in it. */
#include <bcr.h>

__attribute__((visibility("default"))) int plugin_start(void);
__attribute__((visibility("default"))) int plugin_call(void);

static void greet(int cell)
{
    (void)cell;
}

int plugin_start(void)
{
    return bcr_init(bcr_handlers, "plugin") == 0 && bcr_cagrow(1, 0, 1, 0, 0, 1, 64) == 1 &&
                   bcr_handler(1, greet, 1, 0, 0) == 0
               ? 0
               : -1;
}

/* The thread that calls has an alternate stack from then on, since there are handlers. */
int plugin_call(void)
{
    bcr_region region = bcr_rgalloc(8, 0);
    return region != NULL && bcr_rgfree(region) == 0 ? 0 : -1;
}
