/* SPDX-License-Identifier: MIT */
/* The signals by which a person ends a command, as a descriptor, so that what it has started can be ended first. */
#ifndef ENL_INTERRUPT_H
#define ENL_INTERRUPT_H

#include <signal.h>

struct enl_interrupt {
    int fd; /* can be read when one has come; -1: they end this process as ever */
    sigset_t before;
};

/* SIGINT, SIGTERM, SIGHUP and SIGQUIT, but for those that this process was started to ignore. */
void enl_interrupt_begin(struct enl_interrupt *interrupt_out);
/* They have their effect again, also one that has come meanwhile. */
void enl_interrupt_end(struct enl_interrupt *interrupt);

#endif
