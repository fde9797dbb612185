/* SPDX-License-Identifier: MIT */
/* See often.h. */
#include "often.h"

#include <stdarg.h>
#include <stdio.h>

#include "program.h"

enum { WINDOW_MSEC = 60000, LINES_MAX = 20 };

void enl_log_often(struct enl_program *program, enum enl_often_kind kind, const char *format, ...)
{
    struct enl_often *often = &program->often[kind];
    const uint64_t now = uv_now(&program->loop);
    char text[2048];
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
        bcri_log_write(&program->log, BCRI_LOG_WARN, "%s (%llu such lines before this one were left out)",
                       text, (unsigned long long)often->left_out);
    else
        bcri_log_write(&program->log, BCRI_LOG_WARN, "%s%s", text,
                       often->count == LINES_MAX ? " (further such lines are left out for up to a minute)"
                                                 : "");
    often->left_out = 0;
}
