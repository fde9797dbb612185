/* SPDX-License-Identifier: MIT */
/* The command line of enl. */
#ifndef ENL_OPTIONS_H
#define ENL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/debug_wish.h"

#define ENL_LOCAL_MAX 1000 /* of --local */

struct enl_command;

enum enl_action {
    ENL_RUN,   /* program and its arguments from argv[first] on */
    ENL_JOIN,  /* the same program, which waits until program `join` enlists it */
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
    ENL_HOSTS,       /* what the machines of file argv[first] are, or of the program's own list */
    ENL_SHOW_CONFIG, /* the settings, and where each comes from */
    ENL_ATTACH,      /* debug CCEs argv[first + 1] ... of program argv[first] */
    ENL_GDB_PIPE,    /* the gdb protocol, to CCE argv[first + 1] of program argv[first] */
    ENL_PANE_SHOWN, /* enl's own: a terminal's side of a debugger (debug/pane.h); its words from argv[first] on */
    ENL_WINDOWS,      /* the same: opens windows (debug/windows.h) */
    ENL_HELD_PROGRAM, /* the same: a program that waits for a debugger (debug/held.h) */
    ENL_DEBUG_HOST,   /* the same: a helper of the daemon's (debug/reach.h) */
    ENL_HOST_FACTS,   /* the same: what this machine is (hosts/facts_here.h) */
    ENL_STACKS_HOST,  /* the same: another helper (stacks/stacks.h) */
    ENL_LOOK_HOST,    /* a helper of the daemon's (relay.h) */
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
    const struct enl_command *command; /* option_table.h; NULL: none */
    const char *join;
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
    int root_socket;      /* daemon's end of the root's socket, if bcr_init started it; else -1 */
    pid_t root_pid;
};

/* Reads the command line, and has no other effect. Returns 0, or -1 with a sentence in `error`. */
int enl_options_parse(int argc, char **argv, struct enl_options *options_out, char *error, size_t error_size);

/* Gives the settings of `config` that the options name their values. Returns 0, or -1 with a
 * sentence. */
struct bcri_config;
int enl_options_apply(const struct enl_options *options, struct bcri_config *config, char *error,
                      size_t error_size);

/* Prints what `enl COMMAND --help` shows, or if `command` is NULL enl --help. */
void enl_help_print(FILE *out, const struct enl_command *command);

#endif
