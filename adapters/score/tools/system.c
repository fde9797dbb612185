/* SPDX-License-Identifier: MIT */
/* system [-host] PROGRAM [arguments] -- runs any program on each node, or once on each host, in the job's directory. Variables tell it
 * where it is. Its end becomes the node's.
 *
 * The node waits for the program and does not become it: a process of BCR that executes another program has ended.
 *
 * Source: system(6) of "SCore and PM" (PC Cluster Consortium). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "score.h"
#include "stream.h"

static void tell(const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    if (setenv(name, text, 1) != 0)
        stream_fail("no memory");
}

static _Noreturn void become(char **words)
{
    execvp(words[0], words);
    const int error = errno;
    fprintf(stderr, "system: %s cannot be run: %s\n", words[0], strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

int main(int argc, char **argv)
{
    const char *folder = getenv("BCR_JOB_DIR");
    int status;
    (void)argc;
    stream_tool = "system";
    score_initialize();
    const int is_once = argv[1] != NULL && strcmp(argv[1], "-host") == 0;
    char **const words = argv + 1 + is_once;
    if (words[0] == NULL)
        stream_fail("which program? usage: system [-host] PROGRAM [arguments]");
    if (is_once && score_self_proc != 0)
        return 0;
    tell("SCORE_SELF_NODE", score_self_node);
    tell("SCORE_NUM_NODE", score_num_node);
    tell("SCORE_SELF_HOST", score_self_host);
    tell("SCORE_NUM_HOST", score_num_host);
    tell("SCORE_SELF_PROC", score_self_proc);
    tell("SCORE_NUM_PROC", score_num_proc);
    if (folder != NULL && chdir(folder) != 0)
        stream_fail("%s cannot be entered: %s", folder, strerror(errno));
    const pid_t pid = fork();
    if (pid < 0)
        stream_fail("no process for %s: %s", words[0], strerror(errno));
    if (pid == 0)
        become(words);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            stream_fail("%s is lost: %s", words[0], strerror(errno));
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
