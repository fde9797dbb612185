/* SPDX-License-Identifier: MIT */
/* The configuration as a whole: the order of its sources, storing and showing values
 * (bcri/config.h). */
#include "bcri/config.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "bcri/refuse.h"
#include "config_row.h"

static char *const no_environment[] = {NULL};

int bcri_config_store(struct bcri_config *config, const struct bcri_config_row *row, const char *value,
                      const char *origin, const char *place, char *error, size_t error_size)
{
    struct bcri_config_setting *setting = &config->settings[row - bcri_config_rows];
    bool none = bcri_config_value_none(row, value);
    int number = 0;

    if (!none && !bcri_config_value_ok(row, value, &number)) {
        char allowed[128];

        bcri_config_allowed((size_t)(row - bcri_config_rows), allowed, sizeof allowed);
        return bcri_refuse(error, error_size, -EINVAL, "%s: %s must be %s, not \"%s\"", place, row->keyword,
                           allowed, bcri_config_quoted(value, strlen(value)).text);
    }

    char *text = strdup(value);
    char *from = strdup(origin);

    if (!text || !from) {
        free(text);
        free(from);
        return bcri_refuse(error, error_size, -ENOMEM, "%s: not enough memory", place);
    }
    free(setting->text);
    free(setting->origin);
    *setting = (struct bcri_config_setting){.text = text, .origin = from};

    char *field = (char *)config + row->field_offset;

    if (row->kind == BCRI_CONFIG_KIND_COUNT || row->kind == BCRI_CONFIG_KIND_CHOICE) {
        memcpy(field, &number, sizeof number);
    } else {
        const char *string = none ? NULL : text;

        memcpy(field, &string, sizeof string);
    }
    return 0;
}

int bcri_config_set(struct bcri_config *config, const char *keyword, const char *value, const char *origin,
                    char *error, size_t error_size)
{
    const struct bcri_config_row *row = bcri_config_row_find(keyword, strlen(keyword));

    if (!row)
        return bcri_refuse(error, error_size, -EINVAL, "%s: there is no keyword \"%s\"", origin,
                           bcri_config_quoted(keyword, strlen(keyword)).text);
    return bcri_config_store(config, row, value, origin, origin, error, error_size);
}

static const char *variable(char *const *environment, const char *name)
{
    size_t length = strlen(name);

    for (; *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

/* The home directory in the password file: a string to be freed, or NULL. The file itself is read: getpwuid_r
 * asks other services, too, for which a statically linked program would need this machine's shared libraries. */
static char *passwd_home(void)
{
    char *home = NULL, line[16384];
    FILE *file = fopen("/etc/passwd", "re");
    struct passwd entry, *found;

    while (file && !home && fgetpwent_r(file, &entry, line, sizeof line, &found) == 0)
        if (entry.pw_uid == geteuid() && entry.pw_dir[0] == '/')
            home = strdup(entry.pw_dir);
    if (file)
        fclose(file);
    return home;
}

static char *find_home(const struct bcri_config_paths *paths, char *const *environment)
{
    const char *home = paths->home ? paths->home : variable(environment, "HOME");

    return home && home[0] == '/' ? strdup(home) : passwd_home();
}

static int load_defaults(struct bcri_config *config, char *error, size_t error_size)
{
    int status = 0;

    for (size_t i = 0; i < BCRI_CONFIG_COUNT && status == 0; i++)
        status = bcri_config_store(config, &bcri_config_rows[i], bcri_config_rows[i].fallback, "default",
                                   "default", error, error_size);
    return status;
}

static int load_personal(struct bcri_config *config, char *error, size_t error_size)
{
    char *path;

    if (!config->home)
        return 0;
    if (asprintf(&path, "%s/.bcrrc", config->home) < 0)
        return bcri_refuse(error, error_size, -ENOMEM, "not enough memory to read ~/.bcrrc");

    int status = bcri_config_read(config, path, true, error, error_size);

    free(path);
    return status;
}

int bcri_config_load(struct bcri_config *config, const struct bcri_config_paths *paths, char *error,
                     size_t error_size)
{
    static const struct bcri_config_paths usual;
    char *const *environment;
    int status;

    if (!paths)
        paths = &usual;
    if (paths->environment)
        environment = paths->environment;
    else
        environment = getauxval(AT_SECURE) || !environ ? no_environment : environ;

    *config = (struct bcri_config){.home = find_home(paths, environment)};
    status = load_defaults(config, error, error_size);
    if (status == 0)
        status = bcri_config_read(config, paths->system_file ? paths->system_file : "/usr/lib/bcrrc", false,
                                  error, error_size);
    if (status == 0)
        status = bcri_config_read(config, paths->host_file ? paths->host_file : "/etc/bcrrc", false, error,
                                  error_size);
    if (status == 0)
        status = load_personal(config, error, error_size);
    if (status == 0)
        status = bcri_config_environment(config, environment, error, error_size);
    if (status < 0)
        bcri_config_fini(config);
    return status;
}

void bcri_config_fini(struct bcri_config *config)
{
    for (size_t i = 0; i < BCRI_CONFIG_COUNT; i++) {
        free(config->settings[i].text);
        free(config->settings[i].origin);
    }
    free(config->home);
    *config = (struct bcri_config){0};
}

bool bcri_config_at(const struct bcri_config *config, size_t idx, struct bcri_config_entry *entry_out)
{
    if (idx >= BCRI_CONFIG_COUNT)
        return false;

    const struct bcri_config_row *row = &bcri_config_rows[idx];

    *entry_out = (struct bcri_config_entry){
        .keyword = row->keyword,
        .value = config ? config->settings[idx].text : row->fallback,
        .origin = config ? config->settings[idx].origin : "default",
        .fallback = row->fallback,
        .about = row->about,
    };
    return true;
}

int bcri_config_resolve(const struct bcri_config *config, const char *value, char **path_out)
{
    bool tilde = value[0] == '~' && value[1] == '/';
    char *path;

    if (!tilde && (value[0] == '/' || !strchr(value, '/'))) {
        path = strdup(value);
    } else if (!config->home) {
        return -ENOENT;
    } else if (asprintf(&path, "%s/%s", config->home, tilde ? value + 2 : value) < 0) {
        path = NULL;
    }
    if (!path)
        return -ENOMEM;
    *path_out = path;
    return 0;
}
