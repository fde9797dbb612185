/* SPDX-License-Identifier: MIT */
/* See trace.h. Source: ptrace(2). */
#include "trace.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#if defined(__x86_64__)
#include <linux/futex.h>
#include <sys/ptrace.h>
#include <sys/user.h>

const char *trace_missing(void)
{
    return test_is_instrumented() ? "a tool's own instructions would be stepped through" : NULL;
}

void trace_begin(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        perror("PTRACE_TRACEME");
        _exit(77);
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

enum trace_at trace_step(pid_t victim)
{
    if (ptrace(PTRACE_SINGLESTEP, victim, NULL, NULL) != 0)
        return TRACE_GONE;
    int status = wait_stop(victim);
    if (!WIFSTOPPED(status))
        return TRACE_GONE;
    return WSTOPSIG(status) == SIGSTOP ? TRACE_AT_END : look(victim);
}

void trace_pass_yields(pid_t victim, unsigned count)
{
    for (unsigned i = 0; i < 2 * count; i++) { /* a stop where it enters, one where it leaves */
        ptrace(PTRACE_SYSCALL, victim, NULL, NULL);
        if (!WIFSTOPPED(wait_stop(victim)))
            return;
    }
}

extern const char __executable_start[];

unsigned long trace_address(pid_t victim)
{
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, victim, NULL, &regs) != 0)
        return 0;
    return (unsigned long)(regs.rip - (uintptr_t)__executable_start);
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
enum trace_at trace_step(pid_t victim)
{
    (void)victim;
    return TRACE_GONE;
}
void trace_pass_yields(pid_t victim, unsigned count)
{
    (void)victim, (void)count;
}
unsigned long trace_address(pid_t victim)
{
    (void)victim;
    return 0;
}
void trace_kill(pid_t victim)
{
    (void)victim;
}

#endif
