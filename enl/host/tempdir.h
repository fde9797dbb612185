/* SPDX-License-Identifier: MIT */
/* tempdir.h -- the directory of the program on this host (bcr_tempdir). */
#ifndef ENL_TEMPDIR_H
#define ENL_TEMPDIR_H

#include <stdbool.h>
#include <sys/types.h>

struct bcri_control;
struct enl_conn;
struct enl_here;

/* The directory is made when a CCE first asks for it. Its keeper, a process, is told of it before it is made, and removes
 * it once nobody holds the writing end of a pipe any more: that is this daemon's alone, so it does not matter how the
 * daemon ends. */
struct enl_tempdir {
    char *path;       /* NULL: there is none */
    pid_t keeper;     /* 0: none */
    int pipe;         /* its writing end, while there is a keeper and the program has not ended here */
    bool is_over;     /* the keeper is to remove it */
    unsigned keepers; /* that have ended before their work was done */
};

/* A CCE asks. Returns NULL. */
const char *enl_tempdir_ask(struct enl_conn *conn, const struct bcri_control *message);
/* Its path; it is made if it is not there. NULL: it cannot be, as the log says why. */
const char *enl_tempdir_path(struct enl_here *here);
/* No CCE lives, and the program ends here. Returns whether the directory is gone; self->ops->something_ended is called when
 * that has changed. */
bool enl_tempdir_over(struct enl_here *here);
/* A child of the daemon's has ended. False: it was not the keeper. */
bool enl_tempdir_reaped(struct enl_here *here, pid_t pid);

/* enl --keep-tempdir PATH: the keeper. Its standard input is the pipe's reading end. */
int enl_tempdir_keep(char **argv);

#endif
