/* SPDX-License-Identifier: MIT */
/* windows.c -- see debug.h.
 *
 * tmux has a server of its own for each session (-L), so neither the person's own tmux nor its configuration is
 * touched, and the server ends with the last pane. Panes are tiled until there is no room for one more; then the next
 * window of the session begins. */
#include "debug/debug.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/object.h"
#include "bcri/config.h"

enum { WINDOWS_MAX = 4096, WORDS_MAX = 32, CLOSE_MSEC = 2000 };
enum { ANSWER_MSEC = 10000, HASTE_MSEC = 1000 }; /* what one call of tmux may take; at the end */
enum { TILE_COLUMNS = 40, TILE_ROWS = 8 };       /* less shows nothing of a debugger */

struct windows {
    const char *display; /* NULL: tmux */
    char xterm[PATH_MAX];
    char socket[192], own[PATH_MAX];
    const char *terminal; /* the session of tmux is to be shown there; "": nowhere */
    bool to_daemon;       /* which is told what happens */
    bool closing;
    bool stuck;             /* tmux has not answered, so it is not asked again */
    pid_t client;           /* tmux's, in this terminal, or one that shows nothing; 0: none */
    int panes, tabs, tiles; /* of tmux: all, its windows, and how many panes have room in one */
    bool failed;            /* an xterm has, as it does without its display */
    int count;
    struct {
        pid_t pid; /* of the xterm; 0: it has ended */
        unsigned host, index;
    } open[WINDOWS_MAX];
};

/* A child whose standard files are `file`. */
static pid_t start_window(char *const *argv, const char *file, bool dies)
{
    const pid_t self = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTSTP, SIG_DFL);
    if (dies) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != self)
            _exit(127);
        setpgid(0, 0);
    }
    const int opened = open(file, O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(opened, fd);
    close_range(3, ~0u, 0);
    execvp(argv[0], argv);
    _exit(127);
}

/* Waits until the child has ended, which is killed if that lasts. Returns false then. With `hurried` the daemon is
 * listened to: once it wants the end there is little time. */
static bool ends(pid_t pid, int msec, bool hurried, int *status_out)
{
    const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd look[] = {{.fd = pidfd, .events = POLLIN}, {.fd = hurried ? 0 : -1, .events = POLLRDHUP}};
    int ready = pidfd >= 0 ? poll(look, 2, msec) : 1;
    if (ready > 0 && pidfd >= 0 && look[0].revents == 0)
        ready = poll(look, 1, HASTE_MSEC);
    if (pidfd >= 0)
        close(pidfd);
    const bool ended = ready != 0;
    if (!ended)
        kill(pid, SIGKILL);
    while (waitpid(pid, status_out, 0) < 0 && errno == EINTR)
        ;
    return ended;
}

/* tmux -L SOCKET words..., each call one of tmux's commands. Returns 0 if it went well. */
static int tmux(struct windows *windows, char *const *words, char *const *more)
{
    char *argv[2 * WORDS_MAX] = {"tmux", "-L", windows->socket};
    size_t count = 3;
    int status = -1;
    while (*words != NULL)
        argv[count++] = *words++;
    while (more != NULL && *more != NULL)
        argv[count++] = *more++;
    const pid_t pid = windows->stuck ? -1 : start_window(argv, "/dev/null", false);
    const bool listens = windows->to_daemon && !windows->closing;
    if (pid > 0 && !ends(pid, windows->closing ? HASTE_MSEC : ANSWER_MSEC, listens, &status)) {
        windows->stuck = true;
        fprintf(stderr, "enl: tmux -L %s does not answer\n", windows->socket);
    }
    return status;
}

#define TMUX(windows, more, ...) tmux((windows), (char *[]){__VA_ARGS__, NULL}, (more))

static void tell_daemon(const struct windows *windows, const char *what)
{
    if (windows->to_daemon)
        (void)!write(1, what, strlen(what));
}

/* Shows the session in the terminal. */
static void show_session(struct windows *windows)
{
    char *argv[] = {"tmux", "-L", windows->socket, "attach-session", NULL};
    int status;
    if (windows->client != 0) /* of the server before, which has just ended */
        ends(windows->client, HASTE_MSEC, false, &status);
    tell_daemon(windows, "held");
    windows->client = start_window(argv, windows->terminal, false);
    if (windows->client > 0)
        return;
    windows->client = 0;
    tell_daemon(windows, "free");
}

