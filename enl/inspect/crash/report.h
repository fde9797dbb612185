/* SPDX-License-Identifier: MIT */
/* Reports of crashes. Those of CCEs that crashed alike are one: the same signal and the same stack. */
#ifndef ENL_CRASH_REPORT_H
#define ENL_CRASH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "inspect/crash/ordinals.h"

struct enl_self;

/* Of one. */
#define ENL_CRASH_BYTES_MAX 32768u

struct enl_crash_report {
    STAILQ_ENTRY(enl_crash_report) entry;
    uint32_t host; /* that tells of it */
    int signal;
    uint32_t count;   /* of CCEs */
    uint32_t ordinal; /* of the first, as the next */
    char who[512];    /* "CCE 3 (ring, pid 1234) on alpha" */
    struct enl_ordinals ordinals;
    /* The stack where it crashed, by which reports are equal; then, after a NUL, the rest about the
     * first. Lines that end in newlines, not escaped. */
    char *text;
    size_t length;
};

struct enl_crash_reports {
    STAILQ_HEAD(, enl_crash_report) all; /* the oldest first */
    uint32_t kinds, left_out;            /* reports there are; CCEs for whose there was no room */
};

/* Adds a report of one or more CCEs (taken, also if it becomes part of another). */
void enl_crash_reports_add(struct enl_crash_reports *reports, struct enl_crash_report *report);
/* Takes the oldest; NULL: none is left. To be freed by enl_crash_report_free. */
struct enl_crash_report *enl_crash_reports_take(struct enl_crash_reports *reports);
void enl_crash_report_free(struct enl_crash_report *report);
/* Writes it to stderr and into the log. */
void enl_crash_report_show(struct enl_self *self, const struct enl_crash_report *report);

/* A text that grows up to `limit`, ENL_CRASH_BYTES_MAX at most. What does not fit is cut behind a line that
 * does; "... and more" stands there, and nothing is added until whoever raises the limit clears `cut`. */
struct enl_crash_text {
    char *bytes;
    size_t length, limit;
    bool cut;
};
/* The text ends behind its last whole line, where `why` (not longer than 40 bytes) is added. */
void enl_crash_text_cut(struct enl_crash_text *text, const char *why);
void enl_crash_text_add(struct enl_crash_text *text, const char *bytes, size_t length);
void enl_crash_text_line(struct enl_crash_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* last.c: what the CCE did last, by its record. */
struct enl_cce;
void enl_crash_last_operations(struct enl_crash_text *text, const struct enl_cce *cce);

#endif
