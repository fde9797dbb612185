/* SPDX-License-Identifier: MIT */
/* trace.c -- whose stacks are printed, and where each begins: trace.h.
 *
 *   stack                     begins at
 *   the crashed thread's      the registers that the kernel saved for its signal handler
 *   a suspended coroutine's   what Boost.Context saved where the coroutine stopped
 *   another thread's          its registers, which ptrace reads; it is stopped for that moment only
 *
 * Only the last needs ptrace. Reading memory from outside needs the same permission, which bcr_init gives
 * to enl (PR_SET_PTRACER). */
#include "inspect/crash/crash.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "bcri/coroutines.h"
#include "bcri/stopped.h"
#include "inspect/crash/crash_private.h"

enum { THREADS_MAX = 32, COROUTINES_MAX = 64, CHUNKS_MAX = 1024, ELEMENTS_MAX = 1 << 20 };

#if defined(__x86_64__)

static bool saved_by_kernel(pid_t pid, uint64_t context, struct enl_registers *out)
{
    static const int order[ENL_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                             REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                             REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    gregset_t saved = {0};
    if (!enl_process_memory(pid, context + offsetof(ucontext_t, uc_mcontext.gregs), saved, sizeof saved))
        return false;
    for (int i = 0; i < ENL_REGISTERS; i++)
        out->at[i] = (uint64_t)saved[order[i]];
    return true;
}

/* jump_fcontext pushes what a call preserves above the return address, in an order that has changed once:
 * Boost 1.80 put a stack protector's word below it. */
static bool saved_by_boost(pid_t pid, uint64_t context, struct enl_registers *out)
{
    enum { BP = ENL_REGISTER_BP, BX = 3, R12 = 12 };
    uint64_t saved[9];
    if (!enl_process_memory(pid, context, saved, sizeof saved))
        return false;
    const unsigned pc = enl_process_is_code(pid, saved[7]) ? 7 : 8;
    *out = (struct enl_registers){{0}};
    out->at[ENL_REGISTER_PC] = saved[pc];
    out->at[BP] = saved[pc - 1];
    out->at[BX] = saved[pc - 2];
    for (unsigned i = 0; i < 4; i++)
        out->at[R12 + i] = saved[pc - 6 + i];
    out->at[ENL_REGISTER_SP] = context + (pc + 1) * sizeof saved[0];
    return enl_process_is_code(pid, saved[pc]);
}

static bool registers_of(pid_t thread, struct enl_registers *out)
{
    struct user_regs_struct user;
    struct iovec part = {&user, sizeof user};
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &part) != 0)
        return false;
    *out = (struct enl_registers){{user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi, user.rbp,
                                   user.rsp, user.r8, user.r9, user.r10, user.r11, user.r12, user.r13,
                                   user.r14, user.r15, user.rip}};
    return true;
}

/* ---- coroutines ---- */

static uint64_t pointer_at(pid_t pid, uint64_t address)
{
    uintptr_t pointer = 0;
    return enl_process_memory(pid, address, &pointer, sizeof pointer) ? pointer : 0;
}

static bool print_coroutine(pid_t pid, const struct bcri_coroutines *at, uint64_t invocation,
                            const char *what)
{
    struct enl_registers registers;
    const uint64_t context = pointer_at(pid, invocation + at->context);
    if (context == 0 || !saved_by_boost(pid, context, &registers))
        return false;
    puts(what);
    enl_frames_print(pid, &registers, true);
    return true;
}

/* Those that have begun a handler and stand still in a call of BCR's. Structures may be torn: the CCE may
 * have crashed in the scheduler. */
