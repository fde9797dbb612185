/* SPDX-License-Identifier: MIT */
/* hosts.h -- the interface of enl/hosts: which hosts a program has. */
#ifndef ENL_HOSTS_H
#define ENL_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcri_config;
struct enl_place;
struct enl_roster_choice;
struct ifaddrs;

/* hosts.c -- The machines that a program may use, by the names that bcr_enlist takes.
 *
 *   NAME [local] [addr=ADDRESS] [login=USER] [enl=PATH] [slots=N] [abi=NAME]
 *        [path=FOLDER[:FOLDER]] [net=ADDRESS@NETWORK[+...]] [group=NAME[+...]] [cpugen=WORD] [speed=WORD]     # comment
 *
 *   local   an enl of its own on this machine, started directly: for trying and testing
 *   addr    where rshpath finds the machine; else its name is its address
 *   login   the user there
 *   enl     the enl program there
 *   slots   how many CCEs it is meant for, 1 unless said: bcr_host returns it
 *   abi     the architecture of the enl there, as uname -m calls it, or i386; a check
 *   path    folders there in which programs that are enlisted are looked for first, by the last components
 *           of their names
 *   net     its name or address on networks that a job may ask for
 *   group, cpugen, speed: by these a job chooses hosts (choice.c)
 *
 * NAME may be of ranges (host_names.c), and NAME*N is NAME slots=N. ADDRESS may be of ranges too, with as many
 * addresses. max_slots=N, of Open MPI, must not be less than slots and has no other effect.
 *
 * A list comes from a hosts file, from a node file, from the job that a batch system has given
 * (allocation.c), from the words of --host, and from --local. Two names may be one machine. Names are
 * compared without regard to case. In a node file, which is Open MPI's or PBS's, a name that stands there again
 * is so many slots more; in a hosts file that is an error. */

#define ENL_HOST_SLOTS_MAX 65000u
#define ENL_HOST_NAME_MAX  255u

struct enl_host {
    char *name;
    bool local;
    char *address, *login, *enl, *abi, *path, *net, *group, *cpugen, *speed; /* NULL: not said */
    unsigned slots;
    unsigned line;           /* of the hosts file; 0: an option's */
    size_t rank;             /* it comes behind those with lower ones */
    uint8_t *networks;       /* its addresses on those asked for (conductor/networks.c); NULL: it has none */
    struct enl_place *place; /* what the root's daemon knows of it (conductor/child.h); NULL: nothing */
    struct enl_host *next;   /* of those that were taken out */
};

/* The address of a host holds until enl_hosts_free, whatever is added or taken out. */
struct enl_hosts {
    struct enl_host **hosts;
    size_t count, room;
    struct enl_host **by_name; /* sorted; valid until a host is added, but by enl_hosts_insert */
    size_t sorted;             /* hosts in by_name */
    size_t names_room;
    size_t last_rank;
    struct enl_host *former; /* that were taken out, to which others refer still */
    uint32_t networks;       /* how many were asked for */
    char source[256];        /* where most of them come from, for sentences */
};

/* What a file is. */
enum enl_hosts_form { ENL_HOSTS_FILE, ENL_NODE_FILE };

/* Adds the entries of a file's text. `file` is what messages call it. Returns 0, or -1 with a
 * sentence that begins with file:line; the entries before that line are there then. */
int enl_hosts_parse(struct enl_hosts *hosts, enum enl_hosts_form form, const char *file, const char *bytes,
                    size_t length, char *error, size_t error_size);
/* Reads the file at `path`, which other users than its owner must not be able to write. The same. */
int enl_hosts_read(struct enl_hosts *hosts, enum enl_hosts_form form, const char *path, char *error,
                   size_t error_size);

/* Reads one line of a hosts file that stands for one host, which is in no list. `place` is what messages begin
 * with. Gives the host; NULL: a sentence says why it is none. */
struct enl_host *enl_host_of_line(const char *line, const char *place, char *error, size_t error_size);
void enl_host_free(struct enl_host *host);

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
int enl_hosts_load(struct enl_hosts *hosts, struct bcri_config *config,
                   const struct enl_hosts_options *options, char *error, size_t error_size);

/* NULL: no host has that name. */
struct enl_host *enl_hosts_find(const struct enl_hosts *hosts, const char *name);
void enl_hosts_free(struct enl_hosts *hosts);

/* changes.c -- A list that is in use changes: a host is added that has a name of its own, and is the list's from then
 * on (false: no memory); one that is in the list is taken out, and stays where it is until enl_hosts_free. */
bool enl_hosts_insert(struct enl_hosts *hosts, struct enl_host *host);
void enl_hosts_take_out(struct enl_hosts *hosts, struct enl_host *host);

/* choice.c -- Which hosts of a list a job may have. */

/* Keeps those of that group and kind and, unless the job is heterogeneous, of one ABI: this machine's if there is such a host, else
 * the first one's. What is not in the list is refused by a sentence that says what there is; so are networks. Returns 0, or -1 with
 * the sentence, and fewer hosts. */
