/* SPDX-License-Identifier: MIT */
/* A CCE that does what it is told: the root by its arguments, the others by the words of
 * $SYS_CHILD.
 *
 *   tell          writes "ordinal pid group" to the fifo $SYS_TELL: the test knows that it is there
 *   about         writes what it was given: limits, mask, directory, and so on
 *   cores         writes "cores ORDINAL COUNT FIRST": how many cores it may run on, and the first of them
 *   threadcores   the same of a thread that has called bcr_threadcores
 *   outdone M     calls bcr_outdone(M), with bcr_PENDING until it is done; tells "outdone CODE"
 *   outdone-on N  N times: prints a line, and calls bcr_outdone; tells "outdone CODE" of the first that fails, or the last
 *   close-out     closes its stdout and stderr
 *   tempdir       tells "tempdir ORDINAL CODE PATH", and makes files and folders there if it has one
 *   wait          reads a byte from the fifo $SYS_GO
 *   wait-at F     reads a byte from the fifo F
 *   out T, err T  prints a line
 *   part T, errpart T  prints that, and no newline
 *   endless       prints for ever, and no newline
 *   raw N         prints N bytes (raw.h)
 *   long N        prints a line of N times a letter, by many writes
 *   flood N       prints N lines
 *   enlist OBJ N  N CCEs (on core -N - 1 if N is negative); tells the result
 *   birth OBJ N   the same with a birth region of 8 bytes "birthday"
 *   variable V    tells the environment variable V
 *   hopeless N    N calls of bcr_enlist, one after the other, for a program that is not there
 *   enlistor      tells the hosts of its own identity and of its enlistor's, and the error of a put to that one
 *   arch          tells its enlistor's archtype, and the error of asking for it
 *   hosts         tells the hosts and their slots that bcr_host names: "hosts a:1 b:4"
 *   at M, from N  from now on enlist and birth start CCEs on machine M; their ordinals begin with N
 *   only N        the words behind it are for the CCE of that ordinal
 *   parent        tells the pid of the process that started it
 *   daemon        tells "daemon ORDINAL PID": its ordinal, and the same pid
 *   grow N        an area of N bytes at cell 2; tells the result
 *   grow-on N     one after the other, until one is refused; fills each with a region, and tells how many
 *   cell0         takes what is in cell 0 and tells it: "birth TEXT" or "error CODE OPERATION ORDINAL"
 *   rung N OBJ    N times: arms 16 cells, enlists a CCE that puts into each ("putter") and ends, and waits for all
 *   putter        puts into cells 1 to 16 of its enlistor
 *   waiting       tells how many regions are in cell 0
 *   again         calls bcr_init again; tells the result
 *   fork-dies     forks a child that exits with status 9, which is nobody's business
 *   fork-stays    forks a child that tells its pid and pauses
 *   exec P        becomes program P
 *   shut          closes every descriptor above 2, as daemons do
 *   standard      tells which of 0, 1 and 2 are open, and whether the descriptor of cell 0 is one of them
 *   exit N, kill N, pause, spin
 *
 * $SYS_CHILD2: the words of that ordinal, in place of $SYS_CHILD.
 *   signals       tells the signals that it ignores and blocks: "signals IGNORED BLOCKED SYSTEM", and what system() returns
 *   alarmed       waits for twenty alarms
 *   poke          writes into the pipe of "async"
 *
 * $SYS_BEFORE: what it does before it calls bcr_init:
 *   alarms        gets an alarm each 20 ms
 *   block S       blocks signal S and sends it to itself
 *   async         asks to be told by SIGIO of a pipe
 *
 * $SYS_THREAD: has a second thread when it calls bcr_init. */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr/program.h>

#include "raw.h"
#include "sys_tell.h"

static const char *own_name;
static const char *machine; /* of "at" */
static int ordinal1 = 1;    /* of "from" */

static void about(void)
{
    struct rlimit files;
    char folder[512], input[64] = "";
    mode_t mask = umask(0);
    umask(mask);
    getrlimit(RLIMIT_NOFILE, &files);
    if (readlink("/proc/self/fd/0", input, sizeof input - 1) < 0)
        input[0] = '\0';
    tell("%d name=%s files=%lu mask=%03o folder=%s socket=%s input=%s hup=%s\n", bcr_cceord, own_name,
         (unsigned long)files.rlim_cur, (unsigned)mask, getcwd(folder, sizeof folder),
         getenv("BCRI_SOCKET") ? getenv("BCRI_SOCKET") : "none",
         strncmp(input, "/dev/null", 9) == 0 ? "null" : "other",
         signal(SIGHUP, SIG_IGN) == SIG_IGN ? "ignored" : "default");
}

