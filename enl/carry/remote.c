/* SPDX-License-Identifier: MIT */
/* See carry.h.
 *
 * Programs whose names begin with ssh get ssh's options: no terminal, no X11, no questions, and
 * keepalives, by which it notices that the machine is gone. srun, which begins a step of one task in the
 * Slurm job in which this process runs, gets its own: bytes must pass as they are and at once, the step shares the
 * node with others, and is bound to no core. It starts COMMAND itself, with the environment and in the folder of
 * here, which is all the same when the daemon there has been told its own. Others are called as rsh:
 * [-l LOGIN] HOST COMMAND.
 *
 * COMMAND goes to the login shell there, which may be any. Without `enl` in the hosts file and
 * enlistpath it looks for enl where it lies here, then on PATH there. A shell waits for enl: so an enl that
 * is killed there ends the command with a status of its own, and not with that of a broken connection. */
#include "carry/carry.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/last_part.h"
#include "bcri/config.h"
#include "bcri/refuse.h"

#define WORDS_BYTES ((size_t)8 * PATH_MAX)

struct words {
    struct enl_remote *remote;
    size_t count, used;
};

static void add_word(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_word(struct words *words, const char *format, ...)
{
    char *at = words->remote->words + words->used;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    const int length = vsnprintf(at, WORDS_BYTES - words->used, format, arguments);
    va_end(arguments);
    words->remote->argv[words->count++] = at;
    words->used += (size_t)length + 1;
}

bool enl_remote_own_path(char *out, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", out, size - 1);
    if (length <= 0)
        return false;
    out[length] = '\0';
    return true;
}

void enl_remote_quote(const char *text, char *out, size_t size)
{
    size_t at = 0;
    out[at++] = '\'';
    for (; *text != '\0' && at < size - 6; text++) {
        if (*text == '\'') {
            memcpy(out + at, "'\\''", 4);
            at += 4;
        } else {
            out[at++] = *text;
        }
    }
    out[at++] = '\'';
    out[at] = '\0';
}

static bool needs_quotes(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+")] != '\0';
}

const char *enl_remote_name(const struct enl_remote *remote)
{
    return enl_last_part(remote->path);
}

static bool begins_with(const struct enl_remote *remote, const char *name)
{
    return strncmp(enl_remote_name(remote), name, strlen(name)) == 0;
}

/* Where enl is there; false: where it lies here, or else on PATH there. */
static bool path_there(const struct bcri_config *config, const struct enl_host *host, char out[PATH_MAX])
{
    const char *path = host->enl != NULL ? host->enl : config->enlistpath;
    if (path == NULL && enl_remote_own_path(out, PATH_MAX))
        return false;
    snprintf(out, PATH_MAX, "%s", path != NULL ? path : "enl");
    return true;
}

/* What the login shell is to run. */
static void shell_command(const struct bcri_config *config, const struct enl_host *host, const char *mode,
                          char *out, size_t size)
{
    char quoted[2 * PATH_MAX], there[PATH_MAX];
    const bool known = path_there(config, host, there);
    const char *path =
        there + (strncmp(there, "~/", 2) == 0 ? 2 : 0); /* a login begins in the home directory */
    if (needs_quotes(path))
        enl_remote_quote(path, quoted, sizeof quoted);
    snprintf(out, size,
             known ? "exec sh -c '\"$0\" %s; exit $?' %s"
                   : "exec sh -c 'test -x \"$0\" || set -- enl; \"${1-$0}\" %s; exit $?' %s",
             mode, needs_quotes(path) ? quoted : path);
}

/* The file of a program that may be a name to be looked for on PATH. False: a sentence's end says why
 * there is none. */
static bool find_program(const struct bcri_config *config, const char *what, const char *name,
                         char out[PATH_MAX], char *error, size_t error_size)
{
    char *path = NULL;
    if (bcri_config_resolve(config, name, &path) != 0)
        return bcri_refuse(error, error_size, false, "%s %s: there is no home directory", what, name);
    bool found = strchr(path, '/') != NULL;
    const char *folders = getenv("PATH"), *at = folders != NULL ? folders : "/usr/bin:/bin";
    snprintf(out, PATH_MAX, "%s", path);
    while (!found && *at != '\0') {
        const size_t length = strcspn(at, ":");
        snprintf(out, PATH_MAX, "%.*s/%s", (int)length, at, path);
        found = length != 0 && access(out, X_OK) == 0;
        at += length + (at[length] == ':');
    }
    if (!found)
        bcri_refuse(error, error_size, 0, "there is no %s on PATH, which %s names", path, what);
    free(path);
    return found;
}

static bool find_command(const struct bcri_config *config, const struct enl_host *host, char out[PATH_MAX],
                         char *error, size_t error_size)
{
    if (!host->local && config->rshpath == NULL)
        return bcri_refuse(error, error_size, false,
                           "there is no way to other machines: rshpath in bcrrc names none");
    if (!host->local)
        return find_program(config, "rshpath in bcrrc", config->rshpath, out, error, error_size);
    if (host->enl != NULL)
        return find_program(config, "enl= in the hosts file", host->enl, out, error, error_size);
    if (config->enlistpath != NULL)
        return find_program(config, "enlistpath in bcrrc", config->enlistpath, out, error, error_size);
    return enl_remote_own_path(out, PATH_MAX) ||
           bcri_refuse(error, error_size, false, "/proc does not say where this enl is");
}

static void add_ssh(struct words *words, const struct bcri_config *config)
{
    const int seconds = config->connecttimeout / 1000, quiet = config->hosttimeout / 2000;
    add_word(words, "-T");
    add_word(words, "-x");
    add_word(words, "-oBatchMode=yes");
    add_word(words, "-oConnectTimeout=%d", seconds > 1 ? seconds - 1 : 1);
    add_word(words, "-oServerAliveInterval=%d", quiet > 1 ? quiet : 1);
    add_word(words, "-oServerAliveCountMax=2");
}

/* False: a sentence's end says why not. */
static bool add_srun(struct words *words, const struct bcri_config *config, const struct enl_host *host,
                     const char *mode, char *error, size_t error_size)
{
    static const char *const options[] = {"--quiet",      "--nodes=1",       "--ntasks=1",   "--overlap",
                                          "--unbuffered", "--input=all",     "--output=all", "--error=all",
                                          "--mpi=none",   "--cpu-bind=none", "--export=ALL"};
    char there[PATH_MAX], *path = NULL;
    const bool known = path_there(config, host, there);
    if (host->login != NULL)
        return bcri_refuse(error, error_size, false,
                           "srun runs programs as this user alone; take login= out of the hosts file, or let "
                           "rshpath in bcrrc name another program");
    if (bcri_config_resolve(config, there, &path) != 0)
        return bcri_refuse(error, error_size, false, "%s: there is no home directory", there);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        add_word(words, "%s", options[i]);
    add_word(words, "--nodelist=%s", host->address != NULL ? host->address : host->name);
    add_word(words, "/bin/sh");
    add_word(words, "-c");
    add_word(words, known ? "exec \"$0\" %s" : "test -x \"$0\" || set -- enl; exec \"${1-$0}\" %s", mode);
    add_word(words, "%s", path);
    free(path);
    return true;
}

static bool add_words(struct words *words, const struct bcri_config *config, const struct enl_host *host,
                      const char *address, const char *mode, char *error, size_t error_size)
{
    char command[4 * PATH_MAX];
    const struct enl_remote *remote = words->remote;
    add_word(words, "%s", remote->path);
    if (host->local) {
        add_word(words, "%s", mode);
        return true;
    }
    if (begins_with(remote, "srun"))
        return add_srun(words, config, host, mode, error, error_size);
    if (enl_remote_is_ssh(remote))
        add_ssh(words, config);
    if (host->login != NULL) {
        add_word(words, "-l");
        add_word(words, "%s", host->login);
    }
    add_word(words, "%s", address != NULL ? address : host->address != NULL ? host->address : host->name);
    shell_command(config, host, mode, command, sizeof command);
    add_word(words, "%s", command);
    return true;
}

bool enl_remote_command(struct enl_remote *remote_out, const struct bcri_config *config,
                        const struct enl_host *host, const char *address, const char *mode, char *error,
                        size_t error_size)
{
    char why[512] = "no memory";
    *remote_out = (struct enl_remote){.words = malloc(WORDS_BYTES)};
    struct words words = {.remote = remote_out};
    if (remote_out->words != NULL && find_command(config, host, remote_out->path, why, sizeof why) &&
        add_words(&words, config, host, address, mode, why, sizeof why))
        return true;
    enl_remote_free(remote_out);
    return bcri_refuse(error, error_size, false, "host %s cannot be used: %s", host->name, why);
}

/* The word is the last one, or that of a shell. */
void enl_remote_run(struct enl_remote *remote, const char *command)
{
    size_t last = 0, word = 0;
    for (; remote->argv[last + 1] != NULL; last++)
        if (strcmp(remote->argv[last], "-c") == 0)
            word = last + 1;
    char *at = remote->argv[last] + strlen(remote->argv[last]) + 1;
    snprintf(at, WORDS_BYTES - (size_t)(at - remote->words), "%s", command);
    remote->argv[word != 0 ? word : last] = at;
}

void enl_remote_text(const struct enl_remote *remote, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; remote->argv[i] != NULL && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? " " : "", remote->argv[i]);
}

