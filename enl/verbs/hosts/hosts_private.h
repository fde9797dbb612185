/* SPDX-License-Identifier: MIT */
/* hosts_private.h -- what the files of enl hosts have of each other. */
#ifndef ENL_HOSTS_PRIVATE_H
#define ENL_HOSTS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hosts/hosts.h"

struct bcri_config;

/* facts.c -- What a machine tells of itself to enl hosts, and the text in which it does:
 *
 *   bcr host facts 1
 *   version 0.9.0
 *   cores 4
 *   ...
 *   end
 *
 * Pure functions. Facts that are not known here are passed over, so a later version may tell more. */

#define ENL_FACTS_BYTES_MAX 65536u /* with what a login prints before */
#define ENL_FACT_UNKNOWN    UINT64_MAX

struct enl_facts {
    char version[32], abi[32];
    char hostname[256];   /* as it calls itself */
    char machine_id[200]; /* names.h */
    /* ENL_FACT_UNKNOWN: it has not said */
    uint64_t protocol; /* of control messages */
    uint64_t user;
    uint64_t cores; /* that enl may use there */
    uint64_t load_percent;
    uint64_t disk_bytes; /* free for its logs; 0 also where none can be created */
    uint64_t rmem_max;   /* bytes that a socket may keep, unless its user is privileged */
    uint64_t mtu;
};

void enl_facts_clear(struct enl_facts *facts);
void enl_facts_write(const struct enl_facts *facts, FILE *out);
/* Reads the text in the first `length` bytes that have come. Returns the length up to its end; 0: more must
 * come; -1: it is wrong, and *why_out says what is. */
long enl_facts_read(struct enl_facts *facts, const char *bytes, size_t length, const char **why_out);

/* ask.c -- Asking the machines of a list what they are, by the commands that would start daemons there. */

struct enl_asked {
    const struct enl_host *host, *entry; /* what is listed, and the entry that a program uses for that name */
    char *address;                       /* where that is, if ifacesuffix says so; else NULL */
    bool is_here;                        /* a program uses this enl for it (entries.c) */
    bool pushed;                         /* its enl is sent there (push), so what is there is not used */
    bool no_enl;                         /* and there is none: it has no facts */
    char failed[2048];                   /* a sentence, if nothing came of it; else "" */
    struct enl_facts facts;
    const struct enl_asked *same; /* an earlier one that is the same machine (findings.c); NULL: none */
    uint64_t round_trip_ns;
    int64_t clock_ns; /* how far its clock is ahead of this one's */
};

/* Fills in what is below `is_here` in `count` of them; each has connecttimeout. After a second a terminal shows how many
 * are done. The signals by which a person ends a command end first what this has started, then the process. False: no
 * memory. */
bool enl_ask_all(const struct bcri_config *config, struct enl_asked *all, size_t count);

/* facts_here.c -- enl --host-facts: this machine, as enl hosts on another one wants to know it. */

void enl_facts_here(const struct bcri_config *config, struct enl_facts *facts_out);
/* Tells them on stdout, and the time for each line of stdin. Returns the exit status. */
int enl_host_facts(void);

/* findings.c -- What is wrong with machines that were asked, and what to do about it. */

struct enl_findings {
    bool usable; /* the machine can be used */
    size_t count;
    struct enl_finding {
        bool bad;        /* the machine cannot be used */
        char text[2048]; /* a sentence, without the machine's name but in that of one that cannot be asked */
    } all[9];            /* one for each line of findings.c that can add one beside the others */
};

/* Finds names that are one machine, to one user, and so share a daemon. Without memory for that none are found. */
void enl_findings_compare(struct enl_asked *all, size_t count);
/* Finds what is wrong with machine number `which`; `here` is this one. */
void enl_findings(const struct enl_asked *all, size_t which, const struct enl_facts *here,
                  struct enl_findings *found);

#endif
