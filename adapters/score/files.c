/* SPDX-License-Identifier: MIT */
/* files.c -- temporary files: in the program's directory on this host (bcr_tempdir). A program that is alone has a directory of
 * its own under TMPDIR, which is removed when it exits. */
#include "sc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/program.h>

#include "pm_private.h"
#include "score_private.h"

static char directory[PATH_MAX];
static int directory_fd = -1;
static pid_t maker; /* of the directory, if this process has made it */

static void remove_own(void)
{
    DIR *const open_directory = maker == getpid() ? opendir(directory) : NULL;
    const struct dirent *entry;
    if (open_directory == NULL)
        return;
    while ((entry = readdir(open_directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(directory_fd, entry->d_name, 0);
    closedir(open_directory);
    rmdir(directory);
}

static int make_own(void)
{
    const char *const parent = getenv("TMPDIR");
    const int length = snprintf(directory, sizeof directory, "%s/score-XXXXXX",
                                parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    if (length >= (int)sizeof directory)
        return ENAMETOOLONG;
    if (mkdtemp(directory) == NULL)
        return errno;
    maker = getpid();
    return atexit(remove_own) == 0 ? 0 : ENOMEM;
}

static int know_directory(void)
{
    int code = 0;
    if (score_self.is_alone)
        return make_own();
    pm_lock();
    if (bcr_tempdir(directory, sizeof directory) != 0)
        code = bcr_errno == bcrE_NOMEM ? ENOSPC : EACCES;
    pm_unlock();
    return code;
}

/* 0, or why there is no directory. */
static int open_directory(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    int code = directory_fd >= 0 ? 0 : score_self.is_begun ? know_directory() : EINVAL;
    if (code == 0 && directory_fd < 0 &&
        (directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        code = errno;
    pthread_mutex_unlock(&mutex);
    return code;
}

static int check_name(const char *filename)
{
    const bool is_name = filename != NULL && filename[0] != '\0' && strchr(filename, '/') == NULL &&
                         strcmp(filename, ".") != 0 && strcmp(filename, "..") != 0;
    return is_name ? open_directory() : EINVAL;
}

static int open_file(const char *filename, int flags, int *fd_out)
{
    const int code = fd_out != NULL ? check_name(filename) : EINVAL;
    if (code != 0)
        return code;
    const int fd = openat(directory_fd, filename, flags | O_RDWR | O_NOFOLLOW, 0600);
    if (fd < 0)
        return errno;
    *fd_out = fd;
    return 0;
}

int sc_create_temporary_file(char *filename, int *fd)
{
    return open_file(filename, O_CREAT | O_TRUNC, fd);
}

int sc_open_temporary_file(char *filename, int *fd)
{
    return open_file(filename, 0, fd);
}

int sc_unlink_temporary_file(char *filename)
{
    const int code = check_name(filename);
    if (code != 0)
        return code;
    return unlinkat(directory_fd, filename, 0) == 0 ? 0 : errno;
}
