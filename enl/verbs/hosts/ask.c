/* SPDX-License-Identifier: MIT */
/* ask.c -- threads, each of which asks one machine after the other: it starts the command, reads the facts, measures
 * how far away the machine and its clock are, and waits for the command's end.
 *
 * A thread waits in read_more alone. It stops waiting when the command has ended, when its time is up, and when the
 * user interrupts enl hosts; then the command is ended with all that it has started. */
#include "verbs/hosts/hosts_private.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/report.h"
#include "base/spawn.h"
#include "bcri/clock.h"
#include "bcri/config.h"
#include "bcri/escape.h"
#include "bcri/refuse.h"
#include "carry/carry.h"

/* Logins that are under way at once. sshd, as Debian configures it, begins to refuse at ten that have not been let in. */
enum { ASKED_AT_ONCE = 8 };

enum { PINGS = 4, LINE_MAX_BYTES = 1024, PIPE_BYTES = 65536 };

/* What the threads share. */
struct asking {
    const struct bcri_config *config;
    struct enl_asked *all;
    size_t count;
    atomic_size_t begun, done;
    struct enl_inherited inherited;
    int interrupt; /* can be read when a signal has come by which a person ends a command; -1: they end this one */
    uint64_t quiet_ns;    /* until then no progress is shown; BCRI_DEADLINE_NEVER: none at all */
    pthread_mutex_t lock; /* of what is below, and of enl_spawn, which is for one thread at a time */
    size_t shown, shown_done;
};

/* One machine that is asked. */
struct ask {
    struct asking *asking;
    struct enl_asked *asked;
    struct enl_remote remote;
    struct enl_launch launch;
    int end; /* the process's pidfd */
    bool ended;
    uint64_t deadline_ns;
    const char *why; /* nothing came of it; "": its process has ended */
    char timeout[128];
    bool has_facts;
    struct enl_said said;
    size_t length; /* of what has come on its stdout */
    char bytes[ENL_FACTS_BYTES_MAX], more[PIPE_BYTES];
};

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Shows how many are done, unless that is shown; when all are, takes the line away. */
static void show_progress(struct asking *asking)
{
    char line[ENL_PROGRESS_BYTES];
    pthread_mutex_lock(&asking->lock);
    const size_t done = atomic_load(&asking->done), all = done < asking->count ? asking->count : 0;
    if (bcri_deadline_passed(asking->quiet_ns, bcri_clock_ns()) &&
        (all == 0 || asking->shown == 0 || asking->shown_done != done)) {
        asking->shown_done = done;
        (void)!write(2, line, enl_progress_line(line, &asking->shown, (unsigned)done, (unsigned)all));
    }
    pthread_mutex_unlock(&asking->lock);
}

/* Starts the command. False: asked->failed says why there is none. */
static bool start_command(struct ask *ask)
{
    extern char **environ;
    char own[PATH_MAX];
    struct enl_asked *asked = ask->asked;
    struct enl_host host = *asked->entry;
    char *error = asked->failed;
    const size_t room = sizeof asked->failed;
    /* This machine is asked by this enl, whatever a name of its own says of another. */
    if (asked->is_here && enl_remote_own_path(own, sizeof own)) {
        host.local = true;
        host.enl = own;
    }
    if (!enl_remote_command(&ask->remote, ask->asking->config, &host, asked->address, "--host-facts", error,
                            room))
        return false;
    pthread_mutex_lock(&ask->asking->lock);
    const bool started = enl_launch_command(&ask->launch, &ask->remote, asked->host, environ,
                                            &ask->asking->inherited, error, room);
    pthread_mutex_unlock(&ask->asking->lock);
    if (!started)
        return false;
    ask->end = (int)syscall(SYS_pidfd_open, ask->launch.process, 0);
    return ask->end >= 0 ||
           bcri_refuse(error, room, false, "host %s cannot be used: %s could not be watched: %s",
                       asked->host->name, ask->remote.path, strerror(errno));
}

/* Ends what the command has started and that has not left its process group, unless `spare`. Returns its status. */
static int end_command(struct ask *ask, bool spare)
{
    int status = 0;
    if (ask->launch.process > 0) {
        if (!spare)
            kill(-ask->launch.process, SIGKILL); /* it keeps its number until it is waited for */
        while (waitpid(ask->launch.process, &status, 0) < 0 && errno == EINTR)
            ;
    }
    close_one(&ask->launch.in);
    close_one(&ask->launch.out);
    close_one(&ask->launch.err);
    close_one(&ask->end);
    return status;
}

/* Waits until more has come on the command's stdout, and adds it to `bytes`; keeps what comes on its stderr. When the
 * process has ended, what it has said before is there to be read; what others write from then on, which have its pipes,
 * is not waited for. False: nothing more comes, and `why` is set. */
