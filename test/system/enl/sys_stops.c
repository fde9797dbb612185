/* SPDX-License-Identifier: MIT */
/* CCEs that call this and that, at each other's cells, until the board says that it is over. On the
 * board ($SYS_BOARD, board.h) each counts its calls. Then all rest, holding nothing, until the root
 * is let on by a byte in the fifo $SYS_GO. */
#include <bcr.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "board.h"

enum { CELL = 1, CELLS = 4, NAMES = CELL + CELLS, REST, HANDLED, MORE, NRGNS = 6, NBYTES = 1 << 14 };

static struct board *board;
static bcr_cce_id name[BOARD_CCES];
static int handled;
static uint64_t state;

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "sys_stops %d: %s: %s\n", bcr_cceord, what, bcr_strerror(bcr_errno));
    _exit(3);
}

/* What may come back where cells are full or empty, others die, and areas come and go. */
static void may_fail(bool failed, const char *what)
{
    switch (failed ? bcr_errno : 0) {
    case 0:
    case bcrE_FULL:
    case bcrE_TIMEOUT:
    case bcrE_DEAD:
    case bcrE_NOCELL:
    case bcrE_OWNERDEAD: return;
    default: must(false, what);
    }
}

static unsigned any(unsigned below) /* xorshift64 (Marsaglia, 2003) */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % below;
}

static int any_cce(void)
{
    return name[any(BOARD_CCES)];
}

static int any_cell(void)
{
    return CELL + (int)any(CELLS);
}

static int any_time(void)
{
    return any(2) == 0 ? 0 : (int)any(4);
}

static bcr_region filled(void)
{
    int length = any(8) == 0 ? 3000 : 64;
    bcr_region rgid = bcr_rgalloc(length, 0);
    must(rgid != NULL, "rgalloc");
    memset(*rgid, length == 64 ? 64 : 30, (size_t)length);
    return rgid;
}

static void look_and_free(bcr_region rgid)
{
    int length = bcr_rglen(rgid, NULL);
    must(length == 64 || length == 3000, "rglen");
    const unsigned char *data = *rgid;
    must(data[0] == data[length - 1] && data[0] == (length == 64 ? 64 : 30), "what was put");
    must(bcr_rgfree(rgid) == 0, "rgfree");
}

static void take(bcr_cce_id cce, int cell)
{
    bcr_region rgid = bcr_deq(cce, cell, any_time());
    may_fail(rgid == NULL, "deq");
    if (rgid != NULL)
        look_and_free(rgid);
}

static void give(bcr_cce_id cce, int cell)
{
    bcr_region rgid = filled();
    bool fails =
        (any(4) == 0 ? bcr_write(rgid, cce, cell, bcr_FREE) : bcr_enq(rgid, cce, cell, bcr_FREE)) != 0;
    may_fail(fails, "put");
    if (fails)
        must(bcr_rgfree(rgid) == 0, "rgfree of what was not put");
}

static void lock(bcr_cce_id cce, int cell)
{
    bcr_region rgid = bcr_acqwl(cce, cell, any_time());
    may_fail(rgid == NULL, "acqwl");
    if (rgid == NULL)
        return;
    bool fails = bcr_rlswl(rgid, cce, cell) != 0;
    may_fail(fails, "rlswl");
    if (fails)
        must(bcr_rgfree(rgid) == 0, "rgfree of what was locked");
}

static void pend(bcr_cce_id cce, int cell)
{
    bcr_region rgid = bcr_deq(cce, cell, bcr_PENDING);
    may_fail(rgid == NULL, "deq pending");
    if (rgid == NULL)
        return;
    int came = any(3) == 0 ? 0 : bcr_rgwait(rgid, any_time(), 0);
    if (came == 1)
        look_and_free(rgid);
    else if (came == 0)
        must(bcr_rgfree(rgid) == 0, "rgfree of a pending");
    else
        may_fail(true, "rgwait");
}

static void call_timed(void)
{
    bcr_cce_id cce = any_cce();
    int cell = any_cell();
    must(bcr_putwait(any_time()) == 0, "putwait");
    switch (any(7)) {
    case 0:
    case 1:
    case 2: give(cce, cell); break;
    case 3:
    case 4:
    case 5: take(cce, cell); break;
    default: lock(cce, cell); break;
    }
}

static void give_to_many(void)
{
    bcr_region rgid = filled();
    int cells[6];
    for (int i = 0; i < 6; i += 2) {
        cells[i] = any_cce();
        cells[i + 1] = any_cell();
    }
    may_fail(bcr_enqm(rgid, 3, cells, bcr_NOFREE) != 0, "enqm");
    must(bcr_rgfree(rgid) == 0, "rgfree");
}

