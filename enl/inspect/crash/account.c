/* SPDX-License-Identifier: MIT */
/* account.c -- what a report says of one CCE's end. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/clock.h"
#include "bcri/trace.h"
#include "host/host.h"
#include "host/output.h"
#include "inspect/crash/crash_private.h"

/* Of a report: where at the latest the stack ends, by which reports are alike, and what is told before the
 * output. What is left is for other stacks. */
enum {
    KEY_LIMIT = ENL_CRASH_BYTES_MAX / 2,
    STATE_LIMIT = KEY_LIMIT + 8192,
    OUTPUT_LIMIT = STATE_LIMIT + 4352,
    CUT_BYTES = 40,
    LAST_SHOWN = 8
};
_Static_assert(ENL_TAIL_BYTES + 256 <= OUTPUT_LIMIT - STATE_LIMIT && OUTPUT_LIMIT <= ENL_CRASH_BYTES_MAX,
               "each part of a report has its room");

/* ---- texts with a bound ---- */

void enl_crash_text_cut(struct enl_crash_text *text, const char *why)
{
    const size_t length = strlen(why);
    if (text->bytes == NULL || text->cut)
        return;
    while (text->length > 0 && text->bytes[text->length - 1] != '\n' && text->bytes[text->length - 1] != '\0')
        text->length--;
    memcpy(text->bytes + text->length, why, length);
    text->length += length;
    text->cut = true;
}

void enl_crash_text_add(struct enl_crash_text *text, const char *bytes, size_t length)
{
    const size_t limit = text->limit - CUT_BYTES;
    if (length == 0 || text->cut ||
        (text->bytes == NULL && (text->bytes = malloc(ENL_CRASH_BYTES_MAX)) == NULL))
        return;
    const size_t room = text->length < limit ? limit - text->length : 0, part = length < room ? length : room;
    memcpy(text->bytes + text->length, bytes, part);
    text->length += part;
    if (part < length)
        enl_crash_text_cut(text, "... and more\n");
}

