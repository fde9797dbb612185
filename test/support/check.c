/* SPDX-License-Identifier: MIT */
/* check.c -- what a test calls: checks, skipping, seeds. Which process calls does not matter; see
 * check_run.c for the process that runs the tests. A failing check leaves with _exit: the state
 * that failed is not to be tidied. */
#include "check.h"

#include "check_shared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* One write per message, so that those of several processes do not mix. */
static void say(const char *format, va_list args, const char *file, int line)
{
    static _Thread_local char text[1 << 15]; /* with what a daemon has said, and what its CCEs have */
    int used = snprintf(text, sizeof text, "%s:%d: ", file, line);
    if (used < 0 || (size_t)used >= sizeof text)
        used = 0;
    vsnprintf(text + used, sizeof text - (size_t)used - 1, format, args);
    strcat(text, "\n");
    fflush(stdout);
    fputs(text, stderr);
    fflush(stderr);
}

void check_fail(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args, file, line);
    va_end(args);
    atomic_store(&check_shared->failed, true);
    _exit(CHECK_STATUS_FAILED);
}

void check_skip(const char *reason)
{
    snprintf(check_shared->skip_reason, sizeof check_shared->skip_reason, "%s", reason);
    atomic_store(&check_shared->skipped, true);
    fflush(stdout);
    _exit(CHECK_STATUS_SKIPPED);
}

void check_int(const char *file, int line, const char *what, intmax_t got, intmax_t want)
{
    if (got != want)
        check_fail(file, line, "%s: wanted %" PRIdMAX ", got %" PRIdMAX, what, want, got);
}

void check_uint(const char *file, int line, const char *what, uintmax_t got, uintmax_t want)
{
    if (got != want)
        check_fail(file, line, "%s: wanted %" PRIuMAX " (0x%" PRIxMAX "), got %" PRIuMAX " (0x%" PRIxMAX ")",
                   what, want, want, got, got);
}

void check_str(const char *file, int line, const char *what, const char *got, const char *want)
{
    if (got == want || (got && want && strcmp(got, want) == 0))
        return;
    check_fail(file, line, "%s:\n  wanted %s%s%s\n  got    %s%s%s", what, want ? "\"" : "",
               want ? want : "NULL", want ? "\"" : "", got ? "\"" : "", got ? got : "NULL", got ? "\"" : "");
}

void check_ptr(const char *file, int line, const char *what, const void *got, const void *want)
{
    if (got != want)
        check_fail(file, line, "%s: wanted %p, got %p", what, want, got);
}

void check_mem(const char *file, int line, const char *what, const void *got, const void *want,
               size_t length_bytes)
{
    const unsigned char *got_bytes = got, *want_bytes = want;
    for (size_t i = 0; i < length_bytes; i++) {
        if (got_bytes[i] != want_bytes[i])
            check_fail(file, line, "%s: byte %zu of %zu: wanted 0x%02x, got 0x%02x", what, i, length_bytes,
                       want_bytes[i], got_bytes[i]);
    }
}

void check_join(const char *file, int line, pid_t pid, int status)
{
    int ended;
    while (waitpid(pid, &ended, 0) < 0) {
        if (errno != EINTR)
            check_fail(file, line, "no child %d to wait for: %s", (int)pid, strerror(errno));
    }
    if (WIFSIGNALED(ended))
        check_fail(file, line, "process %d: wanted exit status %d, got signal %d (%s)", (int)pid, status,
                   WTERMSIG(ended), strsignal(WTERMSIG(ended)));
    if (WEXITSTATUS(ended) != status)
        check_fail(file, line, "process %d: wanted exit status %d, got %d", (int)pid, status,
                   WEXITSTATUS(ended));
}

uint64_t test_seed(void)
{
    if (!atomic_exchange(&check_shared->seed_used, true)) {
        printf("BCR_TEST_SEED=0x%016" PRIx64 "\n", check_shared->seed);
        fflush(stdout);
    }
    return check_shared->seed;
}

uint64_t test_rand(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

uint64_t test_rand_below(uint64_t *state, uint64_t bound)
{
    return test_rand(state) % bound;
}

uint64_t test_scale(uint64_t reduced, uint64_t full)
{
    const char *wish = getenv("BCR_TEST_FULL");
    return wish && *wish && strcmp(wish, "0") != 0 ? full : reduced;
}

bool test_is_instrumented(void)
{
    /* valgrind runs its part inside the program by way of LD_PRELOAD. */
    const char *preloaded = getenv("LD_PRELOAD");
    return CHECK_SANITIZED || (preloaded && strstr(preloaded, "/vgpreload_"));
}
