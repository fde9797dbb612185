/* SPDX-License-Identifier: MIT */
/* The options and commands of enl, a row for each. options.c reads command lines by them, help.c prints them. */
#ifndef ENL_OPTION_TABLE_H
#define ENL_OPTION_TABLE_H

#include "verbs/options.h"

enum enl_option_kind {
    ENL_FLAG,     /* a bool */
    ENL_NUMBER,   /* an int from `least` to `most`; without a value it is `least` */
    ENL_TEXT,     /* a text; `given` if there is no value */
    ENL_OPTIONAL, /* the same with a value only behind =; else `given`, unless it has been set */
    ENL_PATH,     /* a text: a path from the working directory on */
};

struct enl_option {
    const char *word;  /* with its dashes */
    const char *value; /* what --help calls it; NULL: there is none */
    unsigned of;       /* bits 1 << enl_action of the commands that have it; ENL_RUN: enl without a command */
    enum enl_option_kind kind;
    size_t at; /* its value, in struct enl_options */
    int least, most;
    const char *given;
    const char *keyword; /* the setting in bcrrc that it overrides; NULL: none */
    const char *help;    /* lines; NULL: --help does not list it */
};

struct enl_command {
    const char *word;
    enum enl_action action;
    int least, most;   /* words behind its options */
    bool names;        /* NAME is among the words, and may be left out */
    const char *needs; /* a sentence, where there are fewer */
    const char
        *help; /* how it is used, and what it does; NULL: enl starts itself so, with words of its own */
};

enum { ENL_OPTION_ROWS = 41 };
extern const struct enl_option enl_option_table[ENL_OPTION_ROWS];

/* NULL: it is none. */
const struct enl_command *enl_command_of(const char *word);

#endif
