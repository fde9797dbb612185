/* SPDX-License-Identifier: MIT */
/* The two pipes of each CCE, to which it prints; of the root only if its lines are wanted (lines.h).
 * What comes goes on to lines.c byte by byte, or line by line to the log if it is shown nowhere; the
 * last of it is kept, to be shown if the CCE dies. */
#ifndef ENL_OUTPUT_H
#define ENL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#define ENL_TAIL_BYTES 4096u /* kept of both streams together */

struct enl_stream {
    struct enl_cce *cce;
    struct enl_watch *watch;   /* NULL: ended */
    struct enl_source *source; /* NULL: it is not shown */
    int fd;                    /* 1 or 2 */
    bool in_line;              /* the last byte was no newline */
    char *line;                /* for the log: the line's beginning; NULL: none */
    size_t length;
};

struct enl_output {
    struct enl_stream streams[2];
    char *tail; /* ring of ENL_TAIL_BYTES; NULL until the CCE prints */
    size_t tail_total;
    int tail_fd; /* of which its last byte is */
};

/* Makes the two pipes of a CCE that is to be started. ends_out gets their writing ends, which the
 * caller closes. Returns 0 or -errno. */
int enl_output_open(struct enl_cce *cce, int ends_out[2]);
/* Reads what the pipes hold now: after the CCE's end, before its tail is shown. */
void enl_output_drain(struct enl_cce *cce);
/* Copies the last lines; if there were more, from a whole line on. Returns their length. */
size_t enl_output_tail(const struct enl_cce *cce, char text[ENL_TAIL_BYTES]);
/* Shows the last lines on stderr. */
void enl_output_show_tail(struct enl_cce *cce);
bool enl_output_ended(const struct enl_cce *cce);
void enl_output_close(struct enl_cce *cce);

#endif
