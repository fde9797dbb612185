/* SPDX-License-Identifier: MIT */
/* client.c -- the routines of earl_exec.h: each is a question to EXEC. */
#include <stdlib.h>
#include <string.h>

#include "earl_exec.h"
#include "fields.h"
#include "protocol.h"
#include "targets/targets.h"

int earl_exec_begin(const char *name)
{
    return earl_begin_as(&earl_who_world, name);
}

int earl_exec_enter(const char *program, const char *name)
{
    if (program == NULL)
        return EARL_E_ARG;
    earl_target_bcr_enter(program);
    return earl_begin_as(&earl_who_world, name);
}

int earl_exec_parent(void)
{
    return earl_own == NULL || earl_own->count != 0 ? EARL_E_STATE : earl_world_parent();
}

int earl_exec_team(int *rank)
{
    if (earl_own == NULL || earl_own->count != 0)
        return EARL_E_STATE;
    return rank == NULL ? EARL_E_ARG : earl_world_team(rank);
}

/* A question, and its answer. Between begin and end it has what the question says, between ask and end the answer. */
struct question {
    struct earl_fields fields;
    int serial;
};

static int begin(struct question *question)
{
    static int serials;
    if (earl_own == NULL || earl_own->count != 0)
        return EARL_E_STATE;
    serials = serials == EARL_LARGEST ? 1 : serials + 1;
    earl_enter(earl_own);
    *question = (struct question){earl_fields_new(earl_own), serials};
    earl_put_int(&question->fields, question->serial);
    return EARL_OK;
}

static int end(struct question *question, int result)
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

/* Sends the question. Returns the code that the answer begins with, or another; the fields are what the answer has behind it. */
static int ask(struct question *question, enum earl_exec_operation operation)
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

/* ---- processes ---- */

int earl_exec_start(const struct earl_exec_start *start, int *processes)
{
    struct question question;
    if (start == NULL || start->file == NULL || start->file[0] == '\0' || start->count < 1 ||
        start->count > EARL_PROCESSES || processes == NULL ||
        (start->group != NULL && !earl_exec_is_name(start->group)))
        return EARL_E_ARG;
    const int code = begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_text(&question.fields, start->file);
    earl_put_text(&question.fields, start->directory);
    earl_put_text(&question.fields, start->host);
    earl_put_text(&question.fields, start->group);
    earl_put_int(&question.fields, start->count);
    earl_put_int(&question.fields, start->is_tied);
    earl_put_texts(&question.fields, start->arguments);
    earl_put_texts(&question.fields, start->environment);
    const int started = ask(&question, EARL_ASK_START);
    if (started >= 0)
        earl_get_ints(&question.fields, processes, start->count);
    return end(&question, started);
}

int earl_exec_signal(int process, int signal)
{
    struct question question;
    const int code = begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, process);
    earl_put_int(&question.fields, signal);
    return end(&question, ask(&question, EARL_ASK_SIGNAL));
}

static void get_process(struct earl_fields *fields, struct earl_exec_process *told)
{
    *told = (struct earl_exec_process){.process = earl_get_int(fields)};
    told->parent = earl_get_int(fields);
    told->host = earl_get_int(fields);
    told->has_ended = earl_get_int(fields);
    told->how = earl_get_int(fields);
    told->status = earl_get_int(fields);
    char *file = earl_get_text(fields);
    if (file != NULL) {
        const size_t length = strlen(file), most = sizeof told->file - 1;
        strcpy(told->file, length > most ? file + (length - most) : file);
    }
    free(file);
}

int earl_exec_process(int process, struct earl_exec_process *told)
{
    struct question question;
    if (told == NULL)
        return EARL_E_ARG;
    int code = begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, process);
    code = ask(&question, EARL_ASK_PROCESS);
    if (code == EARL_OK)
        get_process(&question.fields, told);
    return end(&question, code);
}

int earl_exec_list(struct earl_exec_process *list, int room)
{
    struct question question;
    if (room < 0 || (room > 0 && list == NULL))
        return EARL_E_ARG;
    int code = begin(&question);
    if (code != EARL_OK)
        return code;
    code = ask(&question, EARL_ASK_LIST);
    if (code == EARL_OK)
        code = earl_get_count(&question.fields);
    for (int i = 0; i < code && i < room; i++)
        get_process(&question.fields, &list[i]);
    return end(&question, code);
}