static bool read_more(struct ask *ask)
{
    struct asking *asking = ask->asking;
    for (;;) {
        struct pollfd polls[] = {{.fd = ask->launch.err, .events = POLLIN},
                                 {.fd = ask->launch.in, .events = POLLIN},
                                 {.fd = ask->end, .events = POLLIN},
                                 {.fd = asking->interrupt, .events = POLLIN}};
        ssize_t got;
        show_progress(asking);
        const uint64_t now_ns = bcri_clock_ns();
        const uint64_t until_ns = now_ns < asking->quiet_ns && asking->quiet_ns < ask->deadline_ns
                                      ? asking->quiet_ns
                                      : ask->deadline_ns;
        ask->why = ask->length == sizeof ask->bytes ? "no enl speaks there" : ask->timeout;
        if (ask->length == sizeof ask->bytes || bcri_deadline_passed(ask->deadline_ns, now_ns))
            return false;
        if (poll(polls, 4, ask->ended ? 0 : bcri_deadline_left_ms(until_ns, now_ns)) < 0)
            continue;
        if (polls[3].revents != 0) {
            atomic_store(&asking->begun, asking->count);
            return false;
        }
        if (polls[0].revents != 0) {
            if ((got = read(ask->launch.err, ask->more, sizeof ask->more)) > 0)
                enl_said_take(&ask->said, ask->more, (size_t)got);
            else
                close_one(&ask->launch.err);
        }
        if (polls[1].revents != 0) {
            if ((got = read(ask->launch.in, ask->bytes + ask->length, sizeof ask->bytes - ask->length)) > 0) {
                ask->length += (size_t)got;
                return true;
            }
            close_one(&ask->launch.in);
        }
        ask->why = "";
        if (ask->ended)
            return false;
        ask->ended = polls[2].revents != 0;
    }
}

static bool read_facts(struct ask *ask)
{
    long used;
    while ((used = enl_facts_read(&ask->asked->facts, ask->bytes, ask->length, &ask->why)) == 0)
        if (!read_more(ask))
            return false;
    return ask->has_facts = used > 0;
}

static int64_t real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Asks for the time there, and again. The answer is a line, at whose newline strtoll ends if it begins with a digit; it
 * would skip blanks, and so a line of nothing else, and what is behind the bytes. */
static bool measure_clock(struct ask *ask)
{
    struct enl_asked *asked = ask->asked;
    for (int i = 0; i < PINGS; i++) {
        const uint64_t sent_ns = bcri_clock_ns();
        const int64_t sent_at_ns = real_ns();
        ask->length = 0;                        /* it is silent until it is asked */
        (void)!write(ask->launch.out, "\n", 1); /* if that fails its end is near */
        do
            if (!read_more(ask))
                return false;
        while (memchr(ask->bytes, '\n', ask->length) == NULL);
        const uint64_t round_trip_ns = bcri_clock_ns() - sent_ns;
        char *rest;
        errno = 0;
        const long long there =
            ask->bytes[0] >= '0' && ask->bytes[0] <= '9' ? strtoll(ask->bytes, &rest, 10) : -1;
        ask->why = "what it says of its machine makes no sense; install the same version of BCR there";
        if (there < 0 || *rest != '\n' || errno != 0)
            return false;
        if (round_trip_ns < asked->round_trip_ns) {
            asked->round_trip_ns = round_trip_ns;
            asked->clock_ns = (int64_t)there - (sent_at_ns + (int64_t)(round_trip_ns / 2));
        }
    }
    return true;
}

/* The last line of a text, without what ends it, as it can be shown. */
static void last_line(const char *text, size_t length, char out[LINE_MAX_BYTES])
{
    while (length > 0 && strchr("\r\n .", text[length - 1]) != NULL)
        length--;
    const char *newline = memrchr(text, '\n', length), *first = newline != NULL ? newline + 1 : text;
    bcri_escape(first, length - (size_t)(first - text), out, LINE_MAX_BYTES, NULL);
}

