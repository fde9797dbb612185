/* SPDX-License-Identifier: MIT */
/* See said.h. */
#include "said.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

/* Reports the whole lines that have come. */
static void report_lines(struct enl_said *said)
{
    char *end;
    while (said->reports && (end = memchr(said->text, '\n', said->length)) != NULL) {
        *end = '\0';
        said->text[strcspn(said->text, "\r")] = '\0';
        if (said->text[0] != '\0')
            enl_report(said->program, BCRI_LOG_INFO, "host %s: %s", said->host, said->text);
        said->length -= (size_t)(end + 1 - said->text);
        memmove(said->text, end + 1, said->length);
    }
}

void enl_said_take(struct enl_said *said, const char *bytes, size_t length)
{
    const size_t most = sizeof said->text - 1;
    if (length > most) { /* the end of a long text tells more */
        bytes += length - most;
        length = most;
    }
    const size_t room = most - said->length, drop = length > room ? length - room : 0;
    said->length -= drop;
    memmove(said->text, said->text + drop, said->length);
    memcpy(said->text + said->length, bytes, length);
    said->length += length;
    report_lines(said);
}

/* False: the end. */
static bool read_more(struct enl_said *said)
{
    char bytes[512];
    for (;;) {
        const ssize_t got = read(said->watch->fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 && errno == EAGAIN;
        enl_said_take(said, bytes, (size_t)got);
    }
}

static void on_readable(void *data)
{
    struct enl_said *said = data;
    if (!read_more(said))
        enl_said_end(said);
}

bool enl_said_begin(struct enl_said *said, struct enl_program *program, const char *host, int fd)
{
    *said = (struct enl_said){.program = program, .host = host};
    if (fd >= 0)
        said->watch = enl_watch_start(program, fd, on_readable, said);
    return fd < 0 || said->watch != NULL;
}

void enl_said_report(struct enl_said *said)
{
    said->reports = true;
    said->length = 0;
}

const char *enl_said_all(struct enl_said *said)
{
    if (said->watch != NULL)
        (void)read_more(said);
    said->text[said->length] = '\0';
    return said->text;
}

void enl_said_end(struct enl_said *said)
{
    enl_watch_stop(said->watch);
    said->watch = NULL;
}
