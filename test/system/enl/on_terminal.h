/* SPDX-License-Identifier: MIT */
/* A command on a terminal: a pty whose session leader does for it what a shell with job control does. */
#ifndef SYS_ON_TERMINAL_H
#define SYS_ON_TERMINAL_H

/* The pty's master. */
extern int terminal;

/* Starts the command in the foreground of a new terminal of that size. */
void terminal_start(unsigned short columns, unsigned short rows, char *const *words);
void terminal_resize(unsigned short columns, unsigned short rows);
void terminal_press(char key);
/* Reads on until that text has come; what comes behind it is there for the next call. */
void terminal_shows(const char *text);
/* 's': the command has stopped; 'e': it has ended, and its status (as a shell tells it) comes next. */
char terminal_shell_says(void);
/* What fg does. */
void terminal_go_on(void);

#endif
