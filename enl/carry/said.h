/* SPDX-License-Identifier: MIT */
/* What the command by which a host is reached prints on stderr: ssh's own words, mostly. The last of it
 * is kept, for the sentence that says why the host cannot be used; once the daemon there is up, whole
 * lines are reported as they come. */
#ifndef ENL_SAID_H
#define ENL_SAID_H

#include <stdbool.h>
#include <stddef.h>

struct enl_self;
struct enl_watch;

struct enl_said {
    struct enl_self *self;
    const char *host;        /* its name */
    struct enl_watch *watch; /* NULL: stderr has ended */
    bool reports;            /* lines are reported as they come */
    size_t length;
    char text[1024]; /* the last that came; the beginning of a line first, once lines are reported */
};

/* Takes `fd`; -1: another daemon reads it, and enl_said_take gets what that has read. False: no memory; it is
 * closed then. */
bool enl_said_begin(struct enl_said *said, struct enl_self *self, const char *host, int fd);
void enl_said_take(struct enl_said *said, const char *bytes, size_t length);
/* From now on lines are reported. What came before was a greeting, and is forgotten. */
void enl_said_report(struct enl_said *said);
/* All that it said, up to now. */
const char *enl_said_all(struct enl_said *said);
void enl_said_end(struct enl_said *said);

#endif
