/* SPDX-License-Identifier: MIT */
/* A program on a terminal. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "on_terminal.h"
#include "run.h"

static pid_t pids[3], groups[3];

/* enl with the root and two others, all there. */
static void three_cces(const char *root_does)
{
    setenv("SYS_CHILD", "tell spin", 1);
    char *words[] = {(char *)(uintptr_t)run_enl(),
                     (char *)(uintptr_t)run_cce(),
                     (char *)"tell",
                     (char *)"enlist",
                     (char *)(uintptr_t)run_cce(),
                     (char *)"2",
                     (char *)(uintptr_t)root_does,
                     NULL};
    terminal_start(80, 24, words);
    for (int seen = 0; seen < 3;) {
        int ordinal, pid, group;
        if (sscanf(run_told(), "%d %d %d", &ordinal, &pid, &group) != 3)
            continue;
        pids[ordinal] = pid;
        groups[ordinal] = group;
        seen++;
    }
}

TEST(only_the_root_is_in_the_foreground_group)
{
    three_cces("pause");
    pid_t foreground = tcgetpgrp(terminal);
    CHECK_INT(groups[0], foreground);
    CHECK(groups[1] != foreground && groups[2] != foreground && groups[1] != groups[2]);
    terminal_press(3);
    CHECK_INT(terminal_shell_says(), 'e');
}

TEST(control_c_ends_the_program_cleanly)
{
    int watches[3];
    three_cces("pause");
    for (int i = 0; i < 3; i++)
        watches[i] = run_watch(pids[i]);
    terminal_press(3);
    CHECK_INT(terminal_shell_says(), 'e');
    CHECK_INT((unsigned char)terminal_shell_says(), 128 + SIGINT);
    for (int i = 0; i < 3; i++)
        run_gone(watches[i]);
}

TEST(control_z_stops_every_cce_and_fg_lets_all_go_on)
{
    three_cces("wait");
    terminal_press(26);
    CHECK_INT(terminal_shell_says(), 's');
    for (int i = 0; i < 3; i++)
        run_wait_for_state(pids[i], 'T', true); /* the signal is on its way */
    terminal_go_on();
    for (int i = 0; i < 3; i++)
        run_wait_for_state(pids[i], 'T', false);
    CHECK_INT(groups[0], tcgetpgrp(terminal));
    terminal_press(3);
    CHECK_INT(terminal_shell_says(), 'e');
    CHECK_INT((unsigned char)terminal_shell_says(), 128 + SIGINT);
}

TEST(a_terminal_that_goes_away_ends_the_program)
{
    int watches[3];
    three_cces("pause");
    for (int i = 0; i < 3; i++)
        watches[i] = run_watch(pids[i]);
    close(terminal);
    for (int i = 0; i < 3; i++)
        run_gone(watches[i]);
}

TEST(a_program_started_directly_obeys_the_terminal_too)
{
    int ordinal;
    pid_t root;
    char *words[] = {(char *)(uintptr_t)run_cce(), (char *)"tell", (char *)"pause", NULL};
    terminal_start(80, 24, words);
    pid_t group = run_told_pid(&ordinal, &root);
    CHECK_INT(group, tcgetpgrp(terminal));
    terminal_press(26);
    CHECK_INT(terminal_shell_says(), 's');
    terminal_go_on();
    while (tcgetpgrp(terminal) != group) /* until then the keys are the shell's */
        sched_yield();
    terminal_press(3);
    CHECK_INT(terminal_shell_says(), 'e');
    CHECK_INT((unsigned char)terminal_shell_says(), 128 + SIGINT);
}

TEST(a_terminal_stopped_by_control_s_holds_up_nothing)
{
    int ordinal;
    pid_t root;
    char *words[] = {(char *)(uintptr_t)run_enl(),
                     (char *)(uintptr_t)run_cce(),
                     (char *)"tell",
                     (char *)"wait",
                     (char *)"hopeless",
                     (char *)"9000",
                     (char *)"tell",
                     (char *)"pause",
                     NULL};
    terminal_start(80, 24, words);
    pid_t group = run_told_pid(&ordinal, &root);
    terminal_press(19);
    run_go();
    run_told_pid(&ordinal, &root); /* each of its 9000 messages was answered */
    terminal_press(26);            /* the keys are heard too */
    CHECK_INT(terminal_shell_says(), 's');
    terminal_go_on();
    while (tcgetpgrp(terminal) != group)
        sched_yield();
    CHECK_INT(kill(group, SIGTERM), 0); /* enl leads it */
    CHECK_INT(terminal_shell_says(), 'e');
    CHECK_INT((unsigned char)terminal_shell_says(), 128 + SIGTERM);
}
