/* SPDX-License-Identifier: MIT */
/* job_files.c -- standard input and output of members of a job: files, and pipes between members of the same rank of two teams, which
 * run on the same host.
 *
 * A pipe is made when the first of its two members is started. Each of its ends is this daemon's until its member has it, and no other
 * process has one: both are close-on-exec, and a process is started by vfork from the only thread that starts any. So the reader gets
 * its end when the writer has ended, and the writer SIGPIPE when the reader has. */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"

enum { READING, WRITING };

struct enl_pipe {
    LIST_ENTRY(enl_pipe) entry;
    uint32_t team, rank; /* of the writer */
    int ends[2];         /* -1: its member has it */
};

/* Returns the descriptor, or -errno. */
static int take_pipe(struct enl_here *here, uint32_t team, uint32_t rank, int which)
{
    struct enl_pipe *pipe;
    LIST_FOREACH (pipe, &here->pipes, entry)
        if (pipe->team == team && pipe->rank == rank)
            break;
    if (pipe == NULL) {
        if ((pipe = malloc(sizeof *pipe)) == NULL)
            return -ENOMEM;
        *pipe = (struct enl_pipe){.team = team, .rank = rank};
        if (pipe2(pipe->ends, O_CLOEXEC) != 0) {
            free(pipe);
            return -errno;
        }
        LIST_INSERT_HEAD(&here->pipes, pipe, entry);
    }
    const int end = pipe->ends[which];
    pipe->ends[which] = -1;
    if (pipe->ends[READING] < 0 && pipe->ends[WRITING] < 0) {
        LIST_REMOVE(pipe, entry);
        free(pipe);
    }
    return end >= 0 ? end : -EBADF;
}

void enl_job_files_close(struct enl_here *here)
{
    struct enl_pipe *pipe;
    while ((pipe = LIST_FIRST(&here->pipes)) != NULL) {
        LIST_REMOVE(pipe, entry);
        for (int i = 0; i < 2; i++)
            if (pipe->ends[i] >= 0)
                close(pipe->ends[i]);
        free(pipe);
    }
}

/* A base name is one in the job's directory. A named pipe, whose other end may never be opened, is not waited for: that would hold up
 * this daemon. Returns a descriptor, or -errno. */
static int open_file(struct enl_here *here, const char *name, int flags, const char **step_out)
{
    static char path[PATH_MAX], step[PATH_MAX + 16];
    const char *why, *folder = name[0] != '/' ? enl_tempdir_path(here, &why) : "";
    *step_out = "have a directory of its job";
    if (folder == NULL)
        return -EIO;
    snprintf(path, sizeof path, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
    snprintf(step, sizeof step, "open %s", path);
    *step_out = step;
    const int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0)
        return -errno;
    if (fcntl(fd, F_SETFL, flags & O_APPEND) == 0) /* the member waits in reading and writing */
        return fd;
    const int failed = -errno;
    close(fd);
    return failed;
}

/* Puts `fd`, which may be -errno, into the place of what is open there. Returns 0 or -errno. */
static int put(int fd, int *place)
{
    if (fd < 0)
        return fd;
    if (*place >= 0)
        close(*place);
    *place = fd;
    return 0;
}

int enl_job_files_open(struct enl_cce *cce, uint32_t team, bool has_output,
                       const struct enl_cce_command *command, struct enl_spawn *spawn, const char **step_out)
{
    struct enl_here *here = cce->here;
    const int flags = O_WRONLY | O_CREAT | (command->appends ? O_APPEND : O_TRUNC);
    int failed = 0;
    *step_out = "have a pipe";
    if (command->reads_pipe)
        failed = put(take_pipe(here, team - 1, cce->team.rank, READING), &spawn->in);
    else if (command->has_input) {
        int in = -1;
        failed = enl_input_open(cce, team, &in);
        failed = failed != 0 ? failed : put(in, &spawn->in);
    } else if (command->in != NULL)
        failed = put(open_file(here, command->in, O_RDONLY, step_out), &spawn->in);
    if (failed != 0)
        return failed;
    cce->writes_pipe = command->writes_pipe;
    if (command->writes_pipe)
        return put(take_pipe(here, team, cce->team.rank, WRITING), &spawn->out);
    if (command->out == NULL)
        return 0;
    if (has_output)
        return put(open_file(here, command->out, flags, step_out), &spawn->out);
    return put(open_file(here, "/dev/null", O_WRONLY, step_out), &spawn->out);
}
