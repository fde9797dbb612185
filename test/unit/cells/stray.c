/* SPDX-License-Identifier: MIT */
/* See stray.h. */
#include "stray.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/audit.h"
#include "bcri/estate.h"
#include "bcri/ref.h"
#include "bcri/repair.h"
#include "cce.h"

enum { HANG_SECONDS = 10 };

/* What strays write. */
enum { VALUES = 11 };
static uint64_t stray(uint64_t was, int which)
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
    default: return (was & ~UINT64_C(0xffffffff)) | 0x01234567;
    }
}

_Noreturn void stray_audit(void)
{
    struct bcri_audit audit = {.found = NULL};
    _exit(bcri_audit(group_enl(group), &audit) == 0 && audit.findings != 0 ? STRAY_FOUND : STRAY_QUIET);
}

/* One case: the scene, the damage, what meets it. Returns how it ended; -1: it did not, or by a signal. */
static int one_case(const struct stray_suite *suite, const struct stray_target *target, size_t word,
                    int value, void (*body)(void), int *signal_out)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        suite->set_scene();
        uint64_t *at = (uint64_t *)target->where() + word;
        uint64_t was = *at, is = stray(was, value);
        if (is == was || suite->might_be(target, word, is))
            _exit(STRAY_QUIET);
        alarm(HANG_SECONDS * (test_is_instrumented() ? 10 : 1));
        *(volatile uint64_t *)at = is;
        body();
    }
    while (waitpid(pid, &status, 0) < 0)
        CHECK_INT(errno, EINTR);
    *signal_out = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void stray_damage(const struct stray_suite *suite, const char *name)
{
    const struct stray_target *target = suite->targets;
    while (strcmp(target->name, name) != 0)
        target++;
    uint64_t random = test_seed();
    uint64_t stride = test_scale(12, 1);
    int bad = 0, cases = 0;
    for (size_t word = 0; word < target->bytes / 8; word++)
        for (int value = 0; value < VALUES; value++)
            for (const struct stray_body *body = suite->bodies; body->name != NULL; body++) {
                int signal;
                if (stride > 1 && test_rand_below(&random, stride) != 0)
                    continue;
                int got = one_case(suite, target, word, value, body->run, &signal);
                cases++;
                if (got == STRAY_QUIET || got == STRAY_TOLD || got == STRAY_FOUND)
                    continue;
                printf("%s, word at %zu, stray %d: %s ended by signal %d (status %d)\n", target->name,
                       8 * word, value, body->name, signal, got);
                bad++;
            }
    printf("%s: %d cases\n", target->name, cases);
    CHECK_INT(bad, 0);
}

void stray_ends(struct bcri_estate *estate, const struct bcri_ctx *ctx)
{
    uint32_t index;
    bcri_cce_dying(group_host(group), ctx->index);
    group_repair(group, ctx->index);
    (void)bcri_estate_add(estate, ctx->index);
    bcri_estate_look(estate);
    while (bcri_estate_take(estate, &index))
        bcri_host_cce_release(group_host(group), index);
}