/* Says why nothing came of it; if `why` is "", it has ended with that status. */
static void explain_failure(struct ask *ask, int status)
{
    char line[LINE_MAX_BYTES], printed[LINE_MAX_BYTES] = "", text[LINE_MAX_BYTES], how[256];
    struct enl_asked *asked = ask->asked;
    const char *said = enl_said_all(&ask->said);
    last_line(said, strlen(said), line);
    if (!ask->has_facts && ask->why[0] == '\0') /* a login may refuse where facts would come */
        last_line(ask->bytes, ask->length, printed);
    enl_remote_text(&ask->remote, text, sizeof text);
    if (ask->why[0] != '\0')
        snprintf(how, sizeof how, "%s", ask->why);
    else
        snprintf(how, sizeof how,
                 WIFSIGNALED(status) ? "%s was killed by signal %d" : "%s ended with status %d",
                 enl_remote_name(&ask->remote), WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    const char *remedy = strstr(line, "unknown option --host-facts") != NULL
                             ? "; enl there is older: install the same version of BCR there"
                             : enl_remote_remedy(asked->host, ask->why, said, status);
    bcri_refuse(asked->failed, sizeof asked->failed, 0,
                "host %s cannot be used: %s%s%s%s%s%s; the command was: %s", asked->host->name, how,
                line[0] != '\0' ? ": " : "", line,
                printed[0] == '\0' ? ""
                : line[0] != '\0'  ? "; it printed: "
                                   : ": it printed: ",
                printed, remedy, text);
}

static void ask_machine(struct ask *ask)
{
    const struct bcri_config *config = ask->asking->config;
    struct enl_asked *asked = ask->asked;
    asked->round_trip_ns = UINT64_MAX;
    asked->pushed = config->push != 0 && !asked->is_here && enl_push_takes(asked->entry);
    ask->deadline_ns = bcri_deadline_after(config->connecttimeout);
    snprintf(ask->timeout, sizeof ask->timeout, "nothing came from it for %d ms (connecttimeout)",
             config->connecttimeout);
    const bool started = start_command(ask), answered = started && read_facts(ask) && measure_clock(ask);
    if (answered) {
        close_one(&ask->launch.out); /* at which it ends */
        ask->deadline_ns = bcri_deadline_after(1000);
        do
            ask->length = 0;
        while (read_more(ask));
    }
    const int status = end_command(ask, answered && ask->ended);
    asked->no_enl = started && asked->pushed && !answered && ask->why[0] == '\0' && WIFEXITED(status) &&
                    WEXITSTATUS(status) == 127;
    if (started && !answered && !asked->no_enl)
        explain_failure(ask, status);
    enl_remote_free(&ask->remote);
}

static void *ask_machines(void *data)
{
    struct ask *ask = data;
    struct asking *asking = ask->asking;
    for (size_t next; (next = atomic_fetch_add(&asking->begun, 1)) < asking->count;) {
        *ask = (struct ask){.asking = asking,
                            .asked = &asking->all[next],
                            .launch = {.in = -1, .out = -1, .err = -1},
                            .end = -1};
        ask_machine(ask);
        atomic_fetch_add(&asking->done, 1);
        show_progress(asking);
    }
    return NULL;
}

/* SIGINT, SIGTERM, SIGHUP and SIGQUIT, but for those that this process was started to ignore, become readable. Returns
 * the descriptor, or -1. What has come is never read, so it stays pending until the signals have their effect again. */
static int hold_signals(sigset_t *before_out)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t wanted;
    sigemptyset(&wanted);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction now; /* a blocked signal is kept although it is ignored */
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaddset(&wanted, numbers[i]);
    }
    const int fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd >= 0)
        sigprocmask(SIG_BLOCK, &wanted, before_out);
    return fd;
}

bool enl_ask_all(const struct bcri_config *config, struct enl_asked *all, size_t count)
{
    struct asking asking = {.config = config,
                            .all = all,
                            .count = count,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .quiet_ns = count > 1 && isatty(2) ? bcri_deadline_after(ENL_PROGRESS_QUIET_MSEC)
                                                               : BCRI_DEADLINE_NEVER};
    struct ask *asks = calloc(ASKED_AT_ONCE, sizeof *asks);
    pthread_t threads[ASKED_AT_ONCE];
    size_t more = 0; /* threads besides this one */
    sigset_t before;
    if (asks == NULL)
        return false;
    for (size_t i = 0; i < ASKED_AT_ONCE; i++)
        asks[i].asking = &asking;
    getrlimit(RLIMIT_NOFILE, &asking.inherited.files);
    asking.interrupt = hold_signals(&before);
    signal(SIGPIPE, SIG_IGN);
    while (more < ASKED_AT_ONCE - 1 && more + 1 < count &&
           pthread_create(&threads[more], NULL, ask_machines, &asks[more]) == 0)
        more++;
    ask_machines(&asks[more]);
    while (more > 0)
        pthread_join(threads[--more], NULL);
    free(asks);
    atomic_store(&asking.done, count);
    show_progress(&asking);
    if (asking.interrupt >= 0) {
        close(asking.interrupt);
        sigprocmask(SIG_SETMASK, &before, NULL); /* which is the end of this process, if it was interrupted */
    }
    return true;
}
