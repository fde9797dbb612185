/* SPDX-License-Identifier: MIT */
/*
 * eventloop -- one loop over regions and over everything else that has a descriptor.
 *
 *     epoll ----> the descriptor of an own cell (bcr_fd): regions that two other CCEs put there
 *           `---> a pipe: lines that an ordinary command prints
 *
 * The loop waits in epoll_wait and nowhere else.  So its gets have a time of 0, and its puts, if it had any, would have
 * a bcr_putwait of 0.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

static const char USAGE[] = "usage: eventloop [numbers]     (1000 numbers)\n"
                            "Adds up numbers that come as regions, and others that a command prints.\n";

enum { NUMBERS = 1 /* the cell */, ROOM = 16, SENDERS = 2, REGION_BYTES = 64 };

/* --- a CCE that sends --- */

static void send_numbers(int numbers)
{
    must(bcr_cagrow(1, 0, 0, 0, 0, 0, 4 * (ROOM + 2) * REGION_BYTES), "grow its comm heap");
    for (int i = 1; i <= numbers; i++) {
        bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a number");
        **(int **)region = i;
        must(bcr_enq(region, bcr_enlistor, NUMBERS, bcr_FREE), "send a number");
    }
}

/* --- the CCE with the loop --- */

static struct {
    long from_cell, from_pipe; /* how many numbers */
    long sum;
    bool pipe_ended;
    long in_vain; /* how often the descriptor told of regions and there were none */
} seen;

/* All that is there: the descriptor tells that there is something, not how much. */
static void take_regions(void)
{
    const long before = seen.from_cell;
    bcr_region region;
    while ((region = bcr_deq(bcr_cce, NUMBERS, 0)) != NULL) {
        seen.from_cell++;
        seen.sum += **(int **)region;
        must(bcr_rgfree(region), "free a number");
    }
    if (bcr_errno != bcrE_TIMEOUT)
        must_end("take a number", bcr_strerror(bcr_errno));
    seen.in_vain += seen.from_cell == before;
}

static void read_lines(int pipe)
{
    static long number; /* the line so far */
    char text[256];
    ssize_t length;
    while ((length = read(pipe, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < length; i++) {
            if (text[i] != '\n') {
                number = 10 * number + (text[i] - '0');
                continue;
            }
            seen.from_pipe++;
            seen.sum += number;
            number = 0;
        }
    seen.pipe_ended = length == 0; /* else EAGAIN: nothing more just now */
}

static void watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        must_end("watch a descriptor", "epoll_ctl failed");
}

static void loop(int pipe, long numbers)
{
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    const int cell = must(bcr_fd(NUMBERS), "get its cell's descriptor"); /* always the same one */
    watch(epoll, cell);
    watch(epoll, pipe);
    while (seen.from_cell < SENDERS * numbers || !seen.pipe_ended) {
        struct epoll_event event[2];
        must(bcr_fd(NUMBERS), "arm its cell"); /* each time before waiting */
        const int count = epoll_wait(epoll, event, 2, -1);
        if (count < 0 && errno != EINTR)
            must_end("wait", "epoll_wait failed");
        for (int i = 0; i < count; i++) {
            if (event[i].data.fd == cell) {
                take_regions();
            } else {
                read_lines(pipe);
                if (seen.pipe_ended)
                    epoll_ctl(epoll, EPOLL_CTL_DEL, pipe, NULL);
            }
        }
    }
    close(epoll);
}

static void lead(const char *program, int numbers)
{
    char command[64];
    must(bcr_cagrow(NUMBERS, 0, 1, 0, 0, ROOM, 4096), "grow its cell");
    bcr_region birth = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a birth region");
    **(int **)birth = numbers;
    must(bcr_enlist(NULL, -SENDERS, 1, program, birth, bcr_FREE), "enlist the senders");

    snprintf(command, sizeof command, "seq %d", numbers);
    FILE *lines = popen(command, "r");
    if (lines == NULL || fcntl(fileno(lines), F_SETFL, O_NONBLOCK) < 0)
        must_end("run a command", "popen failed");
    loop(fileno(lines), numbers);
    must_hold(pclose(lines) == 0, "the command ends well");

    printf("eventloop: %ld numbers came as regions, %ld through a pipe\n", seen.from_cell, seen.from_pipe);
    must_hold(seen.from_cell == (long)SENDERS * numbers && seen.from_pipe == numbers,
              "every number came, and once");
    must_hold(seen.in_vain <= seen.from_cell, "the loop sleeps while there is nothing to do");
    must_hold(seen.sum == (SENDERS + 1) * ((long)numbers * (numbers + 1) / 2), "and as it was sent");
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 1, USAGE);
    int numbers = args_number(argc, argv, 1, "numbers", 1000, 1, 10000);
    must_init(0, argv[0]);
    if (bcr_enlistor < 0) {
        lead(argv[0], numbers);
    } else {
        bcr_region birth = must_have(bcr_deq(bcr_cce, 0, bcr_BLOCK), "take its birth region");
        numbers = **(int **)birth;
        must(bcr_rgfree(birth), "free its birth region");
        send_numbers(numbers);
    }
    return EXIT_SUCCESS;
}
