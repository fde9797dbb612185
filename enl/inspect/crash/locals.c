/* SPDX-License-Identifier: MIT */
/* locals.c -- gdb attaches to the process that waits in its signal handler, and prints a backtrace with variables.
 * To find where a variable lies at an instruction is a debugger's work; so a debugger does it. */
#include "inspect/crash/crash_private.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/stopped.h"

enum { FRAMES = 16, NO_GDB = 127 };

static _Noreturn void become_gdb(pid_t pid, pid_t thread, int out)
{
    char process[24], select[160], frames[48], program[48];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the daemon ends this helper when the time is up */
    snprintf(process, sizeof process, "%ld", (long)bcri_process_thread((uint32_t)pid));
    snprintf(program, sizeof program, "/proc/%ld/exe",
             (long)thread); /* the path may hold another file by now */
    snprintf(select, sizeof select,
             "python [t.switch() for t in gdb.selected_inferior().threads() if t.ptid[1] == %ld]",
             (long)thread);
    /* Those of the handler itself are the first. */
    snprintf(frames, sizeof frames, "bt -full %d", FRAMES + 8);
    dup2(out, 1);
    execlp("gdb", "gdb", "-nx", "-batch", "-iex", "set auto-load no", "-iex", "set debuginfod enabled off",
           "-iex", "set print elements 16", "-ex", select, "-ex", frames, "-p", process, program,
           (char *)NULL);
    _exit(NO_GDB);
}

/* Passes on the frames behind that of the signal handler. Returns whether there were any. */
static bool pass_on_frames(FILE *in)
{
    char line[1024];
    bool below = false, any = false;
    while (fgets(line, sizeof line, in) != NULL) {
        if (below && !any && line[0] == '#') {
            puts("the same with local variables, by gdb:");
            any = true;
        }
        if (any && line[0] != '[') /* gdb's own messages */
            fputs(line, stdout);
        below |= strstr(line, "<signal handler called>") != NULL;
    }
    return any;
}

void enl_locals_print(pid_t pid, pid_t thread)
{
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        return;
    const pid_t gdb = fork();
    if (gdb == 0) {
        close(ends[0]);
        become_gdb(pid, thread, ends[1]);
    }
    close(ends[1]);
    FILE *in = gdb > 0 ? fdopen(ends[0], "r") : NULL;
    const bool any = in != NULL && pass_on_frames(in);
    if (in != NULL)
        fclose(in);
    if (gdb > 0)
        waitpid(gdb, &status, 0);
    if (!any)
        puts(gdb > 0 && WIFEXITED(status) && WEXITSTATUS(status) == NO_GDB
                 ? "no local variables: there is no gdb, which reads them; install it, on the CCE's machine"
                 : "no local variables: gdb could not read them");
}
