/* SPDX-License-Identifier: MIT */
/* A program that says hello to enl by itself, with another layout or archtype than its library's:
 * "layout" or "archtype". It prints enl's answer: status and sentence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bcri/archtype.h"
#include "bcri/channel.h"
#include "bcri/signature.h"

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
        return 0;
    }
    char text[1024] = "";
    bcri_view_copy(in.message.text, text, sizeof text);
    printf("refused %u: %s\n", (unsigned)in.message.status, text);
    return 0;
}
