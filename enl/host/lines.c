/* SPDX-License-Identifier: MIT */
/* lines.c -- what CCEs print, at the program's root.
 *
 * Bytes stay as they are; only where labels or times are wanted each line begins with them.
 *
 * A file is opened for each piece: CCEs may be many more than a daemon may have open files, they come
 * and go, and those on other hosts are known here by no more than their ordinals. Writing a regular
 * file waits for a disk at worst, as the log does. */
#include "host/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/write_all.h"
#include "base/writer.h"
#include "bcri/refuse.h"
#include "host/host.h"

enum { TIME_BYTES = 40, PREFIX_BYTES = TIME_BYTES + 16 };

/* `no` and `none` are one. */
static enum bcri_output output_of(const struct enl_lines *lines)
{
    const enum bcri_output output = (enum bcri_output)lines->here->self->config.output;
    return output == BCRI_OUTPUT_NO ? BCRI_OUTPUT_NONE : output;
}

bool enl_lines_wanted(const struct enl_lines *lines)
{
    return output_of(lines) != BCRI_OUTPUT_NONE || lines->here->self->config.outputdir != NULL;
}

bool enl_lines_of_root_wanted(const struct enl_lines *lines)
{
    return lines->here->self->config.output == BCRI_OUTPUT_LABEL ||
           lines->here->self->config.outputdir != NULL;
}

/* cce.N.out or cce.N.err. */
static bool is_ours(const char *name)
{
    if (strncmp(name, "cce.", 4) != 0)
        return false;
    const size_t digits = strspn(name + 4, "0123456789");
    const char *end = name + 4 + digits;
    return digits > 0 && (strcmp(end, ".out") == 0 || strcmp(end, ".err") == 0);
}

static int remove_old(int folder)
{
    int error = 0;
    const int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
    if (stream == NULL) {
        error = errno;
        if (copy >= 0)
            close(copy);
        return error;
    }
    for (struct dirent *entry; error == 0 && (entry = readdir(stream)) != NULL;)
        if (is_ours(entry->d_name) && unlinkat(folder, entry->d_name, 0) != 0)
            error = errno;
    closedir(stream);
    return error;
}

int enl_lines_open(struct enl_lines *lines, char *error, size_t error_size)
{
    const char *path = lines->here->self->config.outputdir;
    lines->folder = -1;
    if (path == NULL)
        return 0;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return bcri_refuse(error, error_size, -1, "the directory %s for what CCEs print cannot be made: %s",
                           path, strerror(errno));
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = folder < 0 ? errno : 0;
    if (failed == 0 && faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) != 0)
        failed = errno;
    if (failed == 0)
        failed = remove_old(folder);
    lines->folder = folder;
    return failed == 0 ? 0
                       : bcri_refuse(error, error_size, -1, "%s cannot take what CCEs print: %s", path,
                                     strerror(failed));
}

/* ---- the two streams ---- */

static bool is_full(void *owner)
{
    const struct enl_outlet *outlet = owner;
    const struct enl_lines *lines = outlet->lines;
    if (lines->here->self->upward != NULL)
        return lines->here->self->upward->is_full();
    if (lines->here->self->is_child)
        return false;
    return enl_writer_full(outlet->fd == 1 ? lines->here->self->report.out : lines->here->self->report.err);
}

static void pass_lines(void *owner, const struct enl_printed *text);

static void on_marked(void *owner)
{
    const struct enl_lines *lines = ((struct enl_outlet *)owner)->lines;
    lines->marked(lines->here);
}

int enl_lines_start(struct enl_lines *lines)
{
    static const struct enl_mux_ops ops = {is_full, pass_lines, on_marked};
    const bool one =
        lines->here->self->report.out == lines->here->self->report.err && !lines->here->self->is_child;
    for (int i = one ? 1 : 0; i < 2; i++) {
        struct enl_outlet *outlet = &lines->outlets[i];
        *outlet = (struct enl_outlet){.lines = lines, .fd = 1 + i};
        outlet->mux =
            enl_mux_new(&lines->here->self->loop, (unsigned)lines->here->self->config.linehold, &ops, outlet);
        if (outlet->mux == NULL)
            return -ENOMEM;
    }
    return 0;
}

struct enl_mux *enl_lines_mux(const struct enl_lines *lines, int fd, bool root)
{
    if (lines->here->self->upward == NULL && !root && output_of(lines) == BCRI_OUTPUT_NONE)
        return NULL;
    if (!enl_lines_wanted(lines))
        return NULL;
    return lines->outlets[fd == 1 && lines->outlets[0].mux != NULL ? 0 : 1].mux;
}

void enl_lines_resume(struct enl_lines *lines)
{
    for (int i = 0; i < 2; i++)
        if (lines->outlets[i].mux != NULL)
            enl_mux_resume(lines->outlets[i].mux);
}

void enl_lines_stop(struct enl_lines *lines)
{
    for (int i = 0; i < 2; i++)
        if (lines->outlets[i].mux != NULL)
            enl_mux_close(lines->outlets[i].mux);
}

/* ---- what lines begin with ---- */

/* Such as "2026-11-23T12:13:28.123 "; nothing unless it is wanted. */
static size_t put_time(const struct enl_lines *lines, char text[TIME_BYTES])
{
    struct timespec now;
    struct tm parts;
    if (lines->here->self->config.timestamp == 0 || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
        localtime_r(&now.tv_sec, &parts) == NULL)
        return 0;
    const size_t used = strftime(text, TIME_BYTES - 8, "%Y-%m-%dT%H:%M:%S", &parts);
    return used + (size_t)snprintf(text + used, 8, ".%03ld ", now.tv_nsec / 1000000);
}

