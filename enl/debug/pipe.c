/* SPDX-License-Identifier: MIT */
/* See debug.h. */
#include "debug/debug.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { MARK = 0xff, MARK_SIZE = 1, MARK_BYTES = 6, READ_BYTES = 8192 };

struct pipe {
    int from, to;
    enum enl_pipe_marks marks;
    bool ended; /* nothing comes any more */
    size_t length, marked;
    unsigned char mark[MARK_BYTES]; /* the beginning of one */
    unsigned char bytes[2 * READ_BYTES];
};

static short wanted(const struct pipe *pipe)
{
    return pipe->length == 0 && !pipe->ended ? POLLIN : 0;
}

static bool is_later(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* Adds a byte that was typed at another host, or takes it as a part of a mark. */
static void add_marked(struct pipe *pipe, unsigned char byte)
{
    if (pipe->marked == 0 && byte != MARK) {
        pipe->bytes[pipe->length++] = byte;
        return;
    }
    pipe->mark[pipe->marked++] = byte;
    if (pipe->marked == 2 && byte == MARK)
        pipe->bytes[pipe->length++] = byte;
    if (pipe->marked == 2 && byte != MARK_SIZE)
        pipe->marked = 0;
    if (pipe->marked < MARK_BYTES)
        return;
    const unsigned char *mark = pipe->mark;
    const struct winsize size = {.ws_row = (unsigned short)(mark[2] << 8 | mark[3]),
                                 .ws_col = (unsigned short)(mark[4] << 8 | mark[5])};
    ioctl(pipe->to, TIOCSWINSZ, &size);
    pipe->marked = 0;
}

static void add_byte(struct pipe *pipe, unsigned char byte)
{
    if (pipe->marks == ENL_PIPE_MARKED) {
        add_marked(pipe, byte);
        return;
    }
    if (pipe->marks == ENL_PIPE_MARKS && byte == MARK)
        pipe->bytes[pipe->length++] = MARK;
    pipe->bytes[pipe->length++] = byte;
}

static void take_packet(struct pipe *pipe)
{
    unsigned char bytes[READ_BYTES];
    const ssize_t got = read(pipe->from, bytes, sizeof bytes);
    if (got == 0 || (got < 0 && !is_later()))
        pipe->ended = true; /* a pty's end is EIO */
    for (ssize_t i = 0; i < got; i++)
        add_byte(pipe, bytes[i]);
}

static void write_bytes(struct pipe *pipe)
{
    const ssize_t put = write(pipe->to, pipe->bytes, pipe->length);
    if (put < 0 && is_later()) {
        poll(&(struct pollfd){.fd = pipe->to, .events = POLLOUT}, 1, pipe->to == 1 ? -1 : 0);
        return;
    }
    pipe->ended = pipe->ended || put < 0;
    pipe->length -= put > 0 ? (size_t)put : pipe->length;
    memmove(pipe->bytes, pipe->bytes + (put > 0 ? put : 0), pipe->length);
}

/* Gives the debugger's terminal the size of this one, if it has one. */
static void pass_on_size(struct pipe *in)
{
    struct winsize size;
    if (ioctl(0, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
        return;
    if (in->marks == ENL_PIPE_PLAIN) {
        ioctl(in->to, TIOCSWINSZ, &size);
        return;
    }
    const unsigned char mark[MARK_BYTES] = {MARK,
                                            MARK_SIZE,
                                            (unsigned char)(size.ws_row >> 8),
                                            (unsigned char)size.ws_row,
                                            (unsigned char)(size.ws_col >> 8),
                                            (unsigned char)size.ws_col};
    memcpy(in->bytes + in->length, mark, sizeof mark);
    in->length += sizeof mark;
}

enum { EOF_MSEC = 500 };

void enl_pipe(int fd, int daemon, bool terminal, enum enl_pipe_marks marks)
{
    const char eof = '\004';
    const bool sizes = terminal && marks != ENL_PIPE_MARKED;
    const bool tells =
        sizes && !isatty(0); /* again and again, since Ctrl-D is heeded only where it is read */
    bool fits = sizes;
    static struct pipe in, out;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    sigprocmask(SIG_BLOCK, &set, NULL);
    const int changes = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    in = (struct pipe){.from = 0, .to = fd, .marks = marks};
    out = (struct pipe){.from = fd, .to = 1};
    while (!out.ended && !(in.ended && in.length == 0 && !tells)) {
        if (fits && in.length == 0) {
            pass_on_size(&in);
            fits = false;
        }
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
            take_packet(&in);
        if ((look[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
            take_packet(&out);
        if (in.length != 0)
            write_bytes(&in);
        while (out.length != 0 && !out.ended)
            write_bytes(&out);
        struct signalfd_siginfo info;
        if ((look[3].revents & POLLIN) != 0 && read(changes, &info, sizeof info) > 0)
            fits = sizes;
        if (look[2].revents != 0 && (look[1].revents & POLLIN) == 0)
            break;
    }
    close(changes);
}
