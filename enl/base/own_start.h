/* SPDX-License-Identifier: MIT */
/* Starting enl itself as another process, for work that the daemon leaves to one. */
#ifndef ENL_OWN_START_H
#define ENL_OWN_START_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct enl_self;

struct enl_own_start {
    const char *const *words; /* its command line, which NULL ends */
    int in, out;              /* its 0 and 1, borrowed; -1: /dev/null */
    int keep;                 /* its socket to the daemon (BCRI_SOCKET), or -1 */
    /* It stays in the daemon's process group, may write to the daemon's stderr, and ends by itself when the daemon
     * has. Otherwise it leads a group, its 2 is /dev/null, and it is killed when the daemon ends. */
    bool outlives;
};

/* Such a process leaves no core file. Returns its pid, or -1 with a sentence in `reason`. */
pid_t enl_own_start(struct enl_self *self, const struct enl_own_start *start, char *reason,
                    size_t reason_size);

#endif
