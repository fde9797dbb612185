/* SPDX-License-Identifier: MIT */
/* Creates a daemon's log file in a directory where every user may write.
 *
 * The name can be predicted, so another user may have put a file, a link or a FIFO there.
 * Invariants: the returned descriptor is that of a file which this call has created. What had that
 * name before is not written to, followed, read or waited for. It is only renamed, and only if it
 * is a plain file of this user. Every step goes through one descriptor of the directory, so it does
 * no harm if the directory is exchanged meanwhile. */
#include "bcri/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcri/refuse.h"

#define PROGRAM_MAX 200 /* with prefix and suffixes below NAME_MAX */
#define NAME_SIZE   (sizeof "bcr..log.old" + PROGRAM_MAX)

static bool program_ok(const char *program)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(program);

    return length > 0 && length <= PROGRAM_MAX && strspn(program, allowed) == length;
}

/* Waits until no other process of this user is about to remove the file, and keeps them from it until `fd` is closed
 * (log_keep.c). Where the file system has no such lock, none removes one. */
static void keep_from_removal(int fd)
{
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    while (fcntl(fd, F_OFD_SETLKW, &whole) < 0 && errno == EINTR)
        continue;
}

/* Whether the name is still that of this file; else it has been removed or renamed meanwhile. */
static bool has_name(int dir, const char *name, const struct stat *file)
{
    struct stat there;

    return fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_dev == file->st_dev &&
           there.st_ino == file->st_ino;
}

/* Renames the file that has the name to `old_name`, if it is a plain file of this user that no
 * program has in use: a daemon's flock is exclusive, that of one that looks for old logs is shared. */
static int set_aside(int dir, const char *name, const char *old_name, const char *path, char *error,
                     size_t error_size)
{
    struct stat st;
    int status = 0;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0) {
        if (errno == ENOENT)
            return 0;
        return bcri_refuse(error, error_size, -EEXIST,
                           "cannot create the log %s: %s stands there; remove it, or choose another tempdir",
                           path, errno == ELOOP ? "a symbolic link" : "something that this user cannot open");
    }
    if (fstat(fd, &st) < 0)
        status = bcri_refuse(error, error_size, -errno, "cannot look at %s: %s", path, strerror(errno));
    else if (st.st_uid != geteuid())
        status = bcri_refuse(
            error, error_size, -EEXIST,
            "cannot create the log %s: a file of user %lu stands there; remove it, or choose another "
            "tempdir",
            path, (unsigned long)st.st_uid);
    else if (!S_ISREG(st.st_mode))
        status = bcri_refuse(
            error, error_size, -EEXIST,
            "cannot create the log %s: what stands there is no plain file; remove it, or choose another "
            "tempdir",
            path);
    else if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        status = bcri_refuse(error, error_size, -EEXIST,
                             "cannot create the log %s: a running program writes it; choose another tempdir",
                             path);
    else {
        keep_from_removal(fd);
        if (has_name(dir, name, &st) && renameat(dir, name, dir, old_name) < 0 && errno != ENOENT)
            status = bcri_refuse(error, error_size, -errno,
                                 "cannot set the old log %s aside: %s; remove it, or choose another tempdir",
                                 path, strerror(errno));
    }
    close(fd);
    return status;
}

/* Says that the log is in use. Some network file systems have no such lock; then other programs cannot see it. False:
 * the file has been removed, since it looked as if it were not in use (log_keep.c). */
static bool lock(int fd)
{
    struct stat st;

    while (flock(fd, LOCK_EX) < 0 && errno == EINTR)
        continue;
    return fstat(fd, &st) < 0 || st.st_nlink != 0;
}

