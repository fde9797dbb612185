/* SPDX-License-Identifier: MIT */
/* What CCEs other than the root print. It goes to the log line by line, into a bounded tail that is
 * shown if the CCE dies, and with --output to the root's own stdout and stderr. A CCE that prints
 * nothing takes no memory here. */
#ifndef ENL_OUTPUT_H
#define ENL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "program.h"

#define ENL_TAIL_BYTES 4096u /* kept of both streams together */
#define ENL_LINE_BYTES 2048u /* a longer line is shown in pieces */

struct enl_stream {
    struct enl_cce *cce;
    struct enl_watch *watch; /* NULL: ended */
    int fd;                  /* 1 or 2 */
    char *line;              /* the line's beginning, ENL_LINE_BYTES; NULL until the CCE prints */
    size_t length;
};

struct enl_output {
    struct enl_stream streams[2];
    char *tail; /* ring of ENL_TAIL_BYTES; NULL until the CCE prints */
    size_t tail_total;
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
/* To be called when stdout or stderr has room again. */
void enl_output_resume(struct enl_program *program);

#endif
