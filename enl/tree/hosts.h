/* SPDX-License-Identifier: MIT */
/* The machines that a program may use, by the names that bcr_enlist takes.
 *
 *   NAME [local] [addr=ADDRESS] [login=USER] [enl=PATH] [slots=N] [abi=NAME]     # comment
 *
 *   local   an enl of its own on this machine, started directly: for trying and testing
 *   addr    where rshpath finds the machine; else its name is its address
 *   login   the user there
 *   enl     the enl program there
 *   slots   how many CCEs it is meant for, 1 unless said: bcr_host returns it
 *   abi     the architecture of the enl there, as uname -m calls it, or i386; a check
 *
 * A list comes from a hosts file, from the words of --host, and from --local. Two names may be one
 * machine. Names are compared without regard to case. */
#ifndef ENL_HOSTS_H
#define ENL_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#define ENL_HOST_SLOTS_MAX 65000u

struct enl_host {
    char *name;
    bool local;
    char *address, *login, *enl, *abi; /* NULL: not said */
    unsigned slots;
    unsigned line; /* of the hosts file; 0: an option's */
};

struct enl_hosts {
    struct enl_host *hosts;
    size_t count;
};

/* Adds the entries of a hosts file's text. `file` is what messages call it. Returns 0, or -1 with a
 * sentence that begins with file:line; the entries before that line are there then. */
int enl_hosts_parse(struct enl_hosts *hosts, const char *file, const char *bytes, size_t length, char *error,
                    size_t error_size);
/* Reads the hosts file at `path`, which nobody but its owner may be able to write. The same. */
int enl_hosts_read(struct enl_hosts *hosts, const char *path, char *error, size_t error_size);

/* Keeps the hosts whose names are in the list `names`, separated by commas, in that order; a name
 * without an entry becomes one. Returns 0, or -1 with a sentence and the hosts as they were. */
int enl_hosts_select(struct enl_hosts *hosts, const char *names, char *error, size_t error_size);
/* Adds local1 ... local`count`. The same. */
int enl_hosts_add_local(struct enl_hosts *hosts, int count, char *error, size_t error_size);

/* The hosts of a program: those of the keyword hostsfile, and what the options --host (NULL: not
 * given) and --local (0) make of them. The same. */
struct bcri_config;
int enl_hosts_load(struct enl_hosts *hosts, const struct bcri_config *config, const char *names, int local,
                   char *error, size_t error_size);

/* NULL: no host has that name. */
const struct enl_host *enl_hosts_find(const struct enl_hosts *hosts, const char *name);
void enl_hosts_free(struct enl_hosts *hosts);

#endif
