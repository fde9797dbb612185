/* SPDX-License-Identifier: MIT */
/* Deaths in the midst of a bcr_start: of the daemon that is to start CCEs, of the starter, of its daemon, and of one on the way. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bcr/error.h>

#include "check.h"
#include "start_run.h"

static pid_t told_pid(const char *format)
{
    int pid = 0;
    hear(1);
    CHECK_INT(sscanf(lines[count - 1], format, &pid),
              1); /* NOLINT(cert-err34-c,clang-diagnostic-format-nonliteral) */
    return pid;
}

/* Whether a request to start CCEs waits in that pipe; what is there stays. */
static bool has_request(int pipe_in)
{
    static char bytes[65536];
    int copy[2];
    CHECK_INT(pipe2(copy, O_CLOEXEC), 0);
    ssize_t got = tee(pipe_in, copy[1], sizeof bytes, SPLICE_F_NONBLOCK);
    if (got > 0)
        got = read(copy[0], bytes, sizeof bytes);
    close(copy[0]);
    close(copy[1]);
    return got > 0 && memmem(bytes, (size_t)got, "enlist", 6) != NULL;
}

/* Until one waits in a pipe to that daemon, which stands still. */
static void wait_for_request(pid_t daemon)
{
    char path[64], file[64];
    for (int number = 0;; number = (number + 1) % 64) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)daemon, number);
        const ssize_t length = readlink(path, file, sizeof file);
        const int pipe_in =
            length > 5 && memcmp(file, "pipe:", 5) == 0 ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
        const bool found = pipe_in >= 0 && has_request(pipe_in);
        if (pipe_in >= 0)
            close(pipe_in);
        if (found)
            return;
        sched_yield();
    }
}

/* The daemon there stands still, and the starter waits for it, with what it sends under way. */
static pid_t stop_in_the_midst(int place, pid_t *starter_out, pid_t *above_out)
{
    int starter, above;
    start_run_with("isolate", "lost", place, "", "");
    const pid_t daemon = told_pid("daemon %d");
    kill(daemon, SIGSTOP);
    run_wait_for_state(daemon, 'T', true);
    run_go();
    hear(1);
    CHECK_INT(sscanf(lines[count - 1], "calls %d %d", &starter, &above), 2); /* NOLINT(cert-err34-c) */
    wait_for_request(daemon);
    *starter_out = starter;
    *above_out = above;
    return daemon;
}

static void end_by_signal(void)
{
    kill(run.pid, SIGTERM);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGTERM);
}

TEST(a_daemon_killed_in_the_midst_of_a_start_is_a_lost_host_and_the_next_start_succeeds)
{
    char want[64];
    for (int i = START_THERE; i <= START_BETWEEN; i++) {
        pid_t starter, above;
        const pid_t daemon = stop_in_the_midst(i, &starter, &above);
        kill(daemon, SIGKILL);
        hear(1);
        snprintf(want, sizeof want, "start -1 %d", bcrE_HOSTLOST);
        has(want);
        run_go();
        hear(3);
        has("start 2 0");
        has("1 stays");
        has("2 stays");
        end_by_signal();
    }
}

TEST(a_starter_killed_in_the_midst_of_a_start_does_not_hinder_it)
{
    pid_t starter, above;
    const pid_t daemon = stop_in_the_midst(START_BETWEEN, &starter, &above);
    const int gone = run_watch(starter);
    kill(starter, SIGKILL);
    run_gone(gone);
    kill(daemon, SIGCONT);
    hear(2);
    has("1 stays");
    has("2 stays");
    end_by_signal();
}

/* Whether the strings had got as far as the root is open, so their CCEs may be there or not. */
TEST(the_starters_daemon_killed_in_the_midst_of_a_start_leaves_the_program_in_order)
{
    pid_t starter, above;
    const pid_t daemon = stop_in_the_midst(START_BETWEEN, &starter, &above);
    const int gone = run_watch(starter);
    kill(above, SIGKILL);
    run_gone(gone);
    kill(daemon, SIGCONT);
    end_by_signal();
}
