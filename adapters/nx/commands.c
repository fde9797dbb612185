/* SPDX-License-Identifier: MIT */
/* commands.c -- getcube, load, waitcube, killcube, relcube, cubeinfo: cubes from the shell, that last from one command to the next.
 *
 * The first getcube leaves a process behind, which is the root of a program named "nx": it holds EXEC, and so the cubes, until relcube
 * gives the last one back. What nodes print comes to where that getcube printed. Other commands, and host programs, enter that program. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <earl_cube.h>

#include "host.h"

/* The box that tells the holder to end; and the one that says which process is the daemon of its program. Who drops the latter ends the
 * program: no cube may be made there any more. */
#define END_BOX    "nx/end"
#define HOLDER_BOX "nx/holder"

struct options {
    const char *cube, *type;
    int node, pid;
    bool all;
};

static const char *command;

__attribute__((format(printf, 1, 2))) _Noreturn static void fail(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: ", command);
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was begun on the line above */
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

/* Of a routine of earl_exec.h or earl_cube.h. */
static int must(int result, const char *what)
{
    if (result < 0)
        fail("%s: %s", what, earl_strerror(result));
    return result;
}

/* ---- the holder ---- */

static int post_daemon(void)
{
    const int daemon = getppid();
    earl_buffer *buffer = earl_buffer_make(0);
    int code = buffer == NULL ? EARL_E_MEMORY : earl_pack(buffer, EARL_INT, &daemon, 1, 1);
    if (code == EARL_OK)
        code = earl_exec_post(HOLDER_BOX, 0, EARL_BOX_ANYONE, buffer);
    earl_buffer_free(buffer);
    return code;
}

/* Holds the cubes; it has told `fd` first how its start went: nothing, or a sentence. */
_Noreturn static void hold(int fd)
{
    char sentence[256] = "";
    int code = earl_exec_begin("nx");
    if (code >= 0)
        code = post_daemon();
    if (code < 0)
        snprintf(sentence, sizeof sentence, "%s",
                 code == EARL_E_SYSTEM ? earl_sentence() : earl_strerror(code));
    if (write(fd, sentence, sizeof sentence) != (ssize_t)sizeof sentence || code < 0)
        exit(1);
    close(fd);
    earl_buffer *end;
    (void)earl_exec_fetch(END_BOX, 0, EARL_BOX_WAIT | EARL_BOX_TAKE, &end);
    exit(0);
}

/* It is held until the command ends. */
static int lock_begin(void)
{
    const int lock = nxi_lock_program();
    if (lock < 0)
        fail("the home directory cannot be locked: %s", strerror(errno));
    return lock;
}

static void begin_program(int lock)
{
    char sentence[256];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail("%s", strerror(errno));
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0)
        fail("%s", strerror(errno));
    if (child == 0) {
        setsid();
        setenv("BCR_NAME", nxi_program(), 1);
        close(ends[0]);
        close(lock);
        hold(ends[1]);
    }
    close(ends[1]);
    const ssize_t length = read(ends[0], sentence, sizeof sentence);
    close(ends[0]);
    if (length != (ssize_t)sizeof sentence)
        fail("the program that holds cubes could not be started");
    if (sentence[0] != '\0')
        fail("%s", sentence);
}

static void is_entered(int code)
{
    if (code == EARL_E_NONE)
        fail("there is no cube: getcube gets one");
    if (code == EARL_E_SYSTEM)
        fail("%s", earl_sentence()[0] != '\0' ? earl_sentence() : "the program that holds cubes ends");
    (void)must(code, "nx");
}

static void enter(void)
{
    is_entered(earl_exec_enter(nxi_program(), command));
}

static void enter_or_begin(void)
{
    const int lock = lock_begin();
    int code = earl_exec_enter(nxi_program(), command);
    if (code == EARL_E_NONE) {
        begin_program(lock);
        code = earl_exec_enter(nxi_program(), command);
    }
    is_entered(code);
    earl_buffer *holder;
    code = earl_exec_fetch(HOLDER_BOX, 0, 0, &holder);
    if (code == EARL_E_NONE)
        fail("the program that held the former cubes has not ended yet: a host program is in it");
    (void)must(code, "nx");
}

static void attach(const struct options *options)
{
    enter();
    const int code = earl_cube_attach(options->cube);
    if (code == EARL_E_NONE)
        fail("there is no cube \"%s\"", options->cube);
    (void)must(code, options->cube);
}

