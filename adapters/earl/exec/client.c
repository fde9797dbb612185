/* SPDX-License-Identifier: MIT */
/* client.c -- the routines of earl_exec.h: each is a question to EXEC. */
#include <stdlib.h>
#include <string.h>

#include "earl_exec.h"
#include "questions.h"
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

/* ---- processes ---- */

int earl_exec_start(const struct earl_exec_start *start, int *processes)
{
    struct earl_question question;
    if (start == NULL || start->file == NULL || start->file[0] == '\0' || start->count < 1 ||
        start->count > EARL_PROCESSES || processes == NULL ||
        (start->group != NULL && !earl_exec_is_name(start->group)) || start->output.process < 0 ||
        start->output.context >= EARL_CONTEXTS || start->output.tag < 0)
        return EARL_E_ARG;
    const int code = earl_question_begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_text(&question.fields, start->file);
    earl_put_text(&question.fields, start->directory);
    earl_put_text(&question.fields, start->host);
    earl_put_text(&question.fields, start->group);
    earl_put_int(&question.fields, start->count);
    earl_put_int(&question.fields, start->is_tied);
    earl_put_int(&question.fields, start->output.process);
    earl_put_int(&question.fields, (int)start->output.context);
    earl_put_int(&question.fields, start->output.tag);
    earl_put_texts(&question.fields, start->arguments);
    earl_put_texts(&question.fields, start->environment);
    const int started = earl_question_ask(&question, EARL_ASK_START);
    if (started >= 0)
        earl_get_ints(&question.fields, processes, start->count);
    return earl_question_end(&question, started);
}

int earl_exec_signal(int process, int signal)
{
    struct earl_question question;
    const int code = earl_question_begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, process);
    earl_put_int(&question.fields, signal);
    return earl_question_end(&question, earl_question_ask(&question, EARL_ASK_SIGNAL));
}

int earl_exec_hold(int holds)
{
    struct earl_question question;
    const int code = earl_question_begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, holds);
    return earl_question_end(&question, earl_question_ask(&question, EARL_ASK_HOLD));
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
    struct earl_question question;
    if (told == NULL)
        return EARL_E_ARG;
    int code = earl_question_begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, process);
    code = earl_question_ask(&question, EARL_ASK_PROCESS);
    if (code == EARL_OK)
        get_process(&question.fields, told);
    return earl_question_end(&question, code);
}

int earl_exec_list(struct earl_exec_process *list, int room)
{
    struct earl_question question;
    if (room < 0 || (room > 0 && list == NULL))
        return EARL_E_ARG;
    int code = earl_question_begin(&question);
    if (code != EARL_OK)
        return code;
    code = earl_question_ask(&question, EARL_ASK_LIST);
    if (code == EARL_OK)
        code = earl_get_count(&question.fields);
    for (int i = 0; i < code && i < room; i++)
        get_process(&question.fields, &list[i]);
    return earl_question_end(&question, code);
}

int earl_exec_await(int count, const int *processes, struct earl_exec_process *told)
{
    struct earl_question question;
    if (count < 1 || processes == NULL || told == NULL)
        return EARL_E_ARG;
    int code = earl_question_begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, count);
    earl_put_ints(&question.fields, processes, count);
    code = earl_question_ask(&question, EARL_ASK_AWAIT);
    if (code == EARL_OK)
        get_process(&question.fields, told);
    return earl_question_end(&question, code);
}

/* ---- what has a name ---- */

static int begin_named(struct earl_question *question, const char *name)
{
    const int code = earl_exec_is_name(name) ? earl_question_begin(question) : EARL_E_ARG;
    if (code == EARL_OK)
        earl_put_text(&question->fields, name);
    return code;
}

int earl_exec_join(const char *group)
{
    struct earl_question question;
    const int code = begin_named(&question, group);
    return code != EARL_OK ? code : earl_question_end(&question, earl_question_ask(&question, EARL_ASK_JOIN));
}

int earl_exec_leave(const char *group)
{
    struct earl_question question;
    const int code = begin_named(&question, group);
    return code != EARL_OK ? code
                           : earl_question_end(&question, earl_question_ask(&question, EARL_ASK_LEAVE));
}

int earl_exec_members(const char *group, int *processes, int room)
{
    struct earl_question question;
    if (room < 0 || (room > 0 && processes == NULL))
        return EARL_E_ARG;
    int code = begin_named(&question, group);
    if (code != EARL_OK)
        return code;
    code = earl_question_ask(&question, EARL_ASK_MEMBERS);
    if (code == EARL_OK)
        code = earl_get_count(&question.fields);
    if (code > 0)
        earl_get_ints(&question.fields, processes, code < room ? code : room);
    return earl_question_end(&question, code);
}

int earl_exec_barrier(const char *name, int count)
{
    struct earl_question question;
    const int code = count < 1 ? EARL_E_ARG : begin_named(&question, name);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, count);
    return earl_question_end(&question, earl_question_ask(&question, EARL_ASK_BARRIER));
}

/* ---- boxes ---- */

static int ask_box(struct earl_question *question, enum earl_exec_operation operation, int index, int flags)
{
    earl_put_int(&question->fields, index);
    earl_put_int(&question->fields, flags);
    return earl_question_ask(question, operation);
}

int earl_exec_post(const char *name, int index, int flags, earl_buffer *buffer)
{
    struct earl_question question;
    if (index < -1 || buffer == NULL)
        return EARL_E_ARG;
    const int code = begin_named(&question, name);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, index);
    earl_put_int(&question.fields, flags);
    earl_put_items(&question.fields, buffer);
    return earl_question_end(&question, earl_question_ask(&question, EARL_ASK_POST));
}

int earl_exec_fetch(const char *name, int index, int flags, earl_buffer **buffer)
{
    struct earl_question question;
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
    return earl_question_end(&question, found);
}

int earl_exec_drop(const char *name, int index)
{
    struct earl_question question;
    const int code = index < 0 ? EARL_E_ARG : begin_named(&question, name);
    return code != EARL_OK ? code : earl_question_end(&question, ask_box(&question, EARL_ASK_DROP, index, 0));
}

int earl_exec_boxes(const char *name, struct earl_exec_boxed *list, int room)
{
    struct earl_question question;
    if (room < 0 || (room > 0 && list == NULL) || (name != NULL && !earl_exec_is_name(name)))
        return EARL_E_ARG;
    int code = earl_question_begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_text(&question.fields, name);
    code = earl_question_ask(&question, EARL_ASK_BOXES);
    if (code == EARL_OK)
        code = earl_get_count(&question.fields);
    for (int i = 0; i < code && i < room; i++) {
        list[i].index = earl_get_int(&question.fields);
        list[i].owner = earl_get_int(&question.fields);
        list[i].flags = earl_get_int(&question.fields);
        (void)earl_question_name(&question, list[i].name, (int)sizeof list[i].name);
    }
    return earl_question_end(&question, code);
}
