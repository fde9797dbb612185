/* SPDX-License-Identifier: MIT */
/* A line on stderr for a person, written at once and without stdio's streams: so a signal handler
 * may write it, too, and no process's line is torn by another's. */
#ifndef ADAPTER_SENTENCE_H
#define ADAPTER_SENTENCE_H

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { ADAPTER_SENTENCE_MAX = 600 };

/* `head`, which says who speaks, and the sentence behind it, without a newline. What is longer than
 * a line may be is cut off. */
static inline void adapter_say(const char *head, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static inline void adapter_say(const char *head, const char *format, va_list arguments)
{
    char text[ADAPTER_SENTENCE_MAX];
    const int most = (int)sizeof text - 1;
    int length = snprintf(text, sizeof text, "%s: ", head);
    if (length < most)
        /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the caller has begun the list */
        length += vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    length = length < most ? length : most;
    text[length++] = '\n';
    (void)!write(STDERR_FILENO, text, (size_t)length);
}

#endif
