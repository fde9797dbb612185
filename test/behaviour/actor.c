/* SPDX-License-Identifier: MIT */
/* A CCE of a behaviour other than the one that runs it. It connects to the socket $BEHAVE_SOCKET,
 * tells its enlistor who it is by way of a cell there, and does then what the lines say that come
 * through the socket, answering each with the result and bcr_errno. It ends when the other side has
 * gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <bcr.h>

#include "verbs.h"

enum { MEMORY_BYTES = 1 << 16 };

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "actor %d: %s: %s\n", bcr_cceord, what, bcr_strerror(bcr_errno));
    exit(1);
}

int main(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char line[256];
    bcr_cce_id owner;
    if (bcr_init(bcr_errors, NULL) != 0)
        give_up("bcr_init");
    if (bcr_cagrow(MEETING_CELL, 0, 0, 0, 1, 4, MEMORY_BYTES) != MEETING_CELL)
        give_up("bcr_cagrow");
    const char *path = getenv("BEHAVE_SOCKET");
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (path == NULL || fd < 0 || strlen(path) >= sizeof name.sun_path)
        give_up("socket");
    strcpy(name.sun_path, path);
    if (connect(fd, (struct sockaddr *)&name, sizeof name) != 0)
        give_up("connect");
    FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
    if (in == NULL || out == NULL)
        give_up("fdopen");
    if (bcr_send(&bcr_cce, sizeof bcr_cce, bcrT_1CCE, 1, bcr_enlistor, MEETING_CELL, 1, 0) != 2)
        give_up("bcr_send to the enlistor");
    owner = bcr_cce;
    while (fgets(line, sizeof line, in) != NULL) {
        bcr_errno = 0;
        const int result = verb_do(line, &owner);
        fprintf(out, "%d %d\n", result, bcr_errno);
        fflush(out);
    }
    return 0;
}
