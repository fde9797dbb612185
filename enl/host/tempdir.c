/* SPDX-License-Identifier: MIT */
/* See tempdir.h: the daemon's side. */
#include "host/tempdir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr/error.h>

#include "base/report.h"
#include "base/spawn.h"
#include "base/unguessable.h"
#include "host/host.h"

enum { REASON_MAX = 512 };
/* A keeper that somebody has killed is followed by another one; one that cannot do its work is not, for ever. */
enum { KEEPERS_MAX = 10 };

static bool start_keeper(struct enl_here *here, char *reason)
{
    struct enl_tempdir *tempdir = &here->tempdir;
    const char *const words[] = {"enl", "--keep-tempdir", tempdir->path, tempdir->group, NULL};
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0) {
        snprintf(reason, REASON_MAX, "no pipe for its keeper: %s", strerror(errno));
        return false;
    }
    const struct enl_own_start start = {
        .words = words, .in = pair[0], .out = -1, .keep = -1, .outlives = true};
    const pid_t pid = enl_own_start(here->self, &start, reason, REASON_MAX);
    close(pair[0]);
    if (pid < 0) {
        close(pair[1]);
        return false;
    }
    tempdir->keeper = pid;
    tempdir->pipe = pair[1];
    return true;
}

/* Nobody can guess the name, so nothing else has it. NULL: no memory, or it is too long. */
static char *choose_path(const struct enl_self *self, const char *folder)
{
    char letters[ENL_UNGUESSABLE], *path = NULL;
    if (!enl_unguessable(letters) || asprintf(&path, "%s/bcr-%s-%s", folder, self->name, letters) < 0)
        return NULL;
    if (strlen(path) < PATH_MAX)
        return path;
    free(path);
    return NULL;
}

/* Whether the directory may be made in another place, or by another user, rather than later. */
static bool is_forbidden(int error)
{
    return error == EACCES || error == EPERM || error == EROFS || error == ENOENT || error == ENOTDIR ||
           error == ENAMETOOLONG || error == ELOOP;
}

void enl_tempdir_free(struct enl_here *here)
{
    free(here->tempdir.path);
    free(here->tempdir.group);
    here->tempdir = (struct enl_tempdir){0};
}

/* Has a keeper, which does not find what is not made after all. `parent`: of a control group; NULL: there is none yet. Returns 0, or a
 * bcrE_ code with the reason. */
static int keep(struct enl_here *here, const char *parent, char *reason)
{
    struct enl_tempdir *tempdir = &here->tempdir;
    if (tempdir->is_over) /* the program has not ended after all: a process has entered it */
        enl_tempdir_free(here);
    if (tempdir->path != NULL)
        return 0;
    strcpy(reason, "no memory, or its path is too long");
    if ((tempdir->path = choose_path(here->self, here->self->config.tempdir)) != NULL &&
        (parent == NULL || (tempdir->group = choose_path(here->self, parent)) != NULL) &&
        start_keeper(here, reason))
        return 0;
    enl_tempdir_free(here);
    return bcrE_NOMEM;
}

/* The same for the directory. */
static int make(struct enl_here *here, char *reason)
{
    struct enl_tempdir *tempdir = &here->tempdir;
    const int code = keep(here, NULL, reason);
    if (code != 0 || tempdir->is_made)
        return code;
    tempdir->is_made = mkdir(tempdir->path, 0700) == 0 && chmod(tempdir->path, 0700) == 0;
    if (tempdir->is_made)
        return 0;
    snprintf(reason, REASON_MAX, "%s", strerror(errno));
    return is_forbidden(errno) ? bcrE_NODIR : bcrE_NOMEM;
}

/* Returns 0, or a bcrE_ code, with the reason, of which the log tells, too. */
static int have(struct enl_here *here, char *reason)
{
    strcpy(reason, "the program is ending");
    if (here->self->phase != ENL_RUNNING)
        return bcrE_ENLIST;
    const int code = make(here, reason);
    if (code != 0)
        enl_log_often(here->self, ENL_OFTEN_NOTE, "no directory for the program could be made in %s: %s",
                      here->self->config.tempdir, reason);
    return code;
}

const char *enl_tempdir_path(struct enl_here *here, const char **why_out)
{
    static char reason[REASON_MAX];
    *why_out = reason;
    return have(here, reason) == 0 ? here->tempdir.path : NULL;
}

const char *enl_tempdir_keep_group(struct enl_here *here, const char *parent)
{
    char reason[REASON_MAX];
    return keep(here, parent, reason) == 0 ? here->tempdir.group : NULL;
}

const char *enl_tempdir_ask(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_here *here = conn->cce->here;
    char reason[REASON_MAX];
    struct bcri_control reply = {.type = BCRI_MSG_reply,
                                 .present = BCRI_HAS(id) | BCRI_HAS(status),
                                 .id = message->id,
                                 .status = (uint32_t)have(here, reason)};
    if (reply.status == 0) {
        reply.present |= BCRI_HAS(folder);
        reply.folder = bcri_view_of(here->tempdir.path);
    }
    enl_conn_send(conn, &reply, NULL, 0);
    return NULL;
}

bool enl_tempdir_over(struct enl_here *here)
{
    struct enl_tempdir *tempdir = &here->tempdir;
    if (tempdir->keeper != 0 && !tempdir->is_over)
        close(tempdir->pipe);
    tempdir->is_over = true;
    return tempdir->keeper == 0;
}

static bool has_work(const struct enl_tempdir *tempdir)
{
    return access(tempdir->path, F_OK) == 0 || (tempdir->group != NULL && access(tempdir->group, F_OK) == 0);
}

/* One that somebody has killed leaves its work to another. */
bool enl_tempdir_reaped(struct enl_here *here, pid_t pid)
{
    struct enl_tempdir *tempdir = &here->tempdir;
    char reason[REASON_MAX];
    if (tempdir->keeper != pid || pid == 0)
        return false;
    tempdir->keeper = 0;
    if (!tempdir->is_over)
        close(tempdir->pipe);
    strcpy(reason, "one keeper after the other ends");
    if (has_work(tempdir) && (++tempdir->keepers > KEEPERS_MAX || !start_keeper(here, reason)))
        enl_report(here->self, BCRI_LOG_WARN, "the directory %s may be left behind: %s",
                   access(tempdir->path, F_OK) == 0 || tempdir->group == NULL ? tempdir->path
                                                                              : tempdir->group,
                   reason);
    else if (tempdir->is_over && tempdir->keeper != 0)
        close(tempdir->pipe);
    if (tempdir->is_over && tempdir->keeper == 0)
        here->self->ops->something_ended(here->self->program);
    return true;
}
