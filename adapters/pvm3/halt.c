/* SPDX-License-Identifier: MIT */
/* halt.c -- pvm_halt: the end of the virtual machine. */
#include <signal.h>
#include <stdlib.h>

#include "pvm_private.h"

/* So long a task may take to end after SIGTERM. */
enum { GRACE_MS = 3000 };

/* Waits until so many ends have come, or the time for that is over. */
static void await_ends(int many)
{
    const struct earl_wanted wanted = {PVMI_HALT_CONTEXT, EARL_ANY, EARL_ANY, NULL, NULL};
    const int64_t end_ms = pvmi_now_ms() + GRACE_MS;
    struct earl_envelope envelope;
    while (many > 0) {
        const int64_t left = end_ms - pvmi_now_ms();
        if (left <= 0 || earl_await(1, &wanted, (int)left, &envelope) < 0)
            return;
        while (many > 0 && earl_probe(&wanted, 0, &envelope) == 1) {
            (void)earl_receive(&wanted, NULL, 0, &envelope);
            many--;
        }
    }
}

/* A task has asked for PvmNoReset: a box of EXEC's says so, at the index of its number. */
static const char spared_box[] = "\1spared";

int pvmi_spare(bool is_spared)
{
    earl_buffer *items;
    if (!is_spared)
        return pvmi_result(earl_exec_drop(spared_box, pvmi_process.self));
    items = earl_buffer_make(0);
    const int code = items == NULL ? EARL_E_MEMORY
                                   : earl_exec_post(spared_box, pvmi_process.self,
                                                    EARL_BOX_SEVERAL | EARL_BOX_REPLACE, items);
    earl_buffer_free(items);
    return code < 0 ? pvmi_result(code) : PvmOk;
}

static bool is_spared(int process)
{
    earl_buffer *items;
    if (earl_exec_fetch(spared_box, process, EARL_BOX_EXACT, &items) < 0)
        return false;
    earl_buffer_free(items);
    return true;
}

int pvmi_end_others(bool spares)
{
    struct pvmtaskinfo *tasks;
    int count, many = 0;
    const int code = pvm_tasks(0, &count, &tasks);
    for (int i = 0; i < count && code == PvmOk; i++) {
        const int process = pvmi_process_of(tasks[i].ti_tid);
        if (process == pvmi_process.self || (spares && is_spared(process))) {
            tasks[i].ti_tid = pvmi_tid(pvmi_process.self); /* it stays */
            continue;
        }
        many += earl_watch(process, PVMI_HALT_CONTEXT, 0) == EARL_OK;
        (void)earl_exec_signal(process, SIGTERM);
    }
    if (code != PvmOk)
        return code;
    await_ends(many);
    for (int i = 0; i < count; i++) {
        const int process = pvmi_process_of(tasks[i].ti_tid);
        struct earl_exec_process told;
        if (process == pvmi_process.self)
            continue;
        (void)earl_exec_signal(process, SIGKILL);  /* of one that has ended it fails */
        (void)earl_exec_await(1, &process, &told); /* EXEC knows it, too, then */
    }
    return PvmOk;
}

int pvm_halt(void)
{
    int code = pvmi_need();
    if (code == PvmOk)
        code = pvmi_result(earl_exec_hold(0));
    if (code == PvmOk)
        code = pvmi_end_others(false);
    if (code < 0)
        return pvmi_told("halt", code);
    (void)raise(SIGTERM);
    return pvm_exit();
}
