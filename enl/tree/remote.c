/* SPDX-License-Identifier: MIT */
/* See remote.h.
 *
 * Programs whose names begin with ssh get ssh's options: no terminal, no X11, no questions, and
 * keepalives, by which it notices that the machine is gone. Others are called as rsh:
 * [-l LOGIN] HOST COMMAND. Plain rsh sends all that the pipes carry in the clear, the program's key
 * too: that is warned about, once.
 *
 * COMMAND goes to the login shell there, which may be any. Without `enl` in the hosts file and
 * enlistpath it looks for enl where it lies here, then on PATH there. */
#include "remote.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/refuse.h"

struct words {
    struct enl_remote *remote;
    size_t count, used, room;
};

static void add(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct words *words, const char *format, ...)
{
    char *at = words->remote->words + words->used;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    const int length = vsnprintf(at, words->room - words->used, format, arguments);
    va_end(arguments);
    words->remote->argv[words->count++] = at;
    words->used += (size_t)length + 1;
}

/* The path of this enl. */
static bool own_path(char *out, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", out, size - 1);
    if (length <= 0)
        return false;
    out[length] = '\0';
    return true;
}

/* ' becomes '\'' within quotes, in every shell. */
static void quote(const char *text, char *out, size_t size)
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

/* What the login shell is to run. */
static void shell_command(const struct enl_program *program, const struct enl_host *host, char *out,
                          size_t size)
{
    char quoted[2 * PATH_MAX], own[PATH_MAX];
    const char *path = host->enl != NULL ? host->enl : program->config.enlistpath;
    if (path != NULL && strncmp(path, "~/", 2) == 0)
        path += 2; /* a login begins in the home directory */
    const bool known = path != NULL;
    if (!known)
        path = own_path(own, sizeof own) ? own : "enl";
    snprintf(quoted, sizeof quoted, "%s", path);
    if (needs_quotes(path))
        quote(path, quoted, sizeof quoted);
    if (known || strcmp(path, "enl") == 0)
        snprintf(out, size, "exec %s --child", quoted);
    else
        snprintf(out, size, "exec sh -c 'test -x \"$0\" && exec \"$0\" --child; exec enl --child' %s",
                 quoted);
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* An enl for this machine: a path. */
static bool local_path(const struct enl_program *program, const struct enl_host *host, char out[PATH_MAX])
{
    const char *path = host->enl != NULL ? host->enl : program->config.enlistpath;
    char *resolved = NULL;
    if (path == NULL || strchr(path, '/') == NULL)
        return own_path(out, PATH_MAX);
    if (bcri_config_resolve(&program->config, path, &resolved) != 0)
        return false;
    snprintf(out, PATH_MAX, "%s", resolved);
    free(resolved);
    return true;
}

/* The file of rshpath, which may be a name to be looked for on PATH. */
static bool find_rsh(const struct enl_program *program, char out[PATH_MAX], char *error, size_t error_size)
{
    char *path = NULL;
    if (program->config.rshpath == NULL)
        return bcri_refuse(error, error_size, false,
                           "there is no way to other machines: rshpath in bcrrc names none");
    if (bcri_config_resolve(&program->config, program->config.rshpath, &path) != 0)
        return bcri_refuse(error, error_size, false, "rshpath %s: there is no home directory",
                           program->config.rshpath);
    if (strchr(path, '/') != NULL) {
        snprintf(out, PATH_MAX, "%s", path);
        free(path);
        return true;
    }
    const char *folders = getenv("PATH");
    for (const char *at = folders != NULL ? folders : "/usr/bin:/bin"; *at != '\0';) {
        const size_t length = strcspn(at, ":");
        snprintf(out, PATH_MAX, "%.*s/%s", (int)length, at, path);
        if (length != 0 && access(out, X_OK) == 0) {
            free(path);
            return true;
        }
        at += length + (at[length] == ':');
    }
    bcri_refuse(error, error_size, 0, "there is no %s on PATH, which rshpath in bcrrc names", path);
    free(path);
    return false;
}

static void warn_of_rsh(struct enl_program *program, const char *name)
{
    static bool warned;
    if (warned || (strcmp(name, "rsh") != 0 && strcmp(name, "remsh") != 0))
        return;
    warned = true;
    enl_report(program, BCRI_LOG_WARN,
               "%s sends the program's key over the network in the clear; rshpath /usr/bin/ssh does not",
               name);
}

bool enl_remote_command(struct enl_remote *remote_out, struct enl_program *program,
                        const struct enl_host *host, const char *address, char *error, size_t error_size)
{
    char command[4 * PATH_MAX];
    *remote_out = (struct enl_remote){.words = malloc(8 * PATH_MAX)};
    struct words words = {.remote = remote_out, .room = 8 * PATH_MAX};
    if (remote_out->words == NULL)
        return bcri_refuse(error, error_size, false, "host %s cannot be used: no memory", host->name);
    if (host->local) {
        if (local_path(program, host, remote_out->path)) {
            add(&words, "%s", remote_out->path);
            add(&words, "--child");
            return true;
        }
        enl_remote_free(remote_out);
        return bcri_refuse(error, error_size, false, "host %s cannot be used: enl is not found", host->name);
    }
    if (!find_rsh(program, remote_out->path, error, error_size)) {
        enl_remote_free(remote_out);
        return false;
    }
    const char *name = last_component(remote_out->path);
    warn_of_rsh(program, name);
    add(&words, "%s", remote_out->path);
    if (strncmp(name, "ssh", 3) == 0) {
        const int seconds = program->config.connecttimeout / 1000, quiet = program->config.hosttimeout / 2000;
        add(&words, "-T");
        add(&words, "-x");
        add(&words, "-oBatchMode=yes");
        add(&words, "-oConnectTimeout=%d", seconds > 1 ? seconds - 1 : 1);
        add(&words, "-oServerAliveInterval=%d", quiet > 1 ? quiet : 1);
        add(&words, "-oServerAliveCountMax=2");
    }
    if (host->login != NULL) {
        add(&words, "-l");
        add(&words, "%s", host->login);
    }
    add(&words, "%s", address != NULL ? address : host->address != NULL ? host->address : host->name);
    shell_command(program, host, command, sizeof command);
    add(&words, "%s", command);
    return true;
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

const char *enl_remote_remedy(const struct enl_host *host, const char *why, const char *said, int status)
{
    static const struct {
        const char *part, *remedy;
    } known[] = {
        {"Host key verification failed",
         "; ssh does not know that machine's key: log in there once by hand, and accept it"},
        {"Permission denied",
         "; ssh must let you in without a question: give it a key (ssh-copy-id, ssh-add)"},
        {"Could not resolve", "; addr= in the hosts file says where a host is"},
        {"not known", "; addr= in the hosts file says where a host is"},
        {"Connection refused", "; no sshd listens there"},
        {"No route to host", "; the machine is down, or addr= in the hosts file is wrong"},
        {"unreachable", "; the machine is down, or addr= in the hosts file is wrong"},
        {"timed out", "; the machine is down, or a firewall is between"},
        {"another version of the protocol", "; install the same version of BCR there"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(said, known[i].part) != NULL || strstr(why, known[i].part) != NULL)
            return known[i].remedy;
    if (status == 127 || status == 126)
        return host->local
                   ? "; enl= in the hosts file, or enlistpath, must name enl itself"
                   : "; install BCR there, or say where enl is: enl= in the hosts file, or enlistpath";
    return "";
}
