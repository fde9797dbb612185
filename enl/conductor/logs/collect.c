/* SPDX-License-Identifier: MIT */
/* See carry.h.
 *
 * A file is written under its name with .part behind it, and renamed when it is whole: so logdir may
 * be the very directory where a host has its log. Nothing is followed, and a file is this user's
 * alone. A disk that is full is told once; what has no room stays on its host. */
#include "carry/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write_all.h"
#include "bcri/refuse.h"
#include "conductor/child.h"

#define WINDOW_STEP (ENL_WINDOW_BYTES / 4)

struct enl_log_copy {
    int fd; /* -1: closed */
    uint64_t bytes;
    uint32_t unread; /* bytes that have come and were not told in a window */
    bool over;       /* whole, or told why not */
};

int enl_collect_open(struct enl_carry *carry, char *error, size_t error_size)
{
    const char *path = carry->self->config.logdir;
    carry->logs_folder = -1;
    if (path == NULL)
        return 0;
    if (carry->self->config.log != BCRI_LOG_TO_FILE)
        return bcri_refuse(
            error, error_size, -1,
            "%s is to get the logs of all hosts (logdir), and there are none (log %s); say log "
            "file, or leave out one of the two",
            path, carry->self->config.settings[BCRI_CONFIG_log].text);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return bcri_refuse(error, error_size, -1, "the directory %s for logs (logdir) cannot be made: %s",
                           path, strerror(errno));
    carry->logs_folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return carry->logs_folder >= 0 && faccessat(carry->logs_folder, ".", W_OK | X_OK, AT_EACCESS) == 0
               ? 0
               : bcri_refuse(error, error_size, -1, "%s cannot take logs (logdir): %s", path,
                             strerror(errno));
}

/* bcr.NAME.log, or bcr.NAME.K.log, with `end` behind it. */
static const char *name_of_copy(const struct enl_carry *carry, uint32_t host, const char *end,
                                char out[NAME_MAX])
{
    char number[16] = "";
    if (host != 0)
        snprintf(number, sizeof number, ".%u", host);
    snprintf(out, NAME_MAX, "bcr.%s%s.log%s", carry->self->name, number, end);
    return out;
}

static int open_part(const struct enl_carry *carry, uint32_t host)
{
    char name[NAME_MAX];
    struct stat status;
    const int fd = openat(carry->logs_folder, name_of_copy(carry, host, ".part", name),
                          O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()))
        return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

/* Returns 0 or an errno. */
static int rename_whole(const struct enl_carry *carry, uint32_t host)
{
    char from[NAME_MAX], to[NAME_MAX];
    return renameat(carry->logs_folder, name_of_copy(carry, host, ".part", from), carry->logs_folder,
                    name_of_copy(carry, host, "", to)) == 0
               ? 0
               : errno;
}

static void remove_part(const struct enl_carry *carry, uint32_t host)
{
    char name[NAME_MAX];
    unlinkat(carry->logs_folder, name_of_copy(carry, host, ".part", name), 0);
}

/* ---- those of other hosts ---- */

static struct enl_log_copy *copy_of(struct enl_child *child)
{
    if (child->log == NULL && (child->log = calloc(1, sizeof *child->log)) != NULL)
        child->log->fd = -1;
    return child->log;
}

static void close_copy(struct enl_log_copy *copy)
{
    if (copy->fd >= 0)
        close(copy->fd);
    copy->fd = -1;
    copy->over = true;
}

/* What has no room is not sent on. */
static void refuse_log(struct enl_child *child, int error)
{
    static bool told;
    struct enl_carry *carry = &child->program->carry;
    const struct bcri_control end = {.type = BCRI_MSG_relay_end, .present = BCRI_HAS(id) | BCRI_HAS(status)};
    close_copy(child->log);
    remove_part(carry, child->life.number);
    enl_child_send(child, &end);
    if (!told)
        enl_report(carry->self, BCRI_LOG_ERROR,
                   "%s (logdir) does not take the log of host %s: %s; logs that do not come stay on their "
                   "hosts, each in its tempdir",
                   carry->self->config.logdir, child->host->name, strerror(error));
    told = true;
}

static void let_come(struct enl_child *child, uint32_t bytes)
{
    struct bcri_control window = {.type = BCRI_MSG_relay_window, .present = BCRI_HAS(id) | BCRI_HAS(size)};
    child->log->unread += bytes;
    if (child->log->unread < WINDOW_STEP)
        return;
    window.size = child->log->unread;
    child->log->unread = 0;
    enl_child_send(child, &window);
}

