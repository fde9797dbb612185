/* SPDX-License-Identifier: MIT */
/* See often.h. */
#include "base/often.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/self.h"

enum { WINDOW_MSEC = 60000, LINES_MAX = 20 };

void enl_log_often(struct enl_self *self, enum enl_often_kind kind, const char *format, ...)
{
    struct enl_often *often = &self->often[kind];
    const uint64_t now = uv_now(&self->loop);
    char text[2048], note[80] = "";
    if (often->count == 0 || now - often->since_ms >= WINDOW_MSEC) {
        often->since_ms = now;
        often->count = 0;
    }
    if (often->count == LINES_MAX) {
        often->left_out++;
        return;
    }
    often->count++;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (often->left_out != 0)
        snprintf(note, sizeof note, " (%llu such lines before this one were left out)",
                 (unsigned long long)often->left_out);
    else if (often->count == LINES_MAX)
        snprintf(note, sizeof note, " (further such lines are left out for up to a minute)");
    if (kind == ENL_OFTEN_WAITS)
        enl_report(self, BCRI_LOG_INFO, "%s%s", text, note);
    else
        bcri_log_write(&self->log, kind == ENL_OFTEN_AUDIT ? BCRI_LOG_INFO : BCRI_LOG_WARN, "%s%s", text,
                       note);
    often->left_out = 0;
}
