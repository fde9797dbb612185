/* SPDX-License-Identifier: MIT */
/* A terminal as one screen that is drawn again and again, by the control sequences that all terminals of today know
 * (ECMA-48, and xterm's alternate screen). What was on it comes back on every way out: a return, exit, a signal that ends
 * or stops the process. Only SIGKILL leaves it as it is; reset(1) helps then. */
#ifndef ENL_LOOK_TERMINAL_H
#define ENL_LOOK_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOOK_KEY_NONE = 0,     /* the time is up */
    LOOK_KEY_RESIZED = -1, /* it has another size, or another program has drawn on it */
    LOOK_KEY_GONE = -2     /* there is no terminal any more */
};

/* Stdin and stdout become the screen. Returns NULL, or a sentence with the remedy: it is no terminal, or has
 * fewer columns and rows. */
const char *look_terminal_open(unsigned columns, unsigned rows);
void look_terminal_close(void);
void look_terminal_size(unsigned *columns_out, unsigned *rows_out);
/* Shows `length` bytes from the top left on: lines that end with newlines, and fit. False: it has gone. */
bool look_terminal_draw(const char *bytes, size_t length);
/* The next key, or one of the above; waits until `until_ns` at most. */
int look_terminal_key(uint64_t until_ns);

#endif
