/* SPDX-License-Identifier: MIT */
/* A CCE that ends, or is told signals, in each way: the root by its arguments, the others by the words of $SYS_CHILDk
 * (k: its ordinal) or else of $SYS_CHILD. The flags of its bcr_init are $SYS_ROOT_FLAGS or $SYS_CHILD_FLAGS.
 *
 *   tell          writes "ordinal pid group" to the fifo $SYS_TELL
 *   wait          reads a byte from the fifo $SYS_GO
 *   out T         prints a line
 *   flood N       prints N lines; flush: writes what stdio has of them
 *   at M, from N  from now on enlist starts CCEs on machine M; their ordinals begin with N
 *   enlist N      N CCEs of this program
 *   start         one CCE, whose ID it knows at once
 *   as P          from now on enlist starts that program: this one, by a name in which "plain" means no flags
 *   parent        tells "parent PID ORDINAL"
 *   wait-at F     as wait, from the fifo F
 *   catch         from now on tells "got SIGNAL ORDINAL" for each signal that reaches it
 *   flags         tells what bcr_init has returned
 *   grow          makes cell 1, into which others put
 *   cry           tells its enlistor its ID, by a region
 *   hear N        takes the IDs of N CCEs, and gives each of them all; learn: takes those
 *   signal W N    sends signal N to CCE W: an ordinal, "root", "self", "all", "team" or "nobody"; tells "signal RESULT ERROR"
 *   handle        has a handler, so that calls that wait run handlers
 *   end N         bcr_end with that status for all, end-team N for the team, end-other N for neither; tells "end RESULT ERROR"
 *   await         waits for a signal that "catch" has caught
 *   leave         leaves a process of its own session behind, which tells "left PID ORDINAL"
 *   part T        prints T, which stays in the buffer of stdio
 *   forked        tells in a fork what bcr_signal and bcr_end say there
 *   exit N, kill N, abort, pause, spin, stop
 *
 * If $SYS_BEFORE is set, CCEs other than the root tell "before PID 0" and wait, before they call bcr_init. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

static const char *machine, *object;
static int ordinal1 = 1, told, returned;

/* The IDs of CCEs, by their ordinals. */
enum { PEERS = 16 };
static int peers[PEERS];

static const char *of_ordinal(const char *name, int ordinal)
{
    char own[64];
    snprintf(own, sizeof own, "%s%d", name, ordinal);
    return getenv(own) != NULL ? getenv(own) : getenv(name);
}

/* Also in a signal handler. */
static void tell(const char *word, int first, int second)
{
    char line[64];
    const int length = snprintf(line, sizeof line, "%s%d %d\n", word, first, second);
    if (write(told, line, (size_t)length) != length)
        _exit(99);
}

static volatile sig_atomic_t caught_one;

static void on_signal(int signal)
{
    caught_one = 1;
    tell("got ", signal, bcr_cceord);
}

static void catch_signals(void)
{
    static const int caught[] = {SIGHUP,   SIGINT,  SIGABRT, SIGUSR1, SIGUSR2, SIGURG,
                                 SIGWINCH, SIGQUIT, SIGTERM, SIGTRAP, SIGCONT};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        sigaction(caught[i], &action, NULL);
    sigaction(SIGRTMAX, &action, NULL);
}

static void wait_at(const char *fifo)
{
    char byte;
    const int fd = open(fifo, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, &byte, 1) != 1)
        _exit(98);
    close(fd);
}

static void grow(void)
{
    if (bcr_cagrow(1, 0, PEERS, 0, 0, PEERS, 4096) != 1)
        _exit(95);
}

static void put_ids(const int *ids, int count, bcr_cce_id cce)
{
    bcr_region rgid = bcr_rgalloc(16 * count, 0);
    if (rgid == NULL || bcr_copyto(bcrT_1CCE, count, rgid, 0, ids, count * (int)sizeof ids[0]) < 0 ||
        bcr_enq(rgid, cce, 1, bcr_FREE) != 0)
        _exit(94);
}

