/* SPDX-License-Identifier: MIT */
/* pane.c -- bytes between a terminal and a debugger's pty, or between pipes and gdbserver's socket.
 *
 * The descriptor comes from the daemon. The connection to the daemon stays open: when it ends, on either side, the
 * debugger is hung up. */
#include "pane.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "bcri/channel.h"
#include "command.h"
#include "own.h"
#include "programs.h"
#include "where.h"
#include "windows.h"

struct pipe {
    int from, to;
    bool ended; /* nothing comes any more */
    size_t length;
    char bytes[16384];
};

static short wanted(const struct pipe *pipe)
{
    return pipe->length == 0 && !pipe->ended ? POLLIN : 0;
}

static bool is_later(void)
{
    return errno == EAGAIN || errno == EINTR;
}

static void take(struct pipe *pipe)
{
    const ssize_t got = read(pipe->from, pipe->bytes, sizeof pipe->bytes);
    if (got > 0)
        pipe->length = (size_t)got;
    else if (got == 0 || !is_later())
        pipe->ended = true; /* a pty's end is EIO */
}

static void give(struct pipe *pipe)
{
    const ssize_t put = write(pipe->to, pipe->bytes, pipe->length);
    if (put < 0 && !is_later())
        pipe->ended = true;
    if (put < 0 && is_later()) {
        poll(&(struct pollfd){.fd = pipe->to, .events = POLLOUT}, 1, pipe->to == 1 ? -1 : 0);
        return;
    }
    pipe->length -= put > 0 ? (size_t)put : pipe->length;
    memmove(pipe->bytes, pipe->bytes + (put > 0 ? put : 0), pipe->length);
}

static void fit(int fd)
{
    struct winsize size;
    if (ioctl(0, TIOCGWINSZ, &size) == 0 && size.ws_row != 0)
        ioctl(fd, TIOCSWINSZ, &size);
}

enum { EOF_MSEC = 500 };

/* Relays until the debugger ends, stdin does, or the daemon has gone (`daemon`). A debugger at a terminal is told of
 * stdin's end as by a person, unless stdin is the terminal, which has hung up then. It is told again and again, since
 * it heeds Ctrl-D only where it reads. */