/* ---- commands ---- */

static int get(const struct options *options, char **words)
{
    (void)words;
    const int size = nxi_size_of(options->type);
    if (size == 0)
        fail("\"%s\" is no type of a cube, as \"8\" or \"d3\" are", options->type);
    enter_or_begin();
    const int code = earl_cube_make(options->cube, size, 1);
    if (code == EARL_E_BUSY)
        fail("there is a cube \"%s\" already", options->cube);
    (void)must(code, options->cube);
    printf("%s: %d node%s\n", options->cube, size, size == 1 ? "" : "s");
    return 0;
}

static int load_program(const struct options *options, char **words)
{
    attach(options);
    const int started = earl_cube_load(words[0], (const char *const *)words + 1, options->node,
                                       options->pid < 0 ? 0 : options->pid);
    if (started == EARL_E_BUSY)
        fail("process %d runs already there", options->pid < 0 ? 0 : options->pid);
    return must(started, words[0]) > 0 ? 0 : 1;
}

static void tell_end(int node, int pid, const struct earl_exec_process *told)
{
    fprintf(stderr, "%s: node %d, process %d: ", command, node, pid);
    switch (told->how) {
    case EARL_HOW_EXITED: fprintf(stderr, "status %d\n", told->status); break;
    case EARL_HOW_KILLED: fprintf(stderr, "signal %d\n", told->status); break;
    case EARL_HOW_LOST: fputs("its host is lost\n", stderr); break;
    case EARL_HOW_NEVER: fprintf(stderr, "%s ended without a call of NX\n", told->file); break;
    default: fputs("nobody knows how it ended\n", stderr); break;
    }
}

static int wait_for(const struct options *options, char **words)
{
    int worst = 0, code, node = options->node, pid = options->pid;
    struct earl_exec_process told;
    (void)words;
    attach(options);
    while ((code = earl_cube_await(&node, &pid, &told)) == EARL_OK) {
        const int status = told.how == EARL_HOW_EXITED   ? told.status
                           : told.how == EARL_HOW_KILLED ? 128 + told.status
                                                         : 1;
        if (status != 0)
            tell_end(node, pid, &told);
        worst = status > worst ? status : worst;
        node = options->node;
        pid = options->pid;
    }
    if (code != EARL_E_PROCESS)
        (void)must(code, options->cube);
    return worst;
}

static int kill_there(const struct options *options, char **words)
{
    (void)words;
    attach(options);
    (void)must(earl_cube_kill(options->node, options->pid), options->cube);
    return 0;
}

static void drop(const char *name)
{
    const int code = earl_cube_drop(name);
    if (code == EARL_E_NONE)
        fail("there is no cube \"%s\"", name);
    (void)must(code, name);
}

/* A child keeps the lock until the daemon has ended. */
static void keep_lock(int lock, int daemon)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child != 0)
        return; /* without a child the next getcube may come too early, and says so */
    if (setsid() < 0 || dup2(lock, 0) < 0 || dup2(daemon, 1) < 0 || close_range(2, ~0u, 0) != 0 ||
        chdir("/") != 0)
        _exit(1);
    struct pollfd ends = {.fd = 1, .events = POLLIN};
    while (poll(&ends, 1, -1) < 0 && errno == EINTR)
        continue;
    _exit(0);
}

/* How many processes there are that EXEC has not started: what was loaded is killed, but may not have ended yet. */
static int count_entered(void)
{
    const int count = must(earl_exec_list(NULL, 0), "processes");
    struct earl_exec_process *list = calloc((size_t)count + 1, sizeof *list);
    if (list == NULL)
        fail("no memory");
    const int told = must(earl_exec_list(list, count), "processes");
    int entered = told > count ? told - count : 0;
    for (int i = 0; i < told && i < count; i++)
        entered += list[i].parent == EARL_ANY;
    free(list);
    return entered;
}

/* No cube is left: the program ends. While a host program is in it, it stays, and getcube says so. */
static void end_program(int lock)
{
    int daemon, watched = -1;
    earl_buffer *holder, *end = earl_buffer_make(0);
    const int found = earl_exec_fetch(HOLDER_BOX, 0, EARL_BOX_TAKE, &holder);
    if (found !=
        EARL_E_NONE) { /* else another ends it; but that one may have been killed before it said so */
        (void)must(found, "end");
        (void)must(earl_unpack(holder, EARL_INT, &daemon, 1, 1), "end");
        if (count_entered() <= 2) /* the holder, and this one */
            watched = (int)syscall(SYS_pidfd_open, daemon, 0);
    }
    const int code = end == NULL ? EARL_E_MEMORY : earl_exec_post(END_BOX, 0, 0, end);
    if (code != EARL_E_BUSY)
        (void)must(code, "end");
    if (watched >= 0)
        keep_lock(lock, watched);
}

