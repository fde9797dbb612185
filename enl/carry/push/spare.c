/* SPDX-License-Identifier: MIT */
/* A copy of what is pushed, for hosts where no directory has room for it: in a file system that all hosts have, which the variable
 * PARALLEL_FILE_SYSTEM names, else /enfs/tmp. The root's machine makes it before any host is asked, so that it is made once; the
 * script uses it where it finds no room (script.c).
 *
 * The directory is new and this user's alone, below one whose entries no other user can replace. A process that is no child of this
 * daemon removes it when the daemon has ended, in whatever way. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unguessable.h"
#include "base/write_all.h"
#include "carry/carry.h"

#define FOLDER "/enfs/tmp"

enum { CHUNK_BYTES = 65536 };

/* NULL: the folder can be used; else why not. */
static const char *why_not(const char *folder)
{
    struct stat status;
    if (!enl_push_path_is_plain(folder))
        return "its path is not absolute, or has other letters than A-Z a-z 0-9 / . _ + @ % , = -";
    if (stat(folder, &status) != 0)
        return strerror(errno);
    if (!S_ISDIR(status.st_mode))
        return "it is no directory";
    if ((status.st_uid != 0 && status.st_uid != geteuid()) ||
        ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0))
        return "other users could replace what is in it";
    return NULL;
}

/* The process that removes the directory. It has the reading end of a pipe whose other end is this daemon's, and its parent ends at
 * once. Returns the other end; -1: there is none. */
static int start_keeper(const char *path)
{
    char own[] = "/proc/self/exe", name[] = "enl", keep[] = "--keep-tempdir";
    char *const words[] = {name, keep, (char *)(uintptr_t)path, NULL};
    int pair[2], status = -1;
    if (pipe2(pair, O_CLOEXEC) != 0)
        return -1;
    const pid_t pid = fork();
    if (pid == 0) {
        const pid_t keeper = fork();
        const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (keeper == 0 && null >= 0 && dup2(pair[0], 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2)
            execv(own, words);
        _exit(keeper > 0 ? 0 : 127);
    }
    close(pair[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (pid > 0 && status == 0)
        return pair[1];
    close(pair[1]);
    return -1;
}

/* Copies what would be sent of a file. */
static bool copy_file(const struct enl_push_file *file, const char *folder)
{
    char path[PATH_MAX], bytes[CHUNK_BYTES];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, file->name) >= sizeof path)
        return false;
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    bool good = fd >= 0;
    for (uint64_t at = 0; good && at < file->bytes;) {
        const uint64_t left = file->bytes - at;
        const size_t part = left < sizeof bytes ? (size_t)left : sizeof bytes;
        errno = EIO; /* a file that has become shorter */
        good = pread(file->fd, bytes, part, (off_t)at) == (ssize_t)part;
        if (at == 0 && file->head_bytes <= part)
            memcpy(bytes, file->head, (size_t)file->head_bytes);
        good = good && (errno = enl_write_all(fd, bytes, part)) == 0;
        at += part;
    }
    return fd >= 0 && close(fd) == 0 && good;
}

static bool make_folder(const char *path, const char *part)
{
    char whole[PATH_MAX];
    return (size_t)snprintf(whole, sizeof whole, "%s%s", path, part) < sizeof whole &&
           mkdir(whole, 0700) == 0 &&
           chmod(whole, 0700) == 0; /* without the bit that it may have inherited */
}

static bool make(struct enl_push *push)
{
    bool good =
        make_folder(push->spare, "") && make_folder(push->spare, "/bin") && make_folder(push->spare, "/lib");
    for (size_t i = 0; good && i < push->count; i++)
        good = copy_file(&push->files[i], push->spare);
    return good;
}

void enl_push_make_spare(struct enl_carry *carry)
{
    struct enl_push *push = carry->push;
    const char *named = getenv("PARALLEL_FILE_SYSTEM"), *folder = named != NULL ? named : FOLDER;
    char letters[ENL_UNGUESSABLE];
    if (folder[0] == '\0' || (named == NULL && access(folder, F_OK) != 0))
        return;
    const char *why = why_not(folder);
    if (why == NULL &&
        (!enl_unguessable(letters) || asprintf(&push->spare, "%s/bcr-push-%s", folder, letters) < 0)) {
        push->spare = NULL;
        why = "no memory";
    }
    if (why == NULL && (push->spare_kept = start_keeper(push->spare)) < 0)
        why = "no process that would remove it";
    if (why == NULL && !make(push))
        why = strerror(errno);
    if (why == NULL)
        return;
    enl_report(
        carry->self, BCRI_LOG_WARN,
        "no copy of what is pushed could be made in %s: %s; hosts that have no room for it cannot be used",
        folder, why);
    enl_push_end_spare(push);
}

void enl_push_end_spare(struct enl_push *push)
{
    if (push->spare_kept >= 0)
        close(push->spare_kept);
    push->spare_kept = -1;
    free(push->spare);
    push->spare = NULL;
}
