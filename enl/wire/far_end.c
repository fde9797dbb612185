/* SPDX-License-Identifier: MIT */
/* See wire.h. */
#include "bcri/environment.h"
#include "wire/wire.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int enl_far_end_socket(void)
{
    const char *text = getenv(BCRI_CONTROL_ENV);
    char *end = NULL;
    const long number = text != NULL ? strtol(text, &end, 10) : -1;
    int type = 0;
    socklen_t size = sizeof type;
    if (text == NULL || *end != '\0' || end == text || number < 3 || number > INT_MAX ||
        getsockopt((int)number, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET)
        return -1;
    fcntl((int)number, F_SETFD, FD_CLOEXEC);
    unsetenv(BCRI_CONTROL_ENV);
    return (int)number;
}

static const void *map_segment(int fd, size_t *size_out)
{
    struct stat file;
    if (fstat(fd, &file) != 0 || file.st_size <= 0 || (uint64_t)file.st_size > SIZE_MAX)
        return NULL;
    const void *base = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return NULL;
    *size_out = (size_t)file.st_size;
    return base;
}

const void *enl_far_end_map(int socket, uint32_t seg, size_t *size_out)
{
    static struct bcri_incoming in;
    const struct bcri_control ask = {
        .type = BCRI_MSG_segment_fd, .present = BCRI_HAS(id) | BCRI_HAS(seg), .id = seg, .seg = seg};
    const void *base = NULL;
    if (bcri_channel_send(socket, &ask, NULL, 0, true) != 0 || bcri_channel_recv(socket, &in, true) != 1)
        return NULL;
    if (in.wrong == NULL && in.message.type == BCRI_MSG_reply && in.message.id == seg && in.fds[0] >= 0)
        base = map_segment(in.fds[0], size_out);
    bcri_incoming_close(&in);
    return base;
}

void enl_far_end_name(int socket, uint32_t index, char *out, size_t capacity)
{
    static struct bcri_incoming in;
    const struct bcri_control ask = {
        .type = BCRI_MSG_ps, .present = BCRI_HAS(id) | BCRI_HAS(index), .id = index, .index = index};
    out[0] = '\0';
    if (bcri_channel_send(socket, &ask, NULL, 0, true) != 0 || bcri_channel_recv(socket, &in, true) != 1)
        return;
    const struct bcri_control *row = &in.message;
    if (in.wrong == NULL && row->type == BCRI_MSG_row && row->index == index && capacity > 0) {
        const size_t length = row->ccename.length < capacity ? row->ccename.length : capacity - 1;
        memcpy(out, row->ccename.bytes + row->ccename.length - length, length); /* the end tells more */
        out[length] = '\0';
    }
    bcri_incoming_close(&in);
}

bool enl_far_end_way(int socket, uint64_t host, uint64_t *host_out, uint64_t *way_out, uint64_t *bytes_out)
{
    static struct bcri_incoming in;
    const struct bcri_control *answer = &in.message;
    const struct bcri_control ask = {
        .type = BCRI_MSG_way_next, .present = BCRI_HAS(id) | BCRI_HAS(host), .id = 1, .host = (uint32_t)host};
    if (host > BCRI_HOST_NUMBER_MAX || bcri_channel_send(socket, &ask, NULL, 0, true) != 0 ||
        bcri_channel_recv(socket, &in, true) != 1)
        return false;
    bcri_incoming_close(&in);
    if (in.wrong != NULL || answer->type != BCRI_MSG_way_state || answer->host < host)
        return false;
    *host_out = answer->host;
    *way_out = answer->kind;
    *bytes_out = answer->size;
    return true;
}
