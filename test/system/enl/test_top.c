/* SPDX-License-Identifier: MIT */
/* enl top on a real terminal: what it shows, its keys, and that the terminal is as it was on every way out. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "check.h"
#include "on_terminal.h"
#include "run.h"

#define BEGIN "\033[?1049h"
#define END   "\033[?1049l"

static struct run run, command;
static char program[256];
static char shown[1 << 20]; /* all that has come from the terminal */
static size_t length;

/* A program of three CCEs on two hosts that wait for each other, or not. */
static void start(const char *mode)
{
    setenv("SYS_MODE", mode, 1);
    setenv("SYS_CCES", "3", 1);
    setenv("SYS_MACH", "local2", 1);
    setenv("TERM", "xterm", 1);
    run_folder();
    run_start(&run, run_enl(), "--local", "2", getenv("SYS_WAITS"));
    for (int i = 0; i < 3; i++)
        run_told_by(&run);
    snprintf(program, sizeof program, "%s", run_program_by(".1.log"));
}

static void end(void)
{
    run_start(&command, run_enl(), "kill", program);
    run_ends(&command, 0, "");
    run_end(&run);
}

static void start_top(unsigned short columns, unsigned short rows)
{
    char *words[] = {(char *)(uintptr_t)run_enl(), (char *)"top", program, NULL};
    length = 0;
    shown[0] = '\0';
    terminal_start(columns, rows, words);
}

static bool read_more(void)
{
    CHECK(length < sizeof shown - 1);
    const ssize_t got = read(terminal, shown + length, sizeof shown - 1 - length);
    length += got > 0 ? (size_t)got : 0;
    shown[length] = '\0';
    return got > 0;
}

/* Reads until, behind what was there before, all of `part` has come. */
static void until(const char *part)
{
    const size_t from = length;
    while (strstr(shown + from, part) == NULL)
        if (!read_more())
            FAIL("no \"%s\" in:\n%s", part, shown + from);
}

static void has(const char *part)
{
    if (strstr(shown, part) == NULL)
        FAIL("no \"%s\" in:\n%s", part, shown);
}

/* The command has ended so, and its terminal is as it was. */
static void ends(int status)
{
    struct termios now;
    CHECK_INT(terminal_shell_says(), 'e');
    CHECK_INT((unsigned char)terminal_shell_says(), status);
    while (read_more()) /* until the shell has closed it */
        ;
    const char *begin = strstr(shown, BEGIN), *back = NULL;
    for (const char *at = shown; (at = strstr(at, END)) != NULL; at++)
        back = at;
    CHECK(begin != NULL && back != NULL && strstr(back, BEGIN) == NULL);
    has("\033[?25h");
    CHECK_INT(tcgetattr(terminal, &now), 0);
    CHECK_INT(now.c_lflag & (ICANON | ECHO), ICANON | ECHO);
}

TEST(all_of_a_program_is_on_one_screen)
{
    start("circle");
    start_top(120, 30);
    until("deadlock: all CCEs wait for each other");
    has("2 hosts, 3 CCEs");
    has("puts/s");
    has("s for a region from cell 1 of CCE 1");
    has("LOCK"); /* of the cells */
    terminal_press('s');
    until("sort (by rate)");
    terminal_press('s');
    terminal_press('s');
    until("sort (by wait)");
    terminal_press('q');
    ends(0);
    end();
}

TEST(a_small_screen_has_pages_of_cces)
{
    start("slow");
    start_top(60, 10);
    until("q quit"); /* five rows for three CCEs, and no cells */
    CHECK(strstr(shown, "LOCK") == NULL);
    terminal_resize(40, 6);
    until("too small");
    terminal_resize(100, 24);
    until("LOCK");
    terminal_press('q');
    ends(0);
    end();
}

TEST(signals_give_the_terminal_back)
{
    start("slow");
    start_top(80, 24);
    until("q quit");
    terminal_press(3); /* Ctrl-C */
    ends(128 + SIGINT);
    start_top(80, 24);
    until("q quit");
    kill(tcgetpgrp(terminal), SIGTERM);
    ends(128 + SIGTERM);
    end();
}

TEST(a_stop_gives_the_terminal_back_until_it_goes_on)
{
    struct termios now;
    start("slow");
    start_top(80, 24);
    until("q quit");
    terminal_press(26); /* Ctrl-Z */
    until(END);
    CHECK_INT(terminal_shell_says(), 's');
    CHECK_INT(tcgetattr(terminal, &now), 0);
    CHECK_INT(now.c_lflag & (ICANON | ECHO), ICANON | ECHO);
    terminal_go_on();
    until(BEGIN);
    until("q quit");
    terminal_press('q');
    ends(0);
    end();
}

TEST(a_program_that_ends_gets_a_sentence_behind_the_screen)
{
    start("slow");
    start_top(80, 24);
    until("q quit");
    end();
    ends(1);
    has("it has ended");
}

TEST(where_nothing_can_be_drawn_a_sentence_tells_the_remedy)
{
    start("slow");
    run_start(&command, run_enl(), "top", program);
    run_ends(&command, 1, "enl ps --watch");
    run_start(&command, run_enl(), "top", "nowhere.1");
    run_ends(&command, 1, "no program of yours has that name");
    start_top(59, 24);
    until("make it larger");
    CHECK(strstr(shown, BEGIN) == NULL);
    CHECK_INT(terminal_shell_says(), 'e');
    CHECK_INT((unsigned char)terminal_shell_says(), 1);
    setenv("TERM", "dumb", 1);
    start_top(80, 24);
    until("set TERM");
    CHECK_INT(terminal_shell_says(), 'e');
    CHECK_INT((unsigned char)terminal_shell_says(), 1);
    end();
}
