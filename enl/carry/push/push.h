/* SPDX-License-Identifier: MIT */
/* --push: hosts without BCR. What such a host needs is sent to it ahead of all else, through the very
 * pipe of the command by which its daemon is started:
 *
 *     magic word | script | files, one after the other | magic word | frames ...
 *
 * A shell there reads the first word and the script, which makes a private directory, writes the files
 * into it and runs enl, which goes on reading at the second word. A process of the script's waits until
 * the shell and enl are both gone, however they end, and removes the directory (script.c).
 *
 * The files are enl, the program, and the shared libraries of both but for those of the C library. A
 * daemon that was started so finds them in its directory and sends them on to hosts that it starts. */
#ifndef ENL_PUSH_H
#define ENL_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct enl_host;
struct enl_peer;
struct enl_carry;

struct enl_push_file {
    char *name; /* in the directory: enl, bin/PROGRAM, lib/LIBRARY */
    int fd;
    uint64_t bytes;   /* that are sent of it */
    uint8_t head[64]; /* the first of these are sent in place of the file's */
    uint64_t head_bytes;
};

struct enl_push {
    struct enl_push_file *files;
    size_t count, room;
    uint64_t bytes; /* of all files */
    char *script;
    size_t script_bytes;
};

/* Prepares what is to be sent: `path` is the program's file. Returns 0, or -1 with a
 * sentence. */
int enl_push_begin(struct enl_carry *carry, const char *path, char *error, size_t error_size);
void enl_push_end(struct enl_carry *carry);
/* Whether such a host would be sent it. */
bool enl_push_takes(const struct enl_host *host);
/* Whether that host gets it. */
bool enl_push_is_for(const struct enl_carry *carry, const struct enl_host *host);
/* What the login shell there is to run. */
void enl_push_command(const struct enl_push *push, char *out, size_t size);
/* Sends it all. `went_on` is called with `owner` when more of it is on its way, until the peer is
 * closed. False: no memory. */
bool enl_push_send(const struct enl_push *push, struct enl_peer *peer, void (*went_on)(void *owner),
                   void *owner);

/* In a daemon that was started so: learns of its directory, which stays as long as the descriptor that
 * is returned is open. -1: it was not. */
int enl_pushed_hold(void);
/* Its CCEs find the program and its libraries, and further hosts get them: *programs, the folders where programs are
 * looked for (malloc, or NULL), begins with its own. False: no memory. */
bool enl_pushed_use(struct enl_carry *carry, char **programs);
/* The environment of a command that is not of the program, without those libraries: the caller frees it.
 * NULL: it is the program's, or there is no memory. */
char **enl_pushed_outside(const struct enl_carry *carry);

/* script.c: the script for these files. False: no memory. */
bool enl_push_write_script(struct enl_push *push);
/* libraries.c: adds the shared libraries that a program is linked with. Returns 0, or -1 with a sentence. */
int enl_push_add_libraries(struct enl_push *push, const char *path, char *error, size_t error_size);
/* files.c: adds a file unless there is one of that name. The same. */
int enl_push_add(struct enl_push *push, const char *name, const char *path, char *error, size_t error_size);

#endif
