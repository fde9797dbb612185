/* SPDX-License-Identifier: MIT */
/* gather [-node N] [-file FILE] -- the standard input of each node, or of node N, or a file of each host comes to standard output, one
 * node after the other: a node begins when all that the one before has written is out.
 *
 * Source: gather(6) of "SCore and PM" (PC Cluster Consortium). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sc.h"
#include "score.h"
#include "stream.h"

int main(int argc, char **argv)
{
    char own[STREAM_ROOM];
    int node;
    const char *file, *turn;
    size_t length;
    (void)argc;
    stream_tool = "gather";
    score_initialize();
    stream_options(argv, &node, &file);
    const int part = stream_open(node, file, STDIN_FILENO, O_RDONLY, "read");
    if (score_self_node > 0) {
        (void)stream_receive(&turn);
        stream_taken(score_self_node - 1);
    }
    while (part >= 0 && (length = stream_read(part, own, sizeof own)) > 0)
        if (stream_write(STDOUT_FILENO, own, length) != 0)
            break;
    const int error = part >= 0 && score_num_node > 1 ? sc_flush() : 0;
    if (error != 0)
        stream_fail("node %d does not know whether all is out: %s", score_self_node, strerror(error));
    if (score_self_node + 1 < score_num_node)
        stream_send(score_self_node + 1, "", 0);
    return 0;
}
