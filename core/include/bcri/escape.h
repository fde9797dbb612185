/* SPDX-License-Identifier: MIT */
/* Makes foreign text (from a file, a program's output, a peer) fit for a log line or a terminal. */
#ifndef BCRI_ESCAPE_H
#define BCRI_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

/* Writes `length` bytes of `text` as one line whose reader cannot be deceived.
 * Shape   : printable ASCII and well-formed UTF-8 stay as they are. A backslash becomes \\;
 *           newline, return and tab become \n \r \t; each other control byte, byte of malformed
 *           UTF-8, and byte of a code point that controls a terminal (C1), ends a line (U+2028,
 *           U+2029) or turns the reading direction becomes \xHH. So a reader can recover the bytes
 *           from the line. `out` gets whole escapes and whole code points only, and a NUL; capacity
 *           is at least 1.
 * Returns : the length written, without the NUL. *taken_out (if not NULL) is how many bytes of text
 * are in it,
 *           less than `length` when `out` was too small for the rest. */
size_t bcri_escape(const char *text, size_t length, char *out, size_t capacity, size_t *taken_out);

/* The length of the well-formed UTF-8 sequence of two bytes or more at `text`, of which `left` bytes are
 * there; 0 if there is none. */
size_t bcri_escape_decode(const char *text, size_t left, uint32_t *code_out);

#endif
