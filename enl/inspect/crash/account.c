/* SPDX-License-Identifier: MIT */
/* account.c -- what a report says of one CCE's end. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "bcri/clock.h"
#include "host/host.h"
#include "host/output.h"
#include "inspect/crash/crash_private.h"

/* Of a report: where at the latest the stack ends, by which reports are alike, and what is told before the
 * output. What is left is for other stacks. */
enum {
    KEY_LIMIT = ENL_CRASH_BYTES_MAX / 2,
    STATE_LIMIT = KEY_LIMIT + 8192,
    OUTPUT_LIMIT = STATE_LIMIT + 4352
};
_Static_assert(ENL_TAIL_BYTES + 256 <= OUTPUT_LIMIT - STATE_LIMIT && OUTPUT_LIMIT <= ENL_CRASH_BYTES_MAX,
               "each part of a report has its room");

static void add_waiters(struct enl_crash_text *text, const struct enl_crash *crash)
{
    const uint64_t now_ns = bcri_clock_ns();
    const struct enl_waiters *waiters = crash->waiters;
    for (uint32_t i = 0; waiters != NULL && i < waiters->count; i++) {
        const struct enl_waiter *waiter = &waiters->at[i];
        const struct enl_cce *cce = enl_cce_at(crash->cce->here, waiter->index);
        char who[ENL_CCE_TEXT_MAX];
        if (waiter->others != 0)
            enl_crash_text_line(text, "%u request%s of CCEs on other hosts to %s its cell %u wait%s",
                                waiter->others, waiter->others == 1 ? "" : "s",
                                waiter->puts ? "put into" : "get from", waiter->cell,
                                waiter->others == 1 ? "s" : "");
        if (!waiter->waits || cce == NULL || waiter->others != 0)
            continue;
        enl_cce_text(cce, who, sizeof who);
        if (waiter->request == BCRI_REF_NONE)
            enl_crash_text_line(text, "%s waits for a lock that it holds inside a call", who);
        else
            enl_crash_text_line(text, "%s has waited for %.1f s to %s its cell %u", who,
                                (double)(now_ns - waiter->since_ns) / 1e9,
                                waiter->puts ? "put into" : "get from", waiter->cell);
    }
}

static void add_cause(struct enl_crash_text *text, const struct enl_crash *crash)
{
    static const int with_address[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    if (crash->code <= 0) {
        if (crash->signal != SIGABRT)
            enl_crash_text_line(text, "a process has sent the signal");
        return;
    }
    for (size_t i = 0; i < sizeof with_address / sizeof with_address[0]; i++)
        if (crash->signal == with_address[i])
            enl_crash_text_line(text, "at address 0x%llx", (unsigned long long)crash->address);
}

static void add_why_no_stack(struct enl_crash_text *text, const struct enl_cce *cce)
{
    if (cce->crash != NULL)
        enl_crash_text_line(text,
                            "no stack: it could not be read (enl reads stacks on x86-64 only, and not of an "
                            "emulated program), or not in time");
    else if ((bcri_load(&cce->record->id.exit_status) & BCRI_CRASHED) != 0)
        enl_crash_text_line(text,
                            "no stack: the program could not tell enl (it has closed descriptors that it has "
                            "not opened, or has none left)");
    else
        enl_crash_text_line(
            text, "no stack: the program could not stop at the signal (a thread without an alternate "
                  "stack has used up its own, or the program has a handler of its own)");
}

static void add_output(struct enl_crash_text *text, const struct enl_cce *cce)
{
    char tail[ENL_TAIL_BYTES];
    const size_t length = enl_output_tail(cce, tail);
    if (length == 0)
        return;
    enl_crash_text_line(text, "the last it printed:");
    enl_crash_text_add(text, tail, length);
    if (tail[length - 1] != '\n')
        enl_crash_text_add(text, "\n", 1);
}

static void raise_limit(struct enl_crash_text *text, size_t limit)
{
    text->limit = limit;
    text->cut = false;
}

struct enl_crash_text enl_crash_account(const struct enl_cce *cce, bool core_file)
{
    const struct enl_crash *crash = cce->crash;
    const struct enl_crash_text none = {.bytes = NULL}, *trace = crash != NULL ? &crash->text : &none;
    const char *end = trace->length != 0 ? memchr(trace->bytes, '\0', trace->length) : NULL;
    const size_t key = end != NULL ? (size_t)(end - trace->bytes) : trace->length;
    struct enl_crash_text text = {.limit = KEY_LIMIT};
    enl_crash_text_add(&text, trace->bytes, key);
    raise_limit(&text, STATE_LIMIT);
    enl_crash_text_add(&text, "", 1);
    if (key == 0)
        add_why_no_stack(&text, cce);
    if (crash != NULL)
        add_cause(&text, crash);
    if (core_file)
        enl_crash_text_line(&text, "it has left a core file");
    enl_crash_last_operations(&text, cce);
    if (crash != NULL)
        add_waiters(&text, crash);
    raise_limit(&text, OUTPUT_LIMIT);
    add_output(&text, cce);
    raise_limit(&text, ENL_CRASH_BYTES_MAX);
    if (end != NULL)
        enl_crash_text_add(&text, end + 1, trace->length - key - 1);
    return text;
}
