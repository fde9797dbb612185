/* SPDX-License-Identifier: MIT */
/* lines.c -- lines of CCEs at the program's root.
 *
 * A file is opened for each line: CCEs may be many more than a daemon may have open files, they come
 * and go, and those on other hosts are known here by no more than their ordinals. Writing a regular
 * file waits for a disk at worst, as the log does. */
#include "lines.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "bcri/refuse.h"
#include "output.h"
#include "writer.h"

enum { TIME_BYTES = 40, PREFIX_BYTES = TIME_BYTES + 16 };

bool enl_lines_wanted(const struct enl_program *program)
{
    return program->config.output != BCRI_OUTPUT_NO || program->config.outputdir != NULL;
}

bool enl_lines_of_root_wanted(const struct enl_program *program)
{
    return program->config.output == BCRI_OUTPUT_LABEL || program->config.outputdir != NULL;
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

int enl_lines_open(struct enl_program *program, char *error, size_t error_size)
{
    const char *path = program->config.outputdir;
    program->lines_folder = -1;
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
    program->lines_folder = folder;
    return failed == 0 ? 0
                       : bcri_refuse(error, error_size, -1, "%s cannot take what CCEs print: %s", path,
                                     strerror(failed));
}

bool enl_lines_full(const struct enl_program *program, int fd)
{
    return enl_writer_full(fd == 1 ? program->out : program->err);
}

/* Such as "2026-11-23T12:13:28.123 "; nothing unless it is wanted. */
static size_t put_time(const struct enl_program *program, char text[TIME_BYTES])
{
    struct timespec now;
    struct tm parts;
    if (program->config.timestamp == 0 || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
        localtime_r(&now.tv_sec, &parts) == NULL)
        return 0;
    const size_t used = strftime(text, TIME_BYTES - 8, "%Y-%m-%dT%H:%M:%S", &parts);
    return used + (size_t)snprintf(text + used, 8, ".%03ld ", now.tv_nsec / 1000000);
}

/* A file that is there counts only if it is one that enl could have made: a FIFO would stop the
 * daemon, and what another user has put there is that user's. */
static int open_file(const struct enl_program *program, const char *name)
{
    struct stat status;
    const int file = openat(program->lines_folder, name,
                            O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()))
        return file;
    close(file);
    errno = EEXIST;
    return -1;
}

static void put_in_file(struct enl_program *program, int fd, uint32_t ordinal, struct iovec parts[2])
{
    char name[32];
    snprintf(name, sizeof name, "cce.%u.%s", ordinal, fd == 1 ? "out" : "err");
    const int file = open_file(program, name);
    const ssize_t length = (ssize_t)(parts[0].iov_len + parts[1].iov_len);
    const ssize_t written = file < 0 ? -1 : writev(file, parts, 2);
    const int error = written < 0 ? errno : written < length ? ENOSPC : 0;
    if (file >= 0)
        close(file);
    if (error == 0 || program->lines_lost)
        return;
    program->lines_lost = true;
    enl_report(program, BCRI_LOG_ERROR,
               "what CCEs print can no longer be written to %s/%s (%s); the log has it",
               program->config.outputdir, name, strerror(error));
}

void enl_lines_take(struct enl_program *program, int fd, uint32_t ordinal, bool root, const char *text,
                    size_t length)
{
    const enum bcri_output output = (enum bcri_output)program->config.output;
    char line[PREFIX_BYTES + ENL_LINE_BYTES + 1];
    size_t used = put_time(program, line);
    if (length > ENL_LINE_BYTES)
        length = ENL_LINE_BYTES;
    if (program->config.outputdir != NULL) {
        char ended[ENL_LINE_BYTES + 1];
        if (length != 0)
            memcpy(ended, text, length);
        ended[length] = '\n';
        struct iovec parts[] = {{line, used}, {ended, length + 1}};
        put_in_file(program, fd, ordinal, parts);
    }
    if (output == BCRI_OUTPUT_NO && !root)
        return;
    if (output == BCRI_OUTPUT_LABEL || !root)
        used += (size_t)snprintf(line + used, 16, "[%u] ", ordinal);
    if (length != 0)
        memcpy(line + used, text, length);
    line[used + length] = '\n';
    enl_report_clear(program);
    enl_writer_line(fd == 1 ? program->out : program->err, line, used + length + 1);
}
