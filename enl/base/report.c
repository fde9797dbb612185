/* SPDX-License-Identifier: MIT */
/* report.c -- what enl says to a person, and how long it waits at the end until that has been read.
 *
 *   what is left at the end     enl waits
 *   what CCEs have printed      until it is read, as any program that prints; after a signal or
 *                               enl kill, FLUSH_MSEC
 *   only enl's own messages     FLUSH_MSEC: they are in the log, too
 *
 * stdout and stderr have a writer each, so that a reader of one (a pager) does not hold up the
 * other. Where both are the same file they share one, which keeps the order between them. */
#include "program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/progress.h"
#include "base/writer.h"
#include "bcri/escape.h"
#include "host/lines.h"
#include "tree/tree.h"

#define FLUSH_MSEC 1000u

static void look_whether_written(struct enl_program *program);

static void on_changed(struct enl_program *program)
{
    enl_lines_resume(program);
    enl_tree_resume(program);
    look_whether_written(program);
}

static bool same_file(int one, int other)
{
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int enl_report_start(struct enl_program *program)
{
    uv_timer_init(&program->loop, &program->patience);
    program->err = enl_writer_start(program, 2, on_changed);
    program->out = program->err;
    if (!program->options.child && enl_lines_wanted(program) && !same_file(1, 2))
        program->out = enl_writer_start(program, 1, on_changed);
    if (program->err != NULL && program->out != NULL && enl_lines_start(program) == 0)
        return 0;
    program->err = program->out =
        NULL; /* the report of this failure must be written before the process ends */
    return -EAGAIN;
}

void enl_report_progress(struct enl_program *program, unsigned done, unsigned all)
{
    char line[ENL_PROGRESS_BYTES];
    if (program->err == NULL)
        return;
    const size_t length = enl_progress_line(line, &program->progress, done, all);
    if (length != 0)
        enl_writer_text(program->err, line, length);
}

void enl_report_clear(struct enl_program *program)
{
    enl_report_progress(program, 0, 0);
}

static void show(struct enl_program *program, enum bcri_log_level level, const char *text, size_t length)
{
    enl_report_clear(program);
    if (program->upward != NULL)
        program->upward->report(program, level, text, length);
    else if (program->err != NULL)
        enl_writer_text(program->err, text, length);
    else /* before there is a loop, this may wait */
        fwrite(text, 1, length, stderr);
}

void enl_report_shown(struct enl_program *program, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    show(program, BCRI_LOG_INFO, text, (size_t)length);
    free(text);
}

void enl_report(struct enl_program *program, enum bcri_log_level level, const char *format, ...)
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
        show(program, level, shown, length);
    }
    bcri_log_write(enl_report_log(program), level, "%s", text);
    free(shown);
    free(text);
}

struct bcri_log *enl_report_log(struct enl_program *program)
{
    return program->log.show == NULL ? &program->log : NULL;
}

bool enl_report_log_has(const struct enl_program *program, uint64_t lost_before)
{
    return program->log.path != NULL && bcri_log_wants(&program->log, BCRI_LOG_INFO) &&
           program->log.lost_total == lost_before;
}

/* Before there is a loop, and behind its end, this may wait. What a child logs then goes the way of ssh's own words at
 * first, and nowhere at the end. To send a line may be worth another one, which is lost. */
bool enl_report_line(void *owner, const char *line, size_t length)
{
    static bool inside;
    struct enl_program *program = owner;
    bool shown = !inside;
    if (inside)
        return false;
    inside = true;
    if (program->upward != NULL) {
        shown = program->upward->logged(program, line, length);
    } else if (program->options.child && program->phase == ENL_ENDED) {
        shown = false;
    } else if (program->err == NULL) {
        fwrite(line, 1, length, stderr);
    } else if ((shown = !enl_writer_full(program->err))) {
        enl_report_clear(program);
        enl_writer_text(program->err, line, length);
    }
    inside = false;
    return shown;
}

static size_t left(const struct enl_program *program, size_t *lines_out)
{
    size_t lines, bytes = enl_writer_left(program->err, lines_out);
    if (program->out == program->err)
        return bytes;
    bytes += enl_writer_left(program->out, &lines);
    *lines_out += lines;
    return bytes;
}

static void finish(struct enl_program *program)
{
    void (*done)(struct enl_program * program) = program->flushed;
    program->flushed = NULL;
    uv_timer_stop(&program->patience);
    done(program);
}

static void on_patience(uv_timer_t *timer)
{
    struct enl_program *program =
        (struct enl_program *)((char *)timer - offsetof(struct enl_program, patience));
    size_t lines;
    bcri_log_write(&program->log, BCRI_LOG_WARN, "nobody read the last %zu bytes for stdout and stderr",
                   left(program, &lines));
    finish(program);
}

static void look_whether_written(struct enl_program *program)
{
    size_t lines;
    if (program->flushed == NULL)
        return;
    if (left(program, &lines) == 0)
        finish(program);
    else if ((lines == 0 || program->hurry) && uv_is_active((uv_handle_t *)&program->patience) == 0)
        uv_timer_start(&program->patience, on_patience, FLUSH_MSEC, 0);
}

void enl_report_flush(struct enl_program *program, void (*done)(struct enl_program *program))
{
    program->flushed = done;
    look_whether_written(program);
}

void enl_report_hurry(struct enl_program *program)
{
    program->hurry = true;
    look_whether_written(program);
}

void enl_report_hold(struct enl_program *program, bool hold)
{
    if (program->err == NULL)
        return;
    enl_writer_hold(program->err, hold);
    if (program->out != program->err)
        enl_writer_hold(program->out, hold);
}

bool enl_report_stop(struct enl_program *program)
{
    bool other = program->out != program->err;
    enl_lines_stop(program);
    bool ended = enl_writer_stop(program->err);
    if (other && !enl_writer_stop(program->out))
        ended = false;
    program->out = program->err = NULL;
    uv_close((uv_handle_t *)&program->patience, NULL);
    return ended;
}
