/* SPDX-License-Identifier: MIT */
/* See how_ended.h. */
#include "host/how_ended.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <bcr/program.h>

/* Whether `signal` ends a process by a mistake of its own. */
static bool is_crash(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
           signal == SIGABRT || signal == SIGSYS;
}

struct enl_how enl_how_ended(const struct enl_cce *cce, bool waited, int wait_status)
{
    const uint32_t recorded = bcri_load_acquire(&cce->record->id.exit_status);
    const int number = (int)(recorded & 0xffu);
    const bool crashed = (recorded & BCRI_CRASHED) != 0 && is_crash(number);
    if (cce->has_status)
        return (struct enl_how){.known = true, .number = cce->status};
    if (waited && WIFSIGNALED(wait_status))
        return (struct enl_how){.known = true, .signalled = true, .number = WTERMSIG(wait_status)};
    if (crashed)
        return (struct enl_how){.known = true, .signalled = true, .exited = waited, .number = number};
    if (waited && WIFEXITED(wait_status))
        return (struct enl_how){.known = true, .number = WEXITSTATUS(wait_status)};
    if ((recorded & BCRI_EXITED) != 0)
        return (struct enl_how){.known = true, .number = number};
    return (struct enl_how){.known = false};
}

enum enl_end enl_how_kind(const struct enl_cce *cce, struct enl_how how)
{
    /* One that writes into another's input is ended by SIGPIPE when that one has ended, as in a shell. */
    if (cce->writes_pipe && how.signalled && how.number == SIGPIPE)
        return ENL_END_STATUS;
    if (!how.known || how.signalled)
        return ENL_END_ABNORMAL;
    return how.number == 0 ? ENL_END_GOOD : ENL_END_STATUS;
}

int enl_how_status(struct enl_how how)
{
    return !how.known ? 1 : how.signalled ? 128 + how.number : how.number;
}

const char *enl_how_text(struct enl_how how, char *buffer, size_t size)
{
    if (!how.known)
        snprintf(buffer, size, "ended without exit()");
    else if (how.exited)
        snprintf(buffer, size, "crashed by signal %d (%s), and another thread of it called _exit", how.number,
                 strsignal(how.number));
    else if (how.signalled)
        snprintf(buffer, size, "was killed by signal %d (%s)", how.number, strsignal(how.number));
    else
        snprintf(buffer, size, "exited with status %d", how.number);
    return buffer;
}

bool enl_how_crashed(struct enl_how how)
{
    return how.signalled && is_crash(how.number);
}

void enl_how_note(struct enl_cce *cce, struct enl_how how)
{
    cce->how = (uint8_t)(!how.known ? bcr_UNKNOWN : how.signalled ? bcr_KILLED : bcr_EXITED);
    cce->number = (uint8_t)how.number;
}
