/* SPDX-License-Identifier: MIT */
/* command.c -- enl ps, enl kill, enl --join, enl --enter, enl --show-config. */
#include "verbs/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/object.h"
#include "base/spawn.h"
#include "bcri/channel.h"
#include "bcri/config.h"
#include "bcri/control.h"
#include "bcri/descriptor.h"
#include "bcri/environment.h"
#include "bcri/escape.h"
#include "bcri/host.h"
#include "bcri/running.h"
#include "bcri/stopped.h"
#include "inspect/look/look.h"
#include "wire/wire.h"

/* How long an answer may take; 0: for ever. */
static void set_patience(int fd, time_t seconds)
{
    struct timeval patience = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

static const char *state_name(uint32_t state)
{
    switch (state) {
    case BCRI_CCE_STARTING: return "starting";
    case BCRI_CCE_ALIVE: return "alive";
    case BCRI_CCE_DYING: return "dying";
    case BCRI_ROW_STOPPED: return "stopped";
    case BCRI_ROW_WAITING: return "waiting";
    default: return "ended";
    }
}

static void show_row(const struct bcri_control *row)
{
    char ccename[1024]; /* of the CCE's own choice */
    char ordinal[16] = "-";
    bcri_escape(row->ccename.bytes, row->ccename.length, ccename, sizeof ccename, NULL);
    if (row->state != BCRI_ROW_WAITING)
        snprintf(ordinal, sizeof ordinal, "%u", row->ordinal);
    printf("%-28.*s %7s %9u  %-9s %s\n", (int)row->program.length, row->program.bytes, ordinal, row->pid,
           state_name(row->state), ccename);
}

/* The other hosts of a program, if this is its root's daemon: how many are up, and the names of the others. Whether there are any. */
static bool show_hosts(int fd, const char *program)
{
    char others[512] = "";
    unsigned up = 0;
    size_t used = 0;
    struct look_daemon host;
    for (uint64_t number = 1; look_host_next(fd, number, &host); number = host.host + 1) {
        const bool is_up = strcmp(host.standing, "up") == 0;
        up += is_up;
        if (!is_up && used < sizeof others)
            used +=
                (size_t)snprintf(others + used, sizeof others - used, ", %s %s", host.name, host.standing);
    }
    if (up == 0 && used == 0)
        return false;
    printf("%-28s %u other host%s up%s%s; enl ps %s shows all\n", program, up, up == 1 ? "" : "s", others,
           used >= sizeof others ? " ..." : "", program);
    return true;
}

struct shown {
    unsigned count;
    unsigned silent; /* of them, or not understood */
};

static bool show_program(void *data, const char *program)
{
    static struct bcri_incoming in;
    struct shown *shown = data;
    char why[ENL_SILENCE_TEXT_MAX];
    uint32_t index = 1; /* of the first CCE that is not shown yet */
    int fd = bcri_channel_connect(program, 200), got = fd;
    if (fd < 0 && fd != -EAGAIN)
        return true; /* the program has ended meanwhile, or is another user's */
    if (shown->count++ == 0)
        printf("%-28s %7s %9s  %-9s %s\n", "PROGRAM", "CCE", "PID", "STATE", "NAME");
    for (; fd >= 0 && (got = enl_ask_row(fd, index, &in)) == 1 && in.message.type == BCRI_MSG_row;
         index = in.message.index + 1)
        show_row(&in.message);
    if (got == -EAGAIN || got == -EPROTO) {
        printf("%-28s %s\n", program, got == -EAGAIN ? enl_silence(fd, why) : in.wrong);
        shown->silent++;
    }
    if (fd < 0)
        return true;
    if (enl_pids_are_foreign(fd))
        printf("%-28s its process IDs are those of another pid namespace (a container's), not of this one\n",
               program);
    const bool has_hosts = strchr(program, ':') == NULL && show_hosts(fd, program);
    if (got == 1 && index == 1 && !has_hosts) /* a script runs, or debuggers hold one whose CCEs have ended */
        printf("%-28s has no CCE now; enl kill ends it\n", program);
    close(fd);
    return true;
}

int enl_command_ps(void)
{
    struct shown shown = {0};
    bcri_running_each(show_program, &shown);
    if (shown.count == 0)
        fprintf(stderr, "enl: no BCR program of yours is running\n");
    return shown.silent != 0;
}

/* Whether no daemon listens under that name any more. */
static bool is_gone(const char *name)
{
    int fd = bcri_channel_connect(name, 200);
    if (fd >= 0)
        close(fd);
    return fd == -ECONNREFUSED;
}

int enl_command_kill(const char *name)
{
    static struct bcri_incoming in;
    char only[ENL_DAEMON_NAME_MAX];
    int fd = enl_program_connect(&name, only);
    if (fd < 0)
        return 1;
    struct bcri_control request = {.type = BCRI_MSG_kill, .present = BCRI_HAS(id), .id = 1};
    struct ucred daemon = {.pid = 0};
    socklen_t length = sizeof daemon;
    const char *wrong = NULL;
    int status = 1;
    bool sent = bcri_channel_send(fd, &request, NULL, 0, true) == 0;
    /* The daemon may be stopped with all its program. A daemon that runs gets no SIGCONT. SIGCONT
     * would take back a SIGSTOP that is under way, and a process that attaches to the daemon just
     * now (a debugger, LeakSanitizer at its end) would wait for that stop for ever. */
    if (sent && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &daemon, &length) == 0 && daemon.pid != 0 &&
        bcri_process_stopped((uint32_t)daemon.pid))
        kill(daemon.pid, SIGCONT);
    set_patience(fd, 10); /* a daemon answers at once, unless something is very wrong with it */
    while (sent && bcri_channel_recv(fd, &in, true) == 1) { /* until the daemon itself has gone */
        if (in.wrong == NULL && in.message.type == BCRI_MSG_reply)
            status = (int)in.message.status;
        wrong = wrong != NULL ? wrong : in.wrong;
        bcri_incoming_close(&in);
        set_patience(fd, 0);
    }
    close(fd);
    if (status != 0 && is_gone(name))
        return 0; /* it ended by itself just then */
    if (status != 0 && wrong != NULL)
        fprintf(stderr, "enl: program %s is not killed: %s; use the enl by which it was started\n", name,
                wrong);
    else if (status != 0 && daemon.pid == 0)
        fprintf(stderr,
                "enl: program %s did not answer, and its daemon cannot be seen from here, since it is in "
                "another pid "
                "namespace; kill it by hand there\n",
                name);
    else if (status != 0)
        fprintf(stderr, "enl: program %s did not answer; kill process %ld by hand: kill -9 %ld\n", name,
                (long)daemon.pid, (long)daemon.pid);
    return status;
}

