/* SPDX-License-Identifier: MIT */
/* account.c -- what a report says of one CCE's end. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/clock.h"
#include "bcri/escape.h"
#include "bcri/note.h"
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

void enl_crash_text_add(struct enl_crash_text *text, size_t limit, const char *bytes, size_t length)
{
    text->cut = text->cut && limit <= text->limit;
    text->limit = limit;
    if (length == 0 || text->cut ||
        (text->bytes == NULL && (text->bytes = malloc(ENL_CRASH_BYTES_MAX)) == NULL))
        return;
    limit -= CUT_BYTES;
    const size_t room = text->length < limit ? limit - text->length : 0, part = length < room ? length : room;
    memcpy(text->bytes + text->length, bytes, part);
    text->length += part;
    if (part < length)
        enl_crash_text_cut(text, "... and more\n");
}

/* ---- what the CCE did last: its record may hold anything that a wild store has left there ---- */

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

static void print_operation(FILE *out, const struct enl_cce *cce, const struct bcri_trace_shm *trace,
                            uint64_t head)
{
    static const char *const names[256] = {
        [BCRI_TRACE_PUT] = "put,",   [BCRI_TRACE_WRITE] = "write,", [BCRI_TRACE_GET] = "get,",
        [BCRI_TRACE_READ] = "read,", [BCRI_TRACE_LOCK] = "lock,",   [BCRI_TRACE_ZAP] = "zap of"};
    const uint32_t op = (uint32_t)(head >> 32) & 255, result = (uint32_t)(head >> 40) & 255;
    char peer[32];
    fprintf(out, "  %s %s cell %u", names[op] != NULL ? names[op] : "?,",
            peer_of(cce, (uint32_t)(head >> 48), peer, sizeof peer), trace->cell);
    if (op != BCRI_TRACE_ZAP)
        fprintf(out, ", %u bytes", trace->bytes);
    if (result != 0)
        fprintf(out, ", failed (%u)", result);
    fputc('\n', out);
}

static void print_last_operations(FILE *out, const struct enl_cce *cce)
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
    fprintf(out, "its last operations, the last one first:\n");
    for (uint32_t seq = last; seq != 0 && last - seq < LAST_SHOWN; seq--) {
        const struct bcri_trace_shm *trace = &ring[seq % BCRI_TRACE_RECORDS];
        const uint64_t head = bcri_load_acquire(&trace->head);
        if ((uint32_t)head != seq)
            break;
        print_operation(out, cce, trace, head);
    }
}

/* ---- what CCEs say of their waits: the program's words (bcr_note) ---- */

/* The text of its note in one line. NULL: it has none. */
static const char *note_of(const struct enl_cce *cce, struct bcri_note *note)
{
    static char text[4 * BCRI_NOTE_BYTES + 1];
    if (!bcri_note_read(&cce->record->note, note))
        return NULL;
    bcri_escape(note->text, strlen(note->text), text, sizeof text, NULL);
    return text;
}

static void print_note(FILE *out, const struct enl_cce *cce)
{
    struct bcri_note note;
    const char *text = note_of(cce, &note);
    if (text == NULL)
        return;
    const uint32_t host = bcri_identity_host(note.cce);
    const bool is_here = host == cce->here->self->host_number;
    const struct enl_cce *other = is_here ? enl_cce_of(cce->here, note.cce) : NULL;
    if (bcri_identity_is_none(note.cce))
        fprintf(out, "it waited: %s\n", text);
    else if (other != NULL)
        fprintf(out, "it waited for %s: %s\n", enl_cce_text(other), text);
    else if (is_here)
        fprintf(out, "it waited for a CCE that has ended: %s\n", text);
    else
        fprintf(out, "it waited for a CCE of host %u: %s\n", host, text);
}

/* ---- the rest of the account ---- */