int earl_exec_await(int count, const int *processes, struct earl_exec_process *told)
{
    struct question question;
    if (count < 1 || processes == NULL || told == NULL)
        return EARL_E_ARG;
    int code = begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, count);
    earl_put_ints(&question.fields, processes, count);
    code = ask(&question, EARL_ASK_AWAIT);
    if (code == EARL_OK)
        get_process(&question.fields, told);
    return end(&question, code);
}

/* A text of the answer. Returns its length. */
static int get_name(struct earl_fields *fields, char *name, int room)
{
    char *text = earl_get_text(fields);
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

int earl_exec_host(int k, char *name, int room)
{
    struct question question;
    if (k < 0 || room < 0 || (room > 0 && name == NULL))
        return EARL_E_ARG;
    int code = begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, k);
    code = ask(&question, EARL_ASK_HOST);
    if (code == EARL_OK)
        code = get_name(&question.fields, name, room);
    return end(&question, code);
}

/* ---- what has a name ---- */

static int begin_named(struct question *question, const char *name)
{
    const int code = earl_exec_is_name(name) ? begin(question) : EARL_E_ARG;
    if (code == EARL_OK)
        earl_put_text(&question->fields, name);
    return code;
}

int earl_exec_join(const char *group)
{
    struct question question;
    const int code = begin_named(&question, group);
    return code != EARL_OK ? code : end(&question, ask(&question, EARL_ASK_JOIN));
}

int earl_exec_leave(const char *group)
{
    struct question question;
    const int code = begin_named(&question, group);
    return code != EARL_OK ? code : end(&question, ask(&question, EARL_ASK_LEAVE));
}

int earl_exec_members(const char *group, int *processes, int room)
{
    struct question question;
    if (room < 0 || (room > 0 && processes == NULL))
        return EARL_E_ARG;
    int code = begin_named(&question, group);
    if (code != EARL_OK)
        return code;
    code = ask(&question, EARL_ASK_MEMBERS);
    if (code == EARL_OK)
        code = earl_get_count(&question.fields);
    if (code > 0)
        earl_get_ints(&question.fields, processes, code < room ? code : room);
    return end(&question, code);
}

int earl_exec_barrier(const char *name, int count)
{
    struct question question;
    const int code = count < 1 ? EARL_E_ARG : begin_named(&question, name);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, count);
    return end(&question, ask(&question, EARL_ASK_BARRIER));
}

/* ---- boxes ---- */

static int ask_box(struct question *question, enum earl_exec_operation operation, int index, int flags)
{
    earl_put_int(&question->fields, index);
    earl_put_int(&question->fields, flags);
    return ask(question, operation);
}

int earl_exec_post(const char *name, int index, int flags, earl_buffer *buffer)
{
    struct question question;
    if (index < -1 || buffer == NULL)
        return EARL_E_ARG;
    const int code = begin_named(&question, name);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, index);
    earl_put_int(&question.fields, flags);
    earl_put_items(&question.fields, buffer);
    return end(&question, ask(&question, EARL_ASK_POST));
}

int earl_exec_fetch(const char *name, int index, int flags, earl_buffer **buffer)
{
    struct question question;
    if (index < 0 || buffer == NULL)
        return EARL_E_ARG;
    int found = begin_named(&question, name);
    if (found != EARL_OK)
        return found;
    found = ask_box(&question, EARL_ASK_FETCH, index, flags);
    if (found >= 0) {
        earl_buffer *items = earl_get_items(&question.fields);
        if (items != NULL)
            *buffer = items;
    }
    return end(&question, found);
}

int earl_exec_drop(const char *name, int index)
{
    struct question question;
    const int code = index < 0 ? EARL_E_ARG : begin_named(&question, name);
    return code != EARL_OK ? code : end(&question, ask_box(&question, EARL_ASK_DROP, index, 0));
}

int earl_exec_boxes(const char *name, struct earl_exec_boxed *list, int room)
{
    struct question question;
    if (room < 0 || (room > 0 && list == NULL) || (name != NULL && !earl_exec_is_name(name)))
        return EARL_E_ARG;
    int code = begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_text(&question.fields, name);
    code = ask(&question, EARL_ASK_BOXES);
    if (code == EARL_OK)
        code = earl_get_count(&question.fields);
    for (int i = 0; i < code && i < room; i++) {
        list[i].index = earl_get_int(&question.fields);
        list[i].owner = earl_get_int(&question.fields);
        list[i].flags = earl_get_int(&question.fields);
        (void)get_name(&question.fields, list[i].name, (int)sizeof list[i].name);
    }
    return end(&question, code);
}
