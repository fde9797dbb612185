/* SPDX-License-Identifier: MIT */
/* report.c -- equal reports become one; showing them. */
#include "inspect/crash/crash.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/self.h"
#include "bcri/escape.h"

/* Different ones at a time. A program whose CCEs crash in more ways at once is told so. */
enum { KINDS_MAX = 64, LINE_MAX_BYTES = 512 };

enum { CUT_BYTES = 40 };

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

void enl_crash_text_line(struct enl_crash_text *text, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    size_t used = (size_t)length < sizeof line - 2 ? (size_t)length : sizeof line - 2;
    line[used++] = '\n';
    enl_crash_text_add(text, line, used);
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

void enl_crash_reports_add(struct enl_crash_reports *reports, struct enl_crash_report *report)
{
    struct enl_crash_report *like;
    STAILQ_FOREACH (like, &reports->all, entry)
        if (are_alike(like, report))
            break;
    if (like != NULL) {
        enl_ordinals_add_all(&like->ordinals, &report->ordinals);
        like->count += report->count;
    } else if (reports->kinds < KINDS_MAX) {
        STAILQ_INSERT_TAIL(&reports->all, report, entry);
        reports->kinds++;
        return;
    } else {
        reports->left_out += report->count;
    }
    enl_crash_report_free(report);
}

struct enl_crash_report *enl_crash_reports_take(struct enl_crash_reports *reports)
{
    struct enl_crash_report *report = STAILQ_FIRST(&reports->all);
    if (report != NULL) {
        STAILQ_REMOVE_HEAD(&reports->all, entry);
        reports->kinds--;
    }
    return report;
}

void enl_crash_report_free(struct enl_crash_report *report)
{
    free(report->text);
    free(report);
}

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

void enl_crash_report_show(struct enl_self *self, const struct enl_crash_report *report)
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
