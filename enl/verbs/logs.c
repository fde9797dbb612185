/* SPDX-License-Identifier: MIT */
/* See verbs.h.
 *
 * Of a directory the logs of one program are shown, that which was written last. Its files are
 * bcr.NAME.log and bcr.NAME.K.log; where the former is not there each file is a program of its own. */
#include "verbs/verbs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/json.h"
#include "bcri/config.h"
#include "bcri/escape.h"
#include "verbs/merge.h"

/* A clock that is further off is told. */
#define FAR_OFF_NS INT64_C(1000000000)

struct logs {
    struct enl_log_file *all; /* opened */
    size_t count, room;
};

/* What cannot be shown is told, and the others are shown without it: false. */
static bool add_log(struct logs *logs, const char *path)
{
    struct stat status = {.st_size = 0};
    errno = ENOMEM;
    if (enl_grow(&logs->all, &logs->room, logs->count + 1, sizeof *logs->all) &&
        enl_log_file_open(&logs->all[logs->count], path)) {
        logs->count++;
        return true;
    }
    const int error = errno;
    const bool empty =
        error == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
    fprintf(stderr, "enl: %s: %s\n", path,
            error != 0 ? strerror(error)
            : empty    ? "it is empty, as where the disk of its host was full"
                       : "this is no log of a BCR program");
    return false;
}

/* ---- the files of a directory ---- */

static int is_log(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 8 && strncmp(entry->d_name, "bcr.", 4) == 0 &&
           strcmp(entry->d_name + length - 4, ".log") == 0;
}

/* The file that stands for the program of `name`: that of the program's root, if `name` is that of another host. */
static const char *program_of(const char *folder, const char *name, char out[NAME_MAX + 1])
{
    char path[PATH_MAX + NAME_MAX];
    const size_t end = strlen(name) - 4;
    size_t dot = end;
    while (dot > 4 && name[dot - 1] >= '0' && name[dot - 1] <= '9')
        dot--;
    if (dot == end || dot <= 5 || name[dot - 1] != '.')
        return name;
    snprintf(out, NAME_MAX + 1, "%.*s.log", (int)dot - 1, name);
    snprintf(path, sizeof path, "%s/%s", folder, out);
    return access(path, F_OK) == 0 ? out : name;
}

/* Finds the program whose logs were written last, of those that belong to this user or, where `anyone`, may be
 * read; "": there is none. Returns how many such programs have their root's log there. */
static size_t find_last(const char *folder, struct dirent *const *names, int count, bool anyone,
                        char chosen[NAME_MAX + 1])
{
    struct timespec newest = {0};
    struct stat status;
    char path[PATH_MAX + NAME_MAX], other[NAME_MAX + 1];
    size_t programs = 0;
    chosen[0] = '\0';
    for (int i = 0; i < count; i++) {
        const char *program = program_of(folder, names[i]->d_name, other);
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (stat(path, &status) != 0 ||
            (anyone ? faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 : status.st_uid != geteuid()))
            continue;
        programs += program == names[i]->d_name;
        if (chosen[0] != '\0' &&
            (status.st_mtim.tv_sec < newest.tv_sec ||
             (status.st_mtim.tv_sec == newest.tv_sec && status.st_mtim.tv_nsec <= newest.tv_nsec)))
            continue;
        newest = status.st_mtim;
        snprintf(chosen, NAME_MAX + 1, "%s", program);
    }
    return programs;
}

static bool add_folder(struct logs *logs, const char *folder)
{
    struct dirent **names = NULL;
    char path[PATH_MAX + NAME_MAX], other[NAME_MAX + 1], chosen[NAME_MAX + 1];
    const int count = scandir(folder, &names, is_log, alphasort);
    if (count < 0) {
        fprintf(stderr, "enl: %s: %s\n", folder, strerror(errno));
        return false;
    }
    size_t programs = find_last(folder, names, count, false, chosen);
    if (chosen[0] == '\0')
        programs = find_last(folder, names, count, true, chosen);
    bool good = chosen[0] != '\0';
    if (!good)
        fprintf(stderr, "enl: there is no log (bcr.NAME.log) in %s that you may read\n", folder);
    else if (programs > 1)
        fprintf(stderr,
                "enl: %s has the logs of %zu programs; this is %.*s, written last: enl logs FILE ... shows "
                "others\n",
                folder, programs, (int)strlen(chosen) - 8, chosen + 4);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (chosen[0] != '\0' && strcmp(program_of(folder, names[i]->d_name, other), chosen) == 0)
            good = add_log(logs, path) && good;
        free(names[i]);
    }
    free(names);
    return good;
}

static bool add_word(struct logs *logs, const char *word)
{
    struct stat status;
    if (stat(word, &status) == 0)
        return S_ISDIR(status.st_mode) ? add_folder(logs, word) : add_log(logs, word);
    fprintf(stderr, "enl: %s: %s\n", word, strerror(errno));
    return false;
}