/* Returns a descriptor of the new file, or a negative errno with its sentence. */
static int create(int dir, const char *program, const char *path, char *error, size_t error_size)
{
    char name[NAME_SIZE], old_name[NAME_SIZE];

    snprintf(name, sizeof name, "bcr.%s.log", program);
    snprintf(old_name, sizeof old_name, "bcr.%s.log.old", program);
    for (int attempt = 0;; attempt++) {
        int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_NOCTTY | O_CLOEXEC,
                        0600);

        if (fd >= 0 && lock(fd))
            return fd;
        if (fd >= 0) {
            close(fd);
            attempt--; /* others that start can do that each once */
            continue;
        }
        if (errno != EEXIST)
            return bcri_refuse(
                error, error_size, -errno,
                "cannot create the log %s: %s; name a directory that you may write in by the keyword tempdir "
                "of ~/.bcrrc or by BCR_TEMPDIR",
                path, strerror(errno));
        if (attempt == 3) /* both names are one file, or another process puts it back each time */
            return bcri_refuse(error, error_size, -EEXIST,
                               "cannot create the log %s: what stands there cannot be renamed to .old; "
                               "remove both, or choose another tempdir",
                               path);

        int status = set_aside(dir, name, old_name, path, error, error_size);

        if (status < 0)
            return status;
    }
}

static int open_dir(const char *tempdir, char *error, size_t error_size)
{
    int dir = open(tempdir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return dir >= 0
               ? dir
               : bcri_refuse(error, error_size, -errno,
                             "cannot use the directory %s for the log: %s; name one that you may write in by "
                             "the keyword tempdir of ~/.bcrrc or by BCR_TEMPDIR",
                             tempdir, strerror(errno));
}

int bcri_log_open(struct bcri_log *log, const char *tempdir, const char *program, enum bcri_log_level level,
                  const struct bcri_log_who *who, char *error, size_t error_size)
{
    char *path;

    *log = (struct bcri_log)BCRI_LOG_INIT;
    if (!program_ok(program))
        return bcri_refuse(
            error, error_size, -EINVAL,
            "the program's name cannot be used in a file name: it has to be 1 to %d letters, digits, dots, "
            "underscores and hyphens",
            PROGRAM_MAX);
    if (asprintf(&path, "%s/bcr.%s.log", tempdir, program) < 0)
        return bcri_refuse(error, error_size, -ENOMEM, "not enough memory to open the log");

    int dir = open_dir(tempdir, error, error_size);
    int fd = dir >= 0 ? create(dir, program, path, error, error_size) : dir;

    if (dir >= 0)
        close(dir);
    if (fd < 0) {
        free(path);
        return fd;
    }
    bcri_log_attach(log, fd, level, who);
    log->owned = true;
    log->path = path;
    return 0;
}

/* Renames the log's own file, if it still has that name. */
static int rename_own(const struct bcri_log *log, int dir, const char *name, const char *old_name)
{
    struct stat own, there;

    if (fstat(log->fd, &own) < 0)
        return -errno;
    if (fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (own.st_dev != there.st_dev || own.st_ino != there.st_ino)
        return 0; /* another process has moved it; create() judges what has the name now */
    return renameat(dir, name, dir, old_name) < 0 ? -errno : 0;
}

int bcri_log_turn(struct bcri_log *log, char *error, size_t error_size)
{
    char folder[4096], program[PROGRAM_MAX + 1], name[NAME_SIZE], old_name[NAME_SIZE];
    const char *base = strrchr(log->path, '/') + 1;
    size_t length = strlen(base) - strlen("bcr.") - strlen(".log");

    snprintf(folder, sizeof folder, "%.*s", (int)(base - log->path), log->path);
    snprintf(program, sizeof program, "%.*s", (int)length, base + strlen("bcr."));
    snprintf(name, sizeof name, "bcr.%s.log", program);
    snprintf(old_name, sizeof old_name, "bcr.%s.log.old", program);

    int dir = open_dir(folder, error, error_size);

    if (dir < 0)
        return dir;

    int status = rename_own(log, dir, name, old_name);
    int fd = status == 0 ? create(dir, program, log->path, error, error_size)
                         : bcri_refuse(error, error_size, status, "cannot rename it to %s.old: %s", log->path,
                                       strerror(-status));

    close(dir);
    if (fd < 0)
        return fd;
    close(log->fd);
    log->fd = fd;
    log->size_bytes = 0;
    log->torn = false;
    return 0;
}
