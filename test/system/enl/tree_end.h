/* SPDX-License-Identifier: MIT */
/* A test's end of the two pipes between daemons: it is the parent or a child of a real one, or speaks
 * as no daemon does. */
#ifndef SYS_TREE_END_H
#define SYS_TREE_END_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bcri/frames.h"

struct tree_end {
    int to, from;
    struct bcri_frames frames;
    char reports[8192]; /* what it has reported */
};

void tree_write(struct tree_end *end, const void *bytes, size_t length);
void tree_say(struct tree_end *end, const struct bcri_control *message);
/* The next message, whatever it is; NULL at the end of the pipe. Valid until the next call. */
const struct bcri_control *tree_hear_any(struct tree_end *end);
/* The next one that is of that type; others of the daemon's own accord (beats, reports, settings and
 * the like) are passed over, anything else is an error. */
const struct bcri_control *tree_hear(struct tree_end *end, enum bcri_control_type type);
/* Reads to the end of the pipe. */
void tree_hear_end(struct tree_end *end);

/* enl --child, whose parent the test is. */
struct tree_child {
    struct tree_end end;
    bool greeted;
    pid_t pid;
    int err;
};
void tree_spawn(struct tree_child *child);
/* The magic word, with what a shell says before it. */
void tree_greet(struct tree_child *child);
/* `start`, whose reply will have the number 7, after the magic word; and waits for that. */
void tree_say_start(struct tree_child *child, const char *program, uint32_t host, uint32_t daemon);
void tree_start(struct tree_child *child, const char *program, uint32_t host, uint32_t daemon);
/* How it ended: exit status, or 128 + signal; and what it printed on stderr. */
int tree_status(const struct tree_child *child);
const char *tree_errors(const struct tree_child *child);

/* A program's name that no other test has at the same time: daemons of one name exclude each other. */
const char *tree_program(void);
/* The program key that `start` brings. */
extern const uint8_t tree_program_key[32];

#endif
