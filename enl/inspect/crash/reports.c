/* SPDX-License-Identifier: MIT */
/* reports.c -- reports between the CCE's end and their showing. They are gathered for a moment, so that those of CCEs that
 * crashed alike, also on other hosts, become one; then they are shown, or sent up to the parent's daemon. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/self.h"
#include "bcri/escape.h"
#include "inspect/crash/crash_private.h"

/* KINDS_MAX different ones at a time: a program whose CCEs crash in more ways at once is told so. */
enum { KINDS_MAX = 64, HELD_MAX = 64, GATHER_MSEC = 400, PART_BYTES = 2048, LINE_MAX_BYTES = 512 };

static void free_report(struct enl_crash_report *report)
{
    free(report->text);
    free(report);
}

static size_t key_length(const struct enl_crash_report *report)
{
    const char *end = report->text != NULL ? memchr(report->text, '\0', report->length) : NULL;
    return end != NULL ? (size_t)(end - report->text) : report->length;
}

static bool are_alike(const struct enl_crash_report *a, const struct enl_crash_report *b)
{
    const size_t length = key_length(a);
    return a->signal == b->signal && length == key_length(b) && length != 0 &&
           memcmp(a->text, b->text, length) == 0;
}

/* ---- showing ---- */

static void show_lines(struct enl_self *self, uint32_t ordinal, const char *text, size_t length)
{
    while (length > 0) {
        const char *newline = memchr(text, '\n', length);
        const size_t line = newline != NULL ? (size_t)(newline - text) : length;
        const size_t bounded = line < LINE_MAX_BYTES ? line : LINE_MAX_BYTES;
        char shown[4 * LINE_MAX_BYTES + 1];
        bcri_escape(text, bounded, shown, sizeof shown, NULL);
        enl_report_shown(self, "  [%u] %s\n", ordinal, shown);
        bcri_log_write(enl_report_log(self), BCRI_LOG_ERROR, "  [%u] %s", ordinal, shown);
        const size_t skip = bounded + (bounded == line && newline != NULL ? 1 : 0); /* a long line goes on */
        text += skip;
        length -= skip;
    }
}

/* Writes it to stderr and into the log. */
static void show_report(struct enl_self *self, const struct enl_crash_report *report)
{
    const size_t key = key_length(report);
    char ordinals[ENL_ORDINALS_TEXT_MAX + 64], all[sizeof ordinals + 64] = "";
    enl_ordinals_tell(&report->ordinals, report->count, ordinals, sizeof ordinals);
    if (report->count > 1)
        snprintf(all, sizeof all, "%u CCEs crashed alike (%s); of them ", report->count, ordinals);
    enl_report(self, BCRI_LOG_ERROR, "crash: %s%s, signal %d (%s)", all, report->who, report->signal,
               strsignal(report->signal));
    show_lines(self, report->ordinal, report->text, key);
    if (key < report->length)
        show_lines(self, report->ordinal, report->text + key + 1, report->length - key - 1);
}

/* ---- gathering ---- */

/* Returns whether there is a parent's daemon that takes it. */
static bool send_report_up(const struct enl_crashes *crashes, const struct enl_crash_report *report)
{
    char ordinals[ENL_ORDINALS_TEXT_MAX];
    size_t at = 0;
    enl_ordinals_text(&report->ordinals, ordinals);
    do {
        const size_t left = report->length - at, part = left < PART_BYTES ? left : PART_BYTES;
        const struct bcri_control message = {.type = BCRI_MSG_died,
                                             .present = BCRI_HAS(ordinal) | BCRI_HAS(kind) | BCRI_HAS(count) |
                                                        BCRI_HAS(object) | BCRI_HAS(text) | BCRI_HAS(bytes) |
                                                        BCRI_HAS(size),
                                             .ordinal = report->ordinal,
                                             .kind = (uint32_t)report->signal,
                                             .count = report->count,
                                             .object = bcri_view_of(report->who),
                                             .text = bcri_view_of(ordinals),
                                             .bytes = {report->text + at, (uint32_t)part},
                                             .size = left - part};
        if (crashes->self->upward == NULL)
            return false;
        crashes->self->upward->send(crashes->self->program, &message);
        at += part;
    } while (at < report->length);
    return true;
}

