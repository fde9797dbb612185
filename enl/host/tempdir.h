/* SPDX-License-Identifier: MIT */
/* tempdir.h -- the directory of the program on this host (bcr_tempdir). */
#ifndef ENL_TEMPDIR_H
#define ENL_TEMPDIR_H

#include <stdbool.h>
#include <sys/types.h>

struct bcri_control;
struct enl_conn;
struct enl_here;

/* The directory is made when a CCE first asks for it, and a job's control group (group.h) when its first member is started. Their keeper,
 * a process, is told of both before one is made, and removes them, and kills what is in the group, once nobody holds the writing end of a
 * pipe any more: that is this daemon's alone, so it does not matter how the daemon ends. */
struct enl_tempdir {
    char *path; /* NULL: there is none, and no keeper */
    bool is_made;
    char *group;      /* its path; NULL: there was none when the keeper was started */
    pid_t keeper;     /* 0: none */
    int pipe;         /* its writing end, while there is a keeper and the program has not ended here */
    bool is_over;     /* the keeper is to remove it */
    unsigned keepers; /* that have ended before their work was done */
};

/* A CCE asks. Returns NULL. */
const char *enl_tempdir_ask(struct enl_conn *conn, const struct bcri_control *message);
/* Its path; it is made if it is not there. NULL: it cannot be, as the log says, and `why_out`, which is valid until the next call. */
const char *enl_tempdir_path(struct enl_here *here, const char **why_out);
/* Has a control group below that one killed and removed at the end. Returns the path that it must have; NULL: there can be no keeper. */
const char *enl_tempdir_keep_group(struct enl_here *here, const char *parent);
/* No CCE lives, and the program ends here. Returns whether the directory is gone; self->ops->something_ended is called when
 * that has changed. */
bool enl_tempdir_over(struct enl_here *here);
/* A child of the daemon's has ended. False: it was not the keeper. */
bool enl_tempdir_reaped(struct enl_here *here, pid_t pid);

void enl_tempdir_free(struct enl_here *here);

/* enl --keep-tempdir PATH [GROUP]: the keeper. Its standard input is the pipe's reading end. */
int enl_tempdir_keep(char **argv);

#endif
