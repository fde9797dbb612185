/* SPDX-License-Identifier: MIT */
/* See push.h: the side of a daemon that was pushed. Its directory is named in its environment, behind
 * the number of the pipe that keeps the directory there (script.c). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/spawn.h"
#include "carry/push/push.h"
#include "program.h"

#define FOLDER_VARIABLE "BCRI_PUSHED"
#define SEARCH_VARIABLE "LD_LIBRARY_PATH"

static char *folder; /* NULL: this daemon was not pushed */
static char *search; /* where libraries are looked for but for those in it; NULL: nowhere else */

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
    unsetenv(FOLDER_VARIABLE);
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

static bool send_on(struct enl_program *program)
{
    char path[PATH_MAX], error[512];
    program->push = calloc(1, sizeof *program->push);
    if (program->push == NULL || (size_t)snprintf(path, sizeof path, "%s/enl", folder) >= sizeof path)
        return false;
    return enl_push_add(program->push, "enl", path, error, sizeof error) == 0 &&
           add_files(program->push, "bin") && add_files(program->push, "lib") &&
           enl_push_write_script(program->push);
}

/* For CCEs, and for enl's own helpers. */
static bool extend_search(struct enl_program *program)
{
    const char *before = NULL;
    char *list = NULL;
    for (char **at = program->self.environment; *at != NULL; at++)
        if (strncmp(*at, SEARCH_VARIABLE "=", sizeof SEARCH_VARIABLE) == 0)
            before = *at + sizeof SEARCH_VARIABLE;
    search = before != NULL ? strdup(before) : NULL;
    if (asprintf(&list, "%s/lib%s%s", folder, before != NULL ? ":" : "", before != NULL ? before : "") < 0)
        return false;
    char **environment = enl_environment_with(program->self.environment, SEARCH_VARIABLE, list);
    free(program->self.environment);
    free(list);
    program->self.environment = environment;
    return environment != NULL;
}

char **enl_pushed_outside(const struct enl_program *program)
{
    return folder != NULL ? enl_environment_with(program->self.environment, SEARCH_VARIABLE, search) : NULL;
}

bool enl_pushed_use(struct enl_program *program)
{
    char *programs = NULL;
    if (folder == NULL)
        return true;
    const char *others = program->jobs.programs != NULL ? program->jobs.programs : "";
    if (asprintf(&programs, "%s/bin%s%s", folder, others[0] != '\0' ? ":" : "", others) < 0)
        return false;
    free(program->jobs.programs);
    program->jobs.programs = programs;
    return send_on(program) && extend_search(program);
}