static void relay(int fd, int daemon, bool terminal)
{
    const char eof = '\004';
    const bool tells = terminal && !isatty(0);
    static struct pipe in, out;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    sigprocmask(SIG_BLOCK, &set, NULL);
    const int changes = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    in = (struct pipe){.from = 0, .to = fd};
    out = (struct pipe){.from = fd, .to = 1};
    while (!out.ended && !(in.ended && in.length == 0 && !tells)) {
        struct pollfd look[] = {{.fd = 0, .events = wanted(&in)},
                                {.fd = fd, .events = (short)(wanted(&out) | (in.length != 0 ? POLLOUT : 0))},
                                {.fd = daemon, .events = POLLIN},
                                {.fd = changes, .events = POLLIN}};
        if (look[0].events == 0)
            look[0].fd = -1;
        const bool tell = in.ended && in.length == 0;
        const int ready = poll(look, 4, tell ? EOF_MSEC : -1);
        if (ready < 0 && errno != EINTR)
            break;
        if (ready == 0)
            (void)!write(fd, &eof, 1);
        if ((look[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
            take(&in);
        if ((look[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
            take(&out);
        if (in.length != 0)
            give(&in);
        while (out.length != 0 && !out.ended)
            give(&out);
        struct signalfd_siginfo info;
        if ((look[3].revents & POLLIN) != 0 && read(changes, &info, sizeof info) > 0)
            fit(fd);
        if (look[2].revents != 0 && (look[1].revents & POLLIN) == 0)
            break;
    }
    close(changes);
}

/* Connects to program `name` (NULL: the only one), which is given some seconds for each answer. */
static int connect_to(const char *name)
{
    const struct timeval patience = {.tv_sec = 5};
    const int fd = enl_command_connect(name);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

/* Asks the daemon for a descriptor. Returns it, or -1 after saying why there is none. */
static int ask(int daemon, const struct bcri_control *request, const char *what)
{
    static struct bcri_incoming in;
    int got = bcri_channel_send(daemon, request, NULL, 0, true);
    if (got == 0)
        got = bcri_channel_recv(daemon, &in, true);
    if (got != 1 || in.wrong != NULL || in.message.type != BCRI_MSG_reply) {
        fprintf(stderr, "enl: %s: %s\n", what, got == -EAGAIN ? enl_silent : "the program has ended");
        return -1;
    }
    if (in.fds[0] < 0)
        fprintf(stderr, "enl: %s: %.*s\n", what, (int)in.message.text.length, in.message.text.bytes);
    return in.fds[0];
}

static struct termios before; /* of this terminal */

static void restore(int signal)
{
    tcsetattr(0, TCSANOW, &before);
    raise(signal); /* its action is the default one again */
}

/* Relays in this terminal, which is put into raw mode meanwhile. */
static void show(int fd, int daemon)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    const struct sigaction action = {.sa_handler = restore, .sa_flags = (int)SA_RESETHAND};
    struct termios raw;
    struct sigaction former;
    const bool terminal = tcgetattr(0, &before) == 0;
    if (terminal) {
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
            if (sigaction(ends[i], NULL, &former) == 0 && former.sa_handler != SIG_IGN)
                sigaction(ends[i], &action, NULL);
        raw = before;
        cfmakeraw(&raw);
        tcsetattr(0, TCSADRAIN, &raw);
        fit(fd);
    }
    relay(fd, daemon, true);
    if (terminal)
        tcsetattr(0, TCSADRAIN, &before);
}

int enl_pane(char **argv)
{
    char what[128];
    if (argv[0] == NULL || argv[1] == NULL || argv[2] == NULL || argv[3] == NULL)
        return 2;
    snprintf(what, sizeof what, "CCE %s", argv[2]);
    if (isatty(1))
        printf("\033]2;CCE %s: %s\033\\", argv[2], argv[3]);
    fflush(stdout);
    const int daemon = bcri_channel_connect(argv[0], 10000);
    if (daemon < 0)
        return 1;
    const struct bcri_control request = {.type = BCRI_MSG_pane,
                                         .present = BCRI_HAS(id) | BCRI_HAS(index),
                                         .id = 1,
                                         .index = (uint32_t)strtoul(argv[1], NULL, 10)};
    const int fd = ask(daemon, &request, what);
    if (fd < 0)
        return 1;
    show(fd, daemon);
    return 0;
}

/* An ordinal, or pid:NUMBER. */
static bool read_cce(const char *word, struct bcri_control *request)
{
    char *end;
    const bool by_pid = strncmp(word, "pid:", 4) == 0;
    const char *digits = by_pid ? word + 4 : word;
    const unsigned long number = strtoul(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end != '\0' || number > INT32_MAX) {
        fprintf(stderr, "enl: a CCE is named by its ordinal, or by pid: and its process, not by %s\n", word);
        return false;
    }
    request->present |= by_pid ? BCRI_HAS(pid) : 0;
    request->pid = by_pid ? (uint32_t)number : 0;
    request->ordinal = by_pid ? 0 : (uint32_t)number;
    return true;
}

/* Asks for a debugger at one CCE (gdbserver if `debugger` is ""), and relays. */
static int attach_one(const char *name, const char *word, const char *debugger)
{
    char what[128];
    struct bcri_control request = {.type = BCRI_MSG_attach,
                                   .present = BCRI_HAS(id) | BCRI_HAS(ordinal) | BCRI_HAS(object),
                                   .id = 1,
                                   .object = bcri_view_of(debugger)};
    if (!read_cce(word, &request))
        return 2;
    const int daemon = connect_to(name);
    if (daemon < 0)
        return 1;
    snprintf(what, sizeof what, "CCE %s", word);
    const int fd = ask(daemon, &request, what);
    if (fd < 0)
        return 1;
    if (debugger[0] != '\0') {
        show(fd, daemon);
    } else {
        signal(SIGINT, SIG_IGN); /* gdb's Ctrl-C is gdb's, which shares the terminal with its pipe */
        relay(fd, daemon, false);
    }
    return 0;
}

int enl_gdb_pipe(char **argv)
{
    return attach_one(strcmp(argv[0], "-") != 0 ? argv[0] : NULL, argv[1], "");
}

/* Finds the first CCE with at least that index: returns 1, 0 (there is none), or -1 after saying why not. */
static int next_row(int daemon, const char *name, uint32_t index, struct bcri_incoming *in)
{
    const int got = enl_ask_row(daemon, index, in);
    if (got != 1) {
        fprintf(stderr, "enl: program %s: %s\n", name, got == -EAGAIN ? enl_silent : "it has ended");
        return -1;
    }
    return in->message.type == BCRI_MSG_row;
}

/* Every CCE that is alive. Returns how many, or -1. */
static int all_of(const char *name, char words[][16], int room)
{
    static struct bcri_incoming in;
    int count = 0, got = 0;
    const int daemon = connect_to(name);
    if (daemon < 0)
        return -1;
    for (uint32_t index = 1; count < room && (got = next_row(daemon, name, index, &in)) == 1;) {
        if (in.message.state != BCRI_ROW_WAITING)
            snprintf(words[count++], sizeof words[0], "pid:%u", in.message.pid);
        index = in.message.index + 1;
    }
    close(daemon);
    return got < 0 ? -1 : count;
}

/* Whether the program has this CCE: returns the exit status, which is 0 if so; else a sentence has said why not. */
static int look_for(int daemon, const char *name, const char *word)
{
    static struct bcri_incoming in;
    struct bcri_control wanted = {.present = 0};
    if (!read_cce(word, &wanted))
        return 2;
    const bool by_pid = (wanted.present & BCRI_HAS(pid)) != 0;
    int got;
    for (uint32_t index = 1; (got = next_row(daemon, name, index, &in)) == 1; index = in.message.index + 1)
        if (in.message.state != BCRI_ROW_WAITING &&
            (by_pid ? in.message.pid == wanted.pid : in.message.ordinal == wanted.ordinal))
            return 0;
    if (got == 0)
        fprintf(stderr, "enl: CCE %s: it has ended, or is on another host; enl ps lists what there is\n",
                word);
    return 1;
}

static int look_for_all(const char *name, char *const *words)
{
    const int daemon = connect_to(name);
    int status = daemon < 0 ? 1 : 0;
    for (; status == 0 && *words != NULL; words++)
        status = look_for(daemon, name, *words);
    if (daemon >= 0)
        close(daemon);
    return status;
}

enum { ATTACH_MAX = 1000 };

int enl_attach(const struct enl_options *options, char **argv)
{
    static char found[ATTACH_MAX][16];
    const char *debugger = options->debugger != NULL ? options->debugger : "gdb", *value = "";
    enum enl_where where = ENL_WHERE_NONE;
    char error[512], *words[ATTACH_MAX + 1];
    int count = 0;
    if (options->where != NULL && enl_where_parse(options->where, &where, &value, error, sizeof error) != 0) {
        fprintf(stderr, "enl: %s\n", error);
        return 2;
    }
    for (char **at = argv + 1; *at != NULL && count < ATTACH_MAX; at++)
        words[count++] = *at;
    if (count == 0) {
        const int all = all_of(argv[0], found, ATTACH_MAX);
        for (; count < all; count++)
            words[count] = found[count];
        if (all < 0)
            return 1;
    }
    if (count == 0) {
        fprintf(stderr, "enl: program %s has no CCE on this host\n", argv[0]);
        return 1;
    }
    words[count] = NULL;
    if (where == ENL_WHERE_NONE && count == 1)
        return attach_one(argv[0], words[0], debugger);
    if (where == ENL_WHERE_BATCH) {
        fprintf(stderr, "enl: -D batch:FILE starts CCEs; for one that runs: enl attach -d 'gdb -batch -x "
                        "FILE' NAME CCE\n");
        return 2;
    }
    const int status = look_for_all(argv[0], words);
    if (status != 0)
        return status;
    if (where == ENL_WHERE_SERVER) {
        char own[ENL_OWN_MAX], word[2 * ENL_OWN_MAX];
        enl_own_word(own, true);
        enl_own_apostrophes(word, sizeof word, own);
        for (int i = 0; i < count; i++)
            printf("gdb -ex 'target remote | %s gdb-pipe %s %s'\n", word, argv[0], words[i]);
        return 0;
    }
    return enl_windows_attach(where == ENL_WHERE_DISPLAY ? value : NULL, argv[0], debugger, words);
}
