/* SPDX-License-Identifier: MIT */
/*
 * restart -- the smallest supervisor: keeps CCEs of a program running, and starts each again that fails, until all have
 * exited with status 0.
 *
 *     restart: bcr_deq of ENDS <---- for each CCE that has ended, a region of kind bcr_END (bcr_watch of bcr_STARTED)
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"

#include <bcr/program.h>
#include <signal.h>

static const char USAGE[] =
    "usage: enl --onfail isolate restart [number [program [arguments...]]]     (3 of a worker that fails at "
    "first)\n"
    "Starts so many CCEs of the program, and each again that does not exit with status 0.\n";

enum { ENDS = 1, MAX_CCES = 100 };

static void supervise(struct bcr_startspec *spec)
{
    must(bcr_cagrow(ENDS, 1, 0, 0, 0, 8, 4096), "grow a cell of its own");
    must(bcr_watch(bcr_STARTED, ENDS), "watch all that it starts");
    must(bcr_start(spec, NULL), "start the CCEs");
    for (int running = spec->count; running > 0;) {
        int end[4]; /* CCE, ordinal, how, status or signal */
        bcr_region region = must_have(bcr_deq(bcr_cce, ENDS, bcr_BLOCK), "wait for an end");
        must_copy(bcr_copyfm(bcrT_1END, 1, region, 0, end, sizeof end), "read how it has ended");
        must(bcr_rgfree(region), "free it");
        if (end[2] == bcr_EXITED && end[3] == 0) {
            running--;
            continue;
        }
        printf("restart: CCE %d has failed; CCE %d takes its place\n", end[1], end[1] + MAX_CCES);
        spec->count = 1;
        spec->ordinal = end[1] + MAX_CCES;
        must(bcr_start(spec, NULL), "start it again");
    }
}

/* The worker of the example: its first CCEs are killed, those that take their places are well. */
static void work(void)
{
    if (bcr_cceord <= MAX_CCES)
        raise(SIGKILL);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        args_check(argc, argv, 2, USAGE);
    struct bcr_startspec spec = {.size = sizeof spec, .core = -1, .ordinal = 1};
    spec.count = args_number(argc, argv, 1, "number", 3, 1, MAX_CCES);
    spec.program = argc > 2 ? argv[2] : argv[0];
    spec.arguments = argc > 3 ? (const char *const *)argv + 3 : NULL;
    must_init(0, argv[0]);
    if (bcr_enlistor >= 0)
        work();
    else
        supervise(&spec);
    return EXIT_SUCCESS;
}
