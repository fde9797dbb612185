/* SPDX-License-Identifier: MIT */
/* See debug.h. */
#include "debug/debug.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/last_part.h"
#include "base/object.h"
#include "bcri/refuse.h"
#include "bcri/words.h"

#define SCRIPT "bcr-gdb.py"

static enum enl_debugger_kind kind_of(const char *path)
{
    const char *name = enl_last_part(path);
    if (strncmp(name, "gdb", 3) == 0)
        return ENL_GDB;
    return strncmp(name, "lldb", 4) == 0 ? ENL_LLDB : ENL_OTHER_DEBUGGER;
}

/* Beside this enl, as in a build folder, or where an installation has it. */
static void find_script(struct enl_debugger *debugger)
{
    const ssize_t length = readlink("/proc/self/exe", debugger->own, sizeof debugger->own - 1);
    debugger->own[length > 0 ? length : 0] = '\0';
    debugger->script[0] = '\0';
    static const char *const places[] = {SCRIPT, ENL_DATA_FOLDER "/bcr/" SCRIPT};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[PATH_MAX + 64];
        const int folder = (int)(enl_last_part(debugger->own) - debugger->own);
        snprintf(path, sizeof path, "%.*s%s", folder, debugger->own, places[i]);
        if (strlen(path) < sizeof debugger->script && access(path, R_OK) == 0) {
            strcpy(debugger->script, path);
            return;
        }
    }
}

int enl_debugger_find(struct enl_debugger *debugger, const char *command, char *error, size_t error_size)
{
    char reason[1024];
    const int count = bcri_words_count(command);
    if (count <= 0)
        return bcri_refuse(error, error_size, -1, "-d takes a debugger, such as gdb or 'gdb -nx', not \"%s\"",
                           command);
    debugger->words = malloc(((size_t)count + 1) * sizeof *debugger->words + strlen(command) + 1);
    if (debugger->words == NULL)
        return bcri_refuse(error, error_size, -1, "no memory");
    bcri_words_split(command, (char *)(debugger->words + count + 1), debugger->words);
    debugger->count = count;
    find_script(debugger);
    if (enl_object_find(debugger->words[0], debugger->path, reason, sizeof reason) != 0) {
        bcri_refuse(error, error_size, -1, "no debugger: %s; install it, or name another by -d", reason);
        enl_debugger_free(debugger);
        return -1;
    }
    debugger->kind = kind_of(debugger->path);
    return 0;
}

void enl_debugger_free(struct enl_debugger *debugger)
{
    free(debugger->words);
    debugger->words = NULL;
}

enum { OWN_WORDS = 24 };

struct list {
    char **words;
    size_t count;
};

static void add_words(struct list *list, const char *const *words)
{
    while (*words != NULL)
        list->words[list->count++] = (char *)(uintptr_t)*words++;
}

#define ADD(list, ...) add_words((list), (const char *const[]){__VA_ARGS__, NULL})

static void add_arguments(struct list *list, char *const *argv)
{
    if (argv[0] != NULL)
        add_words(list, (const char *const *)argv + 1);
}

/* Room for so many words of a debugger, its own, and those of the program. */
static bool make_list(struct list *list, int words, char *const *argv)
{
    size_t more = 0;
    while (argv != NULL && argv[more] != NULL)
        more++;
    *list = (struct list){calloc(OWN_WORDS + (size_t)words + more + 1, sizeof *list->words), 0};
    return list->words != NULL;
}

static void add_own(struct list *list, const struct enl_debugger *debugger, const char *batch)
{
    ADD(list, debugger->kind == ENL_LLDB ? debugger->path : debugger->words[0]);
    add_arguments(list, debugger->words);
    if (debugger->kind != ENL_GDB)
        return;
    ADD(list, "-q");
    if (debugger->script[0] != '\0')
        ADD(list, "-ix", debugger->script);
    if (batch != NULL)
        ADD(list, "-batch", "-x", batch);
}

