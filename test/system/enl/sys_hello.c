/* SPDX-License-Identifier: MIT */
/* A program that says hello to enl by itself, with another layout or archtype than its library's:
 * "layout" or "archtype". It prints enl's answer: status and sentence. "segment KIND": it is
 * welcome, and then offers a segment of that kind; it prints what comes of that.
 * "enlist MACHINE ORDINAL": the same with two CCEs of a program that is not there. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bcri/archtype.h"
#include "bcri/channel.h"
#include "bcri/signature.h"

static void offer_segment(int fd, int kind)
{
    static struct bcri_incoming in;
    const int segment = memfd_create("segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const struct bcri_control offer = {.type = BCRI_MSG_segment_add,
                                       .present = BCRI_HAS(id) | BCRI_HAS(size) | BCRI_HAS(kind),
                                       .id = 2,
                                       .size = 4096,
                                       .kind = (uint32_t)kind};
    if (ftruncate(segment, 4096) != 0 || fcntl(segment, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0 ||
        bcri_channel_send(fd, &offer, &segment, 1, true) != 0)
        _exit(3);
    if (bcri_channel_recv(fd, &in, true) != 1)
        puts("disconnected");
    else
        puts(in.message.status == 0 && (in.message.present & BCRI_HAS(seg)) != 0 ? "taken" : "not taken");
}

static void ask_for_two(int fd, const char *machine, const char *ordinal)
{
    static struct bcri_incoming in;
    const struct bcri_control wish = {.type = BCRI_MSG_enlist,
                                      .present = BCRI_HAS(id) | BCRI_HAS(machine) | BCRI_HAS(core) |
                                                 BCRI_HAS(count) | BCRI_HAS(ordinal) | BCRI_HAS(object),
                                      .id = 3,
                                      .machine = bcri_view_of(machine),
                                      .core = -1,
                                      .count = 2,
                                      .ordinal = (uint32_t)strtoul(ordinal, NULL, 10),
                                      .object = bcri_view_of("/no/such/program")};
    if (bcri_channel_send(fd, &wish, NULL, 0, true) != 0)
        _exit(4);
    if (bcri_channel_recv(fd, &in, true) != 1)
        puts("disconnected");
    else
        printf("refused %u\n", (unsigned)in.message.status);
}

int main(int argc, char **argv)
{
    const char *number = getenv("BCRI_SOCKET");
    const char *wrong = argc > 1 ? argv[1] : "";
    int pair[2];
    static struct bcri_incoming in;
    if (number == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return 2;
    struct bcri_control hello = {
        .type = BCRI_MSG_hello,
        .present = BCRI_HAS(id) | BCRI_HAS(layout) | BCRI_HAS(archtype) | BCRI_HAS(flags) | BCRI_HAS(ccename),
        .id = 1,
        .layout = bcri_layout_signature() ^ (strcmp(wrong, "layout") == 0),
        .archtype = (uint32_t)bcri_archtype_native() ^ (strcmp(wrong, "archtype") == 0),
        .ccename = bcri_view_of("hello")};
    if (bcri_channel_send((int)strtol(number, NULL, 10), &hello, &pair[0], 1, true) != 0)
        return 2;
    close(pair[0]);
    if (bcri_channel_recv(pair[1], &in, true) != 1 || in.wrong != NULL)
        return 2;
    if (in.message.type == BCRI_MSG_welcome) {
        puts("welcome");
        if (argc > 2 && strcmp(wrong, "segment") == 0)
            offer_segment(pair[1], atoi(argv[2]));
        if (argc > 3 && strcmp(wrong, "enlist") == 0)
            ask_for_two(pair[1], argv[2], argv[3]);
        return 0;
    }
    char text[1024] = "";
    bcri_view_copy(in.message.text, text, sizeof text);
    printf("refused %u: %s\n", (unsigned)in.message.status, text);
    return 0;
}
