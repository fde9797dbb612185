/* SPDX-License-Identifier: MIT */
/* See stream.h. A message begins with a byte: DATA, or TAKEN, by which a receiver says that it has taken ACKNOWLEDGED more. Whoever
 * waits, for bytes or until it may send, keeps bytes that come meanwhile: those of one sender, of which no more than WINDOW come. */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sc.h"
#include "score.h"
#include "score_resource.h"

/* Bytes are passed on as they are. */
SCORE_RSRC_HETERO_NODES;

enum kind { DATA = 'd', TAKEN = 't' };
enum { WINDOW = 14, ACKNOWLEDGED = 7 };

const char *stream_tool;

static struct {
    int under_way; /* messages that were sent, and are not told to be taken */
    int taken;     /* that were taken, of which the sender was not told */
    unsigned came, went;
    struct {
        size_t length;
        char bytes[STREAM_ROOM];
    } kept[WINDOW];
} state;

void stream_fail(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: ", stream_tool);
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    sc_exit(1); /* the others would wait for this node */
    exit(1);
}

static void must(int error, const char *what)
{
    if (error != PM_SUCCESS)
        stream_fail("node %d cannot %s: %s", score_self_node, what, pmErrorString(error));
}

/* Sleeps until a message is there. */
static void wait_for(caddr_t *bytes_out, size_t *length_out)
{
    enum { FDS_MAX = 8 };
    static int fds[FDS_MAX], count;
    struct pollfd look[FDS_MAX];
    int error;
    if (count == 0) {
        count = FDS_MAX;
        must(pmGetFd(score_pmnet[0], fds, &count), "wait");
    }
    while ((error = pmReceive(score_pmnet[0], bytes_out, length_out)) == ENOBUFS || error == EBUSY) {
        must(pmBeforeSelect(score_pmnet[0]), "wait");
        for (int i = 0; i < count; i++)
            look[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        poll(look, (nfds_t)count, -1);
        must(pmAfterSelect(score_pmnet[0]), "wait");
    }
    must(error, "receive");
}

/* Takes one message in. */
static void take_in(void)
{
    caddr_t bytes;
    size_t length;
    wait_for(&bytes, &length);
    if (bytes[0] == TAKEN) {
        state.under_way -= ACKNOWLEDGED;
    } else if (state.came - state.went < WINDOW && length - 1 <= STREAM_ROOM) {
        memcpy(state.kept[state.came % WINDOW].bytes, bytes + 1, length - 1);
        state.kept[state.came++ % WINDOW].length = length - 1;
    }
    must(pmReleaseReceiveBuffer(score_pmnet[0]), "let go of a message");
}

/* There is a buffer: those of WINDOW messages and of an acknowledgement are fewer than a node may have out. */
static void send_kind(int node, enum kind kind, const char *bytes, size_t length)
{
    caddr_t buffer;
    int error;
    while ((error = pmGetSendBuffer(score_pmnet[0], node, &buffer, 1 + length)) == ENOBUFS)
        sc_yield(); /* the receiver has taken them, and is about to let go of the last */
    must(error, "send");
    buffer[0] = (char)kind;
    if (length != 0)
        memcpy(buffer + 1, bytes, length);
    must(pmSend(score_pmnet[0]), "send");
}

void stream_send(int node, const char *bytes, size_t length)
{
    while (state.under_way >= WINDOW)
        take_in();
    state.under_way++;
    send_kind(node, DATA, bytes, length);
}

size_t stream_receive(const char **bytes_out)
{
    while (state.came == state.went)
        take_in();
    *bytes_out = state.kept[state.went % WINDOW].bytes;
    return state.kept[state.went % WINDOW].length;
}

void stream_taken(int from)
{
    state.went++;
    if (++state.taken < ACKNOWLEDGED)
        return;
    state.taken = 0;
    send_kind(from, TAKEN, NULL, 0);
}

size_t stream_read(int fd, char *bytes, size_t room)
{
    ssize_t got;
    while ((got = read(fd, bytes, room)) < 0 && errno == EINTR)
        continue;
    if (got < 0)
        stream_fail("node %d cannot read its input: %s", score_self_node, strerror(errno));
    return (size_t)got;
}

int stream_write(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EPIPE)
            return -1;
        if (written < 0)
            stream_fail("node %d cannot write: %s", score_self_node, strerror(errno));
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

static int node_of(const char *text)
{
    char *end;
    const long node = text != NULL ? strtol(text, &end, 10) : -1;
    if (text == NULL || text[0] < '0' || text[0] > '9' || *end != '\0' || node >= score_num_node)
        stream_fail("-node takes a node from 0 to %d, not %.60s", score_num_node - 1,
                    text != NULL ? text : "nothing");
    return (int)node;
}

void stream_options(char **argv, int *node_out, const char **file_out)
{
    char **word = argv + 1;
    *node_out = -1;
    *file_out = NULL;
    for (; *word != NULL; word += 2) {
        if (strcmp(*word, "-node") == 0)
            *node_out = node_of(word[1]);
        else if (strcmp(*word, "-file") != 0)
            stream_fail("it takes -node N and -file FILE, not %.60s", *word);
        else if ((*file_out = word[1]) == NULL || word[1][0] == '\0')
            stream_fail("-file takes the name of a file");
    }
}

static const char *path_of(const char *file, char *path, size_t size)
{
    const char *folder = getenv("BCR_JOB_DIR");
    if (file[0] == '/')
        return file;
    if (folder == NULL)
        stream_fail("a file of a job is in its directory, and there is none: scrun makes it (BCR_JOB_DIR)");
    if (strchr(file, '/') != NULL || (size_t)snprintf(path, size, "%s/%s", folder, file) >= size)
        stream_fail("-file %.200s: a file has a whole path, or a name alone, which is in the job's directory",
                    file);
    return path;
}

int stream_open(int node, const char *file, int standard, int flags, const char *done)
{
    char path[PATH_MAX];
    if (node >= 0 && score_self_node != node)
        return -1;
    if (file == NULL)
        return standard;
    if (node < 0 && score_self_proc != 0) /* one file for each host */
        return -1;
    const char *name = path_of(file, path, sizeof path);
    const int fd = open(name, flags | O_CLOEXEC, 0600);
    if (fd < 0)
        stream_fail("%s cannot be %s: %s", name, done, strerror(errno));
    return fd;
}
