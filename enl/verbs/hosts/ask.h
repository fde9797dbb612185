/* SPDX-License-Identifier: MIT */
/* Asking the machines of a list what they are, by the commands that would start daemons there. */
#ifndef ENL_ASK_H
#define ENL_ASK_H

#include <stdbool.h>

#include "hosts/hosts.h"
#include "verbs/hosts/facts.h"

struct bcri_config;

/* Logins that are under way at once. sshd, as Debian configures it, begins to refuse at ten that have not been let in. */
enum { ENL_ASKED_AT_ONCE = 8 };

struct enl_asked {
    const struct enl_host *host, *entry; /* what is listed, and the entry that a program uses for that name */
    char *address;                       /* where that is, if ifacesuffix says so; else NULL */
    bool is_here;                        /* a program uses this enl for it (entries.h) */
    bool pushed;                         /* its enl is sent there (push), so what is there is not used */
    bool no_enl;                         /* and there is none: it has no facts */
    char failed[2048];                   /* a sentence, if nothing came of it; else "" */
    struct enl_facts facts;
    const struct enl_asked *same; /* an earlier one that is the same machine (findings.h); NULL: none */
    uint64_t round_trip_ns;
    int64_t clock_ns; /* how far its clock is ahead of this one's */
};

/* Fills in what is below `is_here` in `count` of them; each has connecttimeout. Who waits at a
 * terminal for more than a second is shown how many are done. */
void enl_ask_all(const struct bcri_config *config, struct enl_asked *all, size_t count);

#endif
