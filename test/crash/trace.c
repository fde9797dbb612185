/* SPDX-License-Identifier: MIT */
/* See trace.h. Source: ptrace(2). */
#include "trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern const char __executable_start[];

unsigned long trace_offset(uintptr_t place)
{
    return (unsigned long)(place - (uintptr_t)__executable_start);
}

#if defined(__x86_64__)
#include <linux/futex.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#define BREAKPOINT 0xcc

const char *trace_missing(void)
{
    return test_is_instrumented() ? "a tool's own instructions would be stepped through" : NULL;
}

void trace_begin(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        perror("PTRACE_TRACEME");
        _exit(1);
    }
    raise(SIGSTOP);
}

void trace_end(void)
{
    raise(SIGSTOP);
}

static int wait_stop(pid_t victim)
{
    int status;
    while (waitpid(victim, &status, __WALL) < 0)
        if (errno != EINTR)
            FAIL("waitpid: %s", strerror(errno));
    return status;
}

bool trace_attach(pid_t victim)
{
    int status = wait_stop(victim);
    if (!WIFSTOPPED(status))
        return false;
    ptrace(PTRACE_SETOPTIONS, victim, NULL, (void *)(uintptr_t)PTRACE_O_EXITKILL);
    return true;
}

uintptr_t trace_place(pid_t victim)
{
    struct user_regs_struct regs;
    return ptrace(PTRACE_GETREGS, victim, NULL, &regs) == 0 ? (uintptr_t)regs.rip : 0;
}

static bool sleeps(const struct user_regs_struct *regs)
{
    unsigned command = (unsigned)regs->rsi & (unsigned)FUTEX_CMD_MASK;
    return regs->rax == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

/* What the next instruction is. Its bytes are read here: the code is the same. */
static enum trace_at look(pid_t victim)
{
    struct user_regs_struct regs;
    unsigned char code[2];
    if (ptrace(PTRACE_GETREGS, victim, NULL, &regs) != 0)
        return TRACE_GONE;
    memcpy(code, (const void *)(uintptr_t)regs.rip, sizeof code);
    if (code[0] != 0x0f || code[1] != 0x05)
        return TRACE_AT_INSTRUCTION;
    return regs.rax == SYS_sched_yield ? TRACE_AT_YIELD
           : sleeps(&regs)             ? TRACE_AT_SLEEP
                                       : TRACE_AT_INSTRUCTION;
}

static enum trace_at go(pid_t victim, enum __ptrace_request how)
{
    if (ptrace(how, victim, NULL, NULL) != 0)
        return TRACE_GONE;
    int status = wait_stop(victim);
    if (!WIFSTOPPED(status))
        return TRACE_GONE;
    return WSTOPSIG(status) == SIGSTOP ? TRACE_AT_END : TRACE_AT_INSTRUCTION;
}

enum trace_at trace_step(pid_t victim)
{
    enum trace_at at = go(victim, PTRACE_SINGLESTEP);
    return at == TRACE_AT_INSTRUCTION ? look(victim) : at;
}

static long set_breakpoint(pid_t victim, uintptr_t place)
{
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, victim, (void *)place, NULL);
    if (errno != 0)
        FAIL("no instruction at %#lx: %s", (unsigned long)place, strerror(errno));
    ptrace(PTRACE_POKETEXT, victim, (void *)place, (void *)((word & ~0xffL) | BREAKPOINT));
    return word;
}

/* Runs to a breakpoint at `place`, or at `sleep` if that is not 0, where it does not stand, and
 * takes both away again. They are in different words, or the same place. */
static enum trace_at run_to_breakpoint(pid_t victim, uintptr_t place, uintptr_t sleep)
{
    struct user_regs_struct regs;
    const bool two = sleep != 0 && sleep != place;
    const long at_place = set_breakpoint(victim, place);
    const long at_sleep = two ? set_breakpoint(victim, sleep) : 0;
    enum trace_at at = go(victim, PTRACE_CONT);
    if (two) /* in the other order: they may share bytes */
        ptrace(PTRACE_POKETEXT, victim, (void *)sleep, (void *)at_sleep);
    ptrace(PTRACE_POKETEXT, victim, (void *)place, (void *)at_place);
    if (at != TRACE_AT_INSTRUCTION)
        return at;
    ptrace(PTRACE_GETREGS, victim, NULL, &regs);
    if (regs.rip != place + 1 && !(two && regs.rip == sleep + 1))
        FAIL("a stop at %#lx that the tracer has not asked for", trace_offset((uintptr_t)regs.rip));
    regs.rip--;
    ptrace(PTRACE_SETREGS, victim, NULL, &regs);
    return at;
}

enum trace_at trace_run(pid_t victim, uintptr_t place, uint64_t times, uintptr_t sleep)
{
    enum trace_at at = TRACE_AT_INSTRUCTION;
    if (place == 0)
        return go(victim, PTRACE_CONT);
    while (times > 0 && at == TRACE_AT_INSTRUCTION) {
        const uintptr_t stands = trace_place(victim);
        at = stands == place || stands == sleep ? go(victim, PTRACE_SINGLESTEP)
                                                : run_to_breakpoint(victim, place, sleep);
        if (at != TRACE_AT_INSTRUCTION)
            break;
        const uintptr_t now = trace_place(victim);
        if (now == sleep && look(victim) == TRACE_AT_SLEEP)
            return TRACE_AT_SLEEP;
        times -= now == place;
    }
    return at;
}

void trace_kill(pid_t victim)
{
    siginfo_t info;
    kill(victim, SIGKILL);
    while (waitid(P_PID, (id_t)victim, &info, WEXITED | WNOWAIT | __WALL) != 0 && errno == EINTR)
        continue;
}

#else /* other processors */

const char *trace_missing(void)
{
    return "single-stepping is written for x86-64 only";
}
void trace_begin(void) {}
void trace_end(void) {}
bool trace_attach(pid_t victim)
{
    (void)victim;
    return false;
}
uintptr_t trace_place(pid_t victim)
{
    (void)victim;
    return 0;
}
enum trace_at trace_step(pid_t victim)
{
    (void)victim;
    return TRACE_GONE;
}
enum trace_at trace_run(pid_t victim, uintptr_t place, uint64_t times, uintptr_t sleep)
{
    (void)victim, (void)place, (void)times, (void)sleep;
    return TRACE_GONE;
}
void trace_kill(pid_t victim)
{
    (void)victim;
}

#endif
