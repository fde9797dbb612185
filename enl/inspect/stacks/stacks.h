/* SPDX-License-Identifier: MIT */
/* stacks.h -- the interface of enl/inspect/stacks: where the threads of a program are. */
#ifndef ENL_STACKS_H
#define ENL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* stacks -- enl stacks [NAME [CCE ...]], and the helper that each host's daemon starts for it. */

/* The words behind enl stacks, ended by NULL. Returns the exit status. */
int enl_command_stacks(char **words);
/* enl --stacks-host 0 LIST: writes the stacks of those CCEs here whose ordinals are in the list; "": of all. */
int enl_stacks_host(int count, char **words);

/* merge.c -- Stacks of many threads, of which equal ones are one. */

/* So many threads of that CCE have a stack. */
struct enl_stack_owner {
    char host[64];
    uint32_t ordinal;
    unsigned threads;
};

struct enl_stack {
    char *text;   /* lines, not escaped */
    bool is_note; /* no stack, but what was said of the CCEs; it has no threads */
    struct enl_stack_owner *owners;
    size_t owner_count, owner_room;
    unsigned threads;
};

struct enl_stacks {
    struct enl_stack *at;
    size_t count, room;
    unsigned hosts;
};

/* Adds what a host's helper has written. NULL, or why it cannot be used. */
const char *enl_stacks_add(struct enl_stacks *stacks, const char *text, size_t length);
/* Shows them, those of most threads first. */
void enl_stacks_show(FILE *out, struct enl_stacks *stacks);
void enl_stacks_fini(struct enl_stacks *stacks);

#endif
