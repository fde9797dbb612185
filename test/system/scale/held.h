/* SPDX-License-Identifier: MIT */
/* What the daemon of this root CCE holds: memory files of the program, and descriptors of all
 * kinds. */
#ifndef SCALE_HELD_H
#define SCALE_HELD_H

struct held {
    unsigned long long bytes; /* reserved in all its memory files */
    int descriptors;
    unsigned numbers; /* of segments; for its user */
};

/* The daemon is this process's parent. */
struct held held_by_daemon(void);

#endif
