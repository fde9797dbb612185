/* SPDX-License-Identifier: MIT */
/* What the files of EXEC have for each other. EXEC answers one question after the other; what has to wait for something (a barrier, a
 * box, an end) stands in a list of its part until that has come, or who waits has ended. */
#ifndef EARL_EXEC_SERVER_H
#define EARL_EXEC_SERVER_H

#include "earl_exec.h"
#include "fields.h"
#include "protocol.h"

extern struct earl exec;
/* This program, as it was started. */
extern const char *exec_file;

/* Who has asked, and his serial. */
struct asker {
    int process, serial;
};

/* ---- main.c ---- */

/* Answers with a code, and what more has behind it: NULL, or fields of answer_begin, which are freed. */
void answer(struct asker asker, int code);
struct earl_fields answer_begin(int code);
void answer_end(struct asker asker, struct earl_fields *fields);

/* ---- starts.c ---- */

void ask_start(struct asker asker, struct earl_fields *fields);
void ask_signal(struct asker asker, struct earl_fields *fields);
void ask_process(struct asker asker, struct earl_fields *fields);
void ask_list(struct asker asker, struct earl_fields *fields);
void ask_await(struct asker asker, struct earl_fields *fields);
void starts_ended(int process);
void ask_hold(struct asker asker, struct earl_fields *fields);
/* Whether there is a process beside EXEC, or one has wanted that EXEC stays. */
bool exec_stays(void);

/* ---- hosts.c ---- */

void ask_host(struct asker asker, struct earl_fields *fields);
void ask_machine(struct asker asker, struct earl_fields *fields);
void ask_changed(struct asker asker, struct earl_fields *fields);
void ask_hostwatch(struct asker asker, struct earl_fields *fields);
void hosts_ended(int process);
/* Tells of hosts that have come and gone. */
void hosts_serve(void);

/* ---- output.c ---- */

/* What that process prints goes there. */
void output_begins(int process, const struct earl_exec_sink *to);
/* It has printed what the buffer has: EARL_ASK_PRINTED. */
void output_printed(int process, earl_buffer *buffer);
void output_ended(int process);
/* What was printed there and has not come does not come any more. */
void output_host_gone(int host);

/* ---- groups.c ---- */

/* A process joins a group. Returns its place, or a code. */
int group_join(const char *name, int process);
void ask_join(struct asker asker, struct earl_fields *fields);
void ask_leave(struct asker asker, struct earl_fields *fields);
void ask_members(struct asker asker, struct earl_fields *fields);
void ask_barrier(struct asker asker, struct earl_fields *fields);
void groups_ended(int process);

/* ---- boxes.c ---- */

void ask_post(struct asker asker, struct earl_fields *fields);
void ask_fetch(struct asker asker, struct earl_fields *fields);
void ask_drop(struct asker asker, struct earl_fields *fields);
void ask_boxes(struct asker asker, struct earl_fields *fields);
void boxes_ended(int process);

#endif
