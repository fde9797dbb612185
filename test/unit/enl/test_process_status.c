/* SPDX-License-Identifier: MIT */
/* Who traces a process whose first thread has ended: /proc/PID tells of that thread alone. */
#include "base/status.h"

#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/stopped.h"
#include "check.h"

static void *stay(void *none)
{
    for (;;)
        pause();
    return none;
}

static pid_t start_orphan(void)
{
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child != 0)
        return child;
    pthread_t other;
    if (pthread_create(&other, NULL, stay, NULL) != 0)
        _exit(1);
    pthread_exit(NULL);
}

TEST(who_traces_a_process_whose_first_thread_has_ended_is_known)
{
    struct enl_process_status status;
    const pid_t child = start_orphan();
    while (bcri_process_thread((uint32_t)child) == (uint32_t)child)
        usleep(1000);
    const pid_t thread = (pid_t)bcri_process_thread((uint32_t)child);
    CHECK(enl_process_status(child, &status));
    CHECK_INT(status.tracer, 0);
    CHECK(status.state != 'Z');
    const bool traced =
        ptrace(PTRACE_SEIZE, thread, NULL, NULL) == 0; /* not everywhere: qemu-user has none */
    if (traced) {
        CHECK(enl_process_status(child, &status));
        CHECK_INT(status.tracer, getpid());
    }
    CHECK_INT(kill(child, SIGKILL), 0);
    int ended;
    if (traced)
        CHECK_INT(waitpid(thread, &ended, __WALL), thread);
    CHECK_INT(waitpid(child, &ended, 0), child);
}
