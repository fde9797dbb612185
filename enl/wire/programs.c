/* SPDX-License-Identifier: MIT */
/* programs.c -- which program a command means, and waiting for a daemon's answer: wire.h. */
#include "wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bcri/running.h"
#include "bcri/stopped.h"

/* A daemon that a person stops and lets go on at once need not be given up. */
enum { STOPPED_MS = 1000, TURN_MS = 250 };

struct search {
    const char *program;
    char *name; /* room for one */
    bool found;
};

static bool look_for_daemon(void *data, const char *daemon)
{
    struct search *search = data;
    const size_t length = strlen(search->program);
    search->found = strncmp(daemon, search->program, length) == 0 && daemon[length] == ':';
    if (search->found)
        snprintf(search->name, ENL_DAEMON_NAME_MAX, "%s", daemon);
    return !search->found;
}

/* The daemon that a program has here; false: there is none, or it is the root's. */
/* NOLINTNEXTLINE(readability-non-const-parameter): it is written by way of `search` */
static bool is_elsewhere(const char *program, char out[ENL_DAEMON_NAME_MAX])
{
    struct search search = {.program = program, .name = out};
    if (strchr(program, ':') == NULL)
        bcri_running_each(look_for_daemon, &search);
    if (!search.found)
        return false;
    const int fd = bcri_channel_connect(program, 200);
    if (fd >= 0)
        close(fd);
    return fd == -ECONNREFUSED;
}

struct names {
    char (*all)[ENL_DAEMON_NAME_MAX];
    size_t count;
};

static bool add_program(void *data, const char *daemon)
{
    struct names *names = data;
    char program[ENL_DAEMON_NAME_MAX], other[ENL_DAEMON_NAME_MAX];
    snprintf(program, sizeof program, "%.*s", (int)strcspn(daemon, ":"), daemon);
    /* It stands for its program here: the root's, or without that the first one found. */
    if (strcmp(program, daemon) != 0 && (!is_elsewhere(program, other) || strcmp(other, daemon) != 0))
        return true;
    const int fd = bcri_channel_connect(daemon, 200);
    if (fd < 0)
        return true; /* any process may have made such an address */
    close(fd);
    void *more = realloc(names->all, (names->count + 1) * sizeof *names->all);
    if (more == NULL)
        return false;
    names->all = more;
    snprintf(names->all[names->count++], sizeof *names->all, "%s", daemon);
    return true;
}

size_t enl_programs(char (**names_out)[ENL_DAEMON_NAME_MAX])
{
    struct names names = {.count = 0};
    bcri_running_each(add_program, &names);
    *names_out = names.all;
    return names.count;
}

static bool is_only_program(char name_out[ENL_DAEMON_NAME_MAX])
{
    char(*names)[ENL_DAEMON_NAME_MAX];
    const size_t count = enl_programs(&names);
    if (count == 0)
        fprintf(stderr, "enl: no BCR program of yours is running\n");
    else if (count > 1)
        fprintf(stderr, "enl: which program?\n");
    for (size_t i = 0; count > 1 && i < count; i++)
        fprintf(stderr, "  %s\n", names[i]);
    if (count == 1)
        memcpy(name_out, names[0], ENL_DAEMON_NAME_MAX);
    free(names);
    return count == 1;
}

const char *enl_daemon_of(const char *name, char only[ENL_DAEMON_NAME_MAX])
{
    if (name == NULL)
        return is_only_program(only) ? only : NULL;
    if (!is_elsewhere(name, only))
        return name;
    /* The machine is in a name that enl has made, as node1.1234 and node1.1234-2. */
    const char *dot = strrchr(name, '.');
    const bool made =
        dot != NULL && dot[1] != '\0' && dot[1] != '-' && dot[1 + strspn(dot + 1, "0123456789-")] == '\0';
    const int machine = made ? (int)(dot - name) : 0;
    fprintf(stderr, "enl: program %s was started on another machine%s%.*s; its daemon here is %s\n", name,
            machine != 0 ? ", " : "", machine, name, only);
    return only;
}

const char *enl_why_unreached(int error)
{
    static char silence[ENL_SILENCE_TEXT_MAX];
    switch (error) {
    case -ECONNREFUSED: return "no program of yours has that name; enl ps lists them";
    case -EAGAIN: return enl_silence(-1, silence);
    default: return strerror(-error);
    }
}

int enl_program_connect(const char **name, char only[ENL_DAEMON_NAME_MAX])
{
    if ((*name = enl_daemon_of(*name, only)) == NULL)
        return -1;
    int fd = bcri_channel_connect(*name, 10000);
    if (fd < 0)
        fprintf(stderr, "enl: program %s: %s\n", *name, enl_why_unreached(fd));
    return fd < 0 ? -1 : fd;
}

/* How many pid namespaces the process is in that are not above the one whose /proc this is; 0: unknown. */
static int namespaces_of(pid_t pid)
{
    char path[64], line[512];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "NSpid:", 6) == 0)
            for (char *at = line + 6, *end; strtol(at, &end, 10), end != at; at = end)
                count++;
    if (file != NULL)
        fclose(file);
    return count;
}

/* -1: not known; 0: it cannot be seen from here, as one in another namespace. */
static pid_t process_of(int daemon)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return daemon >= 0 && getsockopt(daemon, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : -1;
}

bool enl_pids_are_foreign(int daemon)
{
    const pid_t pid = process_of(daemon);
    return pid == 0 || (pid > 0 && namespaces_of(pid) > 1);
}

int enl_ask_row(int daemon, uint32_t index, struct bcri_incoming *in)
{
    const struct bcri_control request = {
        .type = BCRI_MSG_ps, .present = BCRI_HAS(id) | BCRI_HAS(index), .id = index, .index = index};
    int got = bcri_channel_send(daemon, &request, NULL, 0, true);
    if (got == 0)
        got = enl_hear(daemon, in);
    if (got != 1)
        return got;
    bcri_incoming_close(in);
    return in->wrong == NULL ? 1 : -EPROTO;
}

/* ---- waiting for an answer ---- */

static bool is_stopped(int daemon)
{
    const pid_t pid = process_of(daemon);
    return pid > 0 && bcri_process_stopped((uint32_t)pid);
}

bool enl_is_silent(int daemon, unsigned waited_ms)
{
    return waited_ms >= ENL_PATIENCE_MS || (waited_ms >= STOPPED_MS && is_stopped(daemon));
}

const char *enl_silence(int daemon, char out[ENL_SILENCE_TEXT_MAX])
{
    const pid_t pid = process_of(daemon);
    if (is_stopped(daemon))
        snprintf(
            out, ENL_SILENCE_TEXT_MAX,
            "it does not answer; its daemon, process %ld, is stopped: fg, kill -CONT or enl kill ends that",
            (long)pid);
    else if (pid > 0)
        snprintf(
            out, ENL_SILENCE_TEXT_MAX,
            "it does not answer, though its daemon, process %ld, is not stopped: the machine may have too "
            "much to do",
            (long)pid);
    else
        snprintf(out, ENL_SILENCE_TEXT_MAX,
                 "it does not answer; it is stopped, or the machine has too much to do");
    return out;
}

int enl_hear(int daemon, struct bcri_incoming *in)
{
    const struct timeval turn = {.tv_usec = TURN_MS * 1000};
    unsigned waited_ms = 0;
    int got;
    setsockopt(daemon, SOL_SOCKET, SO_RCVTIMEO, &turn, sizeof turn);
    while ((got = bcri_channel_recv(daemon, in, true)) == -EAGAIN && !enl_is_silent(daemon, waited_ms))
        waited_ms += TURN_MS;
    return got;
}
