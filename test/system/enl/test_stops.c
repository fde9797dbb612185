/* SPDX-License-Identifier: MIT */
/* CCEs are stopped at any moment of any call, and go on, and die, while others work at the same
 * cells. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "board.h"
#include "check.h"
#include "run.h"

static struct run run, command;
static struct board *board;
static uint64_t state;
static bool dead[BOARD_CCES], still[BOARD_CCES];

/* How long no CCE may have come on for the test to look whether that is allowed: a second, a
 * hundred times. */
enum { LOOKS = 1000 };

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static unsigned any(unsigned below)
{
    return (unsigned)test_rand_below(&state, below);
}

static void start(void)
{
    state = test_seed();
    board = run_board("SYS_BOARD", sizeof *board);
    board->seed = state;
    run_start(&run, run_enl(), "--onfail", "isolate", getenv("SYS_STOPS"));
    for (int i = 0; i < BOARD_CCES; i++)
        while (atomic_load(&board->place[i].pid) == 0)
            pause_shortly();
}

static bool is_stopped(int i)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", atomic_load(&board->place[i].pid));
    run_read_file(path, text, sizeof text);
    const char *end = strrchr(text, ')');
    return end != NULL && end[2] == 'T';
}

static void stop(int i)
{
    if (dead[i] || still[i])
        return;
    CHECK_INT(kill(atomic_load(&board->place[i].pid), SIGSTOP), 0);
    while (!is_stopped(i))
        sched_yield();
    still[i] = true;
}

static void go_on(void)
{
    for (int i = 0; i < BOARD_CCES; i++) {
        if (still[i] && !dead[i])
            CHECK_INT(kill(atomic_load(&board->place[i].pid), SIGCONT), 0);
        still[i] = false;
    }
}

/* Whether all that live and are not stopped make `calls` more; waits as long as any of them comes
 * on. */
static bool come_on(unsigned calls)
{
    unsigned from[BOARD_CCES], last[BOARD_CCES];
    for (int i = 0; i < BOARD_CCES; i++)
        from[i] = last[i] = atomic_load(&board->place[i].calls);
    for (int looks = 0; looks < LOOKS; looks++) {
        bool done = true;
        for (int i = 0; i < BOARD_CCES; i++) {
            if (dead[i] || still[i])
                continue;
            unsigned now = atomic_load(&board->place[i].calls);
            done = done && now - from[i] >= calls;
            if (now != last[i] && now - from[i] < calls)
                looks = 0;
            last[i] = now;
        }
        if (done)
            return true;
        pause_shortly();
    }
    return false;
}

static void end_and_audit(void)
{
    atomic_store(&board->over, true);
    for (int i = 0; i < BOARD_CCES; i++)
        while (!dead[i] && !atomic_load(&board->place[i].rests))
            pause_shortly();
    run_start(&command, run_enl(), "audit", run_program());
    run_end(&command);
    printf("%s%s", command.text, command.error);
    CHECK_INT(command.status, 0);
    run_go();
    run_end(&run);
    printf("%s", run.error);
    CHECK_INT(run.status, 0);
}

TEST_TIMEOUT(whatever_is_called_while_others_stop_and_go_on_and_die_nothing_is_lost_and_nobody_stays_behind,
             300)
{
    const unsigned turns = (unsigned)test_scale(40, 1000);
    int deaths = 0;
    start();
    for (unsigned turn = 0; turn < turns; turn++) {
        CHECK(come_on(any(50)));
        int one = 1 + (int)any(BOARD_CCES - 1), other = 1 + (int)any(BOARD_CCES - 1);
        stop(one);
        /* The one that is stopped, or another behind it. */
        if (deaths < 2 && any(turns / 2) < 2 && !dead[other]) {
            CHECK_INT(kill(atomic_load(&board->place[other].pid), SIGKILL), 0);
            dead[other] = true;
            deaths++;
        }
        for (unsigned i = any(20); i > 0; i--)
            pause_shortly();
        go_on();
    }
    CHECK(come_on(20));
    printf("  %d died\n", deaths);
    end_and_audit();
}
