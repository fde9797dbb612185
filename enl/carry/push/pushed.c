/* SPDX-License-Identifier: MIT */
/* See push.c: the side of a daemon that was pushed. Its directory is named in its environment, behind
 * the number of the pipe that keeps the directory there (script.c). */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/spawn.h"
#include "carry/carry.h"

#define FOLDER_VARIABLE "BCRI_PUSHED"
#define SPARE_VARIABLE  "BCRI_PUSHED_SPARE"
#define SEARCH_VARIABLE "LD_LIBRARY_PATH"

static char *folder;  /* NULL: this daemon was not pushed */
static char *spare;   /* the one for hosts without room, until it is passed on; NULL: there is none */
static bool is_spare; /* it is this daemon's */
static char *search;  /* where libraries are looked for but for those in it; NULL: nowhere else */

int enl_pushed_hold(void)
{
    struct stat status, pipe;
    const char *text = getenv(FOLDER_VARIABLE);
    char *path = NULL;
    const long fd = text != NULL ? strtol(text, &path, 10) : -1;
    int held = -1;
    if (fd > 2 && fd <= INT_MAX && path[0] == ':' && path[1] == '/' && fstat((int)fd, &pipe) == 0 &&
        S_ISFIFO(pipe.st_mode) && lstat(path + 1, &status) == 0 && S_ISDIR(status.st_mode) &&
        status.st_uid == geteuid() && (status.st_mode & 077) == 0 && (folder = strdup(path + 1)) != NULL)
        held = (int)fd;
    const char *other = getenv(SPARE_VARIABLE);
    if (held >= 0 && other != NULL && enl_push_path_is_plain(other))
        spare = strdup(other);
    is_spare = spare != NULL && folder != NULL && strcmp(spare, folder) == 0;
    unsetenv(FOLDER_VARIABLE);
    unsetenv(SPARE_VARIABLE);
    return held;
}

/* Files in one of its folders. */
static bool add_files(struct enl_push *push, const char *part)
{
    char place[PATH_MAX], path[PATH_MAX], error[512], name[NAME_MAX + 8];
    snprintf(place, sizeof place, "%s/%s", folder, part);
    DIR *stream = opendir(place);
    bool good = stream != NULL;
    for (struct dirent *entry; good && (entry = readdir(stream)) != NULL;)
        if (entry->d_name[0] != '.' &&
            (size_t)snprintf(path, sizeof path, "%s/%s", place, entry->d_name) < sizeof path) {
            snprintf(name, sizeof name, "%s/%s", part, entry->d_name);
            good = enl_push_add(push, name, path, error, sizeof error) == 0;
        }
    if (stream != NULL)
        closedir(stream);
    return good;
}

static bool send_on(struct enl_carry *carry)
{
    char path[PATH_MAX], error[512];
    carry->push = calloc(1, sizeof *carry->push);
    if (carry->push == NULL)
        return false;
    carry->push->spare_kept = -1;
    carry->push->spare = spare; /* taken */
    if ((size_t)snprintf(path, sizeof path, "%s/enl", folder) >= sizeof path)
        return false;
    return enl_push_add(carry->push, "enl", path, error, sizeof error) == 0 &&
           add_files(carry->push, "bin") && add_files(carry->push, "lib") &&
           enl_push_write_script(carry->push);
}

/* For CCEs, and for enl's own helpers. */
static bool extend_search(struct enl_carry *carry)
{
    const char *before = NULL;
    char *list = NULL;
    for (char **at = carry->self->environment; *at != NULL; at++)
        if (strncmp(*at, SEARCH_VARIABLE "=", sizeof SEARCH_VARIABLE) == 0)
            before = *at + sizeof SEARCH_VARIABLE;
    search = before != NULL ? strdup(before) : NULL;
    if (asprintf(&list, "%s/lib%s%s", folder, before != NULL ? ":" : "", before != NULL ? before : "") < 0)
        return false;
    char **environment = enl_environment_with(carry->self->environment, SEARCH_VARIABLE, list);
    free(carry->self->environment);
    free(list);
    carry->self->environment = environment;
    return environment != NULL;
}

char **enl_pushed_outside(const struct enl_carry *carry)
{
    return folder != NULL ? enl_environment_with(carry->self->environment, SEARCH_VARIABLE, search) : NULL;
}

bool enl_pushed_use(struct enl_carry *carry, char **programs)
{
    char *folders = NULL;
    if (folder == NULL)
        return true;
    const char *others = *programs != NULL ? *programs : "";
    if (asprintf(&folders, "%s/bin%s%s", folder, others[0] != '\0' ? ":" : "", others) < 0)
        return false;
    free(*programs);
    *programs = folders;
    return send_on(carry) && extend_search(carry);
}

void enl_pushed_tell(const struct enl_carry *carry)
{
    if (is_spare)
        enl_report(carry->self, BCRI_LOG_INFO,
                   "%s has no room for what is pushed: the copy in %s is used there", carry->self->hostname,
                   folder);
}
