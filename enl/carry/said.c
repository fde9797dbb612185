/* SPDX-License-Identifier: MIT */
/* See carry.h. */
#include "carry/carry.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/self.h"
#include "base/watch.h"

/* Reports the first so many bytes, and forgets them. */
static void report_line(struct enl_said *said, size_t length)
{
    const size_t shown = length - (length > 0 && said->text[length - 1] == '\r' ? 1 : 0);
    if (shown != 0)
        enl_report(said->self, BCRI_LOG_INFO, "host %s: %.*s", said->host, (int)shown, said->text);
}

static void forget(struct enl_said *said, size_t length)
{
    said->length -= length;
    memmove(said->text, said->text + length, said->length);
}

/* Reports lines as they come; of one that has no room here the parts. */
static void report_lines(struct enl_said *said, const char *bytes, size_t length)
{
    while (length > 0) {
        const size_t room = sizeof said->text - 1 - said->length;
        const size_t part = length < room ? length : room;
        memcpy(said->text + said->length, bytes, part);
        said->length += part;
        bytes += part;
        length -= part;
        for (const char *end; (end = memchr(said->text, '\n', said->length)) != NULL;) {
            report_line(said, (size_t)(end - said->text));
            forget(said, (size_t)(end - said->text) + 1);
        }
        if (said->length == sizeof said->text - 1) {
            report_line(said, said->length);
            said->length = 0;
        }
    }
}

void enl_said_take(struct enl_said *said, const char *bytes, size_t length)
{
    const size_t most = sizeof said->text - 1;
    if (said->pass != NULL) {
        said->pass(said->owner, bytes, length);
        return;
    }
    if (said->reports) {
        report_lines(said, bytes, length);
        return;
    }
    if (length > most) { /* the end of a long text tells more */
        bytes += length - most;
        length = most;
    }
    const size_t room = most - said->length, drop = length > room ? length - room : 0;
    said->length -= drop;
    memmove(said->text, said->text + drop, said->length);
    memcpy(said->text + said->length, bytes, length);
    said->length += length;
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

static void on_stderr_readable(void *data)
{
    struct enl_said *said = data;
    if (!read_more(said))
        enl_said_end(said);
}

bool enl_said_begin(struct enl_said *said, struct enl_self *self, const char *host, int fd)
{
    *said = (struct enl_said){.self = self, .host = host};
    if (fd >= 0)
        said->watch = enl_watch_start(self, fd, on_stderr_readable, said);
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
    if (said->reports && said->length != 0)
        report_line(said, said->length);
    said->length = said->reports ? 0 : said->length;
    enl_watch_stop(said->watch);
    said->watch = NULL;
}