static void cores(void)
{
    cpu_set_t set;
    int first = 0;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    while (first < CPU_SETSIZE && !CPU_ISSET((size_t)first, &set))
        first++;
    tell("cores %d %d %d\n", bcr_cceord, CPU_COUNT(&set), first);
}

static int outdone(int msec)
{
    struct pollfd change = {.fd = msec == bcr_PENDING ? bcr_wakefd() : -1, .events = POLLIN};
    while (bcr_outdone(msec) != 0) {
        if (msec != bcr_PENDING || bcr_errno != bcrE_TIMEOUT)
            return bcr_errno;
        (void)poll(&change, 1, -1);
        (void)bcr_wakefd();
    }
    return 0;
}

static void outdone_on(int count)
{
    int code = 0;
    for (int i = 0; i < count && code == 0; i++) {
        printf("%d of %d\n", i, bcr_cceord);
        fflush(stdout);
        code = outdone(bcr_BLOCK);
    }
    tell("outdone %d\n", code);
}

static void tempdir(void)
{
    char path[PATH_MAX] = "none", name[PATH_MAX + 64];
    const int code = bcr_tempdir(path, sizeof path) == 0 ? 0 : bcr_errno;
    for (int i = 0; i < 3 && code == 0; i++) { /* the last one is unreadable, and has a file */
        snprintf(name, sizeof name, "%s/%d-%d", path, bcr_cceord, i);
        if (mkdir(name, 0700) != 0 || snprintf(name, sizeof name, "%s/%d-%d/file", path, bcr_cceord, i) < 0 ||
            (i != 0 && close(open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) != 0))
            _exit(87);
        snprintf(name, sizeof name, "%s/%d-%d", path, bcr_cceord, i);
        if (i == 2 && chmod(name, 0) != 0)
            _exit(88);
    }
    tell("tempdir %d %d %s\n", bcr_cceord, code, path);
}

static void *cores_of_thread(void *unused)
{
    if (bcr_threadcores() != 0)
        _exit(95);
    cores();
    return unused;
}

static void threadcores(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, cores_of_thread, NULL) != 0 || pthread_join(thread, NULL) != 0)
        _exit(94);
}

static void birth(const char *object, int count)
{
    if (bcr_cagrow(1, 0, 0, 0, 0, 0, 4096) < 0)
        _exit(97);
    bcr_region rgid = bcr_rgalloc(8, 0);
    memcpy(*rgid, "birthday", 8);
    int got = bcr_enlist(machine != NULL ? machine : "localhost", -count, ordinal1, object, rgid, bcr_FREE);
    tell("enlist %d %d\n", got, got < 0 ? bcr_errno : 0);
    if (got == 0 && bcr_rgfree(rgid) == 0)
        _exit(96); /* it should be gone */
}

static void cell0(void)
{
    int error[4];
    bcr_region rgid = bcr_deq(bcr_cce, 0, bcr_BLOCK);
    if (rgid == NULL)
        tell("nothing %d\n", bcr_errno);
    else if (bcr_rgerror(rgid) > 0 && bcr_copyfm(bcrT_1ERROR, 1, rgid, 0, error, sizeof error) >= 2)
        tell("error %d %d %d\n", error[0], error[1], error[3]);
    else
        tell("birth %.*s\n", bcr_rglen(rgid, NULL), (char *)*rgid);
}

static void *second_thread(void *data)
{
    pause();
    return data;
}

static void enlist(const char *object, int count)
{
    int got = bcr_enlist(machine, count < 0 ? -count - 1 : -count, ordinal1, object, NULL, bcr_FREE);
    tell("enlist %d %d\n", got, got < 0 ? bcr_errno : 0);
}

static void enlistor(void)
{
    const int ids[2] = {bcr_cce, bcr_enlistor};
    bcr_region rgid = bcr_cagrow(1, 1, 0, 0, 0, 1, 64) == 1 ? bcr_rgalloc(32, 0) : NULL;
    if (rgid == NULL || bcr_copyto(bcrT_1CCE, 2, rgid, 0, ids, sizeof ids) < 2)
        _exit(92);
    const unsigned char *own = *rgid, *other = own + 16;
    const int own_host = own[0] << 8 | own[1], other_host = other[0] << 8 | other[1];
    const int put = bcr_put(1, rgid, bcr_enlistor, 1, bcr_FREE) < 0 ? bcr_errno : 0;
    tell("enlistor %d %d %d\n", own_host, other_host, put);
}

