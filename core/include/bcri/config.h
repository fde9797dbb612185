/* SPDX-License-Identifier: MIT */
/* Configuration: the keywords of bcrrc(5), their values, and where each value came from.
 *
 * A later source overrides an earlier one, keyword by keyword:
 *     the table below  <  /usr/lib/bcrrc  <  /etc/bcrrc  <  ~/.bcrrc  <  environment BCR_<KEYWORD>  <  bcri_config_set
 *
 * A line is `keyword value`; the value goes to the end of the line without the white space around
 * it. # at the start of a line or after white space begins a comment. * means no value. Everything
 * else is an error, whose text names the place and what is allowed: a program that runs with a
 * setting its user did not mean is worse than one that does not run. bcr_init and enl read the
 * files with their user's rights, and the files name programs to be run. So ~/.bcrrc must belong to
 * the user or to root, and none of the files may be writable by others. A set-user-ID program does
 * not look at its environment.
 *
 * A new keyword is a new row of the table and a paragraph in docs/man/bcrrc.5 (a test compares the
 * two).
 *
 * Source: BCR guide, "The BCRRC Options"; /etc/bcrrc, the environment, and from onfail on: this
 * project. */
#ifndef BCRI_CONFIG_H
#define BCRI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a PROGRAM. Some are sent to other hosts, in a message that has no room for more. */
#define BCRI_CONFIG_PROGRAM_MAX 1023
/* Bytes of a NAME, which is a part of an address (bcri/channel.h) and of names of files. */
#define BCRI_CONFIG_NAME_MAX 64

/* The variable of the keyword `name`. It is the program's alone: those that its CCEs start are others. */
#define BCRI_NAME_ENV "BCR_NAME"

/* X(keyword, KIND, default, allowed, about)
 *   PROGRAM  const char *, NULL for *; see bcri_config_resolve for how it is found
 *   FOLDER   const char *, absolute
 *   FILE     const char *, absolute or beginning with ~/, NULL for *
 *   NAME     const char *, NULL for *; of a program, unlike those that enl makes: it ends in no .N and no .N-N
 *   SUFFIX   const char *, NULL for *; goes into host names
 *   PORTS    const char *, see bcri/network.h
 *   NETWORK  const char *, NULL for *; see bcri/network.h
 *   COUNT    int, in the range `allowed`
 *   COMMAND  const char *, NULL for *; a command in words, see bcri/words.h
 *   CHOICE   int, the place of the value among the words `allowed`, from 0 */