static void print_waiters(FILE *out, const struct enl_crash *crash)
{
    const uint64_t now_ns = bcri_clock_ns();
    const struct enl_waiters *waiters = crash->waiters;
    for (uint32_t i = 0; waiters != NULL && i < waiters->count; i++) {
        const struct enl_waiter *waiter = &waiters->at[i];
        const struct enl_cce *cce = enl_cce_at(crash->cce->here, waiter->index);
        if (waiter->others != 0)
            fprintf(out, "%u request%s of CCEs on other hosts to %s its cell %u wait%s\n", waiter->others,
                    waiter->others == 1 ? "" : "s", waiter->puts ? "put into" : "get from", waiter->cell,
                    waiter->others == 1 ? "s" : "");
        if (cce == NULL || waiter->others != 0)
            continue;
        const char *who = enl_cce_text(cce);
        struct bcri_note note;
        const char *text = waiter->noted ? note_of(cce, &note) : NULL;
        if (text != NULL) {
            fprintf(out, "%s has waited for it for %.1f s: %s\n", who,
                    (double)(now_ns - waiter->since_ns) / 1e9, text);
            continue;
        }
        if (waiter->noted) /* it waits no longer */
            continue;
        if (waiter->request == BCRI_REF_NONE)
            fprintf(out, "%s waits for a lock that it holds inside a call\n", who);
        else
            fprintf(out, "%s has waited for %.1f s to %s its cell %u\n", who,
                    (double)(now_ns - waiter->since_ns) / 1e9, waiter->puts ? "put into" : "get from",
                    waiter->cell);
    }
}

static void print_cause(FILE *out, const struct enl_crash *crash)
{
    static const int with_address[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    if (crash->code <= 0) {
        if (crash->signal != SIGABRT)
            fprintf(out, "a process has sent the signal\n");
        return;
    }
    for (size_t i = 0; i < sizeof with_address / sizeof with_address[0]; i++)
        if (crash->signal == with_address[i])
            fprintf(out, "at address 0x%llx\n", (unsigned long long)crash->address);
}

static void print_why_no_stack(FILE *out, const struct enl_cce *cce)
{
    if (cce->crash != NULL)
        fprintf(out, "no stack: it could not be read (enl reads stacks on x86-64 only, and not of an "
                     "emulated program), or not in time\n");
    else if ((bcri_load(&cce->record->id.exit_status) & BCRI_CRASHED) != 0)
        fprintf(out, "no stack: the program could not tell enl (it has closed descriptors that it has "
                     "not opened, or has none left)\n");
    else
        fprintf(out, "no stack: the program could not stop at the signal (a thread without an alternate "
                     "stack has used up its own, or the program has a handler of its own)\n");
}

static void add_output(struct enl_crash_text *text, const struct enl_cce *cce)
{
    static const char heading[] = "the last it printed:\n";
    char tail[ENL_TAIL_BYTES + 1];
    size_t length = enl_output_tail(cce, tail);
    if (length == 0)
        return;
    if (tail[length - 1] != '\n')
        tail[length++] = '\n';
    enl_crash_text_add(text, OUTPUT_LIMIT, heading, strlen(heading));
    enl_crash_text_add(text, OUTPUT_LIMIT, tail, length);
}

/* What is told between the stack and the output. */
static void print_state(FILE *out, const struct enl_cce *cce, bool has_stack, bool core_file)
{
    if (!has_stack)
        print_why_no_stack(out, cce);
    if (cce->crash != NULL)
        print_cause(out, cce->crash);
    if (core_file)
        fprintf(out, "it has left a core file\n");
    print_note(out, cce);
    print_last_operations(out, cce);
    if (cce->crash != NULL)
        print_waiters(out, cce->crash);
}

struct enl_crash_text enl_crash_account(const struct enl_cce *cce, bool core_file)
{
    const struct enl_crash_text none = {.bytes = NULL},
                                *trace = cce->crash != NULL ? &cce->crash->text : &none;
    const char *end = trace->length != 0 ? memchr(trace->bytes, '\0', trace->length) : NULL;
    const size_t key = end != NULL ? (size_t)(end - trace->bytes) : trace->length;
    struct enl_crash_text text = {.bytes = NULL};
    char *state = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&state, &length);
    if (out != NULL) {
        print_state(out, cce, key != 0, core_file);
        fclose(out);
    }
    enl_crash_text_add(&text, KEY_LIMIT, trace->bytes, key);
    enl_crash_text_add(&text, STATE_LIMIT, "", 1);
    enl_crash_text_add(&text, STATE_LIMIT, state, length);
    add_output(&text, cce);
    if (end != NULL)
        enl_crash_text_add(&text, ENL_CRASH_BYTES_MAX, end + 1, trace->length - key - 1);
    free(state);
    return text;
}