static void read_one(bcr_cce_id cce, int cell)
{
    bcr_region rgid = bcr_read(cce, cell, any_time());
    may_fail(rgid == NULL, "read");
    if (rgid != NULL)
        look_and_free(rgid);
}

static void grow_and_free(void)
{
    must(bcr_cagrow(MORE, 0, 0, 0, 2, 8, 0) == MORE, "cagrow");
    must(bcr_enq(filled(), bcr_cce, MORE, bcr_FREE) == 0, "enq");
    /* A region that a CCE takes and gives back when it ends is in its cell again. */
    while (bcr_cafree(MORE) != 0)
        must(bcr_errno == bcrE_BUSY && bcr_zap(bcr_cce, MORE) == 0, "cafree");
}

static void take_all(int cell)
{
    bcr_region rgid = bcr_deq(bcr_cce, cell, 0);
    handled++;
    if (rgid != NULL)
        look_and_free(rgid);
}

static void call_any(void)
{
    bcr_cce_id cce = any_cce();
    int cell = any_cell();
    switch (any(13)) {
    case 0: give_to_many(); break;
    case 1: read_one(cce, cell); break;
    case 2: may_fail(bcr_zap(cce, cell) != 0, "zap"); break;
    case 3: may_fail(bcr_celllen(cce, cell) < 0, "celllen"); break;
    case 4: give(cce, HANDLED); break;
    case 5: take(cce, MORE); break;
    case 6: pend(cce, cell); break;
    case 7:
        if (any(8) == 0)
            grow_and_free();
        break;
    default: call_timed(); break;
    }
}

/* Everybody's name is everybody's. */
static void meet(const char *program)
{
    must(bcr_cagrow(CELL, 0, 0, 0, CELLS, NRGNS, NBYTES) == CELL, "cagrow");
    must(bcr_cagrow(NAMES, 0, 3, 0, 0, 64, 1 << 20) == NAMES, "cagrow");
    must(bcr_handler(HANDLED, take_all, 1, 1, 1) == 0, "handler");
    const int me = bcr_cce;
    if (bcr_enlistor >= 0) {
        must(bcr_send(&me, sizeof me, bcrT_1CCE, 1, bcr_enlistor, NAMES, 1, 0) > 0, "send its name");
    } else {
        must(bcr_enlist(NULL, -1, 1, program, NULL, bcr_FREE) == 0, "enlist");
        name[0] = me;
        for (int i = 1; i < BOARD_CCES; i++) {
            must(i == 1 || bcr_enlist(NULL, -1, i, program, NULL, bcr_FREE) == 0, "enlist");
            must(bcr_recv(&name[i], sizeof name[i], bcrT_1CCE, 1, bcr_cce, NAMES, 1, bcr_BLOCK) > 0,
                 "a name");
        }
        for (int i = 1; i < BOARD_CCES; i++)
            must(bcr_send(name, sizeof name, bcrT_1CCE, BOARD_CCES, name[i], NAMES, 1, 0) > 0, "names");
        return;
    }
    must(bcr_recv(name, sizeof name, bcrT_1CCE, BOARD_CCES, bcr_cce, NAMES, 1, bcr_BLOCK) > 0, "names");
}

static void rest(void)
{
    int word = 0;
    if (bcr_enlistor >= 0) {
        (void)bcr_recv(&word, sizeof word, bcrT_1INT, 1, bcr_cce, REST, 1, bcr_BLOCK);
        return;
    }
    int fd = open(getenv("SYS_GO"), O_RDONLY | O_CLOEXEC);
    char byte;
    must(fd >= 0 && read(fd, &byte, 1) == 1, "go");
    for (int i = 1; i < BOARD_CCES; i++)
        (void)bcr_send(&word, sizeof word, bcrT_1INT, 1, name[i], REST, 1, 0);
}

int main(int argc, char **argv)
{
    must(bcr_init(0, argv[0]) >= 0, "bcr_init");
    int fd = open(getenv("SYS_BOARD"), O_RDWR | O_CLOEXEC);
    must(argc > 0 && fd >= 0, "environment");
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(board != MAP_FAILED && close(fd) == 0, "the board");
    struct board_place *mine = &board->place[bcr_cceord];
    state = board->seed * (unsigned)(2 * bcr_cceord + 1) | 1;
    meet(argv[0]);
    atomic_store(&mine->pid, (int)getpid());
    while (!atomic_load(&board->over)) {
        call_any();
        atomic_fetch_add(&mine->calls, 1);
    }
    atomic_store(&mine->rests, true);
    rest();
    return 0;
}
