/* SPDX-License-Identifier: MIT */
/* enl audit: the worker looks through the program's shared structures (bcri/audit.h), the loop
 * tells who asked. */
#ifndef ENL_AUDIT_H
#define ENL_AUDIT_H

#include "bcri/control.h"
#include "bcri/ctx.h"
#include "program.h"

struct enl_audit;

/* A visitor has asked. Returns NULL, or why its connection must end. */
const char *enl_audit_ask(struct enl_conn *conn, const struct bcri_control *message);
/* On the worker's thread, behind all repairs that were queued before. Returns 0 or bcrE_NOMEM. */
int enl_audit_perform(struct enl_audit *audit, struct bcri_ctx *ctx);
/* On the loop: the findings, if whoever asked is still there. */
void enl_audit_answer(struct enl_program *program, struct enl_audit *audit, int code);

#endif
