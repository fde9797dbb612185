/* SPDX-License-Identifier: MIT */
/* usage.c -- a line about each job in the file that the setting usagelog names: one JSON object, written at once, so that lines of
 * several jobs do not mix. `enl usage` adds them up (verbs/usage.c). */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "bcri/refuse.h"
#include "job/job.h"
#include "job/roster_plan.h"

/* Makes the directories above a file. What goes wrong is found when the file is opened. */
static void make_folders(const char *file)
{
    char *path = strdup(file);
    for (char *at = path != NULL ? strchr(path + 1, '/') : NULL; at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    free(path);
}

static void add_time(FILE *out, const char *name, time_t when)
{
    char text[64] = "";
    struct tm parts;
    if (gmtime_r(&when, &parts) != NULL)
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    fprintf(out, ",\"%s\":\"%s\"", name, text);
}

/* The line, which the caller frees, and its length; NULL: no memory. */
static char *line_of(const struct enl_jobs *jobs, const struct enl_usage *usage, int status,
                     size_t *length_out)
{
    char *line = NULL;
    FILE *out = open_memstream(&line, length_out);
    if (out == NULL)
        return NULL;
    char user[256], buffer[1024];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) == 0 && found != NULL)
        snprintf(user, sizeof user, "%s", found->pw_name);
    else
        snprintf(user, sizeof user, "%lu", (unsigned long)geteuid());
    fputs("{\"job\":", out);
    enl_json_text(out, jobs->self->name);
    fprintf(out, ",\"front\":\"%s\",\"user\":", jobs->roster->front == ENL_FRONT_YOD ? "yod" : "scrun");
    enl_json_text(out, user);
    const time_t now = time(NULL);
    add_time(out, "start", now - (time_t)(usage->lasted_ns / 1000000000));
    add_time(out, "end", now);
    fprintf(out, ",\"hosts\":%u,\"members\":%u,\"program\":", usage->hosts, jobs->plan->members);
    enl_json_text(out, jobs->roster->lines[0].argv[0]);
    fprintf(out, ",\"cpu_s\":%.3f,\"rss_max\":%llu,\"status\":%d}\n", (double)usage->cpu_us / 1e6,
            (unsigned long long)usage->rss_kib * 1024, status);
    if (fclose(out) == 0)
        return line;
    free(line);
    return NULL;
}

void enl_usage_log(struct enl_jobs *jobs, const struct enl_usage *usage, int status)
{
    char *path = NULL;
    size_t length = 0;
    if (jobs->self->config.usagelog == NULL ||
        bcri_config_resolve(&jobs->self->config, jobs->self->config.usagelog, &path) != 0)
        return;
    char *line = line_of(jobs, usage, status, &length);
    errno = ENOMEM;
    make_folders(path);
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;
    const int file = line != NULL ? open(path, flags | O_NONBLOCK, 0600) : -1; /* it may be a named pipe */
    if (file < 0 || write(file, line, length) != (ssize_t)length)
        enl_report(jobs->self, BCRI_LOG_WARN, "%s takes no line about this job (usagelog in bcrrc): %s", path,
                   strerror(errno));
    if (file >= 0)
        close(file);
    free(line);
    free(path);
}
