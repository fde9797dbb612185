/* SPDX-License-Identifier: MIT */
/* scatter [-node N] [-file FILE] -- the standard input of node 0 comes to the standard output of each node, or of node N, or into a
 * file of each host. Each node passes what it gets on to the next, so however many there are it takes little longer than one.
 *
 * Source: scatter(6) of "SCore and PM" (PC Cluster Consortium). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "score.h"
#include "stream.h"

int main(int argc, char **argv)
{
    char own[STREAM_ROOM];
    int node;
    const char *file, *bytes = own;
    size_t length;
    (void)argc;
    stream_tool = "scatter";
    score_initialize();
    stream_options(argv, &node, &file);
    signal(SIGPIPE, SIG_IGN); /* whoever reads this node's copy may end early, and the others read on */
    const int last = node >= 0 ? node : score_num_node - 1;
    int copy = stream_open(node, file, STDOUT_FILENO, O_WRONLY | O_CREAT | O_TRUNC, "written");
    do {
        length = 0;
        if (score_self_node == 0)
            length = stream_read(STDIN_FILENO, own, sizeof own);
        else if (score_self_node <= last)
            length = stream_receive(&bytes);
        if (score_self_node < last)
            stream_send(score_self_node + 1, bytes, length);
        if (copy >= 0 && stream_write(copy, bytes, length) != 0)
            copy = -1;
        if (score_self_node > 0 && score_self_node <= last)
            stream_taken(score_self_node - 1);
    } while (length > 0);
    if (copy >= 0 && close(copy) != 0)
        stream_fail("node %d cannot write: %s", score_self_node, strerror(errno));
    return 0;
}