void enl_remote_free(struct enl_remote *remote)
{
    free(remote->words);
    remote->words = NULL;
}

bool enl_remote_is_ssh(const struct enl_remote *remote)
{
    return begins_with(remote, "ssh");
}

#define NAME_IT "enl= in the hosts file, or enlistpath in bcrrc, must name enl itself"

const char *enl_remote_remedy(const struct enl_host *host, const char *why, const char *said, int status)
{
    enum { ANY = -1, OWN = -2 }; /* OWN: of rshpath's program, not of what it has begun there */
    static const struct {
        int status;
        const char *part, *remedy;
    } known[] = {
        {127, "shared libraries", "; install the libraries there that enl needs"},
        {126, "cannot execute binary",
         "; enl there is for another machine: enl= in the hosts file names another"},
        {126, "xec format error", "; enl there is for another machine: enl= in the hosts file names another"},
        {OWN, "IDENTIFICATION HAS CHANGED",
         "; that machine's key is not what ssh knows: if it was installed anew, ssh-keygen -R forgets the "
         "old key"},
        {OWN, "Host key verification failed",
         "; ssh does not know that machine's key: log in there once by hand, and accept it"},
        {OWN, "Permission denied",
         "; ssh must let you in without a question: give it a key (ssh-copy-id, ssh-add)"},
        {OWN, "Could not resolve", "; addr= in the hosts file says where a host is"},
        {OWN, "not known", "; addr= in the hosts file says where a host is"},
        {OWN, "Connection refused", "; no sshd listens there"},
        {OWN, "No route to host", "; the machine is down, or addr= in the hosts file is wrong"},
        {OWN, "unreachable", "; the machine is down, or addr= in the hosts file is wrong"},
        {OWN, "timed out", "; the machine is down, or a firewall is between"},
        {ANY, "and the hosts file says abi=",
         "; enl= in the hosts file names another one there, or take abi= out of that line"},
        {OWN, "Unable to create step",
         "; srun reaches the nodes of the job alone, and these while they are up (sinfo)"},
        {OWN, "resolve_ctls_from_dns_srv", "; srun finds no Slurm here: rshpath /usr/bin/ssh needs none"},
        {ANY, "version `GLIBC_",
         "; the C library there is older than that of this machine: build BCR and the program on a machine "
         "with "
         "the oldest one, or install BCR there"},
        {ANY, "another version of the protocol", "; install the same version of BCR there"},
        {ANY, "connecttimeout",
         "; run the command by hand to see what it waits for, or raise connecttimeout in bcrrc"},
        {ANY, "no enl speaks there", "; " NAME_IT ", and a login there must not print without end"},
    };
    const int code = why[0] == '\0' && WIFEXITED(status) ? WEXITSTATUS(status) : ANY;
    const bool own = code != 126 && code != 127;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if ((known[i].status == ANY || known[i].status == code || (known[i].status == OWN && own)) &&
            (strstr(said, known[i].part) != NULL || strstr(why, known[i].part) != NULL))
            return known[i].remedy;
    if (code == 127 || code == 126)
        return host->local ? "; " NAME_IT
                           : "; install BCR there, or say where enl is: enl= in the hosts file, or "
                             "enlistpath in bcrrc";
    if (code == ANY || code == 255 || strstr(said, "enl: ") != NULL)
        return "";
    return host->local || code != 0
               ? "; " NAME_IT
               : "; rshpath in bcrrc must name a program that runs the command there and "
                 "ends when that has ended, and " NAME_IT;
}
