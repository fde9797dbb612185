/* SPDX-License-Identifier: MIT */
/* See on_terminal.h. */
#include "on_terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

int terminal = -1;

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
    close(terminal);
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

void terminal_resize(unsigned short columns, unsigned short rows)
{
    const struct winsize size = {.ws_col = columns, .ws_row = rows};
    CHECK_INT(ioctl(terminal, TIOCSWINSZ, &size), 0);
}

void terminal_start(unsigned short columns, unsigned short rows, char *const *words)
{
    run_folder();
    terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(terminal >= 0);
    CHECK_INT(grantpt(terminal), 0);
    CHECK_INT(unlockpt(terminal), 0);
    terminal_resize(columns, rows);
    CHECK_INT(pipe2(says, O_CLOEXEC), 0);
    CHECK_INT(pipe2(hears, O_CLOEXEC), 0);
    shell = fork();
    CHECK(shell >= 0);
    if (shell == 0)
        be_shell(ptsname(terminal), words);
    close(says[1]);
}

void terminal_press(char key)
{
    CHECK_INT(write(terminal, &key, 1), 1);
}

char terminal_shell_says(void)
{
    char byte;
    CHECK_INT(read(says[0], &byte, 1), 1);
    return byte;
}

void terminal_go_on(void)
{
    CHECK_INT(write(hears[1], "f", 1), 1);
}

void terminal_shows(const char *text)
{
    static char shown[1 << 16];
    static size_t length;
    const char *at;
    while ((at = strstr(shown, text)) == NULL) {
        CHECK(length < sizeof shown - 1);
        const ssize_t got = read(terminal, shown + length, sizeof shown - 1 - length);
        CHECK(got > 0);
        length += (size_t)got;
        shown[length] = '\0';
    }
    const char *rest = at + strlen(text);
    length -= (size_t)(rest - shown);
    memmove(shown, rest, length + 1);
}
