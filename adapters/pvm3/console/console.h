/* SPDX-License-Identifier: MIT */
/* console.h -- what the files of bcr-pvm have for each other. */
#ifndef PVM_CONSOLE_H
#define PVM_CONSOLE_H

#include <stdbool.h>
#include <stdio.h>

/* A line, divided into words. */
struct words {
    int count;
    char **words; /* NULL behind the last */
};

/* A command: whether it has done all that was asked for. What is wrong it has said (complain). */
typedef bool command(int count, char **words);

/* ---- main.c ---- */

/* Says what is wrong, on stderr. Returns false. */
__attribute__((format(printf, 1, 2))) bool complain(const char *format, ...);

/* ---- words.c ---- */

/* Divides a line at blanks; quotes and backslashes keep characters, # begins a comment. False: a quote is not closed, or there is no memory. */
bool words_split(const char *line, struct words *words);
void words_free(struct words *words);
/* The number that the whole word is, in base 10 or 16; false: it is none. */
bool word_number(const char *word, int base, int *number);
/* The tid that a word is, with or without a t before it. */
bool word_tid(const char *word, int *tid);

/* ---- lines.c ---- */

/* Reads lines from a descriptor, and lets come what comes for this task meanwhile. */
struct lines {
    int fd;
    char *text;
    size_t length, room, used; /* used: bytes of lines that were given */
    bool is_over;
};
/* The next line, without its end, valid until the next call; NULL: there is none. */
char *lines_next(struct lines *lines);

/* ---- commands.c ---- */

/* Does what a line says. False: not all of it. */
bool command_line(const char *line);
/* Whether the console is to end. */
extern bool is_done;
/* And does not wait for tasks that print here. */
extern bool is_hurried;

command command_alias, command_unalias, command_echo, command_setenv, command_export, command_unexport,
    command_help, command_version, command_quit;
/* The words in place of an alias; NULL: it is none. */
const struct words *alias_of(const char *name);

/* ---- hosts.c ---- */

command command_add, command_delete, command_conf, command_mstat;
/* The name of the host that hi_tid names; "?": there is none. Valid until the next command. */
const char *host_name(int dtid);

/* ---- tasks.c, spawn.c ---- */

command command_ps, command_kill, command_sig, command_pstat, command_reset, command_halt, command_id,
    command_spawn;

#endif
