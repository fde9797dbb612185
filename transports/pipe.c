/* SPDX-License-Identifier: MIT */
/* Links over a stream of bytes: pipe.h. */
#include "bcri/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire.h"

enum { LENGTH_BYTES = 2, GATHER_BYTES = 256 << 10, ROOM = 256 << 10 };

struct bcri_pipe {
    int in, out;
    uint32_t from, to; /* of `gather`: what is not written yet */
    uint32_t received; /* bytes of `receive`: the beginning of a packet */
    uint8_t gather[GATHER_BYTES];
    uint8_t receive[2 * (LENGTH_BYTES + BCRI_LINK_PACKET_MAX)];
};

static void set_nonblocking(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

struct bcri_pipe *bcri_pipe_new(int in, int out)
{
    struct bcri_pipe *pipe = malloc(sizeof *pipe);
    if (pipe == NULL)
        return NULL;
    pipe->in = in;
    pipe->out = out;
    pipe->from = pipe->to = pipe->received = 0;
    set_nonblocking(in);
    set_nonblocking(out);
    return pipe;
}

void bcri_pipe_free(struct bcri_pipe *pipe)
{
    free(pipe);
}

void bcri_pipe_carrier(const struct bcri_pipe *pipe, struct bcri_link_carrier *carrier_out)
{
    (void)pipe;
    *carrier_out =
        (struct bcri_link_carrier){.reliable = true, .packet_max = BCRI_LINK_PACKET_MAX, .room = ROOM};
}

uint8_t *bcri_pipe_space(struct bcri_pipe *pipe)
{
    return pipe->to + LENGTH_BYTES + BCRI_LINK_PACKET_MAX <= GATHER_BYTES
               ? pipe->gather + pipe->to + LENGTH_BYTES
               : NULL;
}

void bcri_pipe_add(struct bcri_pipe *pipe, size_t bytes)
{
    bcri_put_u16(pipe->gather + pipe->to, (uint16_t)bytes);
    pipe->to += LENGTH_BYTES + (uint32_t)bytes;
}

int bcri_pipe_flush(struct bcri_pipe *pipe)
{
    while (pipe->from != pipe->to) {
        const ssize_t written = write(pipe->out, pipe->gather + pipe->from, pipe->to - pipe->from);
        if (written >= 0)
            pipe->from += (uint32_t)written;
        else if (errno != EINTR)
            return errno == EWOULDBLOCK ? -EAGAIN : -errno;
    }
    pipe->from = pipe->to = 0;
    return 0;
}

int bcri_pipe_receive(struct bcri_pipe *pipe, bcri_pipe_packet_fn *packet, void *context)
{
    ssize_t bytes;
    do
        bytes = read(pipe->in, pipe->receive + pipe->received, sizeof pipe->receive - pipe->received);
    while (bytes < 0 && errno == EINTR);
    if (bytes <= 0)
        return bytes == 0 ? 0 : errno == EWOULDBLOCK ? -EAGAIN : -errno;
    pipe->received += (uint32_t)bytes;
    uint8_t *at = pipe->receive, *const end = at + pipe->received;
    while (end - at >= LENGTH_BYTES && end - at - LENGTH_BYTES >= bcri_get_u16(at)) {
        const size_t length = bcri_get_u16(at);
        packet(context, at + LENGTH_BYTES, length);
        at += LENGTH_BYTES + length;
    }
    /* Less than one packet is left, so there is room for the rest of it. */
    pipe->received = (uint32_t)(end - at);
    memmove(pipe->receive, at, pipe->received);
    return 1;
}