char **enl_debugger_starts(const struct enl_debugger *debugger, const char *batch, const char *path,
                           char *const *argv)
{
    struct list list;
    if (!make_list(&list, debugger->count, argv))
        return NULL;
    if (debugger->kind == ENL_LLDB)
        ADD(&list, debugger->own, "--held");
    add_own(&list, debugger, batch);
    if (debugger->kind == ENL_LLDB) {
        if (batch != NULL)
            ADD(&list, "-b");
        /* For a person the process that is there already is at its beginning, so `run` goes on from there. */
        ADD(&list, "-o", "command alias run process continue", "-o", "command alias r process continue", "-o",
            "process continue");
        if (batch != NULL)
            ADD(&list, "-s", batch);
        ADD(&list, "-p"); /* and the program's words, which held.c takes away again */
    } else if (debugger->kind == ENL_GDB || argv[1] != NULL) {
        ADD(&list, "--args");
    }
    ADD(&list, path);
    add_arguments(&list, argv);
    return list.words;
}

char **enl_debugger_attaches(const struct enl_debugger *debugger, const char *pid, const char *program)
{
    struct list list;
    if (!make_list(&list, debugger->count, NULL))
        return NULL;
    add_own(&list, debugger, NULL);
    ADD(&list, "-p", pid);
    /* gdb would look at the path of the program, where another file is by now, or none. Behind the options, so that
     * a word of the user's own that names a file comes first. */
    if (debugger->kind == ENL_GDB && program != NULL)
        ADD(&list, program);
    return list.words;
}

char **enl_debugger_serves(const char *path, char *const *argv)
{
    struct list list;
    if (!make_list(&list, 0, argv))
        return NULL;
    ADD(&list, ENL_GDBSERVER, "--once", "-", path);
    add_arguments(&list, argv);
    return list.words;
}

bool enl_debugger_program(pid_t pid, char program[ENL_PROGRAM_LINK_MAX])
{
    static const char deleted[] = " (deleted)";
    char path[PATH_MAX];
    snprintf(program, ENL_PROGRAM_LINK_MAX, "/proc/%ld/exe", (long)pid);
    const ssize_t length = readlink(program, path, sizeof path), tail = sizeof deleted - 1;
    return length > tail && memcmp(path + length - tail, deleted, (size_t)tail) == 0;
}

/* A process tries it, which then ends, and with it its tracing. Returns 0, or the errno of ptrace, which is ENOSYS in
 * an emulator. */
static int refusal(pid_t pid)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(ptrace(pid != 0 ? PTRACE_SEIZE : PTRACE_TRACEME, pid, NULL, NULL) == 0 ? 0 : errno);
    if (child < 0 || waitpid(child, &status, 0) != child || status == 0)
        return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

const char *enl_debugger_forbidden(void)
{
    static char text[320];
    const int error = refusal(0);
    if (error == 0)
        return NULL;
    if (error == ENOSYS)
        return "an emulator lets no process be traced: enl --wrap 'qemu-ARCHITECTURE -g SOCKET' PROGRAM, and "
               "target remote SOCKET in gdb-multiarch, debug a CCE (see Debugging in the guide)";
    snprintf(text, sizeof text,
             "processes may not be traced here: ptrace: %s; see /proc/sys/kernel/yama/ptrace_scope (3 "
             "forbids it), or "
             "let the container do so (docker run --cap-add SYS_PTRACE)",
             strerror(error));
    return text;
}

const char *enl_debugger_refused(pid_t pid)
{
    static char text[320];
    const char *forbidden = enl_debugger_forbidden();
    const int error = forbidden == NULL ? refusal(pid) : 0;
    if (error == 0)
        return forbidden;
    snprintf(text, sizeof text, "the system does not let it be traced: ptrace: %s%s", strerror(error),
             error == EPERM
                 ? "; its program has other rights than you (set-user-ID, capabilities), or has forbidden it "
                   "(prctl PR_SET_DUMPABLE, PR_SET_PTRACER); see /proc/sys/kernel/yama/ptrace_scope"
                 : "");
    return text;
}
