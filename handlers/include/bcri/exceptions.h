/* SPDX-License-Identifier: MIT */
/* What a C++ program keeps for each thread of the exceptions that are being handled, and BCR for each invocation: else
 * two that wait inside `catch` would rethrow, and free, each other's.
 *
 * The struct is the C++ ABI's, __cxa_eh_globals, which is the same in libstdc++ and libc++abi. The routine that gives
 * it is a weak symbol here: a C program has none, and pays for a pointer that is NULL. A program in C may load
 * a library in C++ later; so the routine is looked for again whenever a handler is installed, which is
 * before anything of that library can run as a handler. The dynamic linker is asked only if it has loaded something
 * since the last look, or the handler is in another object: it needs malloc, which a routine may not call
 * (private.h), and costs microseconds.
 *
 * Source: Itanium C++ ABI, Exception Handling, 2.2.2; Exception Handling ABI for the Arm Architecture, 8.2. */
#ifndef BCRI_EXCEPTIONS_H
#define BCRI_EXCEPTIONS_H

#include <stdint.h>

struct bcri_exceptions {
    void *caught;      /* the stack of those in whose `catch` the thread is */
    unsigned uncaught; /* how many are on their way there */
#ifdef __ARM_EABI__
    void *propagating;
#endif
};

/* Those of the calling thread. NULL: no C++ was seen in this process. */
extern struct bcri_exceptions *(*bcri_exceptions_of)(void);

/* Looks whether there is C++ by now, in which `handler` may be written. Of several runtimes in one process, the first
 * that is found counts. */
void bcri_exceptions_look(uintptr_t handler);

#endif