/* `status`: of the relay_end, if one has come. */
static void tell_part(const struct enl_child *child, uint32_t status, const char *why)
{
    struct enl_carry *carry = &child->program->carry;
    char name[NAME_MAX];
    if (status == ENL_BRING_NO_LOG)
        return; /* it has said so when it began */
    if (child->log != NULL && child->log->bytes != 0)
        enl_report(carry->self, BCRI_LOG_WARN,
                   "the log of host %s is not whole in %s/%s: %s; all of it is there", child->host->name,
                   carry->self->config.logdir, name_of_copy(carry, child->life.number, ".part", name), why);
    else
        enl_report(carry->self, BCRI_LOG_WARN,
                   "the log of host %s is not in %s: %s; it is there, as %s in its tempdir",
                   child->host->name, carry->self->config.logdir, why,
                   name_of_copy(carry, child->life.number, "", name));
}

const char *enl_collect_take(struct enl_child *child, const struct bcri_control *message)
{
    struct enl_carry *carry = &child->program->carry;
    char why[BCRI_CONTROL_TEXT_MAX + 1];
    struct enl_log_copy *copy = carry->self->config.logdir != NULL ? copy_of(child) : NULL;
    if (copy == NULL)
        return carry->self->config.logdir != NULL ? "there is no memory for its log" : "nobody wants its log";
    if (copy->over)
        return NULL; /* it does not know yet */
    int error = 0;
    if (copy->fd < 0 && (copy->fd = open_part(carry, child->life.number)) < 0)
        error = errno;
    if (message->type == BCRI_MSG_relay_bytes) {
        if (error == 0)
            error = enl_write_all(copy->fd, message->bytes.bytes, message->bytes.length);
        copy->bytes += message->bytes.length;
    } else if (message->type == BCRI_MSG_relay_end && message->status == 0) {
        close_copy(copy);
        if (error == 0)
            error = rename_whole(carry, child->life.number);
    } else {
        bcri_view_copy(message->text, why, sizeof why);
        close_copy(copy);
        tell_part(child, message->status, why);
        return NULL;
    }
    if (error != 0)
        refuse_log(child, error);
    else if (!copy->over)
        let_come(child, message->bytes.length);
    return NULL;
}

void enl_collect_gone(struct enl_child *child)
{
    if (child->program->self.config.logdir == NULL || !child->life.was_up)
        return;
    if (child->log == NULL || !child->log->over)
        tell_part(child, 1, "it has ended before it could send it");
    if (child->log != NULL)
        close_copy(child->log);
    free(child->log);
    child->log = NULL;
}

/* ---- the root's own ---- */

/* Returns 0 or an errno. */
static int copy_file(const char *path, int flags, int to)
{
    const int from = open(path, O_RDONLY | O_CLOEXEC | flags);
    ssize_t got = from >= 0 ? 1 : -1;
    while (got > 0 || (got < 0 && errno == EINTR))
        got = sendfile(to, from, NULL, 1u << 20);
    const int error = got < 0 ? errno : 0;
    if (from >= 0)
        close(from);
    return error;
}

/* Whether the log lies in that directory already. */
static bool lies_there(const struct enl_carry *carry)
{
    char name[NAME_MAX];
    struct stat own, there;
    return fstat(carry->self->log.fd, &own) == 0 &&
           fstatat(carry->logs_folder, name_of_copy(carry, 0, "", name), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

void enl_collect_own(struct enl_carry *carry)
{
    char path[PATH_MAX + 8];
    if (carry->self->config.logdir == NULL || carry->self->is_child || carry->self->log.fd < 0)
        return;
    if (!lies_there(carry)) {
        const int to = open_part(carry, 0);
        int error = to < 0 ? errno : 0;
        if (error == 0 && carry->self->log.turns != 0) {
            snprintf(path, sizeof path, "%s.old", carry->self->log.path);
            (void)copy_file(path, O_NOFOLLOW | O_NONBLOCK, to);
        }
        snprintf(path, sizeof path, "/proc/self/fd/%d", carry->self->log.fd);
        if (error == 0)
            error = copy_file(path, 0, to);
        if (to >= 0 && close(to) != 0 && error == 0)
            error = errno;
        if (error == 0)
            error = rename_whole(carry, 0);
        if (error != 0) {
            remove_part(carry, 0);
            fprintf(stderr, "enl: %s (logdir) does not take the log of this host: %s; it is %s\n",
                    carry->self->config.logdir, strerror(error), carry->self->log.path);
        }
    }
    close(carry->logs_folder);
    carry->logs_folder = -1;
}