#define BCRI_CONFIG_MAP(X)                                                                                \
    X(xtermpath, PROGRAM, "/usr/bin/xterm", NULL, "program that opens a window")                          \
    X(enlistpath, PROGRAM, "*", NULL, "the enl program; * looks beside the library, then on PATH")        \
    X(rshpath, PROGRAM, "/usr/bin/ssh", NULL, "program that starts a process on another machine")         \
    X(name, NAME, "*", NULL, "name of the program; * is one of host and process ID")                      \
    X(tempdir, FOLDER, "/tmp", NULL, "directory of the daemons' logs")                                    \
    X(startscript, PROGRAM, "*", NULL, "program that each daemon runs when it starts")                    \
    X(endscript, PROGRAM, "*", NULL, "program that each daemon runs just before it ends")                 \
    X(ifacesuffix, SUFFIX, "*", NULL, "string added to each machine name given to bcr_enlist")            \
    X(packwords, COUNT, "4092", "64..16250", "most 4-byte payload words in a UDP packet")                 \
    X(onfail, CHOICE, "abort", "abort|isolate|root", "which ends of CCEs end the program")                \
    X(crashreport, CHOICE, "yes", "no|yes|locals",                                                        \
      "whether enl looks where a CCE has crashed; also at variables")                                     \
    X(ondeadlock, CHOICE, "report", "report|hup|debug|ignore", "what follows when all CCEs wait")         \
    X(loglevel, CHOICE, "info", "error|warn|info|debug", "the least urgent records that the log gets")    \
    X(log, CHOICE, "file", "file|stderr|none", "where each daemon's log goes")                            \
    X(logkeep, COUNT, "20", "0..1000000", "logs of ended programs that stay in tempdir")                  \
    X(logsize, COUNT, "100", "0..1000000", "MiB after which the log begins anew; 0: it grows")            \
    X(output, CHOICE, "plain", "plain|label|none|yes|no", "how the root shows what CCEs print")           \
    X(linehold, COUNT, "1000", "0..86400000", "milliseconds that an unfinished line makes others wait")   \
    X(timestamp, CHOICE, "no", "no|yes", "whether lines of CCEs begin with the time")                     \
    X(outputdir, FILE, "*", NULL, "directory that gets files with what each CCE prints")                  \
    X(logdir, FILE, "*", NULL, "directory that gets the logs of all hosts when the program ends")         \
    X(usagelog, FILE, "~/.local/state/bcr/usage.log", NULL, "file that gets a line about each job")       \
    X(killafter, COUNT, "500", "0..86400000", "milliseconds from Ctrl-C or SIGTERM to SIGKILL")           \
    X(handlerstack, COUNT, "256", "16..1048576", "KiB of stack for each handler that runs or waits")      \
    X(handlermost, COUNT, "0", "0..2000000000", "handlers that may run or wait at once in one CCE")       \
    X(hostsfile, FILE, "*", NULL, "file that lists the machines that bcr_enlist may use")                 \
    X(starthosts, CHOICE, "use", "use|all", "when other machines' daemons are started")                   \
    X(fanout, COUNT, "0", "0..1000", "daemons that one daemon starts; 0: 16, and 4 if push is yes")       \
    X(connecttimeout, COUNT, "15000", "100..86400000", "milliseconds that starting a host may take")      \
    X(awaittimeout, COUNT, "60000", "100..86400000", "milliseconds that members of BCR_AWAIT wait")       \
    X(hosttimeout, COUNT, "10000", "100..86400000", "milliseconds of silence after which a host is lost") \
    X(push, CHOICE, "no", "no|yes", "whether hosts are sent enl and the program when they start")         \
    X(dataport, PORTS, "0", NULL, "UDP port, or range of ports, by which hosts talk; 0: any")             \
    X(bindaddr, NETWORK, "*", NULL, "address or network by which this machine talks to other hosts")      \
    X(recvpool, COUNT, "0", "0..100000000", "MiB for data of other hosts; 0: a quarter of what is free")  \
    X(security, CHOICE, "encrypt", "encrypt|none", "whether what hosts say to each other is encrypted")   \
    X(wrap, COMMAND, "*", NULL, "command put before each program that a daemon starts as a CCE")

enum bcri_onfail { BCRI_ONFAIL_ABORT, BCRI_ONFAIL_ISOLATE, BCRI_ONFAIL_ROOT };
enum bcri_crashreport { BCRI_CRASHREPORT_NO, BCRI_CRASHREPORT_YES, BCRI_CRASHREPORT_LOCALS };
enum bcri_ondeadlock {
    BCRI_ONDEADLOCK_REPORT,
    BCRI_ONDEADLOCK_HUP,
    BCRI_ONDEADLOCK_DEBUG,
    BCRI_ONDEADLOCK_IGNORE
};
enum bcri_log_to { BCRI_LOG_TO_FILE, BCRI_LOG_TO_STDERR, BCRI_LOG_TO_NONE };
enum bcri_starthosts { BCRI_STARTHOSTS_USE, BCRI_STARTHOSTS_ALL };
/* YES: LABEL for all but the root. NO: NONE. */
enum bcri_output { BCRI_OUTPUT_PLAIN, BCRI_OUTPUT_LABEL, BCRI_OUTPUT_NONE, BCRI_OUTPUT_YES, BCRI_OUTPUT_NO };
enum bcri_security { BCRI_SECURITY_ENCRYPT, BCRI_SECURITY_NONE };

#define BCRI_CONFIG_FIELD_PROGRAM const char *
#define BCRI_CONFIG_FIELD_FOLDER  const char *
#define BCRI_CONFIG_FIELD_FILE    const char *
#define BCRI_CONFIG_FIELD_NAME    const char *
#define BCRI_CONFIG_FIELD_SUFFIX  const char *
#define BCRI_CONFIG_FIELD_PORTS   const char *
#define BCRI_CONFIG_FIELD_NETWORK const char *
#define BCRI_CONFIG_FIELD_COMMAND const char *
#define BCRI_CONFIG_FIELD_COUNT   int
#define BCRI_CONFIG_FIELD_CHOICE  int