/* A client that ends with tmux, and shows nothing. */
static void await_end(struct windows *windows)
{
    char *argv[] = {"tmux", "-L", windows->socket, "wait-for", "bcr-end", NULL};
    const pid_t pid = start_window(argv, "/dev/null", true);
    windows->client = pid > 0 ? pid : 0;
}

static bool first_pane(struct windows *windows, char *const *pane)
{
    char columns[16], rows[16];
    struct winsize size = {.ws_col = 200, .ws_row = 61}, found;
    const int terminal = windows->terminal[0] != '\0' ? open(windows->terminal, O_RDWR | O_CLOEXEC) : -1;
    if (terminal >= 0 && ioctl(terminal, TIOCGWINSZ, &found) == 0 && found.ws_row > 1)
        size = found;
    if (terminal >= 0)
        close(terminal);
    snprintf(columns, sizeof columns, "%u", size.ws_col);
    snprintf(rows, sizeof rows, "%u", size.ws_row - 1u);
    windows->tiles = size.ws_col / TILE_COLUMNS * (size.ws_row / TILE_ROWS);
    if (TMUX(windows, pane, "-f", "/dev/null", "new-session", "-d", "-s", "bcr", "-n", "ccees-1", "-x",
             columns, "-y", rows) != 0)
        return false;
    TMUX(windows, NULL, "set", "-g", "pane-border-status", "top", ";", "set", "-g", "pane-border-format",
         " #{pane_title} ", ";", "set", "-g", "mouse", "on", ";", "unbind", "C-z");
    windows->tabs = 1;
    if (windows->terminal[0] != '\0')
        show_session(windows);
    else
        fprintf(stderr, "enl: tmux -L %s attach shows the CCEs\n", windows->socket);
    if (windows->terminal[0] == '\0' && !windows->to_daemon)
        await_end(windows);
    return true;
}

static bool next_pane(struct windows *windows, char *const *pane)
{
    char tab[32], last[48];
    snprintf(tab, sizeof tab, "bcr:ccees-%d", windows->tabs);
    snprintf(last, sizeof last, "%s.{bottom-right}", tab); /* where the newest pane of a tiled window is */
    const bool room = windows->panes % (windows->tiles > 0 ? windows->tiles : 1) != 0;
    if (room && TMUX(windows, pane, "split-window", "-d", "-t", last) == 0) {
        TMUX(windows, NULL, "select-layout", "-t", tab, "tiled");
        return true;
    }
    snprintf(tab, sizeof tab, "ccees-%d", windows->tabs + 1);
    if (TMUX(windows, pane, "new-window", "-d", "-t", "bcr:", "-n", tab) != 0)
        return false;
    if (windows->tabs++ == 1)
        TMUX(windows, NULL, "display-message", "-d", "4000",
             "the terminal is too small for all panes: Ctrl-b n shows those that follow");
    return true;
}

/* Opens a window or pane in which `pane` runs. False: it did not open. */
static bool open_one(struct windows *windows, unsigned host, unsigned index, const char *title,
                     char *const *pane)
{
    if (windows->display == NULL) {
        bool opened = windows->panes != 0 && next_pane(windows, pane);
        if (!opened && windows->panes != 0 && TMUX(windows, NULL, "has-session") != 0)
            windows->panes = 0; /* all have ended, and the server with them */
        if (!opened && windows->panes == 0)
            opened = first_pane(windows, pane);
        windows->panes += opened;
        return opened;
    }
    char *argv[WORDS_MAX] = {windows->xterm,           "-display", (char *)(uintptr_t)windows->display, "-T",
                             (char *)(uintptr_t)title, "-e"};
    size_t count = 6;
    while (*pane != NULL)
        argv[count++] = *pane++;
    argv[count] = NULL;
    const pid_t pid = windows->count < WINDOWS_MAX ? start_window(argv, "/dev/null", true) : -1;
    if (pid <= 0)
        return false;
    windows->open[windows->count].pid = pid;
    windows->open[windows->count].host = host;
    windows->open[windows->count++].index = index;
    return true;
}

