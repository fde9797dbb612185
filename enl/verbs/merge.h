/* SPDX-License-Identifier: MIT */
/* Lines of several daemons' logs in the order in which they were written, by the root's clock.
 *
 * Each file keeps its own order, whatever its clock did meanwhile: of the lines that come next in
 * each, the earliest is taken. A line's time is corrected by what its daemon had measured last
 * before it, or first if that was later (base/clock.h). What a CCE prints cannot pass for such a
 * measurement, since it is logged with the CCE's pid.
 *
 * Any user may have written the files: nothing in them is trusted. */
#ifndef ENL_LOGS_MERGE_H
#define ENL_LOGS_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { ENL_LOG_LINE_BYTES = 8192 };

/* A line; strings lie in the line, and end with it. */
struct enl_log_line {
    bool whole; /* it is a record: else it has no more than `text` */
    int64_t time_ns;
    const char *level, *host, *cce, *text;
    long pid;
};

/* Reads a line without its newline, which is cut into strings. */
void enl_log_line_read(char *bytes, struct enl_log_line *line_out);
/* Whether it is a measurement: by how much the root's clock was ahead. */
bool enl_log_line_clock(const struct enl_log_line *line, int64_t *ahead_out);

struct enl_log_file {
    FILE *in;
    char host[80];    /* of its daemon */
    long pid;         /* the same; 0: no line is a record */
    bool is_root;     /* no other clock is compared with this one */
    size_t clocks;    /* measurements in it */
    int64_t most_ns;  /* of them, the one that is furthest off */
    int64_t ahead_ns; /* that holds for the next line */
    int64_t key_ns;   /* of the line that is next */
    struct enl_log_line line;
    char bytes[ENL_LOG_LINE_BYTES];
};

/* Opens a file and looks through it for measurements. False: errno, or 0 if it is no log. */
bool enl_log_file_open(struct enl_log_file *file, const char *path);

struct enl_merge {
    struct enl_log_file **heap; /* those that have a line, the earliest first */
    size_t count;
    bool fresh; /* the first one's line was not taken yet */
};

/* Takes `files`, opened; false: no memory. */
bool enl_merge_begin(struct enl_merge *merge, struct enl_log_file *files, size_t count);
/* The file that has the next line, in `line`, with its time corrected, which is no earlier than that
 * of the line before; NULL: the end. The line is valid until the next call. */
const struct enl_log_file *enl_merge_next(struct enl_merge *merge);
void enl_merge_end(struct enl_merge *merge);

#endif
