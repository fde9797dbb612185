/* SPDX-License-Identifier: MIT */
/* locals.c -- gdb attaches to the process that waits in its signal handler, and prints a backtrace with variables.
 * To find where a variable lies at an instruction is a debugger's work; so a debugger does it. The daemon
 * ends it with this process, in whose group it is. */
#include "inspect/crash/crash_private.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "bcri/stopped.h"

enum { FRAMES = 16, HANDLER_FRAMES = 8, NO_GDB = 127 };

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
    char command[512];
    snprintf(command, sizeof command,
             "exec gdb -nx -batch -iex 'set auto-load no' -iex 'set debuginfod enabled off' "
             "-iex 'set print elements 16' "
             "-ex 'python [t.switch() for t in gdb.selected_inferior().threads() if t.ptid[1] == %ld]' "
             "-ex 'bt -full %d' -p %ld /proc/%ld/exe", /* its path may hold another file by now */
             (long)thread, FRAMES + HANDLER_FRAMES, (long)bcri_process_thread((uint32_t)pid), (long)thread);
    FILE *in = popen(command, "re"); /* NOLINT(cert-env33-c): the numbers are ours */
    const bool any = in != NULL && pass_on_frames(in);
    const int status = in != NULL ? pclose(in) : -1;
    if (!any)
        puts(status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == NO_GDB
                 ? "no local variables: there is no gdb, which reads them; install it, on the CCE's machine"
                 : "no local variables: gdb could not read them");
}
