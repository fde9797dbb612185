/* SPDX-License-Identifier: MIT */
/* See ask.h.
 *
 *   BEGUN --facts--> TIMED --four answers--> ENDING --its end, or a second--> over
 *     |                |
 *     +----------------+-- its end, connecttimeout, nonsense --> over, failed
 */
#include "verbs/hosts/hosts_private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/spawn.h"
#include "bcri/clock.h"
#include "bcri/config.h"
#include "bcri/escape.h"
#include "bcri/refuse.h"
#include "carry/carry.h"

enum { PINGS = 4, SAID_MAX = 1024, SAID_READ = 512, COMMAND_MAX = 1024 };

enum state { OVER, BEGUN, TIMED, ENDING };

struct ask {
    struct enl_asked *asked;
    struct enl_remote remote;
    enum state state;
    pid_t process;
    int in, out, err, end; /* `end` is the process's pidfd */
    unsigned pings;
    uint64_t deadline_ns;
    char *bytes;
    size_t length, said_length;
    uint64_t pinged_ns; /* CLOCK_MONOTONIC */
    int64_t pinged_at;  /* CLOCK_REALTIME */
    char said[SAID_MAX];
};

static int64_t real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- begin and end ---- */

static bool begin_process(struct ask *ask, const struct enl_inherited *inherited, char *error,
                          size_t error_size)
{
    extern char **environ;
    struct enl_pipes pipes;
    if (!enl_pipes_begin(&pipes, &ask->remote, ask->asked->host, environ, inherited, error, error_size))
        return false;
    ask->in = pipes.out;
    ask->out = pipes.in;
    ask->err = pipes.err;
    ask->process = pipes.process;
    ask->end = (int)syscall(SYS_pidfd_open, pipes.process, 0);
    return ask->end >= 0 ||
           bcri_refuse(error, error_size, false, "host %s cannot be used: %s could not be watched: %s",
                       ask->asked->host->name, ask->remote.path, strerror(errno));
}

