/* SPDX-License-Identifier: MIT */
/* settings.h */
#include "settings.h"

#include <stdlib.h>

#include "bcri/config.h"

/* So many stacks fit into a 32-bit process beside everything else. */
enum { MOST_ON_32_BITS = 1000 };

static struct bcri_settings kept; /* stack_bytes 0: nothing is kept */

static struct bcri_settings read_settings(void)
{
    static char *const none[] = {NULL};
    static const struct bcri_config_paths nothing = {
        .system_file = "", .host_file = "", .home = "", .environment = none};
    struct bcri_config config;
    char reason[512];
    struct bcri_settings settings = {.stack_bytes = 65536, .most = MOST_ON_32_BITS};
    if (bcri_config_load(&config, NULL, reason, sizeof reason) != 0 &&
        bcri_config_load(&config, &nothing, reason, sizeof reason) != 0)
        return settings;
    settings.stack_bytes = (size_t)config.handlerstack * 1024;
    settings.most = (uint64_t)config.handlermost;
    if (settings.most == 0)
        settings.most = UINTPTR_MAX > UINT32_MAX ? UINT64_MAX : MOST_ON_32_BITS;
    bcri_config_fini(&config);
    return settings;
}

void bcri_settings_keep(void)
{
    kept = read_settings();
}

struct bcri_settings bcri_settings(void)
{
    return kept.stack_bytes != 0 ? kept : read_settings();
}
