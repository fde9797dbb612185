/* SPDX-License-Identifier: MIT */
/* questions.h -- questions of a process to EXEC. */
#ifndef EARL_QUESTIONS_H
#define EARL_QUESTIONS_H

#include "fields.h"
#include "protocol.h"

/* A question, and its answer. Between begin and end it has what the question says, between ask and end the answer. */
struct earl_question {
    struct earl_fields fields;
    int serial;
};

/* EARL_OK, or EARL_E_STATE: then there is no question. */
int earl_question_begin(struct earl_question *question);
/* Sends the question. Returns the code that the answer begins with, or another; the fields are what the answer has behind it. */
int earl_question_ask(struct earl_question *question, enum earl_exec_operation operation);
/* Ends it. Returns the result, or a failure of the fields. */
int earl_question_end(struct earl_question *question, int result);
/* A text of the answer, of which up to room - 1 bytes come to `name`. Returns its length, or a code. */
int earl_question_name(struct earl_question *question, char *name, int room);

#endif
