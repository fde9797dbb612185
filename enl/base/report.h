/* SPDX-License-Identifier: MIT */
/* What enl says to a person, and how long it waits at the end until that has been read.
 *
 *   what is left at the end     enl waits
 *   what CCEs have printed      until it is read, as any program that prints; after a signal or
 *                               enl kill, FLUSH_MSEC (report.c)
 *   only enl's own messages     FLUSH_MSEC: they are in the log, too
 *
 * stdout and stderr have a writer each, so that a reader of one (a pager) does not hold up the
 * other. Where both are the same file they share one, which keeps the order between them. */
#ifndef ENL_REPORT_H
#define ENL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "bcri/log.h"

struct bcri_control;
struct enl_printed;
struct enl_program;
struct enl_self;
struct enl_writer;
struct enl_writer_hooks;

/* How a daemon that another has started speaks to its user and to the root: by that one (conductor/parent.c). */
struct enl_upward {
    void (*send)(struct enl_program *program, const struct bcri_control *message);
    void (*report)(struct enl_program *program, enum bcri_log_level level, const char *text, size_t length);
    /* Takes a line of the log that goes to stderr (log stderr); false: there is no room. */
    bool (*logged)(struct enl_program *program, const char *line, size_t length);
    /* What CCEs print. is_full: no more should be printed now; enl_lines_resume is called when it should. */
    void (*printed)(struct enl_program *program, const struct enl_printed *text);
    bool (*is_full)(void);
    void (*alive)(struct enl_program *program); /* program->here.alive may have changed */
    void (*failed)(struct enl_program *program, int status);
    void (*flush)(struct enl_program *program, void (*done)(struct enl_program *program));
};

struct enl_report {
    struct enl_writer *out, *err; /* one for both if they are one file, or nothing of CCEs is shown here */
    const struct enl_writer_hooks *hooks;
    size_t progress; /* characters of enl_report_progress that are shown */
    bool hurry;      /* the user wants the program to end */
    bool is_over;    /* the program has ended, and with it a child's way to its user */
    void (*flushed)(struct enl_program *program);
    uv_timer_t patience; /* how long the last messages wait to be read */
};

/* Lines of the log for which any process of this machine, or of this user, can give cause as often as it likes: it
 * shall not fill the disk with them. Of each kind so many are written in a minute; the next one after that tells how
 * many were left out. */
enum enl_often_kind {
    ENL_OFTEN_STRANGER,  /* another user's process */
    ENL_OFTEN_MALFORMED, /* a message that makes no sense, of no CCE */
    ENL_OFTEN_SILENT,    /* a client that says nothing */
    ENL_OFTEN_FULL,      /* no descriptors for a client */
    ENL_OFTEN_UNREAD,    /* an answer that its requester does not read */
    ENL_OFTEN_NOTE,      /* what the library notes, of a CCE */
    ENL_OFTEN_HELLO,     /* a process that says hello for a CCE that is another process, or has ended */
    ENL_OFTEN_WAITS,     /* a process of enl --join waits; this is shown, too */
    ENL_OFTEN_AUDIT,     /* what an audit has come to */
    ENL_OFTEN_KINDS
};

struct enl_often {
    uint64_t since_ms, left_out;
    unsigned count;
};

/* Writes a sentence to stderr ("enl: ...") and, at that level, into the log. Waits for no reader:
 * what is not read in time is dropped and counted (writer.h), on stderr only. */
void enl_report(struct enl_self *self, enum bcri_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes text to stderr only, as it is: the caller has escaped it, and it has its newline. */
void enl_report_shown(struct enl_self *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes a line of one of these kinds. For the loop's thread. */
void enl_log_often(struct enl_self *self, enum enl_often_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The log for what is shown as well; NULL, which takes nothing: the log is shown itself. */
struct bcri_log *enl_report_log(struct enl_self *self);
/* For bcri_log_show: shows a line of the log. `self` is a struct enl_self. */
bool enl_report_line(void *self, const char *line, size_t length);
/* Whether there is a log that will stay, and that has what it was given, of any level up to INFO, since it had lost
 * that many lines. */
bool enl_report_log_has(const struct enl_self *self, uint64_t lost_before);
/* Shows how many hosts are up as the last line of a terminal; `all` 0: no longer. Whatever else is shown takes its
 * place until the next call. */
void enl_report_progress(struct enl_self *self, unsigned done, unsigned all);
/* What a terminal gets so that the line "12 of 64 hosts" is there in place of the *shown_io characters of the last one;
 * `all` 0: none is. The cursor stays in front of it, so that other output of the terminal's begins there. Returns the
 * length. */
enum { ENL_PROGRESS_QUIET_MSEC = 1000, ENL_PROGRESS_BYTES = 160 };
size_t enl_progress_line(char out[ENL_PROGRESS_BYTES], size_t *shown_io, unsigned done, unsigned all);
/* Starts the writers, two if `apart` and stdout is another file than stderr; self->report has hooks. Before
 * that, messages are written at once. Returns 0 or -errno: no thread. */
int enl_report_start(struct enl_self *self, bool apart);
/* Calls `done` once everything is written that the end waits for. */
void enl_report_flush(struct enl_self *self, void (*done)(struct enl_program *program));
/* To be called by hooks->changed: whether what the end waits for is written. */
void enl_report_look(struct enl_self *self);
/* While `hold` is true nothing is written: something else has the terminal. */
void enl_report_hold(struct enl_self *self, bool hold);
/* The user wants the program to end: the end no longer waits for readers of CCEs' lines either. */
void enl_report_hurry(struct enl_self *self);
/* Stops the writers. False: a thread is stuck in a write, and the process must end by _exit. */
bool enl_report_stop(struct enl_self *self);

#endif