/* With all that it has started and that has not left its process group. */
static void end_ask(struct ask *ask)
{
    if (ask->process > 0) {
        kill(-ask->process, SIGKILL);
        while (waitpid(ask->process, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close_one(&ask->in);
    close_one(&ask->out);
    close_one(&ask->err);
    close_one(&ask->end);
    free(ask->bytes);
    enl_remote_free(&ask->remote);
    *ask = (struct ask){.state = OVER, .in = -1, .out = -1, .err = -1, .end = -1};
}

/* The command that asks it. This machine is asked by this enl, whatever a name of its own says of another. */
static bool find_command(struct ask *ask, const struct bcri_config *config, char *error, size_t room)
{
    char own[PATH_MAX];
    struct enl_host host = *ask->asked->entry;
    if (ask->asked->is_here && enl_remote_own_path(own, sizeof own)) {
        host.local = true;
        host.enl = own;
    }
    return enl_remote_command(&ask->remote, config, &host, ask->asked->address, "--host-facts", error, room);
}

static void begin_ask(struct ask *ask, struct enl_asked *asked, const struct bcri_config *config,
                      const struct enl_inherited *inherited)
{
    *ask = (struct ask){.state = BEGUN, .asked = asked, .in = -1, .out = -1, .err = -1, .end = -1};
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): an ask that is OVER has no memory (end_ask) */
    ask->deadline_ns = bcri_deadline_after(config->connecttimeout);
    asked->round_trip_ns = UINT64_MAX;
    asked->pushed = config->push != 0 && !asked->is_here && enl_push_takes(asked->entry);
    char *error = asked->failed;
    const size_t room = sizeof asked->failed;
    if (!find_command(ask, config, error, room) || !begin_process(ask, inherited, error, room)) {
        end_ask(ask);
        return;
    }
    if ((ask->bytes = malloc(ENL_FACTS_BYTES_MAX)) == NULL) {
        bcri_refuse(error, room, 0, "host %s cannot be used: no memory", asked->host->name);
        end_ask(ask);
    }
}

/* ---- failures ---- */

/* The last line of a text, without what ends it, as it can be shown. */
static void last_line(const char *text, size_t length, char *out, size_t size)
{
    size_t first;
    while (length > 0 && strchr("\r\n .", text[length - 1]) != NULL)
        length--;
    for (first = length; first > 0 && text[first - 1] != '\n'; first--)
        ;
    bcri_escape(text + first, length - first, out, size, NULL);
}

/* `why` "": it has ended with that status. */
static void fail(struct ask *ask, const char *why, int status)
{
    char line[SAID_MAX], printed[SAID_MAX] = "", text[COMMAND_MAX], how[256];
    struct enl_asked *asked = ask->asked;
    asked->no_enl = asked->pushed && why[0] == '\0' && WIFEXITED(status) && WEXITSTATUS(status) == 127;
    if (asked->no_enl) {
        end_ask(ask);
        return;
    }
    ask->said[ask->said_length < SAID_MAX ? ask->said_length : SAID_MAX - 1] = '\0';
    last_line(ask->said, ask->said_length, line, sizeof line);
    if (ask->state == BEGUN && why[0] == '\0') /* a login may refuse where facts would come */
        last_line(ask->bytes, ask->length, printed, sizeof printed);
    enl_remote_text(&ask->remote, text, sizeof text);
    if (why[0] != '\0')
        snprintf(how, sizeof how, "%s", why);
    else if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "%s was killed by signal %d", enl_remote_name(&ask->remote),
                 WTERMSIG(status));
    else
        snprintf(how, sizeof how, "%s ended with status %d", enl_remote_name(&ask->remote),
                 WEXITSTATUS(status));
    const char *remedy = strstr(line, "unknown option --host-facts") != NULL
                             ? "; enl there is older: install the same version of BCR there"
                             : enl_remote_remedy(asked->host, why, ask->said, status);
    bcri_refuse(asked->failed, sizeof asked->failed, 0,
                "host %s cannot be used: %s%s%s%s%s%s; the command was: %s", asked->host->name, how,
                line[0] != '\0' ? ": " : "", line,
                printed[0] == '\0' ? ""
                : line[0] != '\0'  ? "; it printed: "
                                   : ": it printed: ",
                printed, remedy, text);
    end_ask(ask);
}

/* ---- what comes ---- */

static void ping(struct ask *ask)
{
    ask->pinged_ns = bcri_clock_ns();
    ask->pinged_at = real_ns();
    (void)!write(ask->in, "\n", 1); /* if that fails its end is near */
}

/* A line with the time there. It has a newline, at which strtoll ends if it begins with a digit; it would skip
 * blanks, and so a line of nothing else, and what is behind the bytes. */
static void take_time(struct ask *ask, const char *line)
{
    struct enl_asked *asked = ask->asked;
    const uint64_t round_trip = bcri_clock_ns() - ask->pinged_ns;
    char *rest;
    errno = 0;
    const long long there = line[0] >= '0' && line[0] <= '9' ? strtoll(line, &rest, 10) : -1;
    if (there < 0 || *rest != '\n' || errno != 0) {
        fail(ask, "what it says of its machine makes no sense; install the same version of BCR there", 0);
        return;
    }
    if (round_trip < asked->round_trip_ns) {
        asked->round_trip_ns = round_trip;
        asked->clock_ns = (int64_t)there - (ask->pinged_at + (int64_t)(round_trip / 2));
    }
    if (++ask->pings < PINGS) {
        ping(ask);
        return;
    }
    ask->state = ENDING;
    ask->deadline_ns = bcri_deadline_after(1000);
    close_one(&ask->in);
}

static void take_facts(struct ask *ask)
{
    const char *why;
    if (ask->state == BEGUN) {
        const long used = enl_facts_read(&ask->asked->facts, ask->bytes, ask->length, &why);
        if (used < 0)
            fail(ask, why, 0);
        if (used <= 0)
            return;
        ask->length = 0; /* it is silent now until it is asked */
        ask->state = TIMED;
        ping(ask);
    } else if (ask->state == TIMED && memchr(ask->bytes, '\n', ask->length) != NULL) {
        ask->length = 0;
        take_time(ask, ask->bytes);
    }
}

static void read_out(struct ask *ask)
{
    const ssize_t got = read(ask->out, ask->bytes + ask->length, ENL_FACTS_BYTES_MAX - ask->length);
    if (got <= 0) {
        if (got == 0 || errno != EINTR)
            close_one(&ask->out);
        return;
    }
    ask->length += (size_t)got;
    if (ask->state == ENDING)
        ask->length = 0;
    else
        take_facts(ask);
    if (ask->length == ENL_FACTS_BYTES_MAX)
        fail(ask, "no enl speaks there", 0);
}

/* Keeps the end of what it says. */
static void read_err(struct ask *ask)
{
    char more[SAID_READ];
    const ssize_t got = read(ask->err, more, sizeof more);
    if (got <= 0) {
        if (got == 0 || errno != EINTR)
            close_one(&ask->err);
        return;
    }
    const size_t room = SAID_MAX - 1 - ask->said_length, new = (size_t)got;
    if (new > room) {
        memmove(ask->said, ask->said + (new - room), ask->said_length - (new - room));
        ask->said_length -= new - room;
    }
    memcpy(ask->said + ask->said_length, more, new);
    ask->said_length += new;
}

/* Its process has ended. What it has said before is there to be read; what others write from now on, which have
 * its pipes, is not waited for. */
static void take_end(struct ask *ask)
{
    int status = 0, there = 0;
    struct pollfd rest = {.fd = ask->out, .events = POLLIN};
    if (ask->err >= 0 && ioctl(ask->err, FIONREAD, &there) == 0)
        for (; there > 0 && ask->err >= 0; there -= SAID_READ)
            read_err(ask);
    while (ask->state == BEGUN && ask->out >= 0 && poll(&rest, 1, 0) > 0) {
        read_out(ask);
        rest.fd = ask->out;
    }
    if (ask->state == OVER)
        return;
    if (ask->state != ENDING)
        kill(-ask->process, SIGKILL); /* it keeps its number until it is waited for */
    while (waitpid(ask->process, &status, 0) < 0 && errno == EINTR)
        ;
    ask->process = 0;
    if (ask->state == ENDING)
        end_ask(ask);
    else
        fail(ask, "", status);
}

static void take_timeout(struct ask *ask, const struct bcri_config *config)
{
    char why[128];
    if (ask->state == ENDING) {
        end_ask(ask);
        return;
    }
    snprintf(why, sizeof why, "nothing came from it for %d ms (connecttimeout)", config->connecttimeout);
    fail(ask, why, 0);
}

/* ---- all ---- */

/* What a terminal shows of it. */
struct told {
    uint64_t quiet_ns; /* until then nothing; BCRI_DEADLINE_NEVER: it is no terminal, or there is one host */
    size_t shown;
    unsigned done;
};

static void tell_progress(struct told *told, unsigned done, unsigned all)
{
    char line[ENL_PROGRESS_BYTES];
    if (!bcri_deadline_passed(told->quiet_ns, bcri_clock_ns()) ||
        (all != 0 && told->shown != 0 && told->done == done))
        return;
    told->done = done;
    const size_t length = enl_progress_line(line, &told->shown, done, all);
    (void)!write(2, line, length);
}

/* False: the command is interrupted. No more are polled than there are: the limit of descriptors is one of poll(2). */
static bool wait_for(struct ask *asks, const struct bcri_config *config, int interrupt,
                     const struct told *told)
{
    struct pollfd polls[3 * ENL_ASKED_AT_ONCE + 1];
    struct ask *running[ENL_ASKED_AT_ONCE];
    uint64_t deadline = told->shown == 0 ? told->quiet_ns : BCRI_DEADLINE_NEVER;
    nfds_t used = 0, count = 0;
    for (int i = 0; i < ENL_ASKED_AT_ONCE; i++) {
        struct ask *ask = &asks[i];
        if (ask->state == OVER)
            continue;
        running[count++] = ask;
        polls[used++] = (struct pollfd){.fd = ask->err, .events = POLLIN};
        polls[used++] = (struct pollfd){.fd = ask->out, .events = POLLIN};
        polls[used++] = (struct pollfd){.fd = ask->end, .events = POLLIN};
        if (ask->deadline_ns < deadline)
            deadline = ask->deadline_ns;
    }
    polls[used] = (struct pollfd){.fd = interrupt, .events = POLLIN};
    if (poll(polls, used + 1, bcri_deadline_left_ms(deadline, bcri_clock_ns())) < 0)
        return true;
    if (polls[used].revents != 0)
        return false;
    for (nfds_t i = 0; i < count; i++) {
        struct ask *ask = running[i];
        if (polls[3 * i].revents != 0)
            read_err(ask);
        if (polls[3 * i + 1].revents != 0)
            read_out(ask);
        if (ask->state != OVER && polls[3 * i + 2].revents != 0)
            take_end(ask);
        if (ask->state != OVER && bcri_deadline_passed(ask->deadline_ns, bcri_clock_ns()))
            take_timeout(ask, config);
    }
    return true;
}

void enl_ask_all(const struct bcri_config *config, struct enl_asked *all, size_t count)
{
    struct ask asks[ENL_ASKED_AT_ONCE] = {{.state = OVER}};
    struct enl_inherited inherited;
    struct enl_interrupt interrupt;
    struct told told = {.quiet_ns = count > 1 && isatty(2) ? bcri_deadline_after(ENL_PROGRESS_QUIET_MSEC)
                                                           : BCRI_DEADLINE_NEVER};
    size_t begun = 0;
    bool more = count > 0;
    enl_inherited_take(&inherited);
    enl_interrupt_begin(&interrupt);
    signal(SIGPIPE, SIG_IGN);
    while (more) {
        unsigned runs = 0;
        for (int i = 0; i < ENL_ASKED_AT_ONCE; i++) {
            while (asks[i].state == OVER && begun < count)
                begin_ask(&asks[i], &all[begun++], config, &inherited);
            runs += asks[i].state != OVER;
        }
        tell_progress(&told, (unsigned)begun - runs, runs != 0 ? (unsigned)count : 0);
        more = runs != 0 && wait_for(asks, config, interrupt.fd, &told);
    }
    tell_progress(&told, 0, 0);
    for (int i = 0; i < ENL_ASKED_AT_ONCE; i++)
        if (asks[i].state != OVER)
            end_ask(&asks[i]);
    enl_interrupt_end(&interrupt); /* which is the end of this process, if it was interrupted */
}
