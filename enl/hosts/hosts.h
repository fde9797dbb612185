/* SPDX-License-Identifier: MIT */
/* The machines that a program may use, by the names that bcr_enlist takes.
 *
 *   NAME [local] [addr=ADDRESS] [login=USER] [enl=PATH] [slots=N] [abi=NAME]
 *        [path=FOLDER[:FOLDER]]     # comment
 *
 *   local   an enl of its own on this machine, started directly: for trying and testing
 *   addr    where rshpath finds the machine; else its name is its address
 *   login   the user there
 *   enl     the enl program there
 *   slots   how many CCEs it is meant for, 1 unless said: bcr_host returns it
 *   abi     the architecture of the enl there, as uname -m calls it, or i386; a check
 *   path    folders there in which programs that are enlisted are looked for first, by the last components
 *           of their names
 *
 * NAME may be of ranges (host_names.h), and NAME*N is NAME slots=N. ADDRESS may be of ranges too, with as many
 * addresses. max_slots=N, of Open MPI, must not be less than slots and has no other effect.
 *
 * A list comes from a hosts file, from a node file, from the job that a batch system has given
 * (allocation.h), from the words of --host, and from --local. Two names may be one machine. Names are
 * compared without regard to case. In a node file, which is Open MPI's or PBS's, a name that stands there again
 * is so many slots more; in a hosts file that is an error. */
#ifndef ENL_HOSTS_H
#define ENL_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "hosts/host_names.h"

#define ENL_HOST_SLOTS_MAX 65000u

struct enl_host {
    char *name;
    bool local;
    char *address, *login, *enl, *abi, *path; /* NULL: not said */
    unsigned slots;
    unsigned line; /* of the hosts file; 0: an option's */
};

struct enl_hosts {
    struct enl_host *hosts;
    size_t count, room;
    const struct enl_host **by_name; /* sorted; valid until a host is added */
    size_t sorted;                   /* hosts in by_name */
    char source[256];                /* where most of them come from, for sentences */
};

/* What a file is. */
enum enl_hosts_form { ENL_HOSTS_FILE, ENL_NODE_FILE };

/* Adds the entries of a file's text. `file` is what messages call it. Returns 0, or -1 with a
 * sentence that begins with file:line; the entries before that line are there then. */
int enl_hosts_parse(struct enl_hosts *hosts, enum enl_hosts_form form, const char *file, const char *bytes,
                    size_t length, char *error, size_t error_size);
/* Reads the file at `path`, which nobody but its owner may be able to write. The same. */
int enl_hosts_read(struct enl_hosts *hosts, enum enl_hosts_form form, const char *path, char *error,
                   size_t error_size);

/* Keeps the hosts whose names are in the list `names`, separated by commas, in that order; a name
 * without an entry becomes one. Returns 0, or -1 with a sentence and the hosts as they were. */
int enl_hosts_select(struct enl_hosts *hosts, const char *names, char *error, size_t error_size);
/* Adds local1 ... local`count`. The same. */
int enl_hosts_add_local(struct enl_hosts *hosts, int count, char *error, size_t error_size);

/* What options say of the hosts. */
struct enl_hosts_options {
    const char *hostfile; /* --hostfile, a node file; NULL: none */
    const char *names;    /* --host; NULL: all */
    int local;            /* --local; 0: none */
};
/* The hosts of a program: those of --hostfile, else of the keyword hostsfile, else of the batch system's job
 * in which this process runs (what reaches them becomes rshpath then, if that was not set), and what the
 * other options make of them. The same. */
struct bcri_config;
int enl_hosts_load(struct enl_hosts *hosts, struct bcri_config *config,
                   const struct enl_hosts_options *options, char *error, size_t error_size);

/* NULL: no host has that name. */
const struct enl_host *enl_hosts_find(const struct enl_hosts *hosts, const char *name);
void enl_hosts_free(struct enl_hosts *hosts);

#endif
