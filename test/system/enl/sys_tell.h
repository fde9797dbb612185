/* SPDX-License-Identifier: MIT */
/* A program's side of what run.h gives a test: it tells, by the fifo $SYS_TELL, and is let go on, by the fifo $SYS_GO. Where
 * that fails the process ends, with status 98 or 99: the test has ended. */
#ifndef SYS_TELL_H
#define SYS_TELL_H

/* The newline is the caller's. Of at most 2047 bytes. */
__attribute__((format(printf, 1, 2))) void tell(const char *format, ...);
/* Until there is a byte in that fifo, which it takes. */
void wait_at(const char *fifo);
void wait_to_go(void);

#endif
