/* SPDX-License-Identifier: MIT */
/* score_members.c -- an SCore program whose nodes do what they are told: score_members SCENARIO [WORD [WORD]]
 *
 * What goes wrong ends it with status 99 and a sentence. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sc.h>
#include <score.h>
#include <score_options.h>
#include <score_resource.h>

SCORE_RSRC_HETERO_NODES;

#define MUST(condition)                                                                             \
    do {                                                                                            \
        if (!(condition)) {                                                                         \
            fprintf(stderr, "score_members: line %d, node %d: not %s\n", __LINE__, score_self_node, \
                    #condition);                                                                    \
            _exit(99);                                                                              \
        }                                                                                           \
    } while (0)

static const char *word[3];

static int number(int which)
{
    MUST(word[which] != NULL);
    return atoi(word[which]);
}

static void tell_nodes(void)
{
    printf("node %d of %d, host %d of %d, process %d of %d, nets %d\n", score_self_node, score_num_node,
           score_self_host, score_num_host, score_self_proc, score_num_proc, score_num_pmnet);
    for (int net = 0; net < score_num_pmnet; net++)
        MUST(score_pmnet[net] != NULL);
    MUST(score_pmnet[score_num_pmnet] == NULL);
}

static void tell_option(void)
{
    static char key[100];
    snprintf(key, sizeof key, "%s", word[0]);
    const char *const value = score_get_opt(key);
    printf("%s\n", value == NULL ? "none" : value[0] == '\0' ? "empty" : value);
}

/* Each node adds a byte to a file that those of its host share, and finds all bytes of a round behind each barrier. */
static void barriers(void)
{
    enum { ROUNDS = 20 };
    static char name[] = "rounds";
    int fd;
    if (score_self_proc == 0)
        MUST(sc_create_temporary_file(name, &fd) == 0);
    MUST(sc_barrier() == 0);
    if (score_self_proc != 0)
        MUST(sc_open_temporary_file(name, &fd) == 0);
    MUST(fcntl(fd, F_SETFL, O_APPEND) == 0);
    for (int round = 1; round <= ROUNDS; round++) {
        struct stat status;
        MUST(write(fd, "x", 1) == 1);
        MUST(sc_barrier() == 0);
        MUST(fstat(fd, &status) == 0 && status.st_size == (off_t)round * score_num_proc);
        MUST(sc_barrier() == 0);
    }
}

static void files(void)
{
    static char name[] = "a b", slash[] = "a/b", empty[] = "", up[] = "..", none[] = "none";
    char text[3] = "";
    int fd, again;
    if (score_self_proc == 0) {
        MUST(sc_create_temporary_file(name, &fd) == 0 && write(fd, "abc", 3) == 3);
        MUST(sc_open_temporary_file(name, &again) == 0 && read(again, text, 3) == 3 &&
             memcmp(text, "abc", 3) == 0);
        MUST(close(fd) == 0 && close(again) == 0);
    }
    MUST(sc_barrier() == 0);
    MUST(sc_open_temporary_file(name, &fd) == 0 && close(fd) == 0);
    MUST(sc_open_temporary_file(none, &fd) == ENOENT && sc_unlink_temporary_file(none) == ENOENT);
    MUST(sc_create_temporary_file(slash, &fd) == EINVAL && sc_open_temporary_file(empty, &fd) == EINVAL);
    MUST(sc_unlink_temporary_file(up) == EINVAL && sc_create_temporary_file(NULL, &fd) == EINVAL);
    MUST(sc_create_temporary_file(name, NULL) == EINVAL);
    MUST(sc_barrier() == 0);
    if (score_self_proc == 0)
        MUST(sc_unlink_temporary_file(name) == 0 && sc_open_temporary_file(name, &fd) == ENOENT);
    MUST(sc_create_temporary_file(score_self_proc == 0 ? name : none, &fd) == 0); /* goes with the program */
}

/* Node word[0] ends all with word[1]; the others wait for nothing. */
static void exits(void)
{
    if (score_self_node == number(0)) {
        printf("before");
        sc_exit(number(1));
    }
    MUST(sc_sleep(1000000) == 0);
}

static void call_again(void)
{
    score_become_busy();
}

/* The node has closed its connection to enl, and calls when it exits. */
static void exits_unheard(void)
{
    MUST(atexit(call_again) == 0 && close_range(3, ~0u, 0) == 0);
    sc_exit(4);
}

static void terminates(void)
{
    if (score_self_node == score_num_node - 1)
        sc_terminate();
    MUST(sc_barrier() == 0);
}

static volatile sig_atomic_t caught;

static void catch_signal(int signal)
{
    caught = signal;
}

static void wait_for_signal(int signal)
{
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, signal);
    MUST(sigprocmask(SIG_BLOCK, &blocked, &before) == 0);
    sigdelset(&before, signal);
    while (caught != signal)
        sigsuspend(&before);
}

static void tell(const char *line)
{
    const int fd = open(getenv("SYS_TELL"), O_WRONLY | O_CLOEXEC);
    MUST(fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line) && close(fd) == 0);
}