static void arch(void)
{
    const int of_enlistor = bcr_arch(bcr_enlistor);
    tell("arch %#x %d\n", of_enlistor < 0 ? 0 : (unsigned)of_enlistor, of_enlistor < 0 ? bcr_errno : 0);
}

static void hosts(void)
{
    char text[512] = "", name[256];
    for (int k = 0, slots; (slots = bcr_host(k, name, sizeof name)) != 0; k++) {
        if (slots < 0 || bcr_host(k, NULL, 0) != slots || bcr_host(k, name, (int)strlen(name)) != -1 ||
            bcr_errno != bcrE_ARG || bcr_host(k, name, sizeof name) != slots)
            _exit(91);
        sprintf(text + strlen(text), " %s:%d", name, slots);
    }
    tell("hosts%s\n", text);
}

static void grow_on(int nbytes)
{
    int count = 0, cell;
    while ((cell = bcr_cagrow(1, 1, 0, 0, 0, 1, nbytes)) > 0) {
        bcr_region rgid = bcr_rgalloc(nbytes, 0);
        if (rgid == NULL)
            _exit(94);
        memset(*rgid, 1, (size_t)nbytes);
        count++;
    }
    tell("grew %d, then %d %d\n", count, cell, bcr_errno);
}

static void hopeless(int count)
{
    for (int i = 0; i < count; i++)
        if (bcr_enlist(NULL, -1, 1, "/there/is/no/such/program", NULL, bcr_FREE) == 0)
            _exit(95);
}

static volatile sig_atomic_t alarms;
static int asynchronous[2];

static void on_alarm(int number)
{
    alarms += number == SIGALRM;
}

static int before(char **words)
{
    const char *word = words[0];
    const int number = words[1] != NULL ? atoi(words[1]) : 0;
    if (strcmp(word, "alarms") == 0) {
        const struct timeval often = {.tv_usec = 20000};
        signal(SIGALRM, on_alarm);
        return setitimer(ITIMER_REAL, &(struct itimerval){often, often}, NULL), 1;
    }
    if (strcmp(word, "block") == 0) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, number);
        sigprocmask(SIG_BLOCK, &one, NULL);
        return raise(number), 2;
    }
    if (strcmp(word, "async") == 0 &&
        (socketpair(AF_UNIX, SOCK_STREAM, 0, asynchronous) != 0 ||
         fcntl(asynchronous[0], F_SETOWN, getpid()) != 0 || fcntl(asynchronous[0], F_SETFL, O_ASYNC) != 0))
        _exit(89);
    return 1;
}

static void signals(void)
{
    unsigned ignored = 0, blocked = 0;
    struct sigaction action;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < 32; number++) {
        ignored |=
            sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN ? 1u << (number - 1) : 0;
        blocked |= sigismember(&mask, number) == 1 ? 1u << (number - 1) : 0;
    }
    tell("signals %x %x %d\n", ignored, blocked,
         system("true")); /* NOLINT(cert-env33-c): which is what is tested */
}

enum { ARMED = 16 };

static void rung(int rounds, const char *object)
{
    struct pollfd fds[ARMED];
    if (bcr_cagrow(1, 0, ARMED, 0, 0, ARMED, 4096) != 1)
        _exit(90);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < ARMED; i++)
            fds[i] = (struct pollfd){.fd = bcr_fd(1 + i), .events = POLLIN};
        if (bcr_enlist(NULL, -1, 1 + round, object, NULL, bcr_FREE) != 0)
            _exit(90);
        for (int i = 0; i < ARMED; i++) {
            if (poll(&fds[i], 1, -1) != 1)
                _exit(90);
            bcr_region rgid = bcr_deq(bcr_cce, 1 + i, 0);
            if (rgid == NULL || bcr_rgfree(rgid) != 0)
                _exit(90);
        }
    }
    tell("rung %d\n", rounds);
}

static void putter(void)
{
    bcr_region rgid = bcr_cagrow(1, 0, 0, 0, 0, 1, 64) >= 0 ? bcr_rgalloc(8, 0) : NULL;
    for (int i = 0; i < ARMED; i++)
        if (rgid == NULL || bcr_enq(rgid, bcr_enlistor, 1 + i, bcr_NOFREE) < 0)
            _exit(90);
}

static void standard(void)
{
    const int fd = bcr_fd(0);
    int open_count = 0;
    for (int i = 0; i <= 2; i++)
        open_count += fcntl(i, F_GETFD) >= 0;
    tell("standard %d %s\n", open_count, fd < 0 ? "none" : fd <= 2 ? "taken" : "left");
}

/* Closes the library's descriptors, puts sockets in their places, and calls what would write to the
 * library's. */