enum bcri_config_idx {
#define BCRI_CONFIG_ENUM(keyword, kind, fallback, allowed, about) BCRI_CONFIG_##keyword,
    BCRI_CONFIG_MAP(BCRI_CONFIG_ENUM)
#undef BCRI_CONFIG_ENUM
        BCRI_CONFIG_COUNT
};

/* A value as it was written, and where: "default", "/etc/bcrrc:3", "BCR_TEMPDIR". */
struct bcri_config_setting {
    char *text;
    char *origin;
};

/* One field per keyword, of its name: config.tempdir, config.packwords. The strings lie in
 * `settings`. */
struct bcri_config {
#define BCRI_CONFIG_DECLARE(keyword, kind, fallback, allowed, about) BCRI_CONFIG_FIELD_##kind keyword;
    BCRI_CONFIG_MAP(BCRI_CONFIG_DECLARE)
#undef BCRI_CONFIG_DECLARE
    char *home; /* the user's home directory, NULL if there is none */
    struct bcri_config_setting settings[BCRI_CONFIG_COUNT];
};

/* Where to look. For a NULL member, or NULL for the whole struct, the place named below is used. */
struct bcri_config_paths {
    const char *system_file;  /* /usr/lib/bcrrc */
    const char *host_file;    /* /etc/bcrrc */
    const char *home;         /* HOME of the environment if that is absolute, else the password file's */
    char *const *environment; /* this process's */
};

/* bcri_config_load -- read all sources.
 * Owns    : gives the caller a configuration, to be released with bcri_config_fini.
 * Returns : 0; else negative, `error` holds a sentence, and the configuration is empty (fini does
 * nothing):
 *           -EINVAL a line, keyword or value; -EPERM a file that others could have written; -EFBIG; -ENOMEM; the
 *           negative errno of a file that is there but cannot be read. */
int bcri_config_load(struct bcri_config *config, const struct bcri_config_paths *paths, char *error,
                     size_t error_size);

/* Releases what load gave and empties the configuration. */
void bcri_config_fini(struct bcri_config *config);

/* bcri_config_set -- give one keyword a value from elsewhere, such as a command line option named
 * by `origin`.
 * Returns : 0; -EINVAL unknown keyword or bad value; -ENOMEM. On failure nothing has changed. */
int bcri_config_set(struct bcri_config *config, const char *keyword, const char *value, const char *origin,
                    char *error, size_t error_size);

/* bcri_config_parse -- apply the text of a bcrrc file, any bytes at all. Messages and origins show
 * `name`.
 * Returns : 0; -EINVAL, the lines before the bad one are applied; -ENOMEM. */
int bcri_config_parse(struct bcri_config *config, const char *name, const char *bytes, size_t length,
                      char *error, size_t error_size);

/* bcri_config_resolve -- the path by which this host runs the PROGRAM `value`.
 * Shape   : absolute: itself. Without a slash: itself, to be looked for on PATH. Else, or beginning
 *           with ~/, it is relative to the home directory (as the guide's own default BCR/bin/enl
 *           is).
 * Owns    : gives *path_out, to be freed.
 * Returns : 0; -ENOENT there is no home directory; -ENOMEM. */
int bcri_config_resolve(const struct bcri_config *config, const char *value, char **path_out);

/* One keyword with all that is known about it; the strings are the configuration's or constant. */
struct bcri_config_entry {
    const char *keyword;
    const char *value; /* "*" for none */
    const char *origin;
    const char *fallback;
    const char *about;
};

/* bcri_config_at -- walk the keywords, idx from 0: false after the last one.
 * With config NULL the table alone is shown. */
bool bcri_config_at(const struct bcri_config *config, size_t idx, struct bcri_config_entry *entry_out);

/* What keyword number `idx` accepts, as the end of "must be ...". */
void bcri_config_allowed(size_t idx, char *text, size_t capacity);

#endif