/* The last node sends all signal word[0], or somebody sends it to enl ("outside"). */
static void signals(void)
{
    const struct sigaction action = {.sa_handler = catch_signal};
    MUST(sigaction(number(0), &action, NULL) == 0);
    MUST(sc_signal_bcast(-1) == EINVAL && sc_signal_bcast(SIGKILL) == EINVAL &&
         sc_signal_bcast(SIGSTOP) == EINVAL);
    MUST(sc_signal_bcast(SIGCONT) == EINVAL && sc_signal_bcast(0) == EINVAL &&
         sc_signal_bcast(1000) == EINVAL);
    MUST(sc_barrier() == 0);
    if (word[1] == NULL && score_self_node == score_num_node - 1)
        MUST(sc_signal_bcast(number(0)) == 0);
    if (word[1] != NULL && score_self_node == 0)
        tell("ready\n");
    wait_for_signal(number(0));
}

/* All nodes do nothing until they are ended. */
static void waits(void)
{
    MUST(sc_barrier() == 0);
    if (score_self_node == 0)
        tell("ready\n");
    MUST(sc_sleep(1000000) == 0);
}

/* The same, until SIGUSR1; each tells its process. */
static void suspended(void)
{
    const struct sigaction action = {.sa_handler = catch_signal};
    char line[20];
    MUST(sigaction(SIGUSR1, &action, NULL) == 0 && sc_barrier() == 0);
    snprintf(line, sizeof line, "%d\n", (int)getpid());
    tell(line);
    wait_for_signal(SIGUSR1);
}

static void tell_pid(void)
{
    int pid = -1, again = -1;
    MUST(sc_getpid(NULL) == EINVAL);
    MUST(sc_getpid(&pid) == 0 && sc_getpid(&again) == 0 && pid == again && pid > 0);
    printf("%d\n", pid);
}

/* Node by node, each line behind all before it. */
static void flushes(void)
{
    for (int node = 0; node < score_num_node; node++) {
        if (node == score_self_node) {
            printf("%d\n", node);
            MUST(sc_flush() == 0);
        }
        MUST(sc_barrier() == 0);
    }
}

static void small(void)
{
    MUST(sc_yield() == 0 && sc_sleep(0) == 0 && sc_sleep(-1) == EINVAL && sc_checkpoint() == ENOSYS);
    sc_set_monitor(0, 255);
    sc_set_monitor(1, 7);
    score_ckpt_enter_uncheckpointable();
    score_ckpt_leave_uncheckpointable();
    score_initialize(); /* once is enough */
    score_become_idle();
    score_become_busy();
}

static _Atomic int over;

static void *call_on_and_on(void *argument)
{
    int pid;
    while (!over)
        MUST(sc_getpid(&pid) == 0 && sc_yield() == 0 && (argument == NULL || sc_flush() == 0));
    return NULL;
}

/* Barriers while other threads call, too. */
static void threads(void)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_create(&thread[i], NULL, call_on_and_on, i > 0 ? &over : NULL) == 0);
    barriers();
    MUST(sc_flush() == 0);
    over = 1;
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
}

/* All nodes look for messages that do not come. */
static void deadlock(void)
{
    caddr_t message;
    size_t length;
    score_become_idle();
    while (pmReceive(score_pmnet[0], &message, &length) == ENOBUFS)
        continue;
    MUST(score_num_pmnet == 0); /* a message has come */
}

static void leave(int signal)
{
    (void)signal;
    _exit(0);
}

/* The same, until nobody can have taken them for idle. */
static void only_look(void)
{
    MUST(signal(SIGALRM, leave) != SIG_ERR);
    alarm(5);
    deadlock();
}

static void inspect(int signal)
{
    sc_inspectme(NULL, signal);
}

static void fault(void)
{
    MUST(signal(SIGSEGV, inspect) != SIG_ERR && sc_barrier() == 0);
    if (score_self_node == score_num_node - 1)
        raise(SIGSEGV);
    for (;;)
        pause();
}

static void exit_plainly(void)
{
    exit(number(0) + score_self_node);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {
        {"nodes", tell_nodes},      {"option", tell_option},  {"barriers", barriers},
        {"files", files},           {"exits", exits},         {"plain", exit_plainly},
        {"terminates", terminates}, {"signals", signals},     {"pid", tell_pid},
        {"small", small},           {"flushes", flushes},     {"threads", threads},
        {"deadlock", deadlock},     {"only_look", only_look}, {"waits", waits},
        {"suspended", suspended},   {"fault", fault},         {"exits_unheard", exits_unheard},
    };
    for (int i = 0; i < 3 && i + 2 < argc; i++)
        word[i] = argv[i + 2];
    MUST(sc_flush() == EINVAL && sc_barrier() == EINVAL);
    score_initialize();
    for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (strcmp(scenarios[i].name, argv[1]) == 0) {
            scenarios[i].run();
            return 0;
        }
    fprintf(stderr, "score_members: no scenario\n");
    return 99;
}
