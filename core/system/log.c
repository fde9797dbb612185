/* SPDX-License-Identifier: MIT */
/* Log records: how a line is made and written. Creating the file is in log_open.c; the rules are in
 * bcri/log.h. */
#include "bcri/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bcri/escape.h"

/* Bytes of a formatted text that are looked at; the rest would not fit into the line. */
#define TEXT_MAX 3072
/* Room kept at the end of a line for " [+18446744073709551615 bytes]\n". */
#define CUT_MAX 32

/* A line being made. bytes[0] is a newline that is written only to end a torn line. */
struct line {
    size_t length;
    char bytes[1 + BCRI_LOG_LINE_MAX];
};

static struct bcri_log_who owner(const struct bcri_log *log)
{
    return (struct bcri_log_who){.host = log->host, .pid = log->pid, .cce = log->cce};
}

const char *bcri_log_level_name(enum bcri_log_level level)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};

    return names[level];
}

static void append(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(struct line *line, const char *format, ...)
{
    size_t room = sizeof line->bytes - line->length;
    va_list args;

    va_start(args, format);
    int length = vsnprintf(line->bytes + line->length, room, format, args);
    va_end(args);
    if (length > 0)
        line->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void append_head(struct line *line, const struct bcri_log *log, enum bcri_log_level level,
                        const struct bcri_log_who *who)
{
    char host[BCRI_LOG_HOST_MAX + 1];
    const char *level_name = bcri_log_level_name(level);

    bcri_escape(who->host, strlen(who->host), host, sizeof host, NULL);
    if (log->path || log->show) {
        struct timespec now = {0};
        struct tm utc = {0};

        clock_gettime(CLOCK_REALTIME, &now);
        gmtime_r(&now.tv_sec, &utc);
        append(line, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ %-5s ", utc.tm_year + 1900, utc.tm_mon + 1,
               utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, now.tv_nsec / 1000000, level_name);
    } else {
        append(line, "bcr: %s: ", level_name);
    }
    append(line, "%s/%ld/", host, who->pid);
    if (who->cce > 0)
        append(line, "%d", who->cce);
    else
        append(line, "-");
    append(line, log->path || log->show ? " " : ": ");
}

/* Writes the line with one write(2). If only a part of it went out, the next line begins with the
 * newline. */
static bool write_line(struct bcri_log *log, const struct line *line)
{
    const char *start = log->torn ? line->bytes : line->bytes + 1;
    size_t length = (size_t)(line->bytes + line->length - start);
    ssize_t written;

    if (log->show) {
        const bool shown = log->show(log->owner, start, length);

        log->lost_errno = shown ? log->lost_errno : ENOBUFS;
        return shown;
    }
    do {
        written = write(log->fd, start, length);
    } while (written < 0 && errno == EINTR);

    if (written > 0)
        log->size_bytes += (uint64_t)written;
    if (written == (ssize_t)length) {
        log->torn = false;
        return true;
    }
    log->lost_errno = written < 0 ? errno : ENOSPC;
    if (written > 0)
        log->torn = !(log->torn && written == 1);
    return false;
}

static void lose(struct bcri_log *log)
{
    log->lost_count++;
    log->lost_total++;
}

/* Writes the record about lost lines; false if even that cannot be written. */
static bool tell_lost(struct bcri_log *log)
{
    struct bcri_log_who who = owner(log);
    struct line line;

    if (log->lost_count == 0)
        return true;
    line.bytes[0] = '\n';
    line.length = 1;
    append_head(&line, log, BCRI_LOG_WARN, &who);
    append(&line, "%llu log lines before this one are lost: %s\n", (unsigned long long)log->lost_count,
           strerror(log->lost_errno));
    if (!write_line(log, &line))
        return false;
    log->lost_count = 0;
    return true;
}

static void turn_if_large(struct bcri_log *log)
{
    char error[512];

    if (log->limit_bytes == 0 || log->size_bytes < log->limit_bytes || log->full || log->path == NULL)
        return;

    uint64_t size = log->size_bytes;

    if (bcri_log_turn(log, error, sizeof error) == 0) {
        log->turns++;
        bcri_log_write(log, BCRI_LOG_INFO, "goes on from %s.old, which has reached %llu bytes", log->path,
                       (unsigned long long)size);
        return;
    }
    log->full = true;
    bcri_log_write(
        log, BCRI_LOG_WARN,
        "the log has reached %llu bytes: only warnings and errors follow, since it cannot be set aside: %s",
        (unsigned long long)size, error);
}

/* Writes a record of as much of the text as has room, and returns how much that was. `cut`: the line says that bytes
 * are missing, and how many; `omitted`: that the caller had to leave out. */
static size_t record(struct bcri_log *log, enum bcri_log_level level, const struct bcri_log_who *who,
                     const char *text, size_t length, bool cut, size_t omitted)
{
    struct line line;
    size_t taken;
    int saved = errno;

    line.bytes[0] = '\n';
    line.length = 1;
    append_head(&line, log, level, who);
    line.length += bcri_escape(text, length, line.bytes + line.length,
                               sizeof line.bytes - line.length - CUT_MAX, &taken);
    omitted += length - taken;
    if (cut && omitted > 0)
        append(&line, " [+%zu bytes]", omitted);
    line.bytes[line.length++] = '\n';

    if (!tell_lost(log) || !write_line(log, &line))
        lose(log);
    turn_if_large(log);
    errno = saved;
    return taken;
}

static void format_record(struct bcri_log *log, enum bcri_log_level level, const struct bcri_log_who *who,
                          const char *format, va_list args)
{
    char text[TEXT_MAX];
    int length = vsnprintf(text, sizeof text, format, args);

    if (length < 0) /* an argument that cannot be printed; the format still tells what happened */
        record(log, level, who, format, strlen(format), true, 0);
    else if ((size_t)length < sizeof text)
        record(log, level, who, text, (size_t)length, true, 0);
    else
        record(log, level, who, text, sizeof text - 1, true, (size_t)length - (sizeof text - 1));
}

void bcri_log_write(struct bcri_log *log, enum bcri_log_level level, const char *format, ...)
{
    va_list args;

    if (!bcri_log_wants(log, level))
        return;

    struct bcri_log_who who = owner(log);

    va_start(args, format);
    format_record(log, level, &who, format, args);
    va_end(args);
}

void bcri_log_about(struct bcri_log *log, enum bcri_log_level level, const struct bcri_log_who *who,
                    const char *format, ...)
{
    va_list args;

    if (!bcri_log_wants(log, level))
        return;
    va_start(args, format);
    format_record(log, level, who, format, args);
    va_end(args);
}

void bcri_log_bytes(struct bcri_log *log, enum bcri_log_level level, const struct bcri_log_who *who,
                    const char *text, size_t length)
{
    if (!bcri_log_wants(log, level))
        return;
    do {
        const size_t taken = record(log, level, who, text, length, false, 0);

        text += taken;
        length -= taken;
    } while (length > 0);
}

void bcri_log_attach(struct bcri_log *log, int fd, enum bcri_log_level level, const struct bcri_log_who *who)
{
    *log = (struct bcri_log){.fd = fd, .level = level, .pid = who->pid, .cce = who->cce};
    snprintf(log->host, sizeof log->host, "%s", who->host);
}

void bcri_log_show(struct bcri_log *log, enum bcri_log_level level, const struct bcri_log_who *who,
                   bool (*show)(void *owner, const char *line, size_t length), void *owner)
{
    bcri_log_attach(log, -1, level, who);
    log->show = show;
    log->owner = owner;
}

void bcri_log_close(struct bcri_log *log)
{
    if (log->fd < 0 && !log->show)
        return;
    tell_lost(log);
    log->show = NULL;
    if (log->owned)
        close(log->fd);
    free(log->path);
    log->path = NULL;
    log->fd = -1;
}