static bool add_default(struct logs *logs)
{
    struct bcri_config config;
    if (!enl_options_config(NULL, &config))
        return false;
    const bool good = add_folder(logs, config.logdir != NULL ? config.logdir : config.tempdir);
    if (!good && logs->count == 0 && config.log != BCRI_LOG_TO_FILE)
        fprintf(stderr, "enl: with these settings (log %s) programs write none\n",
                config.settings[BCRI_CONFIG_log].text);
    bcri_config_fini(&config);
    return good;
}

/* ---- what is said of them ---- */

static void tell_clocks(const struct logs *logs)
{
    for (size_t i = 0; i < logs->count; i++) {
        const struct enl_log_file *file = &logs->all[i];
        char host[4 * sizeof file->host];
        bcri_escape(file->host, strlen(file->host), host, sizeof host, NULL);
        if (!file->is_root && file->clocks == 0)
            fprintf(stderr,
                    "enl: host %s: its clock was never compared with the root's; its times are taken as they "
                    "are\n",
                    host);
        else if (llabs(file->most_ns) > FAR_OFF_NS)
            fprintf(
                stderr,
                "enl: host %s: its clock is %.1f s %s the root's; times are corrected here: let NTP set it "
                "(chrony, systemd-timesyncd)\n",
                host, (double)llabs(file->most_ns) / 1e9, file->most_ns > 0 ? "behind" : "ahead of");
    }
}

/* Text of a log is escaped already; what is not becomes so. */
static void put_text(const char *text)
{
    static char shown[4 * ENL_LOG_LINE_BYTES];
    const size_t length = bcri_escape(text, strlen(text), shown, sizeof shown, NULL);
    for (size_t i = 0; i < length; i++) {
        if (shown[i] == '\\' && shown[i + 1] == '\\')
            i++;
        putchar(shown[i]);
    }
}

static void put_time(int64_t time_ns)
{
    const int64_t ms = time_ns / 1000000;
    const time_t seconds = (time_t)(ms / 1000 - (ms % 1000 < 0));
    struct tm parts = {0};
    char text[64] = "";
    gmtime_r(&seconds, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    printf("%s.%03dZ", text, (int)(ms - (int64_t)seconds * 1000));
}

static void show_line(const struct enl_log_file *file)
{
    const struct enl_log_line *line = &file->line;
    if (!line->whole) {
        put_text(line->text);
        putchar('\n');
        return;
    }
    put_time(line->time_ns);
    printf(" %-5s ", line->level);
    put_text(line->host);
    printf("/%ld/%s ", line->pid, line->cce);
    put_text(line->text);
    putchar('\n');
}

static void show_json(const struct enl_log_file *file)
{
    const struct enl_log_line *line = &file->line;
    printf("{\"time\":");
    if (line->whole) {
        putchar('"');
        put_time(line->time_ns);
        printf("\",\"ahead_ns\":%lld,\"level\":\"%s\"", (long long)file->ahead_ns, line->level);
    } else {
        printf("null");
    }
    printf(",\"host\":");
    enl_json_text(stdout, line->whole ? line->host : file->host);
    if (line->whole)
        printf(",\"pid\":%ld,\"cce\":", line->pid);
    if (line->whole && strcmp(line->cce, "-") == 0)
        printf("null");
    else if (line->whole)
        printf("%lu", strtoul(line->cce, NULL, 10)); /* in the file there may be zeros before it */
    printf(",\"text\":");
    enl_json_text(stdout, line->text);
    printf("}\n");
}

static int show_all(const struct enl_options *options, const struct logs *logs)
{
    struct enl_merge merge;
    if (!enl_merge_begin(&merge, logs->all, logs->count)) {
        fprintf(stderr, "enl: no memory\n");
        return 1;
    }
    for (const struct enl_log_file *file; (file = enl_merge_next(&merge)) != NULL && !ferror(stdout);)
        if (options->json)
            show_json(file);
        else
            show_line(file);
    enl_merge_end(&merge);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "enl: the merged log cannot be written: %s\n", strerror(errno));
    return 1;
}

int enl_command_logs(const struct enl_options *options, char **words)
{
    struct logs logs = {0};
    struct rlimit files_most;
    if (getrlimit(RLIMIT_NOFILE, &files_most) == 0) {
        files_most.rlim_cur = files_most.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files_most);
    }
    bool good = words[0] != NULL || add_default(&logs);
    for (; *words != NULL; words++)
        good = add_word(&logs, *words) && good;
    if (logs.count != 0) {
        tell_clocks(&logs);
        good = show_all(options, &logs) == 0 && good;
    }
    for (size_t i = 0; i < logs.count; i++)
        fclose(logs.all[i].in);
    free(logs.all);
    return good ? 0 : 1;
}
