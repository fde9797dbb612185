/* SPDX-License-Identifier: MIT */
/* What a handler's run costs when everything has been used once: no system call, no allocation. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/coroutine.h"
#include "cce.h"

enum { HOME = 1, DATA = 2, ANSWER = 3, WARM = 200, QUIET = 99, ALLOCATED = 98, REFUSED = 97 };

/* ---- every allocation of this process is counted; a sanitizer's own malloc is left alone ---- */

static long allocations;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
void *__libc_malloc(size_t bytes); /* NOLINT(bugprone-reserved-identifier): the C library's own */
void *malloc(size_t bytes)
{
    allocations++;
    return __libc_malloc(bytes);
}
#endif

/* ---- from here on a system call ends the process, but for exit ---- */

static int forbid_system_calls(void)
{
    static struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Waits for a second region, answers, and so on. */
static void run(int cell)
{
    bcr_region rgid = bcr_deq(bcr_cce, cell, 0);
    bcr_region more = bcr_deq(bcr_cce, DATA, bcr_BLOCK);
    if (rgid == NULL || more == NULL || bcr_enq(rgid, bcr_cce, ANSWER, bcr_FREE) != 0 ||
        bcr_rgfree(more) != 0)
        _exit(1);
}

/* So many runs that begin, wait, are interrupted, go on and end. */
static void runs(int count)
{
    for (int i = 0; i < count; i++) {
        bcr_region one_region = bcr_rgalloc(8, 0), another = bcr_rgalloc(8, 0);
        if (bcr_enq(one_region, bcr_cce, HOME, bcr_FREE) != 0 || bcr_allow(0) != 0 ||
            bcr_enq(another, bcr_cce, DATA, bcr_FREE) != 0 || bcr_allow(0) != 0)
            _exit(1);
        bcr_region answer = bcr_deq(bcr_cce, ANSWER, bcr_BLOCK);
        if (answer == NULL || bcr_rgfree(answer) != 0)
            _exit(1);
    }
}

static int warm(struct bcri_ctx *ctx, void *arg)
{
    (void)ctx;
    (void)arg;
    CHECK_INT(bcr_cagrow(HOME, 0, 0, 0, 3, 100, 1 << 16), HOME);
    CHECK_INT(bcr_handler(HOME, run, 1, 0, 0), 0);
    runs(WARM);
    if (forbid_system_calls() != 0)
        return REFUSED;
    allocations = 0;
    runs(10 * WARM);
    syscall(SYS_exit_group, allocations != 0 ? ALLOCATED : QUIET);
    return 0;
}

TEST(a_warm_run_makes_no_system_call_and_allocates_nothing)
{
    uint32_t index;
    if (test_is_instrumented())
        SKIP("what watches this test makes calls of its own");
    if (strcmp(bcri_coroutine_kind(), "fcontext") != 0)
        SKIP("swapcontext saves the signal mask, by a system call");
    begin();
    pid_t pid = group_fork(group, warm, NULL, &index);
    int status = group_bury(group, pid, index);
    if (WIFEXITED(status) && WEXITSTATUS(status) == REFUSED)
        SKIP("this machine cannot forbid system calls");
    if (WIFSIGNALED(status))
        FAIL("signal %d: a system call, perhaps", WTERMSIG(status));
    CHECK_INT(WEXITSTATUS(status), QUIET);
    end();
}
