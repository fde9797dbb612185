/* SPDX-License-Identifier: MIT */
/* enl audit: the worker checks the program's shared structures (bcri/audit.h), and the loop sends
 * the result to the asker. */
#ifndef ENL_AUDIT_H
#define ENL_AUDIT_H

#include "bcri/control.h"
#include "host/host.h"

/* A visitor has asked. Returns NULL, or why its connection must end. */
const char *enl_audit_ask(struct enl_here *here, struct enl_conn *conn, const struct bcri_control *message);
/* At the program's end. */
void enl_audit_stop(struct enl_here *here);

/* The agent has forgotten all CCEs that have ended, whose repairs are queued by now: audits that were
 * asked for meanwhile are made behind them. */
void enl_audit_go_on(struct enl_here *here);

#endif
