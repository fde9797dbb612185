/* SPDX-License-Identifier: MIT */
/* stream.h -- what scatter, gather and system have in common: messages between neighbours, waited for asleep. */
#ifndef SCORE_STREAM_H
#define SCORE_STREAM_H

#include <stddef.h>

/* Bytes that one message has room for: PM's MTU without the byte that says what it is. */
enum { STREAM_ROOM = 16383 };

/* Ends all nodes of this program with status 1, after a sentence that begins with the tool's name. */
_Noreturn void stream_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern const char *stream_tool;

/* Sends bytes to a node, or with `length` 0 their end. It waits, asleep, while WINDOW messages (stream.c) are out that nobody has taken: all that a
 * process sends by this goes to one node. */
void stream_send(int node, const char *bytes, size_t length);
/* Waits for the next bytes, of which it gives the length; 0: their end. They are valid until stream_taken, which is due and tells the
 * node that has sent them; it is always the same. */
size_t stream_receive(const char **bytes_out);
void stream_taken(int from);

/* Reads up to `room` bytes of a descriptor; 0: its end. */
size_t stream_read(int fd, char *bytes, size_t room);
/* Writes all. Returns 0; -1: nobody reads any more. */
int stream_write(int fd, const char *bytes, size_t length);

/* Takes the options -node N, of a node that there is, else *node_out is -1; and -file F, else *file_out is NULL. */
void stream_options(char **argv, int *node_out, const char **file_out);

/* What this node copies from or to: `standard`, or, if `file` is not NULL, that, which has a whole path or a name in the job's directory;
 * of the nodes of a host the first has it. With a `node` only that one has anything. -1: this one has nothing. `done` is what the file
 * should be, as "read", for a sentence. */
int stream_open(int node, const char *file, int standard, int flags, const char *done);

#endif
