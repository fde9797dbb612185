/* SPDX-License-Identifier: MIT */
/* process.c -- which task this process is, and those that were started with it.
 *
 * Tasks that enl -n has started together find each other by a box of EXEC's, in which each has put itself at its rank. Spawned tasks are
 * told of each other by their parent, in a message. */
#include <stdlib.h>

#include "pvm_private.h"

static const char team_box[] = "\1team";

struct pvmi_process pvmi_process;

static int rank, team_size;
static bool is_hidden; /* the parent */
static int *siblings, sibling_count;

/* Puts this task at its rank. */
static int post_rank(void)
{
    earl_buffer *items = earl_buffer_make(0);
    int code = items == NULL ? EARL_E_MEMORY : earl_pack(items, EARL_INT, &pvmi_process.self, 1, 1);
    if (code == EARL_OK)
        code = earl_exec_post(team_box, rank, EARL_BOX_SEVERAL | EARL_BOX_STAYS, items);
    earl_buffer_free(items);
    return code < 0 ? pvmi_result(code) : PvmOk;
}

int pvmi_begin(void)
{
    int begun = pvmi_enter();
    if (begun == EARL_E_NONE)
        begun = earl_exec_begin("pvm");
    if (begun < 0)
        return PvmSysErr;
    (void)earl_words("tag", "task");
    pvmi_process.self = earl_process();
    pvmi_process.parent = earl_exec_parent();
    team_size = earl_exec_team(&rank);
    if (pvmi_process.parent != EARL_ANY) {
        const char *context = getenv(PVMI_CONTEXT_VARIABLE);
        is_hidden = getenv(PVMI_HIDDEN_VARIABLE) != NULL;
        pvmi_process.context = context == NULL ? 0 : (int)strtol(context, NULL, 10);
    }
    int code = pvmi_card_post();
    if (code == PvmOk && team_size > 1)
        code = post_rank();
    pvmi_process.has_begun = code == PvmOk;
    return code;
}

/* ---- siblings ---- */

/* The process of each rank of the team, waiting for those that have not begun. */
static int ask_team(int *processes)
{
    for (int i = 0; i < team_size; i++) {
        earl_buffer *items = NULL;
        int code = earl_exec_fetch(team_box, i, EARL_BOX_WAIT | EARL_BOX_EXACT, &items);
        if (code < 0)
            return pvmi_result(code);
        code = earl_unpack(items, EARL_INT, &processes[i], 1, 1);
        earl_buffer_free(items);
        if (code < 0)
            return PvmSysErr;
    }
    return PvmOk;
}

static int receive_siblings(void)
{
    const struct earl_wanted wanted = {PVMI_OWN_CONTEXT, pvmi_process.parent, PVMI_SIBLINGS, NULL, NULL};
    struct earl_envelope envelope;
    int code = earl_probe(&wanted, 1, &envelope), count;
    earl_buffer *items = NULL;
    if (code == 1)
        code = earl_buffer_receive(&wanted, 1, &items, NULL);
    if (code != 1)
        return pvmi_result(code) < 0 ? pvmi_result(code) : PvmSysErr;
    code = earl_unpack(items, EARL_INT, &count, 1, 1);
    siblings = code == EARL_OK && count > 0 ? malloc(sizeof *siblings * (size_t)count) : NULL;
    if (siblings != NULL)
        code = earl_unpack(items, EARL_INT, siblings, (size_t)count, 1);
    else
        code = EARL_E_MEMORY;
    earl_buffer_free(items);
    sibling_count = code == EARL_OK ? count : 0;
    return pvmi_result(code);
}

static int find_siblings(void)
{
    if (pvmi_process.parent != EARL_ANY)
        return receive_siblings();
    const int count = team_size > 1 ? team_size : 1;
    int *found = calloc((size_t)count, sizeof *found);
    if (found == NULL)
        return PvmNoMem;
    found[0] = pvmi_process.self;
    const int code = team_size > 1 ? ask_team(found) : PvmOk;
    if (code < 0) {
        free(found);
        return code;
    }
    for (int i = 0; i < count; i++)
        found[i] = pvmi_tid(found[i]);
    siblings = found;
    sibling_count = count;
    return PvmOk;
}

int pvm_siblings(int **tids)
{
    int code = pvmi_need();
    if (code == PvmOk && sibling_count == 0)
        code = find_siblings();
    if (code < 0)
        return pvmi_told("siblings", code);
    if (tids != NULL)
        *tids = siblings;
    return sibling_count;
}

/* ---- this task ---- */

int pvm_mytid(void)
{
    const int code = pvmi_need();
    return pvmi_told("mytid", code < 0 ? code : pvmi_tid(pvmi_process.self));
}

int pvm_exit(void)
{
    const int code = pvmi_need();
    if (code == PvmOk) {
        pvmi_output_finish();
        (void)earl_end();
        pvmi_process.has_begun = false;
    }
    return pvmi_told("exit", code);
}

static int parent(void)
{
    const int code = pvmi_need();
    if (code < 0)
        return code;
    if (pvmi_process.parent == EARL_ANY)
        return PvmNoParent;
    return is_hidden ? PvmParentNotSet : pvmi_tid(pvmi_process.parent);
}

int pvm_parent(void)
{
    return pvmi_told("parent", parent());
}