static void add_line(struct enl_crash_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_line(struct enl_crash_text *text, const char *format, ...)
{
    char line[ENL_CRASH_LINE_MAX];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    const int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    size_t used = (size_t)length < sizeof line - 2 ? (size_t)length : sizeof line - 2;
    line[used++] = '\n';
    enl_crash_text_add(text, line, used);
}

/* ---- what the CCE did last: its record may hold anything that a wild store has left there ---- */

static const char *name_of_operation(uint32_t op)
{
    static const char *const names[] = {
        [BCRI_TRACE_PUT] = "put",   [BCRI_TRACE_WRITE] = "write", [BCRI_TRACE_GET] = "get",
        [BCRI_TRACE_READ] = "read", [BCRI_TRACE_LOCK] = "lock",   [BCRI_TRACE_ZAP] = "zap"};
    return op < sizeof names / sizeof names[0] && names[op] != NULL ? names[op] : "?";
}

/* The peer is a record's index, or enl's, if its CCE is on another host; it may have ended since, and another have its
 * record. */
static const char *peer_of(const struct enl_cce *cce, uint32_t peer, char *text, size_t size)
{
    const struct enl_cce *other = enl_cce_at(cce->here, peer);
    if (peer == cce->index)
        return "its own";
    if (peer == BCRI_ENL_INDEX)
        return "another host's";
    if (other == NULL)
        return "an ended CCE's";
    snprintf(text, size, "CCE %u's", other->ordinal);
    return text;
}

static void add_operation(struct enl_crash_text *text, const struct enl_cce *cce,
                          const struct bcri_trace_shm *trace, uint64_t head)
{
    const uint32_t op = (uint32_t)(head >> 32) & 255, result = (uint32_t)(head >> 40) & 255;
    char other[32], bytes[32] = "", failed[32] = "";
    const char *peer = peer_of(cce, (uint32_t)(head >> 48), other, sizeof other);
    if (op != BCRI_TRACE_ZAP)
        snprintf(bytes, sizeof bytes, ", %u bytes", trace->bytes);
    if (result != 0)
        snprintf(failed, sizeof failed, ", failed (%u)", result);
    add_line(text, "  %s%s %s cell %u%s%s", name_of_operation(op), op == BCRI_TRACE_ZAP ? " of" : ",", peer,
             trace->cell, bytes, failed);
}

static void add_last_operations(struct enl_crash_text *text, const struct enl_cce *cce)
{
    const struct bcri_trace_shm *ring = cce->record->trace;
    uint32_t last = 0;
    for (uint32_t i = 0; i < BCRI_TRACE_RECORDS; i++) {
        const uint32_t seq = (uint32_t)bcri_load_acquire(&ring[i].head);
        if (seq % BCRI_TRACE_RECORDS == i && seq > last)
            last = seq;
    }
    if (last == 0)
        return;
    add_line(text, "its last operations, the last one first:");
    for (uint32_t seq = last; seq != 0 && last - seq < LAST_SHOWN; seq--) {
        const struct bcri_trace_shm *trace = &ring[seq % BCRI_TRACE_RECORDS];
        const uint64_t head = bcri_load_acquire(&trace->head);
        if ((uint32_t)head != seq)
            break;
        add_operation(text, cce, trace, head);
    }
}

/* ---- the rest of the account ---- */

static void add_waiters(struct enl_crash_text *text, const struct enl_crash *crash)
{
    const uint64_t now_ns = bcri_clock_ns();
    const struct enl_waiters *waiters = crash->waiters;
    for (uint32_t i = 0; waiters != NULL && i < waiters->count; i++) {
        const struct enl_waiter *waiter = &waiters->at[i];
        const struct enl_cce *cce = enl_cce_at(crash->cce->here, waiter->index);
        char who[ENL_CCE_TEXT_MAX];
        if (waiter->others != 0)
            add_line(text, "%u request%s of CCEs on other hosts to %s its cell %u wait%s", waiter->others,
                     waiter->others == 1 ? "" : "s", waiter->puts ? "put into" : "get from", waiter->cell,
                     waiter->others == 1 ? "s" : "");
        if (!waiter->waits || cce == NULL || waiter->others != 0)
            continue;
        enl_cce_text(cce, who, sizeof who);
        if (waiter->request == BCRI_REF_NONE)
            add_line(text, "%s waits for a lock that it holds inside a call", who);
        else
            add_line(text, "%s has waited for %.1f s to %s its cell %u", who,
                     (double)(now_ns - waiter->since_ns) / 1e9, waiter->puts ? "put into" : "get from",
                     waiter->cell);
    }
}

static void add_cause(struct enl_crash_text *text, const struct enl_crash *crash)
{
    static const int with_address[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    if (crash->code <= 0) {
        if (crash->signal != SIGABRT)
            add_line(text, "a process has sent the signal");
        return;
    }
    for (size_t i = 0; i < sizeof with_address / sizeof with_address[0]; i++)
        if (crash->signal == with_address[i])
            add_line(text, "at address 0x%llx", (unsigned long long)crash->address);
}

static void add_why_no_stack(struct enl_crash_text *text, const struct enl_cce *cce)
{
    if (cce->crash != NULL)
        add_line(text, "no stack: it could not be read (enl reads stacks on x86-64 only, and not of an "
                       "emulated program), or not in time");
    else if ((bcri_load(&cce->record->id.exit_status) & BCRI_CRASHED) != 0)
        add_line(text, "no stack: the program could not tell enl (it has closed descriptors that it has "
                       "not opened, or has none left)");
    else
        add_line(text, "no stack: the program could not stop at the signal (a thread without an alternate "
                       "stack has used up its own, or the program has a handler of its own)");
}

static void add_output(struct enl_crash_text *text, const struct enl_cce *cce)
{
    char tail[ENL_TAIL_BYTES];
    const size_t length = enl_output_tail(cce, tail);
    if (length == 0)
        return;
    add_line(text, "the last it printed:");
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
        add_line(&text, "it has left a core file");
    add_last_operations(&text, cce);
    if (crash != NULL)
        add_waiters(&text, crash);
    raise_limit(&text, OUTPUT_LIMIT);
    add_output(&text, cce);
    raise_limit(&text, ENL_CRASH_BYTES_MAX);
    if (end != NULL)
        enl_crash_text_add(&text, end + 1, trace->length - key - 1);
    return text;
}
