/* SPDX-License-Identifier: MIT */
/* See hang.h. */
#include "hang.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME_OF(name) #name
static const char *const names[] = {CHAOS_DOINGS(NAME_OF)};

static void run(const char *const *words)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(1, 2);
        execvp(words[0], (char *const *)(uintptr_t)words);
        _exit(127);
    }
    if (pid > 0)
        waitpid(pid, NULL, 0);
}

/* One line of /proc/pid/NAME. */
static void tell_line(pid_t pid, const char *name)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    printf(" %s %.*s", name, (int)strcspn(text, "\n"), text);
}

static void tell_stacks(pid_t pid)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)pid);
    printf("-- %d\n", (int)pid);
    run((const char *const[]){"gdb", "-q", "-nx", "-batch", "-p", number, "-ex", "thread apply all bt 14",
                              NULL});
}

void hang_tell(const struct chaos_board *board, pid_t daemon, const char *enl)
{
    const unsigned phase = atomic_load(&board->phase);
    printf("a CCE hangs in phase %u (%u)\n", phase, phase % CHAOS_PHASES);
    for (int i = 0; i < CHAOS_CCES; i++) {
        const struct chaos_place *place = &board->place[i];
        const int pid = atomic_load(&place->pid);
        const unsigned doing = atomic_load(&place->doing);
        printf("place %d: pid %d%s, %u calls, at phase %u, in %s, cell %d;", i, pid,
               atomic_load(&place->wanted) != 0 ? " wanted" : "", atomic_load(&place->calls),
               atomic_load(&place->at_phase), doing < DOINGS ? names[doing] : "?", atomic_load(&place->cell));
        if (pid != 0) {
            tell_line(pid, "wchan");
            tell_line(pid, "stat");
        }
        printf("\n");
    }
    run((const char *const[]){enl, "ps", NULL});
    tell_stacks(daemon);
    for (int i = 0; i < CHAOS_CCES; i++)
        if (atomic_load(&board->place[i].pid) != 0)
            tell_stacks(atomic_load(&board->place[i].pid));
}