int enl_hosts_choose(struct enl_hosts *hosts, const struct enl_roster_choice *choice, bool is_heterogeneous,
                     char *error, size_t error_size);
/* The name or address that a host has on the network whose name is `network`, of `length` bytes. False: none. */
bool enl_host_on_network(const struct enl_host *host, const char *network, size_t length,
                         char address_out[ENL_HOST_NAME_MAX + 1]);

/* Where they come from, for sentences. */
const char *enl_hosts_source(const struct enl_hosts *hosts);

/* entries.c -- What an entry of the list of machines means: to a program, and to enl hosts, which says what a
 * program will find. */

/* The entry for `machine`, with ifacesuffix behind it if there is one of that name; else
 * `address_out` gets the entry's address with the suffix, unless that is a number; else "". NULL: there is none. */
struct enl_host *enl_entry_for(const struct bcri_config *config, const struct enl_hosts *hosts,
                               const char *machine, char *address_out, size_t size);

/* Whether an entry, or a name that has none, is this machine, as far as can be known without asking it. The
 * CCEs of such an entry are those of this enl; nothing else is started for them. `known`: names.h. */
bool enl_entry_is_here(const struct bcri_config *config, const struct enl_host *host, struct ifaddrs **known);
bool enl_name_is_here(const char *machine, struct ifaddrs **known);

/* allocation.c -- The nodes that a batch system has given to the job in which this process runs: Slurm tells them
 * in its variables, PBS in a file. And which of all lists a program has. */

/* Adds the nodes of a Slurm job: `nodes` as in SLURM_JOB_NODELIST; their slots are those of `tasks`, as in
 * SLURM_TASKS_PER_NODE, if these are as many, else of `cpus`, as in SLURM_JOB_CPUS_PER_NODE; either may be
 * NULL. The same. */
int enl_allocation_slurm(struct enl_hosts *hosts, const char *nodes, const char *tasks, const char *cpus,
                         char *error, size_t error_size);

/* host_names.c -- Names of machines, one by one and with ranges: node[01-16,20] is node01 ... node16 and node20, and
 * rack[1-2]n[1-4] all eight. The first number of a range says how many digits there are at least. Slurm writes
 * its lists of nodes so.
 *
 * Pure functions of any bytes. */

/* Names that a list may have, so that a range that was not meant takes no memory: more than twice the hosts of
 * a program. */
#define ENL_HOSTS_MAX 150000u

/* Whether a word is of letters, digits and `others`, and begins with a letter, a digit or one of `first`. */
bool enl_word_is_of(const char *word, const char *first, const char *others);
/* A name or an address, which no program takes for an option. */
bool enl_is_host_name(const char *word);
/* A number from 1 to `most`. */
bool enl_word_is_count(const char *word, unsigned most, unsigned *count_out);

/* Cuts off what is before the next comma that is not in brackets, as strsep does: *list is NULL when all is taken. */
char *enl_names_next(char **list);
/* Cuts a * and a number off the end of `word`; without them *times_out is 0. False: it is not from 1 to `most`. */
bool enl_names_times(char *word, unsigned most, unsigned *times_out);

/* The names that a word stands for, in order: one block, which the caller frees. A name may be one that enl_is_host_name
 * refuses. NULL: it cannot be, and *why_out is a clause that says why and what to do, in which the word is not
 * named. */
char **enl_names_of(const char *word, size_t *count_out, const char **why_out);

/* A word as it is shown, cut if it is long. */
struct enl_quote {
    char text[200];
};
struct enl_quote enl_quoted(const char *word);

/* What is said of a host as key=text. */
struct enl_host_key {
    const char *key;
    size_t offset; /* of the char * in struct enl_host */
    bool (*good)(const char *value);
    const char *must;
};
enum { ENL_HOST_KEYS = 9 };
extern const struct enl_host_key enl_host_keys[ENL_HOST_KEYS];

static inline char **enl_host_text(const struct enl_host *host, const struct enl_host_key *key)
{
    return (char **)((uintptr_t)host + key->offset);
}

/* Adds a copy of `host` with that name and address (NULL: its own). False: no memory. */
bool enl_hosts_add(struct enl_hosts *hosts, const struct enl_host *host, const char *name,
                   const char *address);
/* What a line of a file says of one that is being read. */
void enl_host_free_texts(struct enl_host *host);
/* 0, or -1 with a sentence that begins with `place` when such a host cannot be. */
int enl_host_check(const struct enl_host *host, const char *name, const char *place, char *error,
                   size_t error_size);

/* Makes by_name, and refuses a list in which two hosts have one name; with ENL_NODE_FILE makes one of them. */
int enl_hosts_sort(struct enl_hosts *hosts, enum enl_hosts_form form, const char *file, char *error,
                   size_t error_size);

#endif