static void say_failed(const struct windows *windows, unsigned host, unsigned index)
{
    char line[48];
    snprintf(line, sizeof line, "failed %u %u", host, index);
    tell_daemon(windows, line);
}

/* Takes note of children that have ended. Returns whether any is left. */
static bool reap(struct windows *windows)
{
    bool left = false;
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == windows->client) {
            windows->client = 0;
            tell_daemon(windows, "free");
            if (!windows->closing && TMUX(windows, NULL, "has-session") == 0)
                fprintf(stderr, "enl: tmux -L %s attach shows the CCEs again\n", windows->socket);
        }
        for (int i = 0; i < windows->count; i++)
            if (windows->open[i].pid == pid) {
                windows->open[i].pid = 0;
                windows->failed = windows->failed || (WIFEXITED(status) && WEXITSTATUS(status) != 0);
                say_failed(windows, windows->open[i].host, windows->open[i].index);
            }
    }
    for (int i = 0; i < windows->count; i++)
        left = left || windows->open[i].pid != 0;
    return left || windows->client != 0;
}

/* Waits at most `msec` (-1: for ever) for a message in `fd` or the end of a child. Returns whether there is a message. */
static bool await(int fd, int children, int msec)
{
    struct signalfd_siginfo info;
    struct pollfd look[] = {{.fd = fd, .events = POLLIN}, {.fd = children, .events = POLLIN}};
    const bool any = poll(look, 2, msec) > 0 && look[0].revents != 0;
    while (read(children, &info, sizeof info) > 0)
        ;
    return any;
}

/* Ends the tmux that still listens at the socket, if any, and removes the socket, which tmux leaves behind. */
static void remove_socket(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct ucred server;
    socklen_t size = sizeof server;
    const char *folder = getenv("TMUX_TMPDIR");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/tmux-%u/%s", folder != NULL && folder[0] != '\0' ? folder : "/tmp",
             getuid(), name);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (strlen(path) < sizeof at.sun_path) {
        strcpy(at.sun_path, path);
        if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
            getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &size) == 0 && server.uid == getuid())
            kill(server.pid, SIGKILL);
    }
    if (fd >= 0)
        close(fd);
    unlink(path);
}

void enl_windows_forget(const char *name)
{
    char socket[192];
    snprintf(socket, sizeof socket, "bcr-%s", name);
    remove_socket(socket);
}

enum { SESSION_MAX = 160 };

/* What process `pid` opens for that program has a tmux of its own. */
static void name_attached(char session[SESSION_MAX], const char *name, pid_t pid)
{
    snprintf(session, SESSION_MAX, "%.120s-%ld", name, (long)pid);
}

void enl_windows_forget_attached(const char *name, pid_t pid)
{
    char session[SESSION_MAX];
    name_attached(session, name, pid);
    enl_windows_forget(session);
}

static void close_windows(struct windows *windows, int children)
{
    windows->closing = true;
    for (int i = 0; i < windows->count; i++)
        if (windows->open[i].pid != 0)
            kill(windows->open[i].pid, SIGTERM);
    if (windows->panes != 0) {
        TMUX(windows, NULL, "kill-server");
        remove_socket(windows->socket);
    }
    windows->to_daemon = false;
    for (int waited = 0; reap(windows) && waited < CLOSE_MSEC; waited += 100)
        await(-1, children, 100);
    for (int i = 0; i < windows->count; i++)
        if (windows->open[i].pid != 0)
            kill(windows->open[i].pid, SIGKILL);
    if (windows->client != 0)
        kill(windows->client, SIGHUP);
}