static void take_ids(int cell, int *ids, int count)
{
    bcr_region rgid = bcr_deq(bcr_cce, cell, bcr_BLOCK);
    if (rgid == NULL || bcr_copyfm(bcrT_1CCE, count, rgid, 0, ids, count * (int)sizeof ids[0]) < 0 ||
        bcr_rgfree(rgid) != 0)
        _exit(93);
}

/* Each puts into the cell of its own ordinal. */
static void cry(void)
{
    bcr_region rgid = bcr_rgalloc(16, 0);
    if (rgid == NULL || bcr_copyto(bcrT_1CCE, 1, rgid, 0, bcr_cce_location(), sizeof(int)) < 0 ||
        bcr_enq(rgid, bcr_enlistor, bcr_cceord, bcr_FREE) != 0)
        _exit(92);
}

static void hear(int count)
{
    peers[0] = bcr_cce;
    for (int i = 1; i <= count; i++)
        take_ids(i, &peers[i], 1);
    for (int i = 1; i <= count; i++)
        put_ids(peers, count + 1, peers[i]);
}

static void learn(void)
{
    bcr_region rgid = bcr_deq(bcr_cce, 1, bcr_BLOCK);
    const int count = rgid != NULL ? bcr_rglen(rgid, NULL) / 16 : 0;
    if (rgid == NULL || bcr_copyfm(bcrT_1CCE, count, rgid, 0, peers, sizeof peers) < 0)
        _exit(91);
}

static bcr_cce_id cce_of(const char *who)
{
    static const struct {
        const char *name;
        int which;
    } names[] = {{"all", bcr_ALL}, {"team", bcr_TEAM}, {"nobody", 4711}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(who, names[i].name) == 0)
            return names[i].which;
    if (strcmp(who, "self") == 0)
        return bcr_cce;
    return strcmp(who, "root") == 0 ? bcr_enlistor : peers[atoi(who) % PEERS];
}

static void send_signal(const char *who, int number)
{
    const int got = bcr_signal(cce_of(who), number);
    tell("signal ", got, got < 0 ? bcr_errno : 0);
}

static void handler(int cell)
{
    (void)cell;
}

static void end_all(int status, int which)
{
    const int got = bcr_end(status, which);
    tell("end ", got, bcr_errno);
}

