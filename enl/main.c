/* SPDX-License-Identifier: MIT */
/* main.c -- enl: the daemon that holds a BCR program together, and the command that speaks to it. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bcr.h>

#include "command.h"
#include "options.h"
#include "program.h"

/* The daemon has nothing to do with what its starter had open; and 0, 1, 2 must be taken, lest a socket of its own
 * become somebody's standard output. */
static void tidy_descriptors(int keep)
{
    for (int fd; (fd = open("/dev/null", O_RDWR)) >= 0;)
        if (fd > 2) {
            if (fd != keep)
                close(fd);
            break;
        }
    if (keep < 3) {
        close_range(3, ~0u, 0);
        return;
    }
    if (keep > 3)
        close_range(3, (unsigned)keep - 1, 0);
    close_range((unsigned)keep + 1, ~0u, 0);
    fcntl(keep, F_SETFD, FD_CLOEXEC);
}

int main(int argc, char **argv)
{
    struct enl_options options;
    char error[512];
    if (enl_options_parse(argc, argv, &options, error, sizeof error) != 0) {
        fprintf(stderr, "enl: %s\n", error);
        return 2;
    }
    switch (options.action) {
    case ENL_HELP: fputs(enl_help, stdout); return 0;
    case ENL_VERSION:
        printf("enl (BCR) %d.%d.%d\n", BCR_VERSION_MAJOR, BCR_VERSION_MINOR, BCR_VERSION_PATCH);
        return 0;
    case ENL_PS: return enl_command_ps();
    case ENL_KILL: return enl_command_kill(options.first < argc ? argv[options.first] : NULL);
    case ENL_AUDIT: return enl_command_audit(options.first < argc ? argv[options.first] : NULL);
    case ENL_SHOW_CONFIG: return enl_command_show_config(&options);
    case ENL_JOIN: return enl_command_join(&options, argv + options.first);
    case ENL_RUN: break;
    }
    tidy_descriptors(options.root_socket);
    return enl_program_run(&options, argv + options.first);
}
