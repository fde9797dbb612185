/* SPDX-License-Identifier: MIT */
/* client_hosts.c -- the routines of earl_exec.h about hosts. A process adds and takes away hosts itself, as that lasts, and tells EXEC
 * then. */
#include <stdlib.h>
#include <string.h>

#include "earl_exec.h"
#include "questions.h"
#include "targets/targets.h"

int earl_exec_host(int k, char *name, int room)
{
    struct earl_question question;
    if (k < 0 || room < 0 || (room > 0 && name == NULL))
        return EARL_E_ARG;
    int code = earl_question_begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, k);
    code = earl_question_ask(&question, EARL_ASK_HOST);
    if (code == EARL_OK)
        code = earl_question_name(&question, name, room);
    return earl_question_end(&question, code);
}

int earl_exec_machine(int k, struct earl_exec_machine *told)
{
    struct earl_question question;
    if (k < 0 || told == NULL)
        return EARL_E_ARG;
    int code = earl_question_begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, k);
    code = earl_question_ask(&question, EARL_ASK_MACHINE);
    if (code == EARL_OK) {
        *told = (struct earl_exec_machine){.host = k, .is_there = earl_get_int(&question.fields)};
        told->is_up = earl_get_int(&question.fields);
        told->layout = earl_get_int(&question.fields);
        (void)earl_question_name(&question, told->name, (int)sizeof told->name);
        (void)earl_question_name(&question, told->machine, (int)sizeof told->machine);
    }
    return earl_question_end(&question, code);
}

/* The program's list has been changed, or not: EXEC reads it, if so, and tells which host has that name now. */
static int change(int (*how)(const char *), const char *line)
{
    struct earl_question question;
    int code = earl_question_begin(&question);
    if (code != EARL_OK)
        return code;
    code = how(line);
    char *name = code == EARL_OK ? strndup(line, strcspn(line, " \t")) : NULL;
    if (code == EARL_OK && name == NULL)
        code = EARL_E_MEMORY;
    earl_put_text(&question.fields, name);
    free(name);
    if (code == EARL_OK)
        code = earl_question_ask(&question, EARL_ASK_CHANGED);
    return earl_question_end(&question, code);
}

/* A range of names is none of one host, even if it has one. */
static bool is_line(const char *line)
{
    return line != NULL && line[0] != '\0' && strcspn(line, " \t[") == strcspn(line, " \t") &&
           line[0] != ' ' && line[0] != '\t';
}

int earl_exec_hostadd(const char *host)
{
    const int code = is_line(host) ? change(earl_world_host_add, host) : EARL_E_ARG;
    return code == EARL_E_NONE ? EARL_E_HOST : code;
}

int earl_exec_hostdel(const char *name)
{
    const int code = is_line(name) ? change(earl_world_host_del, name) : EARL_E_ARG;
    return code >= 0 || code == EARL_E_NONE ? EARL_OK : code;
}

int earl_exec_hostwatch(unsigned context, int tag)
{
    struct earl_question question;
    if (tag < EARL_ANY || context >= EARL_CONTEXTS)
        return EARL_E_ARG;
    int code = earl_question_begin(&question);
    if (code != EARL_OK)
        return code;
    earl_put_int(&question.fields, (int)context);
    earl_put_int(&question.fields, tag);
    code = earl_question_ask(&question, EARL_ASK_HOSTWATCH);
    return earl_question_end(&question, code);
}