int enl_command_kill_all(void)
{
    char(*names)[ENL_DAEMON_NAME_MAX];
    int status = 0;
    const size_t count = enl_programs(&names);
    for (size_t i = 0; i < count; i++)
        if (!is_gone(names[i]) && enl_command_kill(names[i]) != 0)
            status = 1;
        else
            printf("program %s has ended\n", names[i]);
    if (count == 0)
        fprintf(stderr, "enl: no BCR program of yours is running\n");
    free(names);
    return status;
}

/* Receives the next message. An audit may take long: if no message comes in time, the daemon is
 * asked for something else, which it answers at once unless it is stopped. -EAGAIN: it is silent. */
static int hear_answer(int fd, struct bcri_incoming *in)
{
    const struct bcri_control ask = {
        .type = BCRI_MSG_ps, .present = BCRI_HAS(id) | BCRI_HAS(index), .id = 2, .index = 1};
    set_patience(fd, 5);
    int got = bcri_channel_recv(fd, in, true);
    if (got == -EAGAIN && bcri_channel_send(fd, &ask, NULL, 0, true) == 0)
        got = enl_hear(fd, in);
    return got;
}

int enl_command_audit(const char *name)
{
    static struct bcri_incoming in;
    char only[ENL_DAEMON_NAME_MAX];
    int fd = enl_program_connect(&name, only);
    if (fd < 0)
        return 2;
    struct bcri_control request = {.type = BCRI_MSG_audit, .present = BCRI_HAS(id), .id = 1};
    int status = 2, got = -EPIPE;
    if (bcri_channel_send(fd, &request, NULL, 0, true) == 0)
        while (status == 2 && (got = hear_answer(fd, &in)) == 1 && in.wrong == NULL) {
            const struct bcri_control *answer = &in.message;
            bool last = answer->type == BCRI_MSG_reply;
            if (answer->id == request.id)
                printf(last ? "%.*s\n" : "  %.*s\n", (int)answer->text.length, answer->text.bytes);
            if (last && answer->id == request.id)
                status = answer->status == 0 ? 0 : 1;
            bcri_incoming_close(&in);
        }
    char why[ENL_SILENCE_TEXT_MAX] = "it ended before it was looked through";
    if (status == 2 && got == -EAGAIN)
        enl_silence(fd, why);
    else if (status == 2 && got == 1 && in.wrong != NULL)
        snprintf(why, sizeof why, "%s", in.wrong);
    close(fd);
    if (status == 2)
        fprintf(stderr, "enl: program %s: %s\n", name, why);
    return status;
}

