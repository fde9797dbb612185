/* SPDX-License-Identifier: MIT */
/* Processes that end, or lose their connection, between their hello and their being CCEs.
 *
 *   sys_early regions N   holds N regions, tells its pid, enlists one when it is let on, and ends when it is again
 *   sys_early kills N     enlists N, some at a time, each of which is gone before the next come
 *   sys_early             one of those that are enlisted; $SYS_EARLY says what it does:
 *       shut              says hello, closes its connection and tells its pid, and stays
 *       die               says hello, tells its pid, and is killed
 *       any               is killed at some moment from just before bcr_init on
 *       corrupt           becomes a CCE, makes its cell 0 corrupt, tells its pid, and ends itself of that
 *
 * $SYS_BOARD: a file on which they are counted, and which each that is enlisted has locked for as
 * long as it is there. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <bcr.h>

#include "bcri/archtype.h"
#include "bcri/channel.h"
#include "bcri/lookup.h"
#include "bcri/self.h"
#include "bcri/signature.h"
#include "early.h"
#include "sys_tell.h"

enum { AT_A_TIME = 8 };

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "sys_early: %s: %s\n", what, bcr_strerror(bcr_errno));
    _exit(3);
}

static int board_file;
static struct early_board *board_open(void)
{
    board_file = open(getenv("SYS_BOARD"), O_RDWR | O_CLOEXEC);
    must(board_file >= 0, "the board");
    void *board = mmap(NULL, sizeof(struct early_board), PROT_READ | PROT_WRITE, MAP_SHARED, board_file, 0);
    must(board != MAP_FAILED, "the board");
    return board;
}

static void hold_regions(const char *name, int count)
{
    must(bcr_cagrow(1, 0, 0, 0, 0, 0, 128 * count) == 1, "cagrow");
    for (int i = 0; i < count; i++)
        must(bcr_rgalloc(16, 0) != NULL, "rgalloc");
    tell("%d\n", (int)getpid());
    wait_to_go();
    must(bcr_enlist(NULL, -1, 1, name, NULL, bcr_FREE) == 0, "enlist");
    wait_to_go();
}

static void enlist_many(const char *name, unsigned count)
{
    struct early_board *board = board_open();
    must(bcr_cagrow(1, 0, 0, 0, 0, 0, 4096) == 1, "cagrow");
    for (unsigned begun = 0; begun < count; begun += AT_A_TIME) {
        bcr_region birth = bcr_rgalloc(8, 0);
        must(birth != NULL, "rgalloc");
        must(bcr_enlist(NULL, -AT_A_TIME, (int)begun + 1, name, birth, bcr_FREE) == 0, "enlist");
        while (atomic_load(&board->begun) < begun + AT_A_TIME)
            usleep(100);
        must(flock(board_file, LOCK_EX) == 0 && flock(board_file, LOCK_UN) == 0, "lock");
    }
}

static void say_hello(bool shut)
{
    int pair[2];
    must(bcri_channel_pair(pair) == 0, "pair");
    struct bcri_control hello = {.type = BCRI_MSG_hello,
                                 .present = BCRI_HAS(id) | BCRI_HAS(layout) | BCRI_HAS(archtype) |
                                            BCRI_HAS(flags) | BCRI_HAS(ccename),
                                 .id = 1,
                                 .layout = bcri_layout_signature(),
                                 .archtype = (uint32_t)bcri_archtype_native(),
                                 .ccename = bcri_view_of("early")};
    const int handshake = (int)strtol(getenv("BCRI_SOCKET"), NULL, 10);
    must(bcri_channel_send(handshake, &hello, &pair[0], 1, true) == 0, "hello");
    if (shut)
        close_range(3, ~0u, 0);
    tell("%d\n", (int)getpid());
    if (!shut)
        raise(SIGKILL);
    for (;;)
        pause();
}

/* The delay is short rather than long: most shall hit bcr_init. */
static void end_at_any_moment(void)
{
    struct early_board *board = board_open();
    must(flock(board_file, LOCK_SH) == 0, "lock");
    uint64_t random = (board->seed + atomic_fetch_add(&board->begun, 1)) * UINT64_C(0x9e3779b97f4a7c15);
    random ^= random >> 29;
    const struct itimerval delay = {.it_value.tv_usec =
                                        1 + (long)(random % (UINT64_C(16) << (random >> 40) % 8))};
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &delay, NULL);
    must(bcr_init(0, NULL) >= 0, "bcr_init");
    atomic_fetch_add(&board->through, 1);
    for (;;)
        pause();
}

static void meet_corrupt_cell_0(void)
{
    struct bcri_resolved *resolved;
    must(bcr_init(0, NULL) >= 0, "bcr_init");
    must(bcri_resolved_find(bcri_self(), 1, 0, &resolved) == 0, "cell 0");
    bcri_store(&resolved->cell->h.head, UINT64_C(1) << 40);
    tell("%d\n", (int)getpid());
    (void)bcr_zap(1, 0);
    must(false, "a corrupt cell ends its CCE");
}

int main(int argc, char **argv)
{
    const char *how = getenv("SYS_EARLY");
    if (argc < 3 && strcmp(how, "any") == 0)
        end_at_any_moment();
    if (argc < 3 && strcmp(how, "corrupt") == 0)
        meet_corrupt_cell_0();
    if (argc < 3)
        say_hello(strcmp(how, "shut") == 0);
    must(bcr_init(0, NULL) >= 0, "bcr_init");
    if (strcmp(argv[1], "regions") == 0)
        hold_regions(argv[0], atoi(argv[2]));
    else
        enlist_many(argv[0], (unsigned)atoi(argv[2]));
    return 0;
}
