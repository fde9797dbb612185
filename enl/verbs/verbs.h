/* SPDX-License-Identifier: MIT */
/* verbs.h -- the interface of enl/verbs: the command line, read and explained, and a function for each command. */
#ifndef ENL_VERBS_H
#define ENL_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/debug_wish.h"

struct bcri_config;
struct enl_command;

/* options.c -- The command line of enl. */

#define ENL_LOCAL_MAX 1000 /* of --local */

enum enl_action {
    ENL_RUN,   /* program and its arguments from argv[first] on */
    ENL_JOIN,  /* the same program, which waits until program `join` enlists it */
    ENL_ENTER, /* the same program, which enters program `enter` */
    ENL_PS,    /* list this user's programs */
    ENL_KILL,  /* end program argv[first], or all */
    ENL_AUDIT, /* check the shared structures of program argv[first], or of the only one */
    ENL_CELLS, /* look into program argv[first], or the only one */
    ENL_REGIONS,
    ENL_WAITS,
    ENL_STATS,
    ENL_WHY,
    ENL_STACKS, /* the stacks of program argv[first], or the only one; of CCEs argv[first + 1] ... or all */
    ENL_TOP,
    ENL_METRICS,     /* of program argv[first + 1], or the only one, at socket argv[first] */
    ENL_LOGS,        /* merge the logs argv[first] ... */
    ENL_USAGE,       /* what the jobs in file argv[first], or of usagelog, have used */
    ENL_HOSTS,       /* what the machines of file argv[first] are, or of the program's own list */
    ENL_SHOW_CONFIG, /* the settings, and where each comes from */
    ENL_ATTACH,      /* debug CCEs argv[first + 1] ... of program argv[first] */
    ENL_GDB_PIPE,    /* the gdb protocol, to CCE argv[first + 1] of program argv[first] */
    ENL_PANE_SHOWN, /* enl's own: a terminal's side of a debugger (debug/pane.c); its words from argv[first] on */
    ENL_WINDOWS,      /* the same: opens windows (debug/windows.c) */
    ENL_HELD_PROGRAM, /* the same: a program that waits for a debugger (debug/held.c) */
    ENL_GATE,         /* the same: a member that waits at its team's gate (host/gate.c) */
    ENL_KEEP_TEMPDIR, /* the same: removes a directory (host/tempdir_keeper.c) */
    ENL_DEBUG_HOST,   /* the same: a helper of the daemon's (debug/reach.c) */
    ENL_HOST_FACTS,   /* the same: what this machine is (hosts/facts_here.c) */
    ENL_STACKS_HOST,  /* the same: another helper (stacks/stacks.h) */
    ENL_LOOK_HOST,    /* a helper of the daemon's (proxy.c) */
    ENL_HELP,
    ENL_VERSION,
};

/* Settings that override those of the bcrrc files; NULL: not given. */
struct enl_options {
    enum enl_action action;
    int first;                  /* index in argv of the first word that is no option; argc if there is none */
    bool json, watch, dot, svg; /* how to show what was looked at */
    bool all;                   /* enl kill: each program of this user */
    bool child; /* another daemon has started this one, and says over stdin what it shall do */
    const struct enl_command *command; /* option_table.c; NULL: none */
    const char *join, *enter;
    const char *await; /* the key of a team that nobody starts, of which this daemon's root is member 0 */
    const char *name;
    const char *onfail;
    const char *ondeadlock;
    const char *loglevel;
    const char *output;
    const char *timestamp;
    const char *push;
    const char *output_dir;
    const char *log_dir;
    struct enl_debug_wish debug;
    const char *metrics; /* a socket */
    const char *crashreport;
    const char *wrap; /* a command */
    const char *start_hosts, *fanout;
    const char *hosts;    /* a hosts file */
    const char *hostfile; /* a node file, as Open MPI and PBS have them */
    const char *host;     /* names of hosts, separated by commas */
    int local;            /* how many hosts to make of this machine */
    int members;          /* -n: of a team; 0: the program has none */
    int per_host;         /* 0: as many as a host has slots */
    const char *map;      /* block or cyclic */
    const char *tool;     /* EARL_TOOLS of all that is started */
    int root_socket;      /* daemon's end of the root's socket, if bcr_init started it; else -1 */
    pid_t root_pid;
};

/* Reads the command line, and has no other effect. Returns 0, or -1 with a sentence in `error`. */
int enl_options_parse(int argc, char **argv, struct enl_options *options_out, char *error, size_t error_size);

/* Gives the settings of `config` that the options name their values. Returns 0, or -1 with a
 * sentence. */
int enl_options_apply(const struct enl_options *options, struct bcri_config *config, char *error,
                      size_t error_size);

/* Loads the settings, and applies the options unless `options` is NULL. False: a sentence on stderr says why not. */
bool enl_options_config(const struct enl_options *options, struct bcri_config *config_out);

/* Prints what `enl COMMAND --help` shows, or if `command` is NULL enl --help. */
void enl_help_print(FILE *out, const struct enl_command *command);

/* option_table.c -- The options and commands of enl, a row for each. options.c reads command lines by them, help.c
 * prints them. */

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

enum { ENL_OPTION_ROWS = 47 };
extern const struct enl_option enl_option_table[ENL_OPTION_ROWS];

/* NULL: it is none. */
const struct enl_command *enl_command_of(const char *word);

/* command.c -- What enl does besides running a program. Each returns the exit status. */

int enl_command_ps(void);
int enl_command_kill(const char *name);
int enl_command_kill_all(void);
/* `name` NULL: the only program that runs. Status 0: all is well; 1: there are findings; 2: nothing could be looked at. */
int enl_command_audit(const char *name);
/* Connects to program options->join and becomes argv[0]; returns only if that failed. */
int enl_command_join(const struct enl_options *options, char **argv);
/* Becomes argv[0], whose bcr_init enters program options->enter; returns only if there is no such one, or that failed. */
int enl_command_enter(const struct enl_options *options, char **argv);
int enl_command_show_config(const struct enl_options *options);
/* With -d and -D. */
int enl_command_attach(const struct enl_options *options, char **argv);

/* look.c -- enl ps, cells, regions, waits, stats and why of one program. */

/* `name` may be NULL: the only program. Returns the exit status. */
int enl_command_look(const struct enl_options *options, const char *name);
/* enl --explain all|circles NAME HOST: a process of the daemon's, which itself looks at no more than a few words of each record.
 * `all`: the daemon has found that nothing in program NAME can go on; `locks`: circles of write locks of daemon NAME's host are
 * told, if there are any, as suspected. Returns the exit status. */
int enl_explain(int count, char **words);

/* logs.c -- enl logs: the logs of all hosts of a program as one. */

/* `words`: files and directories, up to NULL; none: logdir, or tempdir. Returns the exit status. */
int enl_command_logs(const struct enl_options *options, char **words);

/* usage.c -- enl usage [FILE] */

/* `file` NULL: the one of usagelog. Returns the exit status: 0, 2 if there is no such file. */
int enl_command_usage(bool json, const char *file);

/* hosts/hosts_command.c -- enl hosts [FILE] */

/* Asks the machines of `file`, or if that is NULL those that a program would have, and shows what they are.
 * Returns the exit status: 0, 1 if one cannot be used, 2 if there is no list. */
int enl_command_hosts(const struct enl_options *options, const char *file);

#endif