static void own_sockets(void)
{
    enum { PAIRS = 8 };
    int pairs[PAIRS][2], grown, grown_why, enlisted, found = 0;
    char bytes[64];
    close_range(3, ~0u, 0);
    for (int i = 0; i < PAIRS; i++)
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pairs[i]) != 0)
            _exit(93);
    grown = bcr_cagrow(20, 1, 0, 0, 0, 1, 100000);
    grown_why = bcr_errno;
    enlisted = bcr_enlist(NULL, -1, 1, own_name, NULL, bcr_FREE);
    for (int i = 0; i < 2 * PAIRS; i++)
        found += recv(pairs[i / 2][i % 2], bytes, sizeof bytes, MSG_DONTWAIT) >= 0;
    tell("grow %d %d, enlist %d %d, found %d\n", grown, grown_why, enlisted, bcr_errno, found);
}

static void end_somehow(const char *word, int number)
{
    if (strcmp(word, "exit") == 0)
        exit(number);
    if (strcmp(word, "kill") == 0)
        raise(number);
    if (strcmp(word, "pause") == 0)
        for (;;)
            pause();
    if (strcmp(word, "endless") == 0)
        for (;;)
            putchar('.');
    if (strcmp(word, "spin") == 0)
        for (volatile int on = 1; on;)
            ;
}

/* Uses up its nbytes: seven regions that it holds, three in a cell. */
static void fill(void)
{
    const int cell = bcr_cagrow(0, 0, 0, 0, 1, 9, 640);
    for (int i = 0; i < 10; i++) {
        bcr_region rgid = bcr_rgalloc(64, 0);
        if (i < 3)
            bcr_enq(rgid, bcr_cce, cell, bcr_FREE);
    }
    for (int i = 0; i < 9; i++)
        if (bcr_rgalloc(64, 0) != NULL || bcr_errno != bcrE_NBYTES)
            tell("not full\n");
}

/* Any bytes, also by writes that end anywhere. */
static void print_raw(size_t length)
{
    for (size_t i = 0; i < length; i++)
        putchar(sys_raw_byte(bcr_cceord, i));
    fflush(stdout);
}

/* A line of that many times its own letter, printed a part at a time. */
static void print_long(size_t length)
{
    char part[1000];
    memset(part, 'a' + bcr_cceord % 26, sizeof part);
    setvbuf(stdout, NULL, _IONBF, 0);
    for (; length > sizeof part; length -= sizeof part)
        fwrite(part, 1, sizeof part, stdout);
    fwrite(part, 1, length, stdout);
    putchar('\n');
}

