/* SPDX-License-Identifier: MIT */
/* starts.c -- processes: their starts, signals to them, what is known of them, and waits for their ends. */
#include <signal.h>
#include <stdlib.h>

#include "exec.h"
#include "targets/directory.h"

/* Who waits for one of several processes to end. */
struct waiting {
    struct waiting *next;
    struct asker asker;
    int count;
    int processes[];
};

static struct waiting *waitings;
static bool is_held; /* EXEC stays without processes */

/* ---- starts ---- */

static void has_started(const struct earl_exec_start *start, const char *group, int process)
{
    if (group[0] != '\0')
        (void)group_join(group, process);
    if (start->output.process != 0)
        output_begins(process, &start->output);
}

void ask_start(struct asker asker, struct earl_fields *fields)
{
    struct earl_exec_start start = {0};
    char *file = earl_get_text(fields), *directory = earl_get_text(fields), *host = earl_get_text(fields);
    char *group = earl_get_text(fields);
    start.count = earl_get_int(fields);
    start.is_tied = earl_get_int(fields);
    start.output.process = earl_get_int(fields);
    start.output.context = (unsigned)earl_get_int(fields);
    start.output.tag = earl_get_int(fields);
    const char **arguments = earl_get_texts(fields), **environment = earl_get_texts(fields);
    int *processes = NULL;
    int code = fields->code;
    if (code == EARL_OK && (start.count < 1 || start.count > EARL_PROCESSES || file[0] == '\0'))
        code = EARL_E_ARG;
    if (code == EARL_OK && (processes = calloc((size_t)start.count, sizeof *processes)) == NULL)
        code = EARL_E_MEMORY;
    if (code == EARL_OK) {
        start.file = file;
        start.directory = directory[0] != '\0' ? directory : NULL;
        start.host = host[0] != '\0' ? host : NULL;
        start.arguments = arguments;
        start.environment = environment;
        code = earl_directory_start(&start, asker.process, processes);
        for (int i = 0; i < start.count; i++)
            if (processes[i] > 0)
                has_started(&start, group, processes[i]);
    }
    struct earl_fields out = answer_begin(code);
    if (code >= 0)
        earl_put_ints(&out, processes, start.count);
    answer_end(asker, &out);
    free(file);
    free(directory);
    free(host);
    free(group);
    free(arguments);
    free(environment);
    free(processes);
}

void ask_signal(struct asker asker, struct earl_fields *fields)
{
    const int process = earl_get_int(fields), signal = earl_get_int(fields);
    answer(asker, fields->code != EARL_OK ? fields->code : earl_directory_signal(process, signal));
}

/* ---- what is known ---- */

/* NULL: none of which others may know. */
static const struct earl_resident *resident(int process)
{
    const struct earl_resident *seen = earl_directory_get(process);
    return seen == NULL || seen->is_guard ? NULL : seen;
}

static void put_process(struct earl_fields *out, int process)
{
    const struct earl_resident *seen = earl_directory_get(process);
    earl_put_int(out, process);
    earl_put_int(out, seen->parent < 0 ? EARL_ANY : seen->parent);
    earl_put_int(out, seen->host);
    earl_put_int(out, seen->has_ended);
    earl_put_int(out, seen->how);
    earl_put_int(out, seen->status);
    earl_put_text(out, seen->program);
}

void ask_process(struct asker asker, struct earl_fields *fields)
{
    const int process = earl_get_int(fields);
    if (fields->code != EARL_OK || resident(process) == NULL) {
        answer(asker, EARL_E_PROCESS);
        return;
    }
    struct earl_fields out = answer_begin(EARL_OK);
    put_process(&out, process);
    answer_end(asker, &out);
}

static bool is_living(int process)
{
    const struct earl_resident *seen = resident(process);
    return seen != NULL && !seen->has_ended;
}

static int count_living(void)
{
    int living = 0;
    for (int i = 1; i < earl_directory_count(); i++)
        living += is_living(i);
    return living;
}

bool exec_stays(void)
{
    return is_held || count_living() > 0;
}

void ask_hold(struct asker asker, struct earl_fields *fields)
{
    const int wanted = earl_get_int(fields);
    if (fields->code == EARL_OK)
        is_held = wanted != 0;
    answer(asker, fields->code);
}

void ask_list(struct asker asker, struct earl_fields *fields)
{
    (void)fields;
    struct earl_fields out = answer_begin(EARL_OK);
    earl_put_int(&out, count_living());
    for (int i = 1; i < earl_directory_count(); i++)
        if (is_living(i))
            put_process(&out, i);
    answer_end(asker, &out);
}

/* ---- waits ---- */

static void tell_end(struct asker asker, int process)
{
    struct earl_fields out = answer_begin(EARL_OK);
    put_process(&out, process);
    answer_end(asker, &out);
}

void ask_await(struct asker asker, struct earl_fields *fields)
{
    const int count = earl_get_count(fields);
    struct waiting *waiting = malloc(sizeof *waiting + (size_t)count * sizeof(int));
    if (waiting == NULL) {
        answer(asker, EARL_E_MEMORY);
        return;
    }
    *waiting = (struct waiting){waitings, asker, count};
    earl_get_ints(fields, waiting->processes, count);
    int code = fields->code != EARL_OK ? fields->code : count < 1 ? EARL_E_ARG : EARL_OK;
    for (int i = 0; i < count && code == EARL_OK; i++)
        if (waiting->processes[i] == 0 || resident(waiting->processes[i]) == NULL)
            code = EARL_E_PROCESS;
    for (int i = 0; i < count && code == EARL_OK; i++)
        if (earl_directory_get(waiting->processes[i])->has_ended) {
            tell_end(asker, waiting->processes[i]);
            free(waiting);
            return;
        }
    if (code == EARL_OK) {
        waitings = waiting;
        return;
    }
    answer(asker, code);
    free(waiting);
}

static bool waits_for(const struct waiting *waiting, int process)
{
    for (int i = 0; i < waiting->count; i++)
        if (waiting->processes[i] == process)
            return true;
    return false;
}

static void end_tied(int process)
{
    for (int i = 1; i < earl_directory_count(); i++) {
        const struct earl_resident *seen = earl_directory_get(i);
        if (seen->parent == process && seen->is_tied && !seen->has_ended)
            (void)earl_directory_signal(i, SIGKILL);
    }
}

void starts_ended(int process)
{
    end_tied(process);
    for (struct waiting **at = &waitings; *at != NULL;) {
        struct waiting *waiting = *at;
        const bool is_gone = waiting->asker.process == process;
        if (!is_gone && !waits_for(waiting, process)) {
            at = &waiting->next;
            continue;
        }
        *at = waiting->next;
        if (!is_gone)
            tell_end(waiting->asker, process);
        free(waiting);
    }
}
