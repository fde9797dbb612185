/* SPDX-License-Identifier: MIT */
/* See report.h. */
#include "base/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/self.h"
#include "base/writer.h"
#include "bcri/escape.h"

enum { FLUSH_MSEC = 1000, OFTEN_MSEC = 60000, OFTEN_LINES = 20 };

static bool same_file(int one, int other)
{
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int enl_report_start(struct enl_self *self, bool apart)
{
    struct enl_report *report = &self->report;
    uv_timer_init(&self->loop, &report->patience);
    report->patience.data = self;
    report->err = enl_writer_start(self, 2);
    report->out = report->err;
    if (apart && !same_file(1, 2))
        report->out = enl_writer_start(self, 1);
    if (report->err != NULL && report->out != NULL)
        return 0;
    report->err = report->out = NULL; /* the report of this failure must be written before the process ends */
    return -EAGAIN;
}

size_t enl_progress_line(char out[ENL_PROGRESS_BYTES], size_t *shown_io, unsigned done, unsigned all)
{
    size_t used = 0;
    if (*shown_io != 0)
        used = (size_t)snprintf(out, ENL_PROGRESS_BYTES, "\r%*s\r", (int)*shown_io, "");
    *shown_io = 0;
    if (all != 0) {
        const int length = snprintf(out + used, ENL_PROGRESS_BYTES - used, "%u of %u hosts\r", done, all);
        *shown_io = (size_t)length - 1;
        used += (size_t)length;
    }
    return used;
}

void enl_report_progress(struct enl_self *self, unsigned done, unsigned all)
{
    char line[ENL_PROGRESS_BYTES];
    if (self->report.err == NULL)
        return;
    const size_t length = enl_progress_line(line, &self->report.progress, done, all);
    if (length != 0)
        enl_writer_text(self->report.err, line, length);
}

static void show_text(struct enl_self *self, enum bcri_log_level level, const char *text, size_t length)
{
    enl_report_progress(self, 0, 0);
    if (self->upward != NULL)
        self->upward->report(self->program, level, text, length);
    else if (self->report.err != NULL)
        enl_writer_text(self->report.err, text, length);
    else /* before there is a loop, this may wait */
        fwrite(text, 1, length, stderr);
}

void enl_report_shown(struct enl_self *self, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    show_text(self, BCRI_LOG_INFO, text, (size_t)length);
    free(text);
}

void enl_report(struct enl_self *self, enum bcri_log_level level, const char *format, ...)
{
    static const char begin[] = "enl: ";
    const size_t begins = sizeof begin - 1;
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    const int bytes = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (bytes < 0)
        return;
    const size_t room = 4 * (size_t)bytes + 1;
    char *shown = malloc(begins + room + 1); /* contains names that users chose */
    if (shown != NULL) {
        memcpy(shown, begin, begins);
        size_t length = begins + bcri_escape(text, (size_t)bytes, shown + begins, room, NULL);
        shown[length++] = '\n';
        show_text(self, level, shown, length);
    }
    bcri_log_write(enl_report_log(self), level, "%s", text);
    free(shown);
    free(text);
}

void enl_log_often(struct enl_self *self, enum enl_often_kind kind, const char *format, ...)
{
    struct enl_often *often = &self->often[kind];
    const uint64_t now = uv_now(&self->loop);
    char text[2048], note[80] = "";
    if (often->count == 0 || now - often->since_ms >= OFTEN_MSEC) {
        often->since_ms = now;
        often->count = 0;
    }
    if (often->count == OFTEN_LINES) {
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
    else if (often->count == OFTEN_LINES)
        snprintf(note, sizeof note, " (further such lines are left out for up to a minute)");
    if (kind == ENL_OFTEN_WAITS)
        enl_report(self, BCRI_LOG_INFO, "%s%s", text, note);
    else
        bcri_log_write(&self->log, kind == ENL_OFTEN_AUDIT ? BCRI_LOG_INFO : BCRI_LOG_WARN, "%s%s", text,
                       note);
    often->left_out = 0;
}

struct bcri_log *enl_report_log(struct enl_self *self)
{
    return self->log.show == NULL ? &self->log : NULL;
}

bool enl_report_log_has(const struct enl_self *self, uint64_t lost_before)
{
    return self->log.path != NULL && bcri_log_wants(&self->log, BCRI_LOG_INFO) &&
           self->log.lost_total == lost_before;
}

/* Before there is a loop, and behind its end, this may wait. What a child logs then goes the way of ssh's own words at
 * first, and nowhere at the end. To send a line may be worth another one, which is lost. */
bool enl_report_line(void *owner, const char *line, size_t length)
{
    static bool inside;
    struct enl_self *self = owner;
    bool shown = !inside;
    if (inside)
        return false;
    inside = true;
    if (self->upward != NULL) {
        shown = self->upward->logged(self->program, line, length);
    } else if (self->is_child && self->report.is_over) {
        shown = false;
    } else if (self->report.err == NULL) {
        fwrite(line, 1, length, stderr);
    } else if ((shown = !enl_writer_full(self->report.err))) {
        enl_report_progress(self, 0, 0);
        enl_writer_text(self->report.err, line, length);
    }
    inside = false;
    return shown;
}

/* The writers: one or two. */
static unsigned writers_of(const struct enl_self *self, struct enl_writer *out[2])
{
    out[0] = self->report.err;
    out[1] = self->report.out;
    return out[0] == NULL ? 0 : out[1] == out[0] ? 1 : 2;
}

/* How many bytes are not written yet; how many of them CCEs have printed. */
static size_t bytes_left(const struct enl_self *self, size_t *printed_out)
{
    struct enl_writer *writers[2];
    size_t bytes = 0;
    *printed_out = 0;
    for (unsigned i = writers_of(self, writers); i-- > 0;)
        bytes += enl_writer_left(writers[i], printed_out);
    return bytes;
}

static void finish_flush(struct enl_self *self)
{
    void (*done)(struct enl_program * program) = self->report.flushed;
    self->report.flushed = NULL;
    uv_timer_stop(&self->report.patience);
    done(self->program);
}

static void on_patience(uv_timer_t *timer)
{
    struct enl_self *self = timer->data;
    size_t lines;
    bcri_log_write(&self->log, BCRI_LOG_WARN, "the last %zu bytes for stdout and stderr were not read",
                   bytes_left(self, &lines));
    finish_flush(self);
}

void enl_report_look(struct enl_self *self)
{
    size_t lines;
    if (self->report.flushed == NULL)
        return;
    if (bytes_left(self, &lines) == 0)
        finish_flush(self);
    else if ((lines == 0 || self->report.hurry) && uv_is_active((uv_handle_t *)&self->report.patience) == 0)
        uv_timer_start(&self->report.patience, on_patience, FLUSH_MSEC, 0);
}

void enl_report_flush(struct enl_self *self, void (*done)(struct enl_program *program))
{
    self->report.flushed = done;
    enl_report_look(self);
}

void enl_report_hurry(struct enl_self *self)
{
    self->report.hurry = true;
    enl_report_look(self);
}

void enl_report_hold(struct enl_self *self, bool hold)
{
    struct enl_writer *writers[2];
    for (unsigned i = writers_of(self, writers); i-- > 0;)
        enl_writer_hold(writers[i], hold);
}

bool enl_report_stop(struct enl_self *self)
{
    struct enl_writer *writers[2];
    bool ended = true;
    for (unsigned i = writers_of(self, writers); i-- > 0;)
        ended = enl_writer_stop(writers[i]) && ended;
    self->report.out = self->report.err = NULL;
    uv_close((uv_handle_t *)&self->report.patience, NULL);
    return ended;
}
