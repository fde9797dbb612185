/* SPDX-License-Identifier: MIT */
/* questions.c -- how a process asks EXEC: one message there, one back. */
#include "questions.h"

#include <stdlib.h>
#include <string.h>

int earl_question_begin(struct earl_question *question)
{
    static int serials;
    if (earl_own == NULL || earl_own->count != 0)
        return EARL_E_STATE;
    serials = serials == EARL_LARGEST ? 1 : serials + 1;
    earl_enter(earl_own);
    *question = (struct earl_question){earl_fields_new(earl_own), serials};
    earl_put_int(&question->fields, question->serial);
    return EARL_OK;
}

int earl_question_end(struct earl_question *question, int result)
{
    if (result >= 0 && question->fields.code != EARL_OK)
        result = question->fields.code;
    earl_fields_free(&question->fields);
    earl_leave(earl_own);
    return result;
}

/* An answer that has not come when EXEC has ended does not come: the notice is for who waits here. */
static int receive_answer(int serial, earl_buffer **answer)
{
    const struct earl_wanted wanted = {EARL_EXEC_ANSWER, 0, serial, NULL, NULL};
    int result = earl_do_buffer_receive(earl_own, &wanted, false, answer, NULL);
    earl_expect(earl_own, 0);
    while (result == 0) {
        if (earl_peer(earl_own, 0)->has_ended)
            return EARL_E_ENDED;
        result = earl_wait_step(earl_own, NULL, "answer of EXEC", 0, EARL_ANY);
        if (result >= 0)
            result = earl_do_buffer_receive(earl_own, &wanted, false, answer, NULL);
    }
    return result == 1 ? EARL_OK : result;
}

int earl_question_ask(struct earl_question *question, enum earl_exec_operation operation)
{
    static const int exec = 0;
    earl_buffer *answer = NULL;
    int code = question->fields.code;
    if (code == EARL_OK)
        code =
            earl_do_buffer_send(earl_own, question->fields.buffer, 1, &exec, EARL_EXEC_ASK, (int)operation);
    earl_fields_free(&question->fields);
    if (code == EARL_OK)
        code = receive_answer(question->serial, &answer);
    if (code != EARL_OK)
        return code;
    question->fields = earl_fields_of(earl_own, answer);
    return earl_get_int(&question->fields);
}

int earl_question_name(struct earl_question *question, char *name, int room)
{
    char *text = earl_get_text(&question->fields);
    if (text == NULL)
        return EARL_E_MEMORY;
    const size_t length = strlen(text);
    if (room > 0) {
        const size_t kept = length < (size_t)room ? length : (size_t)room - 1;
        memcpy(name, text, kept);
        name[kept] = '\0';
    }
    free(text);
    return (int)length;
}
