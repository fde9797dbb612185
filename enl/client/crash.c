/* SPDX-License-Identifier: MIT */
/* crash.c -- a CCE that a signal is about to end says so first, and waits until the daemon has looked.
 *
 *   CCE                                          enl
 *    | -- crashed {signal, where, ...} + socket -> |   starts enl --trace, which reads this process's
 *    |                                             |   memory from outside (enl/inspect/crash/)
 *    | <------------ the socket's end ------------ |   the trace is there, or its time is up
 *    the signal again, with its default action
 *
 * The handler waits for WAIT_MSEC at most, longer if gdb is asked for local variables. The signal that then ends the process is the same
 * one with the same siginfo, at the same instruction: exit status and core file are what they would have
 * been. A program that has a handler of its own for one of these signals keeps it.
 *
 * The handler calls only what a signal handler may: it may have interrupted malloc, or the library itself.
 * A lock that the CCE holds stays held until its end, as if it had died a little later. Its other threads run on
 * until then. If one of them ends the process, it is the crash that counts: exit() waits for it
 * (bcri_client_wait_for_crash), and for _exit() the record has it.
 *
 * A thread without an alternate stack that has used up its own cannot run the handler; the kernel ends the
 * process then. The thread that calls bcr_init gets an alternate stack here, and so does each that calls
 * BCR once there are handlers (bcri_stacks_watch). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bcri/client.h"
#include "bcri/clock.h"
#include "bcri/coroutines.h"
#include "bcri/scheduler.h"
#include "bcri/stack.h"

enum { WAIT_MSEC = 2000, WAIT_LOCALS_MSEC = 4000, ALTERNATE_BYTES = 65536 };

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};

static struct {
    struct bcri_client *client;
    struct bcri_coroutines coroutines;
    atomic_bool begun; /* a thread of this process has crashed; what follows is that thread's */
    /* Not on its stack, which may be a small one of the program's (sigaltstack). */
    struct bcri_control message;
    uint8_t bytes[512];
} crash;

/* Waits until `fd` has one of `events`; -1: only until the time is up. */
static bool wait_until(int fd, short events, uint64_t deadline_ns)
{
    struct pollfd look = {.fd = fd, .events = events};
    for (int left; (left = bcri_deadline_left_ms(deadline_ns, bcri_clock_ns())) > 0;)
        if (poll(&look, 1, left) > 0)
            return true;
    return false;
}

/* The daemon closes its end of the socket as soon as it needs this process no more. */
static void report_crash(int number, const siginfo_t *info, const void *context, uint64_t deadline_ns)
{
    struct bcri_client *client = crash.client;
    int pair[2];
    if (!bcri_client_has_socket(client) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return;
    bcri_sched_describe(client->ctx.handlers.sched, &crash.coroutines);
    struct bcri_control *message = &crash.message;
    message->type = BCRI_MSG_crashed;
    message->present = BCRI_HAS(kind) | BCRI_HAS(code) | BCRI_HAS(pid) | BCRI_HAS(address) |
                       BCRI_HAS(context) | BCRI_HAS(coroutines);
    message->kind = (uint32_t)number;
    message->code = info->si_code;
    message->pid = (uint32_t)syscall(SYS_gettid);
    message->address = (uintptr_t)info->si_addr;
    message->context = (uintptr_t)context;
    message->coroutines = (uintptr_t)&crash.coroutines;
    const size_t length = bcri_control_encode(message, crash.bytes, sizeof crash.bytes);
    const bool sent = length != 0 && wait_until(client->fd, POLLOUT, deadline_ns) &&
                      bcri_channel_send_bytes(client->fd, crash.bytes, length, &pair[1], 1, false) == 0;
    close(pair[1]);
    if (sent)
        (void)wait_until(pair[0], POLLIN, deadline_ns);
    close(pair[0]);
}

/* Whether the program would go on behind the instruction that has made the fault. */
static bool is_past(int number)
{
#ifdef __s390x__
    return number == SIGFPE || number == SIGILL;
#else
    (void)number;
    return false;
#endif
}

/* A fault comes again when the handler has returned and its instruction is executed again. (It could be queued;
 * but qemu-user and valgrind take that for a fault of their own.) Any other signal is blocked while its handler runs, and so
 * becomes pending: the kernel ends the process before the program executes anything. */
static void happen_again(int number, siginfo_t *info)
{
    const struct sigaction end = {.sa_handler = SIG_DFL};
    sigaction(number, &end, NULL);
    const bool is_fault = info->si_code > 0 && number != SIGSYS;
    if (is_fault && !is_past(number))
        return;
    if (is_fault || syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), number, info) != 0)
        raise(number);
}

static uint64_t deadline_of_crash(void)
{
    const unsigned msec = crash.client->reports_locals ? WAIT_LOCALS_MSEC : WAIT_MSEC;
    return bcri_clock_ns() + (uint64_t)msec * 1000000;
}

void bcri_client_wait_for_crash(void)
{
    if (atomic_load(&crash.begun))
        (void)wait_until(-1, 0, deadline_of_crash());
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    const int kept = errno;
    if (getpid() == crash.client->pid) { /* a fork has no report: it is no CCE */
        if (!atomic_exchange(&crash.begun, true)) {
            bcri_store_release(&crash.client->ctx.record->id.exit_status, BCRI_CRASHED | (uint32_t)number);
            report_crash(number, info, context, deadline_of_crash());
        } else { /* the thread that was first ends this one, too */
            bcri_client_wait_for_crash();
        }
    }
    happen_again(number, info);
    errno = kept;
}

/* With a guard below it, so that a handler that needs more than there is stores nowhere else. */
static void give_alternate_stack(void)
{
    stack_t current;
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    if (sigaltstack(NULL, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0)
        return; /* the program has set one itself */
    char *at =
        mmap(NULL, guard + ALTERNATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return;
    const stack_t own = {.ss_sp = at + guard, .ss_size = ALTERNATE_BYTES};
    if (mprotect(at, guard, PROT_NONE) != 0 || sigaltstack(&own, NULL) != 0)
        munmap(at, guard + ALTERNATE_BYTES);
}

void bcri_client_watch_crashes(struct bcri_client *client)
{
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
    const size_t count = sizeof watched / sizeof watched[0];
    crash.client = client;
    give_alternate_stack();
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < count; i++)
        sigaddset(&action.sa_mask, watched[i]); /* a fault in the handler ends the process at once */
    for (size_t i = 0; i < count; i++) {
        if (sigaction(watched[i], NULL, &before) != 0 || before.sa_handler != SIG_DFL)
            continue;
        sigaction(watched[i], &action, NULL);
        if (watched[i] == SIGSEGV) /* after the message of stack_overflow.c */
            bcri_stacks_end_by(on_crash);
    }
}
