/* SPDX-License-Identifier: MIT */
/* See wild_write.h. */
#include "wild_write.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/audit.h"
#include "bcri/reclaim.h"
#include "bcri/ref.h"
#include "bcri/repair.h"
#include "bcri/self.h"
#include "cce.h"

enum { HANG_SECONDS = 10 };

/* How a case ended, beside those of wild_write.h. */
enum { ENDED = 1000, CRASHED };

/* What a wild write stores. */
enum { VALUES = 12 };
static uint64_t units_of(uint32_t seg)
{
    return group_enl(group)->host->segments[seg].size_bytes / BCRI_REF_UNIT;
}
static uint64_t wild_value(uint64_t was, int which)
{
    switch (which) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return was + 1;
    case 3: return was - 1;
    case 4: return was ^ UINT64_C(1) << 31;
    case 5: return was ^ UINT64_C(1) << 63;
    case 6: return was | 0xffffffffu; /* beyond the end of the same segment */
    case 7: return (was & ~BCRI_REF_MASK) | UINT64_C(0xfffe) << 32 | 7; /* a segment that was never there */
    case 8: return (was & ~BCRI_REF_MASK) | 1;                          /* the host segment */
    case 9: return was ^ UINT64_C(1) << 40;
    case 10: return (was & ~UINT64_C(0xffffffff)) | ((uint32_t)units_of(bcri_ref_seg(was)) - 1u);
    default: return (was & ~UINT64_C(0xffffffff)) | 0x01234567;
    }
}

_Noreturn void wild_audit(void)
{
    struct bcri_audit audit = {.found = NULL};
    _exit(bcri_audit(group_enl(group), &audit) == 0 && audit.findings != 0 ? WILD_FOUND : WILD_QUIET);
}

/* ---- processes that may end themselves ---- */

static int said_fd; /* what the process at hand has said on stderr */
static pid_t pid;

static void say_to_file(void)
{
    CHECK(dup2(said_fd, STDERR_FILENO) >= 0);
}

/* Forks; true in the child, which is ended after a while. */
static bool is_child(unsigned seconds)
{
    said_fd = memfd_create("said", MFD_CLOEXEC);
    CHECK(said_fd >= 0);
    fflush(stdout);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        alarm(seconds * (test_is_instrumented() ? 10 : 1));
    return pid == 0;
}

/* Waits for the child; its status, and what it has said. */
static int child_ended(char *said, size_t size)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        CHECK_INT(errno, EINTR);
    const ssize_t length = pread(said_fd, said, size - 1, 0);
    said[length > 0 ? length : 0] = '\0';
    close(said_fd);
    return status;
}

/* Whether a CCE has ended as it may: with the sentence, or by what corrupt memory makes it do. */
static bool has_ended_itself(int status, const char *said)
{
    if (test_is_instrumented() && WIFEXITED(status))
        return true; /* a sanitizer turns a crash into its own status */
    if (!WIFSIGNALED(status))
        return false;
    const int signal = WTERMSIG(status);
    return signal == SIGABRT ? strstr(said, "shared memory is corrupt: ") != NULL
                             : signal == SIGSEGV || signal == SIGBUS;
}

bool wild_is_call(void)
{
    struct bcri_ctx *const self = bcri_self();
    if (!is_child(HANG_SECONDS))
        return false;
    as(self);
    say_to_file();
    return true;
}

void wild_has_ended(const char *call, const char *what)
{
    char said[1024];
    const int status = child_ended(said, sizeof said);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT ||
        strstr(said, "shared memory is corrupt: ") == NULL || strstr(said, what) == NULL)
        FAIL("%s ended with status %#x: wanted \"%s\" in \"%s\"", call, (unsigned)status, what, said);
}

bool wild_calls(void (*calls)(void))
{
    char said[1024];
    if (is_child(HANG_SECONDS)) {
        say_to_file();
        calls();
        _exit(WILD_QUIET);
    }
    const int status = child_ended(said, sizeof said);
    const bool came_through = WIFEXITED(status) && WEXITSTATUS(status) == WILD_QUIET;
    if (!came_through && !has_ended_itself(status, said))
        FAIL("calls ended with status %#x: %s", (unsigned)status, said);
    return came_through;
}

/* ---- */

/* One case: the scene, the wild write, what meets it. Returns how it ended; -1: it did not, or by a
 * signal. */
static int one_case(const struct wild_suite *suite, const struct wild_target *target, size_t word, int value,
                    const struct wild_body *body, int *signal_out)
{
    char said[1024];
    if (is_child(4 * HANG_SECONDS)) {
        suite->set_scene();
        uint64_t *at = (uint64_t *)target->where() + word;
        uint64_t was = *at, is = wild_value(was, value);
        if (is == was || suite->might_be(target, word, is))
            _exit(WILD_QUIET);
        if (body->is_cce)
            say_to_file();
        *(volatile uint64_t *)at = is;
        body->run();
    }
    const int status = child_ended(said, sizeof said);
    if (body->is_cce && has_ended_itself(status, said))
        return WTERMSIG(status) == SIGABRT ? ENDED : CRASHED;
    *signal_out = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void wild_writes(const struct wild_suite *suite, const char *name)
{
    const struct wild_target *target = suite->targets;
    while (strcmp(target->name, name) != 0)
        target++;
    uint64_t random = test_seed();
    uint64_t stride = test_scale(12, 1);
    int bad = 0, cases = 0, ended = 0, crashed = 0;
    for (size_t word = 0; word < target->bytes / 8; word++)
        for (int value = 0; value < VALUES; value++)
            for (const struct wild_body *body = suite->bodies; body->name != NULL; body++) {
                int signal;
                if (stride > 1 && test_rand_below(&random, stride) != 0)
                    continue;
                int got = one_case(suite, target, word, value, body, &signal);
                cases++;
                ended += got == ENDED;
                crashed += got == CRASHED;
                if (got == WILD_QUIET || got == WILD_FOUND || got == ENDED || got == CRASHED)
                    continue;
                printf("%s, word at %zu, value %d: %s ended by signal %d (status %d)\n", target->name,
                       8 * word, value, body->name, signal, got);
                bad++;
            }
    printf("%s: %d cases, %d CCEs ended themselves, %d crashed\n", target->name, cases, ended, crashed);
    CHECK_INT(bad, 0);
}

void wild_end_cce(struct bcri_reclaim *reclaim, const struct bcri_ctx *ctx)
{
    uint32_t index;
    bcri_cce_dying(group_host(group), ctx->index);
    group_repair(group, ctx->index);
    (void)bcri_reclaim_add(reclaim, ctx->index);
    bcri_reclaim_look(reclaim);
    while (bcri_reclaim_take(reclaim, &index))
        bcri_host_cce_release(group_host(group), index);
}

void wild_end_both(const struct bcri_ctx *first, void (*calls_of_the_other)(void),
                   const struct bcri_ctx *other)
{
    struct bcri_reclaim *reclaim = bcri_reclaim_init(group_host(group));
    CHECK(reclaim != NULL);
    wild_end_cce(reclaim, first);
    (void)wild_calls(calls_of_the_other);
    wild_end_cce(reclaim, other);
    _exit(WILD_QUIET);
}
