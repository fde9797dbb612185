/* SPDX-License-Identifier: MIT */
/* What becomes of a bcr_enlist: a job that starts one CCE per turn of the loop, so that those
 * started first are welcomed while the others are still being started. */
#ifndef ENL_ENLIST_H
#define ENL_ENLIST_H

#include "bcri/control.h"
#include "program.h"

struct enl_conn;

/* Answers at once if nothing can come of it; else when all have been started. Returns NULL, or what
 * is malformed. */
const char *enl_enlist(struct enl_conn *conn, const struct bcri_control *request);
/* The asker's connection is gone: nobody is answered; what it asked for is done all the same. */
void enl_enlist_forget(struct enl_program *program, const struct enl_conn *conn);
/* The program is ending: nothing more is started. */
void enl_enlist_drop(struct enl_program *program);

#endif
