/* SPDX-License-Identifier: MIT */
/* See logs_command.h.
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
#include "verbs/options.h"

/* A clock that is further off is told. */
#define FAR_OFF_NS INT64_C(1000000000)

struct paths {
    char **all;
    size_t count, room;
};

static bool paths_add(struct paths *paths, const char *path)
{
    if (!enl_grow(&paths->all, &paths->room, paths->count + 1, sizeof *paths->all))
        return false;
    paths->all[paths->count] = strdup(path);
    return paths->all[paths->count++] != NULL;
}

static void paths_free(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->all[i]);
    free(paths->all);
}

/* ---- the files of a directory ---- */

static bool is_log(const char *name)
{
    const size_t length = strlen(name);
    return length > 8 && strncmp(name, "bcr.", 4) == 0 && strcmp(name + length - 4, ".log") == 0;
}

/* The name of the file of the program's root, if `name` is that of another host. */
static bool root_of(const char *name, char out[NAME_MAX + 1])
{
    const size_t end = strlen(name) - 4;
    size_t dot = end;
    while (dot > 4 && name[dot - 1] >= '0' && name[dot - 1] <= '9')
        dot--;
    if (dot == end || dot <= 5 || name[dot - 1] != '.')
        return false;
    snprintf(out, NAME_MAX + 1, "%.*s.log", (int)dot - 1, name);
    return true;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static bool has(const struct paths *names, const char *name)
{
    return bsearch(&name, names->all, names->count, sizeof *names->all, by_name) != NULL;
}

/* The file that stands for the program of `name`. */
static const char *program_of(const struct paths *names, const char *name, char out[NAME_MAX + 1])
{
    return root_of(name, out) && has(names, out) ? out : name;
}

/* False: no memory, or the directory cannot be read; said. */
static bool read_names(const char *folder, struct paths *names)
{
    DIR *stream = opendir(folder);
    bool good = stream != NULL;
    for (struct dirent *entry; good && (entry = readdir(stream)) != NULL;)
        good = !is_log(entry->d_name) || paths_add(names, entry->d_name);
    if (!good)
        fprintf(stderr, "enl: %s: %s\n", folder, strerror(errno));
    if (stream != NULL)
        closedir(stream);
    if (good && names->count != 0)
        qsort(names->all, names->count, sizeof *names->all, by_name);
    return good;
}

/* Finds the program whose logs were written last, of those that belong to this user or, where `anyone`, may be
 * read; "": there is none. Returns how many such programs have their root's log there. */
static size_t find_last(const char *folder, const struct paths *names, bool anyone, char chosen[NAME_MAX + 1])
{
    struct timespec newest = {0};
    struct stat status;
    char path[PATH_MAX + NAME_MAX], other[NAME_MAX + 1];
    size_t programs = 0;
    chosen[0] = '\0';
    for (size_t i = 0; i < names->count; i++) {
        const char *program = program_of(names, names->all[i], other);
        snprintf(path, sizeof path, "%s/%s", folder, names->all[i]);
        if (stat(path, &status) != 0 ||
            (anyone ? faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 : status.st_uid != geteuid()))
            continue;
        programs += program == names->all[i];
        if (chosen[0] != '\0' &&
            (status.st_mtim.tv_sec < newest.tv_sec ||
             (status.st_mtim.tv_sec == newest.tv_sec && status.st_mtim.tv_nsec <= newest.tv_nsec)))
            continue;
        newest = status.st_mtim;
        snprintf(chosen, NAME_MAX + 1, "%s", program);
    }
    return programs;
}

static bool add_folder(const char *folder, struct paths *paths)
{
    struct paths names = {0};
    char path[PATH_MAX + NAME_MAX], other[NAME_MAX + 1], chosen[NAME_MAX + 1] = "";
    bool good = read_names(folder, &names);
    size_t programs = good ? find_last(folder, &names, false, chosen) : 0;
    if (good && chosen[0] == '\0')
        programs = find_last(folder, &names, true, chosen);
    if (good && chosen[0] == '\0') {
        fprintf(stderr, "enl: there is no log (bcr.NAME.log) in %s that you may read\n", folder);
        good = false;
    }
    if (good && programs > 1)
        fprintf(stderr,
                "enl: %s has the logs of %zu programs; this is %.*s, written last: enl logs FILE ... shows "
                "others\n",
                folder, programs, (int)strlen(chosen) - 8, chosen + 4);
    for (size_t i = 0; good && i < names.count; i++)
        if (strcmp(program_of(&names, names.all[i], other), chosen) == 0) {
            snprintf(path, sizeof path, "%s/%s", folder, names.all[i]);
            good = paths_add(paths, path);
        }
    paths_free(&names);
    return good;
}

static bool add_word(const char *word, struct paths *paths)
{
    struct stat status;
    if (stat(word, &status) != 0) {
        fprintf(stderr, "enl: %s: %s\n", word, strerror(errno));
        return false;
    }
    return S_ISDIR(status.st_mode) ? add_folder(word, paths) : paths_add(paths, word);
}

static bool add_default(struct paths *paths)
{
    struct bcri_config config;
    char error[1024];
    if (bcri_config_load(&config, NULL, error, sizeof error) != 0) {
        fprintf(stderr, "enl: %s\n", error);
        return false;
    }
    const bool good = add_folder(config.logdir != NULL ? config.logdir : config.tempdir, paths);
    if (!good && config.log != BCRI_LOG_TO_FILE)
        fprintf(stderr, "enl: with these settings (log %s) programs write none\n",
                config.settings[BCRI_CONFIG_log].text);
    bcri_config_fini(&config);
    return good;
}

/* ---- what is said of them ---- */

/* What cannot be shown is told, and the others are shown without it. Returns how many there are. */
static size_t open_logs(const struct paths *paths, struct enl_log_file *files)
{
    size_t opened = 0;
    for (size_t i = 0; i < paths->count; i++) {
        struct stat status = {.st_size = 0};
        if (enl_log_file_open(&files[opened], paths->all[i])) {
            opened++;
            continue;
        }
        const int error = errno;
        const bool empty =
            error == 0 && stat(paths->all[i], &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
        fprintf(stderr, "enl: %s: %s\n", paths->all[i],
                error != 0 ? strerror(error)
                : empty    ? "it is empty, as where the disk of its host was full"
                           : "this is no log of a BCR program");
    }
    return opened;
}

static void tell_clocks(const struct enl_log_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct enl_log_file *file = &files[i];
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

static int show_all(const struct enl_options *options, struct enl_log_file *files, size_t count)
{
    struct enl_merge merge;
    if (!enl_merge_begin(&merge, files, count)) {
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
    struct paths paths = {0};
    struct rlimit files_most;
    bool good = words[0] != NULL || add_default(&paths);
    for (; *words != NULL; words++)
        good = add_word(*words, &paths) && good;
    if (getrlimit(RLIMIT_NOFILE, &files_most) == 0) {
        files_most.rlim_cur = files_most.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files_most);
    }
    struct enl_log_file *files = calloc(paths.count + 1, sizeof *files);
    const size_t opened = files != NULL ? open_logs(&paths, files) : 0;
    int status = good && opened == paths.count ? 0 : 1;
    if (opened != 0) {
        tell_clocks(files, opened);
        if (show_all(options, files, opened) != 0)
            status = 1;
    }
    for (size_t i = 0; i < opened; i++)
        fclose(files[i].in);
    free(files);
    paths_free(&paths);
    return status;
}
