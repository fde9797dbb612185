/* SPDX-License-Identifier: MIT */
/* Windows and panes of tmux, each with an enl in it that shows a debugger. This is a process of its own: it may wait
 * for tmux and X, while the daemon does not. */
#ifndef ENL_WINDOWS_H
#define ENL_WINDOWS_H

/* enl --windows NAME WHERE XTERM TERMINAL: opens one for each line "HOST INDEX ORDINAL OBJECT" of stdin, a socket of the
 * daemon's, and closes all at its end. WHERE is tmux or an X display. Unless TERMINAL is "" the session of tmux is
 * shown in that terminal; "held" and "free" tell the daemon, which prints nothing there meanwhile. "failed HOST INDEX" tells of a
 * window that has ended or did not open. */
int enl_windows(char **argv);

/* Opens one for each CCE of `words`, with `debugger` attached, and waits until they have been closed. `display` NULL:
 * tmux. */
int enl_windows_attach(const char *display, const char *name, const char *debugger, char *const *words);

/* Ends the tmux of program `name` if it is still there, as after the end of a killed enl --windows. */
void enl_windows_forget(const char *name);

#endif
