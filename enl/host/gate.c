/* SPDX-License-Identifier: MIT */
/* gate.c -- a member of a job whose program is not known to be a CCE: such a program would not wait in bcr_init until all members are
 * there, so its process waits before it executes the program. It says `held` by the socket that it has inherited, and `release` is
 * the answer. The program inherits that socket, too, and may become a CCE after all. */
#include "host/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/channel.h"
#include "bcri/environment.h"

int enl_gate(char **words)
{
    static const struct bcri_control held = {.type = BCRI_MSG_held};
    const char *number = getenv(BCRI_CONTROL_ENV);
    struct bcri_incoming in;
    if (number == NULL || words[0] == NULL || words[1] == NULL) {
        fprintf(stderr, "enl: --gate is for enl itself\n");
        return 2;
    }
    const int socket = (int)strtol(number, NULL, 10);
    if (bcri_channel_send(socket, &held, NULL, 0, true) != 0 || bcri_channel_recv(socket, &in, true) != 1 ||
        in.message.type != BCRI_MSG_release)
        return 126; /* the daemon ends, and this process with it */
    execv(words[0], words + 1);
    const int error = errno;
    fprintf(stderr, "enl: %s could not be executed: %s\n", words[0], enl_cce_text_of_error(error));
    return error == ENOENT ? 127 : 126;
}
