/* SPDX-License-Identifier: MIT */
/* metrics_serve.c -- the socket of enl --metrics, and its answers: metrics.c. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/channel.h"
#include "bcri/clock.h"
#include "bcri/failure.h"
#include "bcri/log.h"
#include "inspect/look/look.h"
#include "wire/wire.h"

enum { REQUEST_BYTES_MAX = 8192, REQUEST_MSEC = 1000, ANSWER_MSEC = 10000, DRAIN_MSEC = 200 };

/* What this process serves. */
static struct {
    const char *path; /* NULL: a port */
    dev_t dev;
    ino_t ino; /* of the socket at `path`, which it takes away at its end */
    int listener, program;
    struct look_series series;
} server = {.listener = -1, .program = -1, .series.names = true};

static const char complaint[] = "enl: metrics at %s: %s%s%s\n";

/* ---- the socket ---- */

/* Removes a socket at which no process answers. Returns what is wrong with the path, or NULL. */
static const char *remove_old_socket(const struct sockaddr_un *address)
{
    struct stat there;
    if (lstat(address->sun_path, &there) != 0)
        return NULL; /* bind tells if it cannot be made */
    if (!S_ISSOCK(there.st_mode))
        return "there is a file already that is no socket; give another path";
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return strerror(errno);
    const bool refused =
        connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED;
    close(fd);
    if (!refused)
        return "there is a socket that is in use; give another path";
    return unlink(address->sun_path) == 0
               ? NULL
               : "there is an old socket that cannot be removed; give another path";
}

static const char *listen_at_path(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat made;
    if (strlen(path) >= sizeof address.sun_path)
        return "the path of a socket has 107 bytes at most; give a shorter one";
    strcpy(address.sun_path, path);
    const char *wrong = remove_old_socket(&address);
    if (wrong != NULL)
        return wrong;
    server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const mode_t mask = umask(0177); /* before it can be connected to */
    const bool bound =
        server.listener >= 0 && bind(server.listener, (const struct sockaddr *)&address, sizeof address) == 0;
    const int error = errno;
    umask(mask);
    if (!bound || listen(server.listener, 16) != 0 || lstat(path, &made) != 0)
        return strerror(bound ? errno : error); /* ENOENT, EACCES and the like of the folder */
    server.path = path;
    server.dev = made.st_dev;
    server.ino = made.st_ino;
    return NULL;
}

static const char *listen_at_port(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int one = 1;
    server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server.listener < 0 || setsockopt(server.listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(server.listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server.listener, 16) != 0 ||
        getsockname(server.listener, (struct sockaddr *)&address, &size) != 0)
        return strerror(errno);
    fprintf(
        stderr,
        "enl: warning: every user of this machine can read http://localhost:%u/metrics; a Unix socket can "
        "be read by you alone (--metrics PATH)\n",
        ntohs(address.sin_port));
    return NULL;
}

/* Returns an exit status. */
static int open_listener(const char *where)
{
    static const char local[] = "localhost:";
    const char *wrong;
    if (strncmp(where, local, strlen(local)) == 0) {
        char *end;
        const char *number = where + strlen(local);
        const unsigned long port = strtoul(number, &end, 10);
        if (number[0] < '0' || number[0] > '9' || *end != '\0' || port > UINT16_MAX) {
            fprintf(stderr, complaint, where, "a port is a number up to 65535, and 0 for a free one", "", "");
            return 2;
        }
        wrong = listen_at_port((uint16_t)port);
    } else {
        wrong = listen_at_path(where);
    }
    if (wrong != NULL)
        fprintf(stderr, complaint, where, wrong, "", "");
    return wrong != NULL ? 1 : 0;
}

/* Takes the socket's name away, unless another is there by now. Also in a signal handler. */
static void close_listener(void)
{
    struct stat there;
    if (server.path != NULL && lstat(server.path, &there) == 0 && there.st_dev == server.dev &&
        there.st_ino == server.ino)
        unlink(server.path);
}

static void on_end(int number)
{
    (void)number;
    close_listener();
    _exit(0);
}

/* ---- a request ---- */

static uint64_t after(unsigned msec)
{
    return bcri_clock_ns() + (uint64_t)msec * 1000000;
}

static bool wait_for(int fd, short events, uint64_t until_ns)
{
    struct pollfd look = {.fd = fd, .events = events};
    for (uint64_t now_ns; (now_ns = bcri_clock_ns()) < until_ns;)
        if (poll(&look, 1, (int)((until_ns - now_ns) / 1000000) + 1) > 0)
            return true;
    return false;
}

enum { CLIENT_LEFT = 0, TIME_UP = -1 };

/* What comes next, of `room` bytes at most; or one of the above. */
static ssize_t receive_some(int fd, char *to, size_t room, uint64_t until_ns)
{
    while (wait_for(fd, POLLIN, until_ns)) {
        const ssize_t got = recv(fd, to, room, MSG_DONTWAIT);
        if (got >= 0 || (errno != EAGAIN && errno != EINTR))
            return got > 0 ? got : CLIENT_LEFT;
    }
    return TIME_UP;
}