static int watch_children(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* the daemon ends this process when it has ended the program */
    signal(SIGTSTP, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void name_socket(struct windows *windows, const char *name)
{
    const ssize_t length = readlink("/proc/self/exe", windows->own, sizeof windows->own - 1);
    windows->own[length > 0 ? length : 0] = '\0';
    snprintf(windows->socket, sizeof windows->socket, "bcr-%s", name);
    unsetenv("TMUX"); /* this may be a pane of the person's own tmux, whose server is another */
}

/* A message of the daemon's: HOST INDEX ORDINAL OBJECT. */
static void open_for_message(struct windows *windows, char *name, char *message)
{
    char *rest = message, *words[3];
    for (int i = 0; i < 3; i++)
        if ((words[i] = strsep(&rest, " ")) == NULL || rest == NULL)
            return;
    char *const host = words[0], *const index = words[1], *const ordinal = words[2], *const object = rest;
    char title[PATH_MAX + 32];
    snprintf(title, sizeof title, "CCE %s: %s", ordinal, object);
    char *pane[] = {windows->own, "--pane", name, host, index, ordinal, object, NULL};
    const unsigned of = (unsigned)strtoul(host, NULL, 10), number = (unsigned)strtoul(index, NULL, 10);
    if (!open_one(windows, of, number, title, pane))
        say_failed(windows, of, number);
}

int enl_windows(char **argv)
{
    static struct windows windows;
    static char text[8192];
    if (argv[0] == NULL || argv[1] == NULL || argv[2] == NULL || argv[3] == NULL)
        return 2;
    name_socket(&windows, argv[0]);
    windows.display = strcmp(argv[1], "tmux") != 0 ? argv[1] : NULL;
    snprintf(windows.xterm, sizeof windows.xterm, "%s", argv[2]);
    windows.terminal = argv[3];
    windows.to_daemon = true;
    fcntl(0, F_SETFD, FD_CLOEXEC);
    const int children = watch_children();
    for (ssize_t got = 1; got > 0;) {
        const bool is_told = await(0, children, -1);
        reap(&windows);
        if (is_told && (got = read(0, text, sizeof text - 1)) > 0) {
            text[got] = '\0';
            open_for_message(&windows, argv[0], text);
        }
    }
    close_windows(&windows, children);
    return 0;
}

/* The program of xtermpath, or tmux, if it is there. */
static bool find_tools(struct windows *windows)
{
    struct bcri_config config;
    char error[1024], *resolved = NULL, path[PATH_MAX];
    if (bcri_config_load(&config, NULL, error, sizeof error) != 0) {
        fprintf(stderr, "enl: %s\n", error);
        return false;
    }
    const char *tool = windows->display == NULL ? "tmux" : config.xtermpath;
    bool found = tool != NULL && bcri_config_resolve(&config, tool, &resolved) == 0 &&
                 enl_object_find(resolved, path, error, sizeof error) == 0;
    if (found && windows->display != NULL)
        snprintf(windows->xterm, sizeof windows->xterm, "%s", path);
    if (!found)
        fprintf(stderr,
                "enl: no %s to show several CCEs: install it, or attach to one CCE in this terminal\n",
                tool != NULL ? tool : "xterm (xtermpath in bcrrc)");
    free(resolved);
    bcri_config_fini(&config);
    return found;
}

int enl_windows_attach(const char *display, const char *name, const char *debugger, char *const *words)
{
    static struct windows windows;
    char session[SESSION_MAX];
    name_attached(session, name, getpid());
    name_socket(&windows, session);
    windows.display = display;
    windows.terminal = isatty(0) && isatty(1) && ttyname(0) != NULL ? ttyname(0) : "";
    if (!find_tools(&windows))
        return 1;
    const int children = watch_children();
    signal(SIGINT, SIG_DFL);
    for (unsigned i = 0; words[i] != NULL; i++) {
        char title[64];
        snprintf(title, sizeof title, "CCE %s", words[i]);
        char *pane[] = {windows.own, "attach", "-d", (char *)(uintptr_t)debugger, (char *)(uintptr_t)name,
                        words[i],    NULL};
        if (!open_one(&windows, 0, i, title, pane)) {
            fprintf(stderr, "enl: no window could be opened for CCE %s\n", words[i]);
            close_windows(&windows, children);
            return 1;
        }
    }
    while (reap(&windows))
        await(-1, children, -1);
    if (windows.panes != 0 && TMUX(&windows, NULL, "has-session") != 0)
        remove_socket(windows.socket);
    if (windows.failed)
        fprintf(
            stderr,
            "enl: a window did not come up on X display %s: is that display there, and may you use it (echo "
            "$DISPLAY, xhost, xauth)? Or use -D tmux\n",
            display);
    return windows.failed ? 1 : 0;
}