static void await_signal(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    while (caught_one == 0)
        sigsuspend(&before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void leave(void)
{
    if (fork() == 0) {
        setsid();
        tell("left ", (int)getpid(), bcr_cceord);
        for (;;)
            pause();
    }
}

static void forked(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        const int one = bcr_signal(1, 0) < 0 ? bcr_errno : 0, other = bcr_end(0, bcr_ALL) < 0 ? bcr_errno : 0;
        tell("forked ", one, other);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void end_somehow(const char *word, int number)
{
    if (strcmp(word, "exit") == 0)
        exit(number);
    if (strcmp(word, "kill") == 0)
        raise(number);
    if (strcmp(word, "abort") == 0)
        abort();
    if (strcmp(word, "pause") == 0)
        for (;;)
            pause();
    if (strcmp(word, "spin") == 0)
        for (volatile int on = 1; on;)
            ;
    _exit(97);
}

static int perform(char **words)
{
    const char *word = words[0];
    const int number = words[1] != NULL ? atoi(words[1]) : 0;
    if (strcmp(word, "tell") == 0) {
        char line[64];
        snprintf(line, sizeof line, "%d ", bcr_cceord);
        return tell(line, (int)getpid(), (int)getpgrp()), 1;
    }
    if (strcmp(word, "wait") == 0)
        return wait_at(getenv("SYS_GO")), 1;
    if (strcmp(word, "wait-at") == 0)
        return wait_at(words[1]), 2;
    if (strcmp(word, "as") == 0)
        return object = words[1], 2;
    if (strcmp(word, "parent") == 0)
        return tell("parent ", (int)getppid(), bcr_cceord), 1;
    if (strcmp(word, "out") == 0)
        return printf("%s\n", words[1]), fflush(stdout), 2;
    if (strcmp(word, "flood") == 0) {
        for (int i = 0; i < number; i++)
            printf("%d\n", i);
        return 2;
    }
    if (strcmp(word, "at") == 0)
        return machine = words[1], 2;
    if (strcmp(word, "from") == 0)
        return ordinal1 = number, 2;
    if (strcmp(word, "enlist") == 0) {
        if (bcr_enlist(machine, -number, ordinal1, object, NULL, bcr_FREE) != 0)
            _exit(96);
        return 2;
    }
    if (strcmp(word, "start") == 0) {
        const struct bcr_startspec spec = {.size = sizeof spec,
                                           .machine = machine,
                                           .core = -1,
                                           .count = 1,
                                           .ordinal = ordinal1,
                                           .program = object};
        return bcr_start(&spec, &peers[ordinal1]) == 1 ? 1 : (_exit(90), 0);
    }
    if (strcmp(word, "grow") == 0)
        return grow(), 1;
    if (strcmp(word, "cry") == 0)
        return cry(), 1;
    if (strcmp(word, "hear") == 0)
        return hear(number), 2;
    if (strcmp(word, "learn") == 0)
        return learn(), 1;
    if (strcmp(word, "signal") == 0)
        return send_signal(words[1], atoi(words[2])), 3;
    if (strcmp(word, "handle") == 0)
        return bcr_handler(1, handler, 1000, 0, 0), 1;
    if (strcmp(word, "end") == 0)
        return end_all(number, bcr_ALL), 2;
    if (strcmp(word, "end-team") == 0)
        return end_all(number, bcr_TEAM), 2;
    if (strcmp(word, "end-other") == 0)
        return end_all(number, bcr_cce), 2;
    if (strcmp(word, "await") == 0)
        return await_signal(), 1;
    if (strcmp(word, "leave") == 0)
        return leave(), 1;
    if (strcmp(word, "part") == 0)
        return printf("%s", words[1]), 2;
    if (strcmp(word, "flush") == 0)
        return fflush(stdout), 1;
    if (strcmp(word, "stop") == 0)
        return raise(SIGSTOP), 1;
    if (strcmp(word, "forked") == 0)
        return forked(), 1;
    if (strcmp(word, "catch") == 0)
        return catch_signals(), 1;
    if (strcmp(word, "flags") == 0)
        return tell("flags ", returned, bcr_cceord), 1;
    end_somehow(word, number);
    return 1;
}

int main(int argc, char **argv)
{
    char text[1024], *child_words[64], **words = argv + 1;
    object = argv[0];
    told = open(getenv("SYS_TELL"), O_WRONLY | O_CLOEXEC);
    if (bcr_signal(1, 0) != -1 || bcr_errno != bcrE_NOINIT || bcr_end(0, bcr_ALL) != -1 ||
        bcr_errno != bcrE_NOINIT)
        return 76;
    if (argc == 1 && getenv("SYS_BEFORE") != NULL) {
        tell("before ", (int)getpid(), 0);
        end_somehow("pause", 0);
    }
    const char *flags = getenv(argc > 1 ? "SYS_ROOT_FLAGS" : "SYS_CHILD_FLAGS");
    returned = bcr_init(flags != NULL && strstr(object, "plain") == NULL ? atoi(flags) : 0, NULL);
    if (returned < 0)
        return 77;
    if (bcr_cceord > 0) {
        int count = 0;
        snprintf(text, sizeof text, "%s", of_ordinal("SYS_CHILD", bcr_cceord));
        for (char *word = strtok(text, " "); word != NULL && count < 63; word = strtok(NULL, " "))
            child_words[count++] = word;
        child_words[count] = NULL;
        words = child_words;
    }
    while (*words != NULL)
        words += perform(words);
    return 0;
}