/* Reads up to the empty line that ends the head. Returns the status that the answer has. */
static int read_request(int fd, char text[REQUEST_BYTES_MAX + 1])
{
    static const char *const good[] = {"GET /metrics HTTP/1.", "GET / HTTP/1."};
    const uint64_t until_ns = after(REQUEST_MSEC);
    size_t length = 0;
    text[0] = '\0';
    while (strstr(text, "\r\n\r\n") == NULL && strstr(text, "\n\n") == NULL) {
        if (length == REQUEST_BYTES_MAX)
            return 431;
        const ssize_t got = receive_some(fd, text + length, REQUEST_BYTES_MAX - length, until_ns);
        if (got == TIME_UP)
            return 408;
        if (got == CLIENT_LEFT)
            return 0; /* there is no answer */
        length += (size_t)got;
        text[length] = '\0';
        if (strlen(text) != length)
            return 400;
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (strncmp(text, good[i], strlen(good[i])) == 0)
            return 200;
    return strncmp(text, "GET ", 4) == 0 ? 404 : 405;
}

static const char *reason_of(int status)
{
    switch (status) {
    case 200: return "OK";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Bad Request";
    }
}

/* Returns whether all of it was taken in time. */
static bool answer_request(int fd, int status, const char *body, size_t length)
{
    const uint64_t until_ns = after(ANSWER_MSEC);
    dprintf(fd, /* whose buffer is empty */
            "HTTP/1.0 %d %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: %zu\r\n%sConnection: close\r\n\r\n",
            status, reason_of(status), length, status == 405 ? "Allow: GET\r\n" : "");
    while (length > 0 && wait_for(fd, POLLOUT, until_ns)) {
        const ssize_t put = send(fd, body, length, MSG_DONTWAIT);
        if (put < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        body += put > 0 ? put : 0;
        length -= put > 0 ? (size_t)put : 0;
    }
    return length == 0;
}

/* Looks into the program. Returns the answer's status; its body, or why there is none, is written. */
static int look_for_answer(FILE *out)
{
    char *complaints = NULL;
    size_t length;
    FILE *said = open_memstream(&complaints, &length);
    if (said == NULL)
        return 503;
    const bool got = look_again(&server.series, said);
    fclose(said);
    if (got)
        look_metrics(out, &server.series.view);
    else
        fputs(complaints != NULL ? complaints : "", out);
    free(complaints);
    return got ? 200 : 503;
}

static void serve_one(int fd)
{
    static char request[REQUEST_BYTES_MAX + 1];
    char *body = NULL;
    size_t length = 0;
    int status = read_request(fd, request);
    if (status == 0)
        return;
    FILE *out = open_memstream(&body, &length);
    if (out == NULL)
        return;
    if (status == 200)
        status = look_for_answer(out);
    else
        fprintf(out, "%s: GET /metrics is what is answered here\n", reason_of(status));
    if (fclose(out) == 0 && answer_request(fd, status, body, length)) {
        /* What the client has sent besides is read: to close before would take the answer from it. */
        shutdown(fd, SHUT_WR);
        const uint64_t until_ns = after(DRAIN_MSEC);
        while (receive_some(fd, request, sizeof request, until_ns) > 0)
            ;
    }
    free(body);
}

/* Until the program's daemon has ended. */
static void serve(void)
{
    struct pollfd look[2] = {{.fd = server.listener, .events = POLLIN},
                             {.fd = server.program, .events = POLLIN}};
    signal(SIGPIPE, SIG_IGN);
    while (look[1].revents == 0) {
        if (poll(look, 2, -1) <= 0 || look[0].revents == 0)
            continue;
        const int fd = accept4(server.listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            serve_one(fd);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            poll(NULL, 0, 100); /* the one that waits stays there */
        if (fd >= 0)
            close(fd);
    }
    close_listener();
}

/* But by those that are ignored. */
static void end_by_signals(void)
{
    static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = on_end}, before;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
}

/* ---- starting to serve ---- */

int enl_command_metrics(char **argv)
{
    struct ucred daemon = {.pid = 0};
    socklen_t size = sizeof daemon;
    char only[ENL_DAEMON_NAME_MAX];
    server.series.program = argv[1];
    const int fd = enl_program_connect(&server.series.program, only);
    if (fd < 0)
        return 1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &daemon, &size) == 0)
        server.program = (int)syscall(SYS_pidfd_open, daemon.pid, 0);
    const int error = errno;
    close(fd);
    if (server.program < 0) {
        const bool known = daemon.pid == 0 || error == ESRCH;
        fprintf(stderr, complaint, argv[0],
                daemon.pid == 0  ? "its enl is in another pid namespace; serve its metrics from there"
                : error == ESRCH ? "the program has ended"
                                 : "pidfd_open: ",
                known ? "" : strerror(error), "");
        return 1;
    }
    const int status = open_listener(argv[0]);
    if (status != 0)
        return status;
    end_by_signals();
    serve();
    return 0;
}

/* The process that serves has nothing of the terminal and the files that the program has. */
static _Noreturn void be_server(void)
{
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int last = server.listener > server.program ? server.listener : server.program;
    setsid();
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    for (int fd = 3; fd < last; fd++)
        if (fd != server.listener && fd != server.program)
            close(fd);
    close_range((unsigned)last + 1, ~0u, 0);
    end_by_signals();
    serve();
    _exit(0);
}

/* The server is a child of a child that ends: the daemon waits for its children to end, and it for the daemon's. */
static int start_server(void)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const pid_t grandchild = fork();
        if (grandchild == 0)
            be_server();
        _exit(grandchild < 0 ? errno : 0);
    }
    if (child < 0)
        return errno;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EAGAIN;
}

int enl_metrics_start(const char *where, const char *name)
{
    const int status = open_listener(where);
    if (status != 0)
        return status;
    server.series.program = name;
    server.program = (int)syscall(SYS_pidfd_open, getpid(), 0);
    const int error = server.program >= 0 ? start_server() : errno;
    if (error != 0) {
        fprintf(stderr, complaint, where, server.program >= 0 ? "fork: " : "pidfd_open: ", strerror(error),
                server.program >= 0 ? bcri_fork_remedy(error) : "");
        close_listener();
    }
    close(server.listener);
    close(server.program);
    return error != 0 ? 1 : 0;
}
