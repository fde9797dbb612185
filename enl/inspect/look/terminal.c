/* SPDX-License-Identifier: MIT */
/* See look_private.h. */
#include "inspect/look/look_private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/write_all.h"
#include "bcri/clock.h"

/* The alternate screen, without a cursor; and back. */
#define BEGIN "\033[?1049h\033[?25l"
#define END   "\033[?25h\033[?1049l"

static struct {
    struct termios before, own;
    volatile sig_atomic_t open, resized;
    sigset_t unblocked; /* while a key is waited for */
} terminal;

static void enter(void)
{
    tcsetattr(0, TCSADRAIN, &terminal.own);
    (void)enl_write_all(1, BEGIN, strlen(BEGIN));
    terminal.open = true;
}

/* Also in a signal handler. */
void look_terminal_close(void)
{
    if (!terminal.open)
        return;
    terminal.open = false;
    (void)enl_write_all(1, END, strlen(END));
    tcsetattr(0, TCSADRAIN, &terminal.before);
}

static void on_resize(int number)
{
    (void)number;
    terminal.resized = true;
}

/* Gives the terminal back and lets the signal do what it would have done. After a stop it goes on. */
static void on_end(int number)
{
    const int kept = errno;
    const bool was_open = terminal.open;
    const struct sigaction end = {.sa_handler = SIG_DFL};
    struct sigaction own;
    sigset_t one;
    look_terminal_close();
    sigemptyset(&one);
    sigaddset(&one, number);
    sigaction(number, &end, &own);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* here it ends, or stops */
    sigprocmask(SIG_BLOCK, &one, NULL);
    sigaction(number, &own, NULL);
    if (was_open)
        enter();
    terminal.resized = true;
    errno = kept;
}

static void handle_signals(void)
{
    static const int ends[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGTSTP,
                               SIGSEGV, SIGBUS,  SIGABRT, SIGFPE,  SIGILL};
    struct sigaction action = {.sa_handler = on_end}, before;
    sigset_t resize;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    action.sa_handler = on_resize;
    sigaction(SIGWINCH, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* of sockets; the terminal's end is seen when it is read */
    sigemptyset(&resize);
    sigaddset(&resize, SIGWINCH);
    sigprocmask(SIG_BLOCK, &resize, &terminal.unblocked);
    sigdelset(&terminal.unblocked, SIGWINCH);
}

void look_terminal_size(unsigned *columns_out, unsigned *rows_out)
{
    struct winsize size = {.ws_col = 0};
    const bool known = ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 && size.ws_row != 0;
    *columns_out = known ? size.ws_col : 80; /* a serial line does not know */
    *rows_out = known ? size.ws_row : 24;
}

const char *look_terminal_open(unsigned columns, unsigned rows)
{
    static char wrong[256];
    const char *kind = getenv("TERM");
    unsigned have_columns, have_rows;
    if (!isatty(0) || !isatty(1))
        return "it draws on a terminal, and stdin or stdout is none; enl ps --watch and enl stats --watch "
               "print lines";
    if (kind == NULL || kind[0] == '\0' || strcmp(kind, "dumb") == 0)
        return "TERM says that this terminal cannot move its cursor; set TERM, or use enl ps --watch, which "
               "prints lines";
    look_terminal_size(&have_columns, &have_rows);
    if (have_columns < columns || have_rows < rows) {
        snprintf(wrong, sizeof wrong,
                 "the terminal has %u columns and %u rows, and %u and %u are needed: make it larger, or use "
                 "enl ps "
                 "--watch",
                 have_columns, have_rows, columns, rows);
        return wrong;
    }
    if (tcgetattr(0, &terminal.before) != 0)
        return "the terminal cannot be asked for its settings; use enl ps --watch, which prints lines";
    terminal.own = terminal.before;
    terminal.own.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    terminal.own.c_cc[VMIN] = 1;
    terminal.own.c_cc[VTIME] = 0;
    atexit(look_terminal_close);
    handle_signals();
    enter();
    return NULL;
}

bool look_terminal_draw(const char *bytes, size_t length)
{
    char *frame = NULL;
    size_t size;
    FILE *out = open_memstream(&frame, &size);
    if (out == NULL)
        return false;
    fputs("\033[H", out);
    for (const char *end = bytes + length; bytes < end;) {
        const char *line_end = memchr(bytes, '\n', (size_t)(end - bytes));
        const size_t line = (size_t)((line_end != NULL ? line_end : end) - bytes);
        fwrite(bytes, 1, line, out);
        bytes += line + 1;
        fputs(bytes < end ? "\033[K\r\n" : "\033[K", out); /* a newline in the last row would scroll */
    }
    fputs("\033[J", out);
    const bool whole = fclose(out) == 0;
    if (whole)
        (void)enl_write_all(1, frame, size);
    free(frame);
    return whole;
}

int look_terminal_key(uint64_t until_ns)
{
    for (;;) {
        const uint64_t now_ns = bcri_clock_ns(), left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
        const struct timespec left = {.tv_sec = (time_t)(left_ns / BCRI_NS_PER_S),
                                      .tv_nsec = (long)(left_ns % BCRI_NS_PER_S)};
        struct pollfd in = {.fd = 0, .events = POLLIN};
        const int ready = terminal.resized ? -1 : ppoll(&in, 1, &left, &terminal.unblocked);
        if (terminal.resized) {
            terminal.resized = false;
            return LOOK_KEY_RESIZED;
        }
        if (ready == 0)
            return LOOK_KEY_NONE;
        unsigned char key;
        const ssize_t got = ready > 0 ? read(0, &key, 1) : -1;
        if (got == 1)
            return key;
        if (got == 0 || errno != EINTR)
            return LOOK_KEY_GONE;
    }
}