static void print_coroutines(pid_t pid, uint64_t address)
{
    struct bcri_coroutines at;
    if (!enl_process_memory(pid, address, &at, sizeof at) || at.magic != BCRI_COROUTINES_MAGIC ||
        at.fcontext == 0 || at.scheduler == 0)
        return;
    const uint64_t current = pointer_at(pid, at.scheduler + at.current), main = at.scheduler + at.main;
    unsigned printed = 0;
    if (current != main)
        print_coroutine(pid, &at, main, "the main program, interrupted by a handler or waiting:");
    uint64_t chunk = pointer_at(pid, at.scheduler + at.chunks);
    for (unsigned chunks = 0; chunk != 0 && chunks < CHUNKS_MAX; chunks++) {
        uint32_t count = 0;
        size_t bytes = 0;
        const uint64_t elements = pointer_at(pid, chunk + at.elements);
        if (!enl_process_memory(pid, chunk + at.count, &count, sizeof count) || count > ELEMENTS_MAX ||
            !enl_process_memory(pid, chunk + at.element_bytes, &bytes, sizeof bytes))
            return;
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t invocation = elements + i * (uint64_t)bytes;
            int cell = 0;
            char what[64];
            if (invocation == current || pointer_at(pid, invocation + at.handler) == 0 ||
                !enl_process_memory(pid, invocation + at.cell, &cell, sizeof cell))
                continue;
            if (printed == COROUTINES_MAX) {
                puts("... and more handlers");
                return;
            }
            snprintf(what, sizeof what, "the handler of cell %d, suspended:", cell);
            printed += print_coroutine(pid, &at, invocation, what);
        }
        chunk = pointer_at(pid, chunk + at.next);
    }
}

/* ---- threads ---- */

static bool print_thread(pid_t thread, bool in_call)
{
    bool printed = false;
    struct enl_registers registers;
    int status = 0;
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0)
        return false;
    if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) == 0 && waitpid(thread, &status, __WALL) == thread &&
        WIFSTOPPED(status) && registers_of(thread, &registers)) {
        printf("thread %ld:\n", (long)thread);
        enl_frames_print(thread, &registers, in_call);
        printed = true;
    }
    ptrace(PTRACE_DETACH, thread, NULL, NULL);
    return printed;
}

/* Those but `crashed`, so many at most; with 0 all, each from the call of BCR's on in which it stands, whatever BCR does
 * there. Returns how many there are. */
static unsigned print_threads(pid_t pid, pid_t crashed, unsigned most)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *folder = opendir(path);
    unsigned printed = 0;
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread <= 0 || thread == crashed)
            continue;
        if (printed == most) {
            puts("... and more threads");
            break;
        }
        printed += print_thread(thread, crashed == 0);
        fflush(stdout);
    }
    if (folder != NULL)
        closedir(folder);
    return printed;
}

/* EFAULT: there is nothing at that address; the process could be read. */
static void print_why_no_stack(pid_t pid)
{
    char byte;
    struct iovec part = {&byte, 1};
    if (process_vm_readv(pid, &part, 1, &part, 1, 0) < 0 && errno != EFAULT && errno != ESRCH)
        printf("no stack: process_vm_readv: %s%s\n", strerror(errno),
               errno == EPERM
                   ? " (the process has made itself undumpable, a debugger has it, or a sandbox or "
                     "kernel.yama.ptrace_scope forbids it)"
                   : "");
}

void enl_trace_running(pid_t pid)
{
    const bool whole = enl_frames_open((pid_t)bcri_process_thread((uint32_t)pid));
    if (print_threads(pid, 0, UINT_MAX) == 0)
        puts("! no stack: the system forbids enl to look into this process, or a debugger has it, or it has "
             "ended");
    else if (!whole)
        puts("! libdw is not there, which would find the callers");
}

int enl_trace(int argc, char **argv)
{
    if (argc != 4 && (argc != 5 || strcmp(argv[4], "locals") != 0))
        return 2;
    const pid_t pid = (pid_t)strtol(argv[0], NULL, 10), thread = (pid_t)strtol(argv[1], NULL, 10);
    const uint64_t context = strtoull(argv[2], NULL, 10), coroutines = strtoull(argv[3], NULL, 10);
    struct enl_registers registers;
    if (!saved_by_kernel(thread, context, &registers)) {
        print_why_no_stack(thread);
        return 1;
    }
    const bool whole = enl_frames_open(thread);
    enl_frames_print(thread, &registers, false);
    if (!whole)
        puts("(libdw is not there, which would find the callers)");
    putchar('\0');
    fflush(stdout); /* the daemon may end this process */
    if (argc == 5)
        enl_locals_print(pid, thread);
    fflush(stdout);
    print_coroutines(thread, coroutines);
    fflush(stdout);
    print_threads(pid, thread, THREADS_MAX);
    return fflush(stdout) == 0 ? 0 : 1;
}

#else

/* The stacks of other machines are not read yet: their CCEs run under emulators, whose memory is not the program's. */
void enl_trace_running(pid_t pid)
{
    (void)pid;
    puts("! no stack: stacks are read on x86-64 only");
}

int enl_trace(int argc, char **argv)
{
    (void)argv;
    return argc == 4 || argc == 5 ? 1 : 2;
}

#endif