/* A file that is there counts only if it is one that enl could have made: a FIFO would stop the
 * daemon, and what another user has put there is that user's. */
static int open_file(const struct enl_lines *lines, const char *name)
{
    struct stat status;
    const int file = openat(lines->folder, name,
                            O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()))
        return file;
    close(file);
    errno = EEXIST;
    return -1;
}

/* Such as "2026-11-23T12:13:28.123 [7] ". */
static size_t put_prefix(const struct enl_lines *lines, const struct enl_printed *text, bool label,
                         char prefix[PREFIX_BYTES])
{
    const size_t used = put_time(lines, prefix);
    return used + (label ? (size_t)snprintf(prefix + used, PREFIX_BYTES - used, "[%u] ", text->ordinal) : 0);
}

/* Calls `put` with the text as it is to be seen: each line begins with the prefix. False: no memory. */
static bool put_prefixed(struct enl_lines *lines, const struct enl_printed *text, bool label,
                         void (*put)(struct enl_lines *lines, const struct enl_printed *text))
{
    char prefix[PREFIX_BYTES], *copy = NULL;
    const size_t prefix_length = put_prefix(lines, text, label, prefix);
    struct enl_printed seen = *text;
    FILE *stream = prefix_length != 0 ? open_memstream(&copy, &seen.length) : NULL;
    bool begins = !text->goes_on;
    for (const char *at = text->bytes, *end = at + text->length, *next; stream != NULL && at < end;
         at = next) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        next = newline != NULL ? newline + 1 : end;
        fwrite(prefix, 1, begins ? prefix_length : 0, stream);
        fwrite(at, 1, (size_t)(next - at), stream);
        begins = true;
    }
    const bool done = prefix_length == 0 || (stream != NULL && fclose(stream) == 0);
    seen.bytes = prefix_length != 0 ? copy : text->bytes;
    if (done)
        put(lines, &seen);
    free(copy);
    return done;
}

/* ---- files ---- */

static void put_in_file(struct enl_lines *lines, const struct enl_printed *text)
{
    char name[32];
    snprintf(name, sizeof name, "cce.%u.%s", text->ordinal, text->fd == 1 ? "out" : "err");
    const int file = open_file(lines, name);
    const int error = file < 0 ? errno : enl_write_all(file, text->bytes, text->length);
    if (file >= 0)
        close(file);
    if (error == 0)
        return;
    if (enl_lines_mux(lines, text->fd, text->root) == NULL) /* it is not shown either */
        enl_lines_log(lines, text->ordinal, text->bytes, text->length);
    if (!lines->is_lost)
        enl_report(lines->here->self, BCRI_LOG_ERROR,
                   "what CCEs print can no longer be written to %s/%s (%s)",
                   lines->here->self->config.outputdir, name, strerror(error));
    lines->is_lost = true;
}

/* ---- text ---- */

void enl_lines_log(struct enl_lines *lines, uint32_t ordinal, const char *bytes, size_t length)
{
    const struct bcri_log_who who = {lines->here->self->hostname, lines->here->self->log.pid, (int)ordinal};
    while (length > 0) {
        const char *newline = memchr(bytes, '\n', length);
        const size_t line = newline != NULL ? (size_t)(newline - bytes) : length;
        bcri_log_bytes(&lines->here->self->log, BCRI_LOG_INFO, &who, bytes, line);
        const size_t skip = line + (newline != NULL ? 1 : 0);
        bytes += skip;
        length -= skip;
    }
}

/* That is said once for a program, unless the reader has gone. */
void enl_lines_unwritten(struct enl_lines *lines, uint32_t ordinal, const char *bytes, size_t length,
                         int error)
{
    const uint64_t log_lost = lines->here->self->log.lost_total;
    enl_lines_log(lines, ordinal, bytes, length);
    if (error == EPIPE || lines->is_lost)
        return;
    lines->is_lost = true;
    enl_report(lines->here->self, BCRI_LOG_ERROR, "what CCEs print can no longer be shown (%s)%s",
               strerror(error), enl_report_log_has(lines->here->self, log_lost) ? "; the log has it" : "");
}

static void tell_no_memory(struct enl_lines *lines)
{
    if (!lines->is_lost)
        enl_report(lines->here->self, BCRI_LOG_ERROR, "what CCEs print cannot all be shown (no memory)");
    lines->is_lost = true;
}

static void show_lines(struct enl_lines *lines, const struct enl_printed *text)
{
    enl_report_progress(lines->here->self, 0, 0);
    if (!enl_writer_printed(text->fd == 1 ? lines->here->self->report.out : lines->here->self->report.err,
                            text->ordinal, text->bytes, text->length))
        tell_no_memory(lines);
}

/* Its turn has come. */
static void pass_lines(void *owner, const struct enl_printed *text)
{
    struct enl_lines *lines = ((struct enl_outlet *)owner)->lines;
    const enum bcri_output output = output_of(lines);
    const bool label = output == BCRI_OUTPUT_LABEL || (output == BCRI_OUTPUT_YES && !text->root);
    if (lines->here->self->upward != NULL)
        lines->here->self->upward->printed(lines->here->self->program, text);
    else if (lines->here->self->is_child) /* its parent is lost */
        enl_lines_log(lines, text->ordinal, text->bytes, text->length);
    else if (!put_prefixed(lines, text, label, show_lines))
        tell_no_memory(lines);
}

void enl_lines_take(struct enl_lines *lines, struct enl_source *source, const struct enl_printed *text)
{
    if (lines->here->self->upward == NULL && lines->here->self->config.outputdir != NULL &&
        !put_prefixed(lines, text, false, put_in_file))
        tell_no_memory(lines);
    if (source != NULL && !enl_source_give(source, text))
        tell_no_memory(lines);
}
