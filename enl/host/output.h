/* SPDX-License-Identifier: MIT */
/* output.h -- the second header of enl/host: what CCEs print. */
#ifndef ENL_OUTPUT_H
#define ENL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct enl_here;
struct enl_mux;
struct enl_source;

/* mux.c -- One stream that several sources share without mixing their lines: the root's stdout or stderr, or what a
 * daemon sends up of either. A source is a pipe of a CCE, or another daemon, which has done the same with its own.
 *
 * What a source gives is passed as it is. A source whose line is unfinished has the turn, so that
 * nothing comes between its bytes; no length ends a turn. It ends
 *
 *   with a newline     if others wait; a line that was begun behind it waits for its next turn
 *   with time          when others have waited for `hold_ms` (to an eighth): the line stays unfinished,
 *                      goes on when its source has the turn again, and nothing is put in; from then on that line gives way
 *                      whenever others wait, since it is torn already. So a CCE that
 *                      waits, in the middle of a line, for another one whose output is held up does not
 *                      wait for ever. Time in which the reader takes nothing does not count
 *   with the source
 *
 * Others wait for their turn in order of arrival. Memory is bounded by what sources give when it is
 * not their turn: a pipe is not read then; a daemon gives no more than its window. */

/* Bytes that one CCE has printed, in one piece. */
struct enl_printed {
    uint32_t ordinal;
    int fd;       /* 1 or 2 */
    bool root;    /* by the root CCE */
    bool goes_on; /* they begin within a line of that CCE */
    const char *bytes;
    size_t length; /* not 0 */
    size_t cost;   /* of `passed` below */
};

struct enl_mux_ops {
    /* Whether sources should not give more now. enl_mux_resume is called when that is over. */
    bool (*full)(void *owner);
    void (*pass)(void *owner, const struct enl_printed *text);
    /* All that was kept when enl_mux_mark was called last is passed now. The mux is in the midst of it. */
    void (*marked)(void *owner);
};

struct enl_source_ops {
    /* The source may give; it is called again when that was not possible for a while. */
    void (*turn)(void *owner);
    /* So much of the cost of what it gave is passed. NULL: that need not be told. */
    void (*passed)(void *owner, size_t cost);
};

/* NULL: no memory. */
struct enl_mux *enl_mux_new(uv_loop_t *loop, unsigned hold_ms, const struct enl_mux_ops *ops, void *owner);
void enl_mux_resume(struct enl_mux *mux);
/* Marks what sources have given and is not passed yet; whether none of that is left. */
void enl_mux_mark(struct enl_mux *mux);
bool enl_mux_has_passed(const struct enl_mux *mux);
/* All its sources have ended. */
void enl_mux_close(struct enl_mux *mux);

/* NULL: no memory. */
struct enl_source *enl_source_new(struct enl_mux *mux, const struct enl_source_ops *ops, void *owner);
/* Whether it should give now. If not, `turn` will be called. */
bool enl_source_may_give(struct enl_source *source);
/* Passes the bytes, or keeps a copy of them until it is the source's turn. False: no memory. */
bool enl_source_give(struct enl_source *source, const struct enl_printed *text);
/* It gives no more; what is kept is passed still. */
void enl_source_end(struct enl_source *source);

/* lines.c -- Where what CCEs print goes at the program's root: to its stdout and stderr (output, --label), and
 * into files (--output-dir). With --label or --output-dir the root's own comes here, too. In a daemon that another
 * has started it goes up. What goes nowhere else is logged (output.c). */

struct enl_lines {
    struct enl_here *here;
    void (*marked)(struct enl_here *here); /* a stream has passed what was marked (drain.c) */
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

/* output.c -- The two pipes of each CCE, to which it prints; of the root only if its lines are wanted (lines.c).
 * What comes goes on to lines.c byte by byte, or line by line to the log if it is shown nowhere; the last of it is
 * kept, to be shown if the CCE dies. */

#define ENL_TAIL_BYTES 4096u /* kept of both streams together */

struct enl_stream {
    struct enl_cce *cce;
    struct enl_watch *watch;   /* NULL: ended */
    struct enl_source *source; /* NULL: it is not shown */
    int fd;                    /* 1 or 2 */
    bool in_line;              /* the last byte was no newline */
    char *line;                /* for the log: the line's beginning; NULL: none */
    size_t length;
    struct enl_batch *batch; /* cell_lines.c: on its way into a cell; nothing is read meanwhile */
    size_t owed;             /* bytes in the pipe at the CCE's end, which are yet to be read for the cell */
};

struct enl_output {
    struct enl_stream streams[2];
    char *tail; /* the last ENL_TAIL_BYTES; NULL until the CCE prints */
    size_t tail_length;
    bool tail_cut; /* there was more */
    int tail_fd;   /* of which its last byte is */
};

/* Makes the two pipes of a CCE that is to be started. `out` and `err` get their writing ends, which the
 * caller closes, also of a failure. Returns 0 or -errno. */
int enl_output_open(struct enl_cce *cce, int *out, int *err);
/* Reads what the pipes hold now: after the CCE's end, before its tail is shown. */
void enl_output_drain(struct enl_cce *cce);
/* Copies the last lines; if there were more, from a whole line on. Returns their length. */
size_t enl_output_tail(const struct enl_cce *cce, char text[ENL_TAIL_BYTES]);
/* Shows the last lines on stderr. */
void enl_output_show_tail(struct enl_cce *cce);
bool enl_output_ended(const struct enl_cce *cce);
void enl_output_close(struct enl_cce *cce);

/* For cell_lines.c: the stream has ended; takes bytes that were read and kept; keeps them for the tail. */
void enl_output_end(struct enl_stream *stream);
void enl_output_take(struct enl_stream *stream, const char *bytes, size_t length);
void enl_output_keep(struct enl_stream *stream, const char *bytes, size_t length);

/* cell_lines.c -- What a CCE prints, on its way into a cell of the CCE that started it (bcr_start): if its lines_cell is not 0. */

/* Its pipe can be read: reads a batch of it, unless one is on its way. */
void enl_cell_lines_read(struct enl_stream *stream);
/* The CCE has ended: notes how much of what it has printed is to come into the cell yet. */
void enl_cell_lines_owe(struct enl_stream *stream);
/* Whether some of that has not come there. */
bool enl_cell_lines_behind(const struct enl_stream *stream);
/* What is on its way goes where lines of other CCEs go. */
void enl_cell_lines_give_up(struct enl_stream *stream);
/* The program is ended by force, or has ended: so do those of all CCEs. */
void enl_cell_lines_end(struct enl_here *here);
/* This host alone is taken out of the program: what is not sent to other hosts yet goes where lines of other CCEs go, but not
 * before it is known what has come there. */
void enl_cell_lines_halt(struct enl_here *here);
/* Whether that is not known yet; self->ops->something_ended is called when it is. */
bool enl_cell_lines_are_awaited(const struct enl_here *here);
/* It is not waited for any longer. */
void enl_cell_lines_await_no_more(struct enl_here *here);
/* When neither worker nor links are there any more. */
void enl_cell_lines_stop(struct enl_here *here);
/* That is put, or what is left of it. */
struct bcri_lines;
void enl_cell_lines_put(struct enl_here *here, struct bcri_lines *lines);

#endif
