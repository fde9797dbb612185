/* SPDX-License-Identifier: MIT */
/* The log: one line per record, one write(2) per line.
 *
 *   2026-03-01T12:34:56.789Z warn  host/1234/7 text         in a daemon's file
 *   the same                                                where lines are shown (bcri_log_show)
 *   bcr: warn: host/1234/7: text                            on stderr (bcri_log_attach)
 *
 * host/pid/cce names the process that the record is about; cce is - when that is no CCE. Everything
 * that came from outside is escaped (bcri/escape.h), so no program output or peer can forge a line
 * or drive a terminal. A line is at most BCRI_LOG_LINE_MAX bytes, which is what one write to a pipe
 * keeps together. A longer text is cut, and the line says by how much; what a CCE has printed
 * (bcri_log_bytes) goes on in further records instead.
 *
 * Must not be given: keys, CCE identities, contents of regions. Nothing here can know what is
 * secret.
 *
 * The log never stops the program: a line that cannot be written is counted as lost, and the next
 * line that can be written is preceded by a record of how many were lost and why. A caller that may
 * meet a file size limit or a closed pipe ignores SIGXFSZ and SIGPIPE. errno is left alone.
 *
 * A log file that has reached its limit is renamed to ….log.old, which replaces an older file of
 * that name, and a new file continues under the log's name. So both together hold the newest lines
 * and at most twice the limit. If the file cannot be renamed, the log takes only warnings and
 * errors from then on.
 *
 * Only one thread at a time may use a log. A NULL log, or one that is not open, drops its
 * records. */
#ifndef BCRI_LOG_H
#define BCRI_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BCRI_LOG_LINE_MAX 4096 /* bytes, the newline included */
#define BCRI_LOG_HOST_MAX 64   /* bytes of a host name shown */

/* In the order of the words that the keyword loglevel accepts (bcri/config.h). */
enum bcri_log_level { BCRI_LOG_ERROR, BCRI_LOG_WARN, BCRI_LOG_INFO, BCRI_LOG_DEBUG };

/* The process that a record is about. cce 0: no CCE. */
struct bcri_log_who {
    const char *host;
    long pid;
    int cce;
};

struct bcri_log {
    int fd; /* -1: not open */
    /* Takes a line in place of a file; false: there is no room, and it is lost. NULL: there is a file, or no log. */
    bool (*show)(void *owner, const char *line, size_t length);
    void *owner;
    bool owned;                /* fd is ours to close */
    bool torn;                 /* the file ends in half a line */
    enum bcri_log_level level; /* records above it are dropped */
    char host[BCRI_LOG_HOST_MAX + 1];
    long pid; /* host, pid and cce are the log's owner; a CCE sets cce once it knows its own */
    int cce;
    char *path;                       /* NULL unless made by bcri_log_open */
    uint64_t limit_bytes, size_bytes; /* no limit: 0, which bcri_log_open leaves; the caller sets it */
    bool full;                        /* it has reached its limit and cannot be renamed */
    uint32_t turns;                   /* how often it has begun anew: path.old is its own then */
    int lost_errno;                   /* why the last line was lost */
    uint64_t lost_count;              /* lines lost and not yet reported */
    uint64_t lost_total;
};

#define BCRI_LOG_INIT \
    {                 \
        .fd = -1      \
    }

/* bcri_log_open -- create the log file of program `program` in `tempdir`:
 * tempdir/bcr.<program>.log, mode 0600.
 * Shape   : program: letters, digits, . _ and -, at most 200 bytes.
 *           The file is new: the log never writes to, follows or waits for what has that name
 *           already. A left-over of the same user (an earlier program of that name) is renamed to
 *           ….log.old. One that a running program still holds by its flock, or that belongs to
 *           another user, is an error.
 * Owns    : copies its arguments. `log` need not be initialized before; it is BCRI_LOG_INIT after a
 *           failure.
 * Returns : 0; -EINVAL program's name; -EEXIST; -ENOMEM; the negative errno of the directory or the
 * file.
 *           `error` gets a sentence that says what to do. */
int bcri_log_open(struct bcri_log *log, const char *tempdir, const char *program, enum bcri_log_level level,
                  const struct bcri_log_who *who, char *error, size_t error_size);

/* bcri_log_keep -- remove from `tempdir` the logs of this user's programs that have ended, but those of the `keep` of
 * them that were written last. What cannot be looked at or removed stays. */
void bcri_log_keep(const char *tempdir, unsigned keep);

/* The length of what is in front of .PID, or .PID-N, at the end of a program's name; 0: it does not end so. No name that
 * a user gives ends so, and no host's name in front of .PID does. */
size_t bcri_log_without_pid(const char *name, size_t length);

/* Makes a log whose lines are given to `show`. */
void bcri_log_show(struct bcri_log *log, enum bcri_log_level level, const struct bcri_log_who *who,
                   bool (*show)(void *owner, const char *line, size_t length), void *owner);

/* Makes a log, without times, of a descriptor that stays the caller's (2, say). */
void bcri_log_attach(struct bcri_log *log, int fd, enum bcri_log_level level, const struct bcri_log_who *who);

/* Renames the file to ….log.old and makes a new one of its name. The routine that writes a record
 * beyond the limit calls it.
 * Returns : 0; else a negative errno, `error` says why, and the log goes on in the file that it
 * has. */
int bcri_log_turn(struct bcri_log *log, char *error, size_t error_size);

/* Reports lost lines a last time if it can, and closes. Safe on BCRI_LOG_INIT, and twice. */
void bcri_log_close(struct bcri_log *log);

static inline bool bcri_log_wants(const struct bcri_log *log, enum bcri_log_level level)
{
    return log && (log->fd >= 0 || log->show) && level <= log->level &&
           (!log->full || level <= BCRI_LOG_WARN);
}

/* A record about the log's owner. */
void bcri_log_write(struct bcri_log *log, enum bcri_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A record about another process. */
void bcri_log_about(struct bcri_log *log, enum bcri_log_level level, const struct bcri_log_who *who,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What a CCE printed, any `length` bytes: one record, or several where one has not enough room. */
void bcri_log_bytes(struct bcri_log *log, enum bcri_log_level level, const struct bcri_log_who *who,
                    const char *text, size_t length);

/* "error", "warn", "info", "debug". */
const char *bcri_log_level_name(enum bcri_log_level level);

#endif