void enl_crash_flush(struct enl_crashes *crashes)
{
    struct enl_crash_report *report;
    uv_timer_stop(&crashes->gather);
    while ((report = STAILQ_FIRST(&crashes->reports)) != NULL) {
        STAILQ_REMOVE_HEAD(&crashes->reports, entry);
        if (!send_report_up(crashes, report)) {
            if (crashes->holds && crashes->held_count < HELD_MAX) {
                STAILQ_INSERT_TAIL(&crashes->held, report, entry);
                crashes->held_count++;
                continue;
            }
            show_report(crashes->self, report);
        }
        free_report(report);
    }
    if (crashes->left_out != 0)
        enl_report(crashes->self, BCRI_LOG_ERROR, "%u more CCEs crashed at that time, in other ways, on %s",
                   crashes->left_out, crashes->self->hostname);
    crashes->kinds = crashes->left_out = 0;
}

void enl_crash_show(struct enl_crashes *crashes, uint32_t ordinal)
{
    struct enl_crash_report *report, *next;
    for (report = STAILQ_FIRST(&crashes->held); report != NULL; report = next) {
        next = STAILQ_NEXT(report, entry);
        if (ordinal != UINT32_MAX && report->ordinal != ordinal)
            continue;
        STAILQ_REMOVE(&crashes->held, report, enl_crash_report, entry);
        crashes->held_count--;
        show_report(crashes->self, report);
        free_report(report);
    }
}

static void on_gather(uv_timer_t *timer)
{
    enl_crash_flush(timer->data);
}

void enl_crash_gather(struct enl_crashes *crashes, struct enl_crash_report *report)
{
    struct enl_crash_report *like;
    if (!uv_is_active((uv_handle_t *)&crashes->gather))
        uv_timer_start(&crashes->gather, on_gather, GATHER_MSEC, 0);
    STAILQ_FOREACH (like, &crashes->reports, entry)
        if (are_alike(like, report))
            break;
    if (like == NULL && crashes->kinds < KINDS_MAX) {
        STAILQ_INSERT_TAIL(&crashes->reports, report, entry);
        crashes->kinds++;
        return;
    }
    if (like != NULL) {
        enl_ordinals_add_all(&like->ordinals, &report->ordinals);
        like->count += report->count;
    } else {
        crashes->left_out += report->count;
    }
    free_report(report);
}

/* That of which a part has come; else a new one. NULL: no memory. */
static struct enl_crash_report *report_of(struct enl_crashes *crashes, uint32_t host)
{
    struct enl_crash_report *report;
    STAILQ_FOREACH (report, &crashes->parts, entry)
        if (report->host == host)
            return report;
    if ((report = calloc(1, sizeof *report)) == NULL)
        return NULL;
    report->host = host;
    report->text = malloc(ENL_CRASH_BYTES_MAX);
    STAILQ_INSERT_TAIL(&crashes->parts, report, entry);
    return report;
}

const char *enl_crash_of_host(struct enl_crashes *crashes, uint32_t host, const struct bcri_control *message)
{
    struct enl_crash_report *report = report_of(crashes, host);
    if (report == NULL)
        return NULL;
    if (report->text != NULL && message->bytes.length <= ENL_CRASH_BYTES_MAX - report->length) {
        if (message->bytes.length != 0)
            memcpy(report->text + report->length, message->bytes.bytes, message->bytes.length);
        report->length += message->bytes.length;
    }
    if (message->size != 0) /* more of it follows */
        return NULL;
    STAILQ_REMOVE(&crashes->parts, report, enl_crash_report, entry);
    report->signal = (int)message->kind;
    report->count = message->count;
    report->ordinal = message->ordinal;
    char ordinals[ENL_ORDINALS_TEXT_MAX];
    if (!bcri_view_copy(message->object, report->who, sizeof report->who) ||
        !bcri_view_copy(message->text, ordinals, sizeof ordinals)) {
        free_report(report);
        return "a crash report with too long a name";
    }
    enl_ordinals_read(&report->ordinals, ordinals);
    enl_crash_gather(crashes, report);
    return NULL;
}

void enl_crash_reports_fini(struct enl_crashes *crashes)
{
    struct enl_crash_report *report;
    STAILQ_CONCAT(&crashes->reports, &crashes->parts);
    STAILQ_CONCAT(&crashes->reports, &crashes->held);
    while ((report = STAILQ_FIRST(&crashes->reports)) != NULL) {
        STAILQ_REMOVE_HEAD(&crashes->reports, entry);
        free_report(report);
    }
}
