/* SPDX-License-Identifier: MIT */
/* enl audit: the worker checks the program's shared structures (bcri/audit.h), and the loop sends
 * the result to the asker. */
#ifndef ENL_AUDIT_H
#define ENL_AUDIT_H

#include "bcri/control.h"
#include "bcri/ctx.h"
#include "program.h"

struct enl_audit;

/* A visitor has asked. Returns NULL, or why its connection must end. */
const char *enl_audit_ask(struct enl_conn *conn, const struct bcri_control *message);
/* One look, on the worker's thread, behind all repairs that were queued before. Returns 0 or bcrE_NOMEM. */
int enl_audit_perform(struct enl_audit *audit, struct bcri_ctx *ctx);
/* On the loop: the worker has looked, with that result. Takes the audit: it is looked at again, or is over, and what
 * was found is sent, if the asker is still connected. */
void enl_audit_looked(struct enl_program *program, struct enl_audit *audit, int code);
/* At the program's end. */
void enl_audit_stop(struct enl_program *program);

/* NULL is allowed. */
void enl_audit_free(struct enl_audit *audit);

/* The agent has forgotten all CCEs that have ended, whose repairs are queued by now: audits that were
 * asked for meanwhile are made behind them. */
void enl_audit_go_on(struct enl_program *program);

#endif