/* Whether hello was said, or the daemon has ended: then the daemon's end is closed. What is sent and not yet read counts. */
static bool has_said_hello(int fd)
{
    struct pollfd look = {.fd = fd, .events = 0};
    int unread = 0;
    return poll(&look, 1, 0) != 0 || (ioctl(fd, SIOCOUTQ, &unread) == 0 && unread != 0);
}

/* Until hello is said, or the process ends without it: then no other process is left that could tell. Descriptor 0 is the
 * socket, 1 the process's pidfd. */
static _Noreturn void watch_joined(pid_t pid, const char *path)
{
    enum { SOCKET, PROCESS };
    struct pollfd look[2] = {{.fd = SOCKET, .events = 0}, {.fd = PROCESS, .events = POLLIN}};
    while (poll(look, 2, -1) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < 20 && !has_said_hello(SOCKET); i++) /* which the daemon may have read just now */
        poll(look, 1, 10);
    if (!has_said_hello(SOCKET))
        fprintf(stderr,
                "enl: %s (pid %ld) has ended and never called bcr_init: it has not joined; it must be, or "
                "run, a BCR "
                "program, and what runs between must pass on the variable " BCRI_CONTROL_ENV
                " and its descriptor\n",
                path, (long)pid);
    _exit(0);
}

/* Starts the process that watches. It is no child of the process that becomes the program, which may wait for all its
 * children. If it cannot be started, nothing is told. */
static void start_watch(int fd, const char *path)
{
    const pid_t own = getpid();
    const int process = bcri_descriptor_aside((int)syscall(SYS_pidfd_open, own, 0));
    const pid_t child = process >= 0 ? fork() : -1;
    if (child == 0) {
        if (fork() != 0)
            _exit(0);
        /* It keeps nothing of the user's but stderr, for as long as nothing has joined. */
        if (dup2(fd, 0) < 0 || dup2(process, 1) < 0 || close_range(3, ~0u, 0) != 0 || chdir("/") != 0)
            _exit(1);
        watch_joined(own, path);
    }
    if (child > 0)
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    if (process >= 0)
        close(process);
}

int enl_command_join(const struct enl_options *options, char **argv)
{
    extern char **environ;
    char path[PATH_MAX], reason[1024], number[16];
    int status = enl_object_find(argv[0], path, reason, sizeof reason);
    if (status != 0) {
        fprintf(stderr, "enl: %s\n", reason);
        return status;
    }
    int fd = bcri_channel_connect(options->join, 10000);
    if (fd < 0) {
        fprintf(stderr, "enl: program %s: %s\n", options->join, enl_why_unreached(fd));
        return 1;
    }
    snprintf(number, sizeof number, "%d", fd);
    char **environment = enl_environment_with(environ, BCRI_CONTROL_ENV, number);
    start_watch(fd, path);
    if (environment != NULL && fcntl(fd, F_SETFD, 0) == 0)
        execve(path, argv, environment);
    fprintf(stderr, "enl: %s could not be executed: %s\n", path, strerror(errno));
    shutdown(fd, SHUT_RDWR); /* for the process that watches */
    free(environment);
    return 126;
}

int enl_command_enter(const struct enl_options *options, char **argv)
{
    extern char **environ;
    char path[PATH_MAX], reason[1024], only[ENL_DAEMON_NAME_MAX];
    const char *name = options->enter;
    const int status = enl_object_find(argv[0], path, reason, sizeof reason);
    if (status != 0) {
        fprintf(stderr, "enl: %s\n", reason);
        return status;
    }
    const int fd =
        enl_program_connect(&name, only); /* bcr_init goes there by itself: it may be called much later */
    if (fd < 0)
        return 1;
    close(fd);
    unsetenv(BCRI_CONTROL_ENV); /* a program that runs this command was started for another program */
    char **environment = enl_environment_with(environ, BCRI_ENTER_ENV, name);
    if (environment != NULL)
        execve(path, argv, environment);
    fprintf(stderr, "enl: %s could not be executed: %s\n", path,
            strerror(environment != NULL ? errno : ENOMEM));
    free(environment);
    return 126;
}

int enl_command_show_config(const struct enl_options *options)
{
    struct bcri_config config;
    struct bcri_config_entry entry;
    if (!enl_options_config(options, &config))
        return 2;
    for (size_t i = 0; bcri_config_at(&config, i, &entry); i++)
        printf("%-14s %-24s # %s (%s)\n", entry.keyword, entry.value, entry.about, entry.origin);
    bcri_config_fini(&config);
    return 0;
}
