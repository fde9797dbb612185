/* SPDX-License-Identifier: MIT */
/*
 * count.c -- user-mode instructions of a routine: by the processor's counter where the kernel
 * offers it, else by
 * stepping through it with the trap flag (x86-64), one SIGTRAP per instruction.  A string instruction counts once
 * with the counter and once per repetition when stepped. */
#include "count.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_counter(void)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.disabled = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int64_t count_by_counter(int fd, void (*body)(void *, long), void *argument, long n)
{
    uint64_t value = 0;
    ioctl(fd, PERF_EVENT_IOC_RESET, 0);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    body(argument, n);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    return read(fd, &value, sizeof value) == sizeof value ? (int64_t)value : -1;
}

#ifdef __x86_64__
static volatile int64_t step_count;

static void on_step(int number)
{
    (void)number;
    step_count++;
}

/* The red zone below the stack pointer may be in use around an asm statement, so it is stepped
 * over. */
#define TRAP_FLAG_SET \
    "lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp"
#define TRAP_FLAG_CLEAR \
    "lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp"

static int64_t count_by_steps(void (*body)(void *, long), void *argument, long n)
{
    struct sigaction action = {.sa_handler = on_step}, before;
    sigaction(SIGTRAP, &action, &before);
    step_count = 0;
    __asm__ volatile(TRAP_FLAG_SET : : : "memory", "cc");
    body(argument, n);
    __asm__ volatile(TRAP_FLAG_CLEAR : : : "memory", "cc");
    sigaction(SIGTRAP, &before, NULL);
    return step_count;
}
#else
static int64_t count_by_steps(void (*body)(void *, long), void *argument, long n)
{
    (void)body;
    (void)argument;
    (void)n;
    return -1;
}
#endif

double bench_count_instructions(void (*body)(void *argument, long n), void *argument, long count)
{
    int64_t half, whole;
    int fd = open_counter();

    /* Caches, lazy binding, and first pages; the difference of two lengths then removes what is
     * left over. */
    body(argument, count);
    if (fd >= 0) {
        half = count_by_counter(fd, body, argument, count / 2);
        whole = count_by_counter(fd, body, argument, count);
        close(fd);
    } else {
        half = count_by_steps(body, argument, count / 2);
        whole = count_by_steps(body, argument, count);
    }
    if (half < 0 || whole <= half)
        return -1;
    return (double)(whole - half) / (double)(count - count / 2);
}
