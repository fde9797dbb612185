/* SPDX-License-Identifier: MIT */
/* See settings.h. */
#include "settings.h"

#include <string.h>

#include "check.h"
#include "scratch.h"

int load(struct bcri_config *config, char *const *environment, char *error, size_t error_size)
{
    static char *const empty[] = {NULL};
    struct bcri_config_paths paths = {
        .system_file = scratch_path("system"),
        .host_file = scratch_path("host"),
        .home = scratch(),
        .environment = environment ? environment : empty,
    };

    return bcri_config_load(config, &paths, error, error_size);
}

void loaded(struct bcri_config *config, char *const *environment)
{
    char error[512] = "";

    if (load(config, environment, error, sizeof error) != 0)
        FAIL("bcri_config_load: %s", error);
}

void refused(char *const *environment, int code, const char *part)
{
    struct bcri_config config;
    char error[512] = "";
    static const struct bcri_config none;

    CHECK_INT(load(&config, environment, error, sizeof error), code);
    if (!strstr(error, part))
        FAIL("wanted a sentence with \"%s\", got \"%s\"", part, error);
    CHECK_MEM(&config, &none, sizeof none);
    bcri_config_fini(&config);
}
