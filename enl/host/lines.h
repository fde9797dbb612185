/* SPDX-License-Identifier: MIT */
/* Where what CCEs print goes at the program's root: to its stdout and stderr (output, --label), and
 * into files (--output-dir). With --label or --output-dir the root's own comes here, too. In a daemon
 * that another has started it goes up. What goes nowhere else is logged (output.c). */
#ifndef ENL_LINES_H
#define ENL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/mux.h"

struct enl_here;

/* What a daemon that another has started prints goes to that one. */
struct enl_lines_upward {
    void (*printed)(void *owner, const struct enl_printed *text);
    bool (*is_full)(
        void *owner); /* no more should be printed now; enl_lines_resume is called when it should */
};

struct enl_lines {
    struct enl_here *here;
    const struct enl_lines_upward *upward; /* NULL: to the writers */
    void *owner;                           /* its */
    int folder;                            /* of --output-dir; -1: none */
    bool is_lost;                          /* lines of CCEs could not be shown, other than by EPIPE */
    struct enl_outlet {                    /* what CCEs print goes to stdout and stderr by these */
        struct enl_lines *lines;
        int fd;
        struct enl_mux *mux; /* NULL: that of the second is for both */
    } outlets[2];
};

/* Whether what other CCEs print goes anywhere but into the log; whether what the root prints comes here. */
bool enl_lines_wanted(const struct enl_lines *lines);
bool enl_lines_of_root_wanted(const struct enl_lines *lines);

/* Makes the directory of --output-dir, if one is wanted, and removes what an earlier program has
 * left there. Returns 0, or -1 with a sentence. */
int enl_lines_open(struct enl_lines *lines, char *error, size_t error_size);

/* Makes the streams, whose writers are there. Returns 0 or -errno. */
int enl_lines_start(struct enl_lines *lines);
/* There is room again. */
void enl_lines_resume(struct enl_lines *lines);
/* All sources of the streams have ended. */
void enl_lines_stop(struct enl_lines *lines);

/* Where a source of text for stdout (fd 1) or stderr (fd 2) belongs; NULL: it is not shown. */
struct enl_mux *enl_lines_mux(const struct enl_lines *lines, int fd, bool root);
/* Takes what a CCE has printed. `source` is NULL if it is not shown. */
void enl_lines_take(struct enl_lines *lines, struct enl_source *source, const struct enl_printed *text);

/* For struct enl_writer_hooks: what a CCE has printed could not be shown; it is logged. */
void enl_lines_unwritten(struct enl_lines *lines, uint32_t ordinal, const char *bytes, size_t length,
                         int error);

/* Logs, line by line, what a CCE has printed and nobody could be shown. */
void enl_lines_log(struct enl_lines *lines, uint32_t ordinal, const char *bytes, size_t length);

#endif