static int perform(char **words)
{
    const char *word = words[0], *value = words[1] ? words[1] : "",
               *second = *value && words[2] ? words[2] : "";
    if (strcmp(word, "tell") == 0)
        return tell("%d %d %d\n", bcr_cceord, (int)getpid(), (int)getpgrp()), 1;
    if (strcmp(word, "about") == 0)
        return about(), 1;
    if (strcmp(word, "cores") == 0)
        return cores(), 1;
    if (strcmp(word, "threadcores") == 0)
        return threadcores(), 1;
    if (strcmp(word, "outdone") == 0)
        return tell("outdone %d\n", outdone(atoi(value))), 2;
    if (strcmp(word, "outdone-on") == 0)
        return outdone_on(atoi(value)), 2;
    if (strcmp(word, "close-out") == 0)
        return close(1), close(2), 1;
    if (strcmp(word, "tempdir") == 0)
        return tempdir(), 1;
    if (strcmp(word, "wait") == 0)
        return wait_to_go(), 1;
    if (strcmp(word, "wait-at") == 0)
        return wait_at(value), 2;
    if (strcmp(word, "out") == 0)
        return printf("%s\n", value), fflush(stdout), 2;
    if (strcmp(word, "err") == 0)
        return fprintf(stderr, "%s\n", value), 2;
    if (strcmp(word, "part") == 0)
        return printf("%s", value), fflush(stdout), 2;
    if (strcmp(word, "errpart") == 0)
        return fprintf(stderr, "%s", value), 2;
    if (strcmp(word, "raw") == 0)
        return print_raw(strtoul(value, NULL, 10)), 2;
    if (strcmp(word, "long") == 0)
        return print_long(strtoul(value, NULL, 10)), 2;
    if (strcmp(word, "flood") == 0) {
        for (int i = 0; i < atoi(value); i++)
            printf("line %d\n", i);
        return 2;
    }
    if (strcmp(word, "enlist") == 0)
        return enlist(value, atoi(second)), 3;
    if (strcmp(word, "arch") == 0)
        return arch(), 1;
    if (strcmp(word, "enlistor") == 0)
        return enlistor(), 1;
    if (strcmp(word, "hosts") == 0)
        return hosts(), 1;
    if (strcmp(word, "at") == 0)
        return machine = value, 2;
    if (strcmp(word, "from") == 0)
        return ordinal1 = atoi(value), 2;
    if (strcmp(word, "only") == 0 && bcr_cceord != atoi(value))
        exit(0);
    if (strcmp(word, "only") == 0)
        return 2;
    if (strcmp(word, "parent") == 0)
        return tell("parent %d\n", (int)getppid()), 1;
    if (strcmp(word, "daemon") == 0)
        return tell("daemon %d %d\n", bcr_cceord, (int)getppid()), 1;
    if (strcmp(word, "grow") == 0) {
        int cell = bcr_cagrow(2, 1, 0, 0, 0, 1, atoi(value));
        return tell("grow %d %d\n", cell, cell < 0 ? bcr_errno : 0), 2;
    }
    if (strcmp(word, "fill") == 0)
        return fill(), 1;
    if (strcmp(word, "grow-on") == 0)
        return grow_on(atoi(value)), 2;
    if (strcmp(word, "variable") == 0)
        return tell("variable %s\n", getenv(value) != NULL ? getenv(value) : "none"), 2;
    if (strcmp(word, "signals") == 0)
        return signals(), 1;
    if (strcmp(word, "alarmed") == 0) {
        while (alarms < 20)
            pause();
        return tell("alarmed\n"), 1;
    }
    if (strcmp(word, "poke") == 0)
        return write(asynchronous[1], "x", 1) == 1 ? 1 : (_exit(89), 0);
    if (strcmp(word, "hopeless") == 0)
        return hopeless(atoi(value)), 2;
    if (strcmp(word, "birth") == 0)
        return birth(value, atoi(second)), 3;
    if (strcmp(word, "rung") == 0)
        return rung(atoi(value), second), 3;
    if (strcmp(word, "putter") == 0)
        return putter(), 1;
    if (strcmp(word, "cell0") == 0)
        return cell0(), 1;
    if (strcmp(word, "waiting") == 0)
        return tell("waiting %d\n", bcr_celllen(bcr_cce, 0)), 1;
    if (strcmp(word, "again") == 0)
        return bcr_init(0, NULL) < 0 ? tell("again %d\n", bcr_errno) : tell("again 0\n"), 1;
    if (strcmp(word, "fork-dies") == 0) {
        pid_t child = fork();
        if (child == 0)
            exit(9);
        waitpid(child, NULL, 0);
        return 1;
    }
    if (strcmp(word, "fork-stays") == 0) {
        if (fork() == 0) {
            tell("stays %d\n", (int)getpid());
            end_somehow("pause", 0);
        }
        return 1;
    }
    if (strcmp(word, "shut") == 0)
        return close_range(3, ~0u, 0), 1;
    if (strcmp(word, "standard") == 0)
        return standard(), 1;
    if (strcmp(word, "own-sockets") == 0)
        return own_sockets(), 1;
    if (strcmp(word, "many") == 0) {
        int got = bcr_enlist(NULL, INT_MIN, 1, "x", NULL, bcr_FREE);
        return tell("many %d %d\n", got, bcr_errno), 1;
    }
    if (strcmp(word, "exec") == 0)
        execl(value, value, (char *)NULL);
    end_somehow(word, atoi(value));
    return 2;
}

static void split(char *text, char **words, int most)
{
    int count = 0;
    for (char *word = strtok(text, " "); word != NULL && count < most; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
}

int main(int argc, char **argv)
{
    char *child_words[64];
    pthread_t thread;
    own_name = argv[0];
    if (getenv("SYS_BEFORE") != NULL) {
        split(getenv("SYS_BEFORE"), child_words, 63);
        for (char **words = child_words; *words != NULL;)
            words += before(words);
    }
    if (getenv("SYS_THREAD") != NULL)
        pthread_create(&thread, NULL, second_thread, NULL);
    if (bcr_init(bcr_errors, getenv("SYS_NAME")) < 0) {
        printf("init failed %d\n", bcr_errno);
        return 77;
    }
    char **words = argv + 1;
    char own[32];
    snprintf(own, sizeof own, "SYS_CHILD%d", bcr_cceord);
    char *of_child = getenv(own) != NULL ? getenv(own) : getenv("SYS_CHILD");
    if (bcr_cceord > 0 && of_child != NULL) {
        split(of_child, child_words, 63);
        words = child_words;
    } else if (bcr_cceord > 0 && argc == 1) {
        return 0;
    }
    while (*words != NULL)
        words += perform(words);
    return 0;
}
