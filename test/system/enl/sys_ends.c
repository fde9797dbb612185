/* SPDX-License-Identifier: MIT */
/* A CCE that ends, or is told signals, in each way: the root by its arguments, the others by the words of $SYS_CHILDk
 * (k: its ordinal) or else of $SYS_CHILD. The flags of its bcr_init are $SYS_ROOT_FLAGS or $SYS_CHILD_FLAGS.
 *
 *   tell          writes "ordinal pid group" to the fifo $SYS_TELL
 *   wait          reads a byte from the fifo $SYS_GO
 *   out T         prints a line
 *   flood N       prints N lines
 *   at M, from N  from now on enlist starts CCEs on machine M; their ordinals begin with N
 *   enlist N      N CCEs of this program
 *   as P          from now on enlist starts that program: this one, by a name in which "plain" means no flags
 *   parent        tells "parent PID ORDINAL"
 *   wait-at F     as wait, from the fifo F
 *   catch         from now on tells "got SIGNAL ORDINAL" for each signal that reaches it
 *   flags         tells what bcr_init has returned
 *   exit N, kill N, abort, pause, spin */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

static const char *machine, *object;
static int ordinal1 = 1, told, returned;

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

static void on_signal(int signal)
{
    tell("got ", signal, bcr_cceord);
}

static void catch_signals(void)
{
    static const int caught[] = {SIGHUP, SIGINT,   SIGABRT, SIGUSR1, SIGUSR2,
                                 SIGURG, SIGWINCH, SIGQUIT, SIGTERM, SIGTRAP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        sigaction(caught[i], &action, NULL);
}

static void wait_at(const char *fifo)
{
    char byte;
    const int fd = open(fifo, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, &byte, 1) != 1)
        _exit(98);
    close(fd);
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
            printf("line %d of %d\n", i, bcr_cceord);
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
