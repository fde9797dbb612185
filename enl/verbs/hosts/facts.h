/* SPDX-License-Identifier: MIT */
/* What a machine tells of itself to enl hosts, and the text in which it does:
 *
 *   bcr host facts 1
 *   version 0.9.0
 *   cores 4
 *   ...
 *   end
 *
 * Pure functions. Facts that are not known here are passed over, so a later version may tell more. */
#ifndef ENL_FACTS_H
#define ENL_FACTS_H

#include <stddef.h>
#include <stdint.h>

#define ENL_FACTS_BYTES_MAX 65536u /* with what a login prints before */
#define ENL_FACT_UNKNOWN    UINT64_MAX

struct enl_facts {
    char version[32], abi[32];
    char hostname[256]; /* as it calls itself */
    char station[200];  /* names.h */
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
/* Returns the length of the text, which is less than `size`: 2048 is enough. */
size_t enl_facts_write(const struct enl_facts *facts, char *text, size_t size);
/* Reads the text in the first `length` bytes that have come. Returns the length up to its end; 0: more must
 * come; -1: it is wrong, and *why_out says what is. */
long enl_facts_read(struct enl_facts *facts, const char *bytes, size_t length, const char **why_out);

#endif
