/* SPDX-License-Identifier: MIT */
/*
 * drain -- a server that ends on SIGTERM, and loses no request that it has accepted.
 *
 *     client: bcr_enq ----> [ REQUESTS ] ----> server: poll over bcr_fd and a signalfd
 *                                              SIGTERM: takes what is there, gives the cell back, ends
 *
 * bcr_cafree gives a cell back if it is empty, and fails with bcrE_BUSY if it is not; nothing can come in between.  So
 * each put either is in the cell before, and is served, or fails with bcrE_NOCELL, and the client still has its region.
 *
 * The clients ignore SIGTERM, which enl passes on to every CCE: they end when nobody accepts their requests any more.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const char USAGE[] = "usage: drain [requests]     (0 requests: serves until it gets SIGTERM)\n"
                            "Serves two clients; sends itself SIGTERM after so many requests.\n";

enum {
    REQUESTS = 1,
    REPORTS = 2
}; /* the server's cells, in two areas: the first is given back, the second stays */
enum { ROOM = 8, CLIENTS = 2, REGION_BYTES = 64 };

/* --- a client --- */

static void be_client(void)
{
    long accepted = 0;
    signal(SIGTERM, SIG_IGN);
    must(bcr_cagrow(1, 0, 0, 0, 0, 0, 4 * (ROOM + 2) * REGION_BYTES), "grow its comm heap");
    for (;; accepted++) {
        bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a request");
        **(int **)region = bcr_cceord;
        if (bcr_enq(region, bcr_enlistor, REQUESTS, bcr_FREE) < 0) {
            must_hold(bcr_errno == bcrE_NOCELL, "a request is refused only when the server ends");
            must(bcr_rgfree(region), "free the request that was refused");
            break;
        }
    }
    must(bcr_send(&accepted, sizeof accepted, bcrT_1LONG, 1, bcr_enlistor, REPORTS, 1, 0), "report");
}

/* --- the server --- */

static long served, served_of[1 + CLIENTS]; /* by ordinal */

static void serve_what_is_there(void)
{
    bcr_region region;
    while ((region = bcr_deq(bcr_cce, REQUESTS, 0)) != NULL) {
        served_of[**(int **)region]++;
        must(bcr_rgfree(region), "free a request");
        served++;
    }
    if (bcr_errno != bcrE_TIMEOUT)
        must_end("take a request", bcr_strerror(bcr_errno));
}

static void say_when_all_are_there(void)
{
    static bool said;
    if (said || served_of[1] == 0 || served_of[2] == 0)
        return;
    printf("drain: serving in process %ld\n", (long)getpid());
    fflush(stdout);
    said = true;
}

static void serve_until(int sigterm, long requests)
{
    struct pollfd ready[2] = {{.events = POLLIN}, {.fd = sigterm, .events = POLLIN}};
    while (ready[1].revents == 0) {
        serve_what_is_there();
        say_when_all_are_there();
        if (requests > 0 && served >= requests)
            kill(getpid(), SIGTERM);
        ready[0].fd = must(bcr_fd(REQUESTS), "arm its cell");
        poll(ready, 2, -1);
    }
}

static void drain(void)
{
    do
        serve_what_is_there();
    while (bcr_cafree(REQUESTS) < 0 && bcr_errno == bcrE_BUSY);
}

static int block_sigterm(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    const int fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd < 0)
        must_end("watch for SIGTERM", "signalfd failed");
    return fd;
}

static void lead(const char *program, long requests)
{
    const int sigterm = block_sigterm();
    must(bcr_cagrow(REQUESTS, 0, 1, 0, 0, ROOM, 0), "grow its cell for requests");
    must(bcr_cagrow(REPORTS, 0, 1, 0, 0, CLIENTS, 4096), "grow its cell for reports");
    must(bcr_enlist(NULL, -CLIENTS, 1, program, NULL, bcr_FREE), "enlist the clients");
    serve_until(sigterm, requests);
    drain();

    long accepted = 0;
    for (int i = 0; i < CLIENTS; i++) {
        long one;
        must_copy(bcr_recv(&one, sizeof one, bcrT_1LONG, 1, bcr_cce, REPORTS, 1, bcr_BLOCK), "take a report");
        accepted += one;
    }
    printf("drain: %ld requests accepted, %ld served\n", accepted, served);
    must_hold(accepted == served, "what was accepted is served");
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 1, USAGE);
    const int requests = args_number(argc, argv, 1, "requests", 0, 0, 1000000000);
    must_init(0, argv[0]);
    if (bcr_enlistor < 0)
        lead(argv[0], requests);
    else
        be_client();
    return EXIT_SUCCESS;
}