static int release(const struct options *options, char **words)
{
    const int lock = lock_begin();
    struct earl_cube first;
    (void)words;
    enter();
    if (!options->all)
        drop(options->cube);
    while (options->all && must(earl_cube_list(&first, 1), "cubes") > 0)
        drop(first.name);
    if (must(earl_cube_list(NULL, 0), "cubes") == 0)
        end_program(lock);
    return 0;
}

static int tell(const struct options *options, char **words)
{
    (void)options, (void)words;
    if (earl_exec_enter(nxi_program(), command) == EARL_E_NONE)
        return 0;
    const int count = must(earl_cube_list(NULL, 0), "cubes");
    struct earl_cube *list = calloc((size_t)count + 1, sizeof *list);
    if (list == NULL)
        fail("no memory");
    const int told = must(earl_cube_list(list, count), "cubes");
    for (int i = 0; i < told && i < count; i++)
        printf("%-24s %6d node%s%s\n", list[i].name, list[i].size, list[i].size == 1 ? " " : "s",
               list[i].is_kept ? "" : ", until its host program ends");
    free(list);
    return 0;
}

/* ---- arguments ---- */

static const struct {
    const char *name, *options, *usage, *purpose;
    int words; /* at least */
    int (*run)(const struct options *options, char **words);
} commands[] = {
    {"getcube", "+c:t:h", "[-c NAME] [-t TYPE]", "allocate a cube: -t 8 or -t d3 (2 to the 3rd) nodes", 0,
     get},
    {"load", "+c:n:p:h", "[-c NAME] [-n NODE] [-p PID] PROGRAM [ARGUMENT ...]",
     "load a program on a node, or on all, as process PID (0)", 1, load_program},
    {"waitcube", "+c:n:p:h", "[-c NAME] [-n NODE] [-p PID]",
     "wait until all that was loaded has ended; the status is the highest of them", 0, wait_for},
    {"killcube", "+c:n:p:h", "[-c NAME] [-n NODE] [-p PID]", "kill what was loaded", 0, kill_there},
    {"relcube", "+c:ah", "[-c NAME | -a]", "give a cube back, or all; what is loaded there is killed", 0,
     release},
    {"cubeinfo", "+h", "", "list the cubes", 0, tell},
};

static int number(const char *text, const char *what)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < -1 || value > 0x7fffffff)
        fail("\"%s\" is no %s: they are 0 or more, or -1, any", text, what);
    return (int)value;
}

static void read_option(struct options *options, int option)
{
    switch (option) {
    case 'c': options->cube = optarg; break;
    case 't': options->type = optarg; break;
    case 'n': options->node = number(optarg, "node"); break;
    case 'p': options->pid = number(optarg, "process ID"); break;
    default: options->all = true; break;
    }
}

int main(int argc, char **argv)
{
    struct options options = {"defaultname", "", EARL_ANY, EARL_ANY, false};
    static const struct option words[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    command = slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "nx";
    size_t which = 0;
    while (which < sizeof commands / sizeof *commands && strcmp(commands[which].name, command) != 0)
        which++;
    if (which == sizeof commands / sizeof *commands) {
        fputs("nx-command: it is called as getcube, load, waitcube, killcube, relcube or cubeinfo: "
              "nx-cubes(1)\n",
              stderr);
        return 2;
    }
    for (int option; (option = getopt_long(argc, argv, commands[which].options, words, NULL)) != -1;) {
        if (option == 'h' || option == '?') {
            fprintf(option == 'h' ? stdout : stderr, "usage: %s %s\n%s.\n", command, commands[which].usage,
                    commands[which].purpose);
            return option == 'h' ? 0 : 2;
        }
        read_option(&options, option);
    }
    const int left = argc - optind;
    if (left < commands[which].words || (left > 0 && commands[which].words == 0)) {
        fprintf(stderr, "usage: %s %s\n", command, commands[which].usage);
        return 2;
    }
    return commands[which].run(&options, argv + optind);
}
