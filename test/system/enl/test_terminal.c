/* SPDX-License-Identifier: MIT */
/* A program on a terminal: a pty whose session leader does for enl what a shell with job control
 * does. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static int master = -1;

/* What the shell says over `says`, and hears over `hears`. */
static int says[2], hears[2];
static pid_t shell;

static void give_terminal_to(pid_t group)
{
    signal(SIGTTOU, SIG_IGN);
    CHECK_INT(tcsetpgrp(0, group), 0);
    signal(SIGTTOU, SIG_DFL);
}

/* The shell: runs the job in the foreground; tells "s" when it has stopped, then waits for a byte
 * and does what fg does; tells "e" and the status when it has ended. */
static _Noreturn void be_shell(const char *slave, char *const *words)
{
    CHECK(setsid() > 0);
    int tty = open(slave, O_RDWR);
    close(master);
    CHECK(tty >= 0);
    CHECK_INT(ioctl(tty, TIOCSCTTY, 0), 0);
    dup2(tty, 0);
    dup2(tty, 1);
    dup2(tty, 2);
    pid_t job = fork();
    if (job == 0) {
        setpgid(0, 0);
        give_terminal_to(getpid());
        execv(words[0], words);
        _exit(126);
    }
    setpgid(job, job);
    for (;;) {
        int status;
        char byte;
        CHECK_INT(waitpid(job, &status, WUNTRACED), job);
        if (WIFSTOPPED(status)) {
            give_terminal_to(getpid());
            CHECK_INT(write(says[1], "s", 1), 1);
            CHECK_INT(read(hears[0], &byte, 1), 1);
            give_terminal_to(job);
            kill(-job, SIGCONT);
            continue;
        }
        char end[2] = {'e', (char)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status))};
        CHECK_INT(write(says[1], end, 2), 2);
        _exit(0);
    }
}

static void start_on_terminal(char *const *words)
{
    run_folder();
    master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(master >= 0);
    CHECK_INT(grantpt(master), 0);
    CHECK_INT(unlockpt(master), 0);
    CHECK_INT(pipe2(says, O_CLOEXEC), 0);
    CHECK_INT(pipe2(hears, O_CLOEXEC), 0);
    shell = fork();
    CHECK(shell >= 0);
    if (shell == 0)
        be_shell(ptsname(master), words);
    close(says[1]);
}

static void press(char key)
{
    CHECK_INT(write(master, &key, 1), 1);
}

static char shell_says(void)
{
    char byte;
    CHECK_INT(read(says[0], &byte, 1), 1);
    return byte;
}

/* R, S, T, Z ... of /proc/pid/stat. */
static char state_of(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    run_read_file(path, text, sizeof text);
    return strrchr(text, ')')[2];
}

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
    start_on_terminal(words);
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
    pid_t foreground = tcgetpgrp(master);
    CHECK_INT(groups[0], foreground);
    CHECK(groups[1] != foreground && groups[2] != foreground && groups[1] != groups[2]);
    press(3);
    CHECK_INT(shell_says(), 'e');
}

TEST(control_c_ends_the_program_cleanly)
{
    int watches[3];
    three_cces("pause");
    for (int i = 0; i < 3; i++)
        watches[i] = run_watch(pids[i]);
    press(3);
    CHECK_INT(shell_says(), 'e');
    CHECK_INT((unsigned char)shell_says(), 128 + SIGINT);
    for (int i = 0; i < 3; i++)
        run_gone(watches[i]);
}

TEST(control_z_stops_every_cce_and_fg_lets_all_go_on)
{
    three_cces("wait");
    press(26);
    CHECK_INT(shell_says(), 's');
    for (int i = 0; i < 3; i++)
        while (state_of(pids[i]) != 'T') /* the signal is on its way */
            sched_yield();
    CHECK_INT(write(hears[1], "f", 1), 1);
    for (int i = 0; i < 3; i++)
        while (state_of(pids[i]) == 'T')
            sched_yield();
    CHECK_INT(groups[0], tcgetpgrp(master));
    press(3);
    CHECK_INT(shell_says(), 'e');
    CHECK_INT((unsigned char)shell_says(), 128 + SIGINT);
}

TEST(a_terminal_that_goes_away_ends_the_program)
{
    int watches[3];
    three_cces("pause");
    for (int i = 0; i < 3; i++)
        watches[i] = run_watch(pids[i]);
    close(master);
    for (int i = 0; i < 3; i++)
        run_gone(watches[i]);
}

TEST(a_program_started_directly_obeys_the_terminal_too)
{
    int ordinal;
    pid_t root;
    char *words[] = {(char *)(uintptr_t)run_cce(), (char *)"tell", (char *)"pause", NULL};
    start_on_terminal(words);
    pid_t group = run_told_pid(&ordinal, &root);
    CHECK_INT(group, tcgetpgrp(master));
    press(26);
    CHECK_INT(shell_says(), 's');
    CHECK_INT(write(hears[1], "f", 1), 1);
    while (tcgetpgrp(master) != group) /* until then the keys are the shell's */
        sched_yield();
    press(3);
    CHECK_INT(shell_says(), 'e');
    CHECK_INT((unsigned char)shell_says(), 128 + SIGINT);
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
    start_on_terminal(words);
    pid_t group = run_told_pid(&ordinal, &root);
    press(19);
    run_go();
    run_told_pid(&ordinal, &root); /* each of its 9000 messages was answered */
    press(26);                     /* the keys are heard too */
    CHECK_INT(shell_says(), 's');
    CHECK_INT(write(hears[1], "f", 1), 1);
    while (tcgetpgrp(master) != group)
        sched_yield();
    CHECK_INT(kill(group, SIGTERM), 0); /* enl leads it */
    CHECK_INT(shell_says(), 'e');
    CHECK_INT((unsigned char)shell_says(), 128 + SIGTERM);
}
