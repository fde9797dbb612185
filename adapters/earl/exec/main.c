/* SPDX-License-Identifier: MIT */
/* earl-exec: EXEC, the process that others ask who starts, names and groups them. README.md, "EXEC". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec.h"
#include "targets/directory.h"
#include "targets/targets.h"

struct earl exec;
const char *exec_file;

typedef void question(struct asker asker, struct earl_fields *fields);

static question *const questions[EARL_ASK_KINDS] = {
    [EARL_ASK_START] = ask_start,     [EARL_ASK_SIGNAL] = ask_signal,   [EARL_ASK_PROCESS] = ask_process,
    [EARL_ASK_LIST] = ask_list,       [EARL_ASK_AWAIT] = ask_await,     [EARL_ASK_HOST] = ask_host,
    [EARL_ASK_MACHINE] = ask_machine, [EARL_ASK_CHANGED] = ask_changed, [EARL_ASK_HOSTWATCH] = ask_hostwatch,
    [EARL_ASK_HOLD] = ask_hold,       [EARL_ASK_JOIN] = ask_join,       [EARL_ASK_LEAVE] = ask_leave,
    [EARL_ASK_MEMBERS] = ask_members, [EARL_ASK_BARRIER] = ask_barrier, [EARL_ASK_POST] = ask_post,
    [EARL_ASK_FETCH] = ask_fetch,     [EARL_ASK_DROP] = ask_drop,       [EARL_ASK_BOXES] = ask_boxes,
};

/* ---- answers ---- */

struct earl_fields answer_begin(int code)
{
    struct earl_fields fields = earl_fields_new(&exec);
    earl_put_int(&fields, code);
    return fields;
}

/* EXEC does not wait until there is room: a process that is stopped, and whose inbox others have filled, must not hold up all. A
 * process that EXEC cannot answer would wait for ever, so it is told in few bytes why; if there is no memory for these, too, EXEC ends, and
 * with it all waits for it. */
void answer_end(struct asker asker, struct earl_fields *fields)
{
    int code = fields->code;
    if (code == EARL_OK)
        code = earl_do_buffer_post(&exec, fields->buffer, 1, &asker.process, EARL_EXEC_ANSWER, asker.serial);
    earl_fields_free(fields);
    if (code == EARL_OK || code == EARL_E_ENDED)
        return;
    struct earl_fields last = answer_begin(code);
    if (last.code != EARL_OK || earl_do_buffer_post(&exec, last.buffer, 1, &asker.process, EARL_EXEC_ANSWER,
                                                    asker.serial) == EARL_E_MEMORY) {
        fprintf(stderr, "earl-exec: no memory to answer process %d\n", asker.process);
        exit(1);
    }
    earl_fields_free(&last);
}

void answer(struct asker asker, int code)
{
    struct earl_fields fields = answer_begin(code);
    answer_end(asker, &fields);
}

/* ---- questions ---- */

/* Its end comes as a message of that process. */
void earl_directory_came(int process)
{
    if (process == 0 || !earl_is_process(&exec, process))
        return;
    struct earl_peer *peer = earl_peer(&exec, process);
    peer->is_watched = true;
    peer->watch_context = EARL_EXEC_ASK;
    peer->watch_tag = EARL_ASK_ENDED;
}

static void read_question(earl_buffer *buffer, const struct earl_envelope *envelope)
{
    struct earl_fields fields = earl_fields_of(&exec, buffer);
    const struct asker asker = {envelope->source, earl_get_int(&fields)};
    if (envelope->tag >= EARL_ASK_KINDS || questions[envelope->tag] == NULL || fields.code != EARL_OK ||
        asker.serial < 0)
        return;
    questions[envelope->tag](asker, &fields);
}

static void has_ended(int process)
{
    hosts_ended(process);
    starts_ended(process);
    groups_ended(process);
    boxes_ended(process);
    output_ended(process);
}

int main(int argc, char **argv)
{
    exec_file = argv[0];
    if (argc == 2 && strcmp(argv[1], EARL_GUARD) == 0)
        return earl_guard();
    if (argc != 1) {
        fputs("usage: earl-exec\nIt is started by the first process that needs it: earl_exec(3).\n", stderr);
        return 2;
    }
    if (earl_process_begin(&exec, &earl_target_bcr, (void *)(uintptr_t)&earl_who_directory, "earl-exec") !=
        EARL_OK) {
        fprintf(stderr, "earl-exec: %s\n", exec.target->sentence(exec.self));
        return 1;
    }
    for (int process = 0; process < earl_directory_count(); process++)
        earl_directory_came(process);
    exec.masked = 1;
    do {
        const struct earl_wanted wanted = {EARL_EXEC_ASK, EARL_ANY, EARL_ANY, NULL, NULL};
        struct earl_envelope envelope;
        earl_buffer *buffer;
        const int code = earl_do_buffer_receive(&exec, &wanted, true, &buffer, &envelope);
        if (code == EARL_E_ENDED)
            continue; /* in the middle of a question; its end is told, too */
        if (code != 1) {
            fprintf(stderr, "earl-exec: %s\n",
                    code == EARL_E_SYSTEM ? exec.target->sentence(exec.self) : earl_strerror(code));
            return 1;
        }
        if (envelope.tag == EARL_ASK_ENDED && envelope.length == 0)
            has_ended(envelope.source);
        else if (envelope.tag == EARL_ASK_PRINTED)
            output_printed(envelope.source, buffer);
        else
            read_question(buffer, &envelope);
        earl_do_buffer_free(&exec, buffer);
        hosts_serve();
    } while (exec_stays());
    earl_process_end(&exec);
    return 0;
}
