/* SPDX-License-Identifier: MIT */
/* enl --keep-tempdir: waits until the daemon has ended, in whatever way, kills what is in the control group of its job, and removes that
 * and the directory of its program.
 *
 * A killed daemon's CCEs die at the same time, and may make a file yet. So the directory is looked through again as long
 * as anything in it could be removed, and some times more. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/group.h"
#include "host/tempdir.h"

enum { VAIN_ROUNDS = 100, PAUSE_NS = 20000000 };

/* Removes what it can. Returns whether that was anything. */
static bool remove_once(char *path)
{
    char *const paths[] = {path, NULL};
    bool any = false;
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_XDEV, NULL);
    for (FTSENT *entry; tree != NULL && (entry = fts_read(tree)) != NULL;) {
        if (entry->fts_info == FTS_D)
            (void)chmod(entry->fts_accpath, 0700); /* it may have been made unreadable */
        else if (entry->fts_info == FTS_DP || entry->fts_info == FTS_DNR)
            any |= rmdir(entry->fts_accpath) == 0;
        else
            any |= unlink(entry->fts_accpath) == 0;
    }
    if (tree != NULL)
        fts_close(tree);
    return any;
}

/* What is in it may not have ended yet, or have made a group of its own below: the caller tries again. Returns whether anything was
 * removed. */
static bool end_group(char *path)
{
    char file[PATH_MAX];
    const int kills = snprintf(file, sizeof file, "%s/cgroup.kill", path) < (int)sizeof file
                          ? open(file, O_WRONLY | O_CLOEXEC)
                          : -1;
    if (kills < 0 || write(kills, "1", 1) != 1) {
        if (kills >= 0)
            close(kills);
        return false;
    }
    close(kills);
    return remove_once(path);
}

static bool is_there(const char *path)
{
    return path != NULL && access(path, F_OK) == 0;
}

/* Signals that reach the daemon's process group concern the daemon: its end is all that counts here. */
static void detach(void)
{
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], SIG_IGN);
    (void)setsid();
    if (null >= 0)
        dup2(null, STDERR_FILENO); /* whoever reads it need not wait */
    if (chdir("/") != 0)
        return; /* it only holds a mount */
}

int enl_tempdir_keep(char **argv)
{
    struct stat status;
    char byte;
    const pid_t daemon = getppid();
    if (argv[0] == NULL || argv[0][0] != '/' || fstat(STDIN_FILENO, &status) != 0 ||
        !S_ISFIFO(status.st_mode)) {
        fprintf(stderr, "enl: --keep-tempdir is for enl itself\n");
        return 2;
    }
    detach();
    while (read(STDIN_FILENO, &byte, 1) != 0)
        if (errno != EINTR)
            return 1;
    char *const path = argv[0], *const group = argv[1];
    for (int vain = 0; vain < VAIN_ROUNDS && (is_there(group) || is_there(path));) {
        const bool any_group = is_there(group) && end_group(group);
        if (!(remove_once(path) || any_group) && ++vain != VAIN_ROUNDS)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    if (group != NULL)
        enl_group_leave(group, daemon);
    return is_there(path) || is_there(group) ? 1 : 0;
}
